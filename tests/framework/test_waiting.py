"""A word to whoever waits."""

from __future__ import annotations

import time

import pytest

from tamis.waiting import waiting_for


def test_whoever_waits_longer_is_told_once(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tamis.waiting.PATIENCE_SECONDS", 0.05)
    with waiting_for("doing much"):
        time.sleep(0.3)
    with waiting_for("doing little"):
        pass
    time.sleep(0.1)
    assert capsys.readouterr().err == "tamis is doing much\n"
