"""A word to whoever waits."""

from __future__ import annotations

import time

import pytest

from tamis.waiting import waiting_for


def test_whoever_waits_longer_is_told_once(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tamis.waiting.PATIENCE_SECONDS", 0.05)
    said, ends = "", time.monotonic() + 60
    with waiting_for("doing much"):
        while not said.endswith("\n") and time.monotonic() < ends:
            time.sleep(0.01)
            said += capsys.readouterr().err
    with waiting_for("doing much"):
        time.sleep(0.2)
    monkeypatch.setattr("tamis.waiting.PATIENCE_SECONDS", 3.0)
    with waiting_for("doing little"):
        pass
    assert said + capsys.readouterr().err == "tamis is doing much\n"
