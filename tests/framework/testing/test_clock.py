"""The clock of tests."""

from __future__ import annotations

import pytest

from tamis.testing import FakeClock


def test_it_moves_when_it_is_told_to() -> None:
    clock = FakeClock(5)
    assert (clock(), clock()) == (5, 5)
    clock.advance(2.5)
    assert clock() == 7.5
    clock.advance(0)
    assert repr(clock) == "<clock at 7.5>"


@pytest.mark.parametrize("seconds", [-1, float("nan")])
def test_it_never_goes_back(seconds: float) -> None:
    clock = FakeClock()
    with pytest.raises(ValueError, match="0 or more"):
        clock.advance(seconds)
    assert clock() == 0
