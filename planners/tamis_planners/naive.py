"""Asks subscription by subscription, as written; the first false test ends each.

The baseline of the paper (§5.2): results are remembered, but a result that decides other
subscriptions does not keep them from being evaluated in their turn. Cost: O(edges) an event.
"""

from __future__ import annotations

from collections.abc import Sequence

from tamis.planning import FALSE, TRUE, Problem, Run


class Naive:
    """The planner that knows nothing."""

    def begin(self, problem: Problem) -> Run:
        """Starts on the problem of one event."""
        return _NaiveRun(problem)


class _NaiveRun:
    def __init__(self, problem: Problem) -> None:
        self._tests = problem.edge_test.tolist()
        self._signs = problem.edge_sign.tolist()
        self._starts = problem.alternative_start.tolist()
        self._calls = problem.test_call.tolist()
        self._outcome: dict[int, int] = {}
        self._needless = bytearray(problem.alternatives)
        self._at = 0
        self._edge = 0

    def next(self, limit: int) -> Sequence[int]:
        while self._at < len(self._needless):
            call = None if self._needless[self._at] else self._next_of(self._starts[self._at + 1])
            if call is not None:
                return [call]
            self._at += 1
            self._edge = self._starts[self._at]
        return []

    def _next_of(self, end: int) -> int | None:
        """Returns the next call of the alternative at hand, `None` when it is decided."""
        while self._edge < end:
            test = self._tests[self._edge]
            outcome = self._outcome.get(test)
            if outcome is None:
                call: int = self._calls[test]
                return call
            if outcome == (FALSE if self._signs[self._edge] > 0 else TRUE):
                return None
            self._edge += 1
        return None

    def observe(
        self, tests: Sequence[int], outcomes: Sequence[int], decided: Sequence[int]
    ) -> None:
        self._outcome.update(zip(tests, outcomes, strict=True))
        for alternative in decided:
            if not self._has_false_test(alternative):
                self._needless[alternative] = True

    def _has_false_test(self, alternative: int) -> bool:
        """Returns whether a known outcome ends it; it is evaluated up to there, in its turn."""
        return any(
            self._outcome.get(self._tests[edge]) == (FALSE if self._signs[edge] > 0 else TRUE)
            for edge in range(self._starts[alternative], self._starts[alternative + 1])
        )
