"""The waits of tests of attempts."""

from __future__ import annotations

import pytest

from .trying import Waits


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> Waits:
    return Waits(monkeypatch)
