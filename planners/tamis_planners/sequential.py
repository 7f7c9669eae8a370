"""Asks for the calls of one undecided alternative, as far as anybody undecided needs them.

Algorithm 1 of the paper (§4.1), at most d times the optimum. What remains of the alternatives it
marks is pairwise disjoint, so that their number is a lower bound for every method.
Invariant: a call is asked for only while an undecided alternative holds it.
Cost: O(edges) an event.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tamis.planning import Problem, Run


class Sequential:
    """The planner of the paper's first algorithm."""

    def begin(self, problem: Problem) -> Run:
        """Starts on the problem of one event."""
        return _SequentialRun(problem)


class OpenAlternatives:
    """Keeps which alternatives are open, and which calls were made or are known without."""

    def __init__(
        self, alternatives: int, calls: int, test_call: list[int], tests_of_call: list[int]
    ) -> None:
        self._open = bytearray(b"\1") * alternatives
        self._asked = bytearray(calls)
        self._test_call, self._unknown = test_call, tests_of_call

    def observe(
        self, tests: Sequence[int], outcomes: Sequence[int], decided: Sequence[int]
    ) -> None:
        for test in tests:
            call = self._test_call[test]
            self._unknown[call] -= 1
            if not self._unknown[call]:
                self._asked[call] = True
        for alternative in decided:
            self._open[alternative] = 0


class _SequentialRun(OpenAlternatives):
    def __init__(self, problem: Problem) -> None:
        tests_of_call = np.bincount(problem.test_call, minlength=problem.calls).tolist()
        test_call = problem.test_call.tolist()
        super().__init__(problem.alternatives, problem.calls, test_call, tests_of_call)
        self._alternative_calls = problem.alternative_calls
        self._call_alternatives = problem.call_alternatives
        self._checked = [0] * problem.calls
        self._marked = 0
        self._left: list[int] = []

    def next(self, limit: int) -> Sequence[int]:
        calls: list[int] = []
        while len(calls) < limit:
            while self._left:
                call = self._left.pop()
                if not self._asked[call] and self._is_needed(call):
                    self._asked[call] = True
                    calls.append(call)
                    break
            else:
                if calls or not self._mark():
                    break
        return calls

    def _mark(self) -> bool:
        """Takes up the next undecided alternative that has calls left, if there is one."""
        while (marked := self._open.find(1, self._marked)) >= 0:
            self._marked = marked
            self._left = [
                call for call in reversed(self._alternative_calls[marked]) if not self._asked[call]
            ]
            if self._left:
                return True
            self._marked += 1
        return False

    def _is_needed(self, call: int) -> bool:
        """Returns whether an undecided alternative holds the call; what is decided stays so."""
        alternatives, at = self._call_alternatives[call], self._checked[call]
        while at < len(alternatives) and not self._open[alternatives[at]]:
            at += 1
        self._checked[call] = at
        return at < len(alternatives)
