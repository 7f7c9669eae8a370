"""Checks that planners cannot change the problem that they are given."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

import tamis
from tamis.planning import Problem


@tamis.operator
def yes(event: object, number: int) -> bool:
    return True


class Spoils:
    """Tries to change its problem, and then asks for every call in turn."""

    def begin(self, problem: Problem) -> Any:
        with pytest.raises(ValueError, match="read-only"):
            problem.edge_test[:] = 0
        assert isinstance(problem.alternative_calls, tuple)
        assert isinstance(problem.call_alternatives[0], tuple)
        self.calls = list(range(problem.calls))
        return self

    def next(self, limit: int) -> Sequence[int]:
        return [self.calls.pop()] if self.calls else []

    def observe(self, *seen: object) -> None:
        pass


def test_a_planner_cannot_spoil_the_problem() -> None:
    matcher = tamis.Matcher([yes], planner=Spoils())
    matcher.subscribe("yes(1) and yes(2)", id="s")
    for _ in range(2):
        assert [match.subscription for match in matcher.match({}).matches] == ["s"]
