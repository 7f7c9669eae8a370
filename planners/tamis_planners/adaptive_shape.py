"""Lays a problem in arrays for adaptive planners: who needs which call, what goes together.

A *need* is what one alternative asks of one call: one or more of its tests. Needs lie by
alternative and within one by preparation and batch, so that calls that are paid together are
neighbors; edges lie by need. A *unit* is what is paid at once: a call by itself (the numbers of the
calls), a batch, or a preparation with the calls that share it (the numbers after).
Cost: O(edges), once a problem.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tamis.kit import Ints, SmallInts, TinyInts, lists_by_number, portable
from tamis.planning import Problem

if TYPE_CHECKING:
    from tamis_planners.adaptive_form import PlannerForm


ALTERNATIVE, CALL, FIRST = 0, 1, 2
NEED, TEST, WANTED = 0, 1, 2


class ProblemShape(NamedTuple):
    """The parts of a problem that depend neither on expectations nor on outcomes.

    Lists are those of `lists_by_number`."""

    needs: SmallInts
    """Of each need its alternative, its call, and the first of its edges; one more row ends it."""
    edges: SmallInts
    """Of each edge its need, its test, and the outcome that the alternative wants."""
    need_start: SmallInts
    """By alternative."""
    test_edges: SmallInts
    call_needs: SmallInts
    owned: SmallInts
    call_tests: SmallInts
    implied: SmallInts
    """The outcomes that outcomes imply: outcome `o` of test `t` is the number `2 * t + o`."""
    unit_calls: SmallInts
    """The calls of batches and preparations; units that are calls have none."""
    units: int
    batches: int
    widest: int
    """The most needs that an alternative has."""


FIXED = frozenset(ProblemShape._fields) - {"units", "batches", "widest"}


_SHAPED_BY = (
    *("alternative_subscription", "alternative_start", "edge_test", "edge_sign", "test_call"),
    *("call_group", "call_batch", "implications"),
)


def has_same_shape(problem: Problem, other: Problem) -> bool:
    """Returns whether two problems are made of the same arrays, but for what is expected."""
    return all(getattr(problem, name) is getattr(other, name) for name in _SHAPED_BY)


def shape_of(problem: Problem, form: PlannerForm) -> ProblemShape:
    """Returns the shape of a problem."""
    given_arrays = (
        problem.alternative_start.astype(np.int64),
        problem.edge_test.astype(np.int64),
        problem.edge_sign.astype(np.int8),
        problem.test_call.astype(np.int64),
        problem.call_group.astype(np.int64),
        problem.call_batch.astype(np.int64),
    )
    lists = partial(lists_by_number, is_compiled=form.is_compiled)
    needs, edges, need_start = form.needs_and_edges(*map(form.view, given_arrays))
    calls = problem.calls
    batches = int(problem.call_batch.max(initial=-1)) + 1
    groups = int(problem.call_group.max(initial=-1)) + 1
    units = calls + batches + groups
    # where each edge is a need, and nothing is paid together, both lie as the problem has them
    as_given = units == calls and len(needs) - 1 == len(edges)
    test_edges = problem.test_edges if as_given else lists(edges[:, TEST], problem.tests)
    is_by_test = as_given and np.array_equal(problem.test_call, np.arange(problem.tests))
    return ProblemShape(
        needs,
        edges,
        need_start,
        test_edges,
        test_edges if is_by_test else lists(needs[:-1, CALL], calls),
        problem.owned,
        lists(problem.test_call, calls),
        _implied(problem),
        _calls_of_units(problem, calls + batches, units),
        units,
        batches,
        int(np.diff(need_start).max(initial=0)),
    )


def _implied(problem: Problem) -> SmallInts:
    """Returns the outcomes that each outcome decides."""
    if not len(problem.implications):
        return _empty_lists(2 * problem.tests)
    test, outcome, other, conclusion = problem.implications.T
    given = 2 * test + outcome
    by_given = np.argsort(given, kind="stable")
    return _sorted_lists(given[by_given], (2 * other + conclusion)[by_given], 2 * problem.tests)


def _calls_of_units(problem: Problem, first_group: int, units: int) -> SmallInts:
    """Returns the calls of batches and preparations, those of a preparation by batch."""
    calls, batch, group = problem.calls, problem.call_batch, problem.call_group
    if units == calls:
        return _empty_lists(units)
    batched, grouped = np.flatnonzero(batch >= 0), np.flatnonzero(group >= 0)
    by_batch = batched[np.argsort(batch[batched], kind="stable")]
    by_group = grouped[np.lexsort((grouped, batch[grouped], group[grouped]))]
    unit = np.concatenate([calls + batch[by_batch], first_group + group[by_group]])
    return _sorted_lists(unit, np.concatenate([by_batch, by_group]), units)


def _empty_lists(count: int) -> SmallInts:
    """Makes so many empty lists."""
    return np.full(count + 1, count + 1, np.int32)


def _sorted_lists(numbers: Ints, things: Ints, count: int) -> SmallInts:
    """Lists of things that lie by their numbers already."""
    start = np.searchsorted(numbers, np.arange(count + 1)) + count + 1
    return np.concatenate([start, things]).astype(np.int32)


@portable
def needs_and_edges(
    start: Ints,
    edge_test: Ints,
    edge_sign: TinyInts,
    test_call: Ints,
    group: Ints,
    batch: Ints,
) -> tuple[SmallInts, SmallInts, SmallInts]:
    """Returns the needs and edges of a problem, and where each alternative's needs begin."""
    alternatives, made = len(start) - 1, 0
    needs = np.empty((len(edge_test) + 1, 3), np.int32)
    edges = np.empty((len(edge_test), 3), np.int32)
    need_start = np.empty(alternatives + 1, np.int32)
    seen = np.full(len(group), -1)
    place = np.empty(len(group), np.int64)
    for alternative in range(alternatives):
        first = need_start[alternative] = made
        for edge in range(start[alternative], start[alternative + 1]):
            call = test_call[edge_test[edge]]
            if seen[call] == alternative:
                continue
            seen[call] = alternative
            at = made
            while at > first:
                before = needs[at - 1, CALL]
                if group[before] < group[call] or (
                    group[before] == group[call] and batch[before] <= batch[call]
                ):
                    break
                needs[at, CALL] = before
                at -= 1
            needs[at, CALL] = call
            made += 1
        for need in range(first, made):
            needs[need, ALTERNATIVE] = alternative
            needs[need, FIRST] = 0
            place[needs[need, CALL]] = need
        for edge in range(start[alternative], start[alternative + 1]):
            needs[place[test_call[edge_test[edge]]], FIRST] += 1
        at = start[alternative]
        for need in range(first, made):
            count = needs[need, FIRST]
            needs[need, FIRST] = at
            at += count
        for edge in range(start[alternative], start[alternative + 1]):
            need = place[test_call[edge_test[edge]]]
            at = needs[need, FIRST]
            needs[need, FIRST] = at + 1
            edges[at, NEED] = need
            edges[at, TEST] = edge_test[edge]
            edges[at, WANTED] = 1 if edge_sign[edge] > 0 else 0
        at = start[alternative]
        for need in range(first, made):
            following = needs[need, FIRST]
            needs[need, FIRST] = at
            at = following
    need_start[alternatives] = made
    needs[made] = 0
    needs[made, FIRST] = len(edge_test)
    return needs[: made + 1].copy(), edges, need_start
