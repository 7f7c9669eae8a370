"""Asks for every call about an event: a planner that leaves none out.

Calls of one batch are made together, but for one event in eight, so that it is learned what one
of them costs. Cost: every distinct call of the candidates.
"""

from __future__ import annotations

from collections.abc import Sequence

from tamis.planning import Problem, Run

_ALONE = 8


class EveryCall:
    """Asks for all calls, in their order."""

    def __init__(self) -> None:
        self._events = 0

    def begin(self, problem: Problem) -> Run:
        """Starts on the problem of one event."""
        self._events += 1
        return _Every(problem, alone=self._events % _ALONE == 0)


class _Every:
    def __init__(self, problem: Problem, *, alone: bool) -> None:
        invocations: dict[tuple[int, int], list[int]] = {}
        for call, batch in enumerate(problem.call_batch.tolist()):
            own = call if alone or batch < 0 else -1
            invocations.setdefault((batch, own), []).append(call)
        self._left = list(reversed(invocations.values()))

    def next(self, limit: int) -> Sequence[int]:
        """Returns the next ones."""
        return self._left.pop() if self._left else ()

    def observe(
        self, tests: Sequence[int], outcomes: Sequence[int], decided: Sequence[int]
    ) -> None:
        """Does nothing: it asks whatever comes out."""
