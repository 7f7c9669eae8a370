"""The waits and the hurry of tests of attempts."""

from __future__ import annotations

import pytest

from .trying import Hurry, Waits


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> Waits:
    return Waits(monkeypatch)


@pytest.fixture
def hurry(monkeypatch: pytest.MonkeyPatch) -> Hurry:
    return Hurry(monkeypatch)
