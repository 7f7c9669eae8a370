"""Asks for the call of the next undecided chain, in an order that makes sharing pay.

The Sub-Order algorithm of the paper (§4.2): chains of tests in increasing c/(1-p), evaluated in the
order that `suborder_order` keeps. Cost: O(edges) an event, and a sort of the candidates by rank.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis.planning import Problem, Run, Standing
from tamis_planners.sequential import OpenAlternatives
from tamis_planners.suborder_order import ChainOrder


class SubOrder:
    """The planner of the paper's second algorithm; it follows what is subscribed."""

    def __init__(self) -> None:
        self.order = ChainOrder()
        self._prepared: tuple[Problem, object, _ChainedProblem] | None = None

    def reset(self, standing: Standing) -> None:
        self.order.reset(standing)
        self._prepared = None

    def subscribed(self, standing: Standing) -> None:
        self.order.add(standing)

    def unsubscribed(self, keys: Sequence[int]) -> None:
        self.order.remove(keys)

    def in_order(self) -> Sequence[int]:
        return self.order.keys()

    def begin(self, problem: Problem) -> Run:
        """Starts on the problem of one event."""
        known, stamp = self._prepared, self.order.rebuilds
        if known is None or known[0] is not problem or known[1] != stamp:
            ranks = self.order.rank.view[problem.alternative_key]
            known = self._prepared = (problem, stamp, _ChainedProblem(problem, ranks))
        return _SubOrderRun(known[2])


class _ChainedProblem:
    """A problem with its chains in order: good for every event that has the same problem."""

    def __init__(self, problem: Problem, ranks: NDArray[Any]) -> None:
        self.order: list[int] = np.argsort(ranks, kind="stable").tolist()
        self.alternatives = problem.alternatives
        self.calls = problem.calls
        share = problem.test_selectivity[problem.edge_test]
        passes = np.where(problem.edge_sign > 0, share, 1.0 - share)
        call = problem.test_call[problem.edge_test]
        effort = problem.call_cost[call] / np.maximum(1e-12, 1.0 - passes)
        popularity = np.bincount(problem.edge_test, minlength=problem.tests)[problem.edge_test]
        by_promise = np.lexsort((-popularity, effort, problem.edge_alternative))
        sorted_calls = call[by_promise].tolist()
        starts = problem.alternative_start.tolist()
        self.test_call: list[int] = problem.test_call.tolist()
        self.tests_of_call: list[int] = np.bincount(
            problem.test_call, minlength=problem.calls
        ).tolist()
        self.chains: list[list[int]] = [sorted_calls[start:end] for start, end in pairwise(starts)]


class _SubOrderRun(OpenAlternatives):
    def __init__(self, prepared: _ChainedProblem) -> None:
        tests_of_call = prepared.tests_of_call.copy()
        super().__init__(prepared.alternatives, prepared.calls, prepared.test_call, tests_of_call)
        self._order = prepared.order
        self._chains = prepared.chains
        self._at = 0

    def next(self, limit: int) -> Sequence[int]:
        order, is_open = self._order, self._open
        while self._at < len(order) and not is_open[order[self._at]]:
            self._at += 1
        calls: list[int] = []
        at = self._at
        while at < len(order) and len(calls) < limit:
            alternative = order[at]
            if is_open[alternative]:
                call = self._next_of(alternative)
                if call is not None:
                    calls.append(call)
            at += 1
        return calls

    def _next_of(self, alternative: int) -> int | None:
        for call in self._chains[alternative]:
            if not self._asked[call]:
                self._asked[call] = True
                return call
        return None
