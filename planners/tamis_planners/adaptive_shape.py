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
NEED, TEST, WANTED, HOLDER = range(4)


class ProblemShape(NamedTuple):
    """The parts of a problem that depend neither on expectations nor on outcomes.

    Lists are those of `lists_by_number`."""

    needs: SmallInts
    """Of each need its alternative, its call, and the first of its edges; one more row ends it."""
    edges: SmallInts
    """Of each edge its need, its test, the outcome that the alternative wants, and that."""
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
    given = (
        *(problem.alternative_start, problem.edge_test, problem.edge_sign),
        *(problem.test_call, problem.call_group, problem.call_batch),
    )
    lists = partial(lists_by_number, is_compiled=form.is_compiled)
    edge_count, calls = len(problem.edge_test), problem.calls
    needs, edges = np.empty((edge_count + 1, 3), np.int32), np.empty((edge_count, 4), np.int32)
    need_start, sizes = np.empty(problem.alternatives + 1, np.int32), np.zeros(5, np.int64)
    seen, place = np.full(calls, -1), np.empty(calls, np.int64)
    form.lay_out(*map(form.view, (needs, edges, need_start, sizes, seen, place, *given)))
    made, batches, groups, widest, are_tests_calls = sizes.tolist()
    needs = needs[: made + 1]
    units = calls + batches + groups
    # where each edge is a need, and nothing is paid together, both lie as the problem has them
    as_given = units == calls and len(needs) - 1 == len(edges)
    test_edges = problem.test_edges if as_given else lists(edges[:, TEST], problem.tests)
    return ProblemShape(
        needs,
        edges,
        need_start,
        test_edges,
        test_edges if as_given and are_tests_calls else lists(needs[:-1, CALL], calls),
        problem.owned,
        problem.call_tests,
        _implied(problem),
        _calls_of_units(problem, calls + batches, units),
        units,
        batches,
        widest,
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
def lay_out(
    needs: SmallInts,
    edges: SmallInts,
    need_start: SmallInts,
    sizes: Ints,
    seen: Ints,
    place: Ints,
    start: Ints,
    edge_test: Ints,
    edge_sign: TinyInts,
    test_call: Ints,
    group: Ints,
    batch: Ints,
) -> None:
    """Fills in the needs and edges of a problem, where each alternative's needs begin, and sizes:
    the needs, batches and groups, the most needs of an alternative, and whether tests are numbered
    as their calls are. By call, `seen` is -1 and `place` anything."""
    made, widest = 0, 0
    for alternative in range(len(start) - 1):
        first, end = start[alternative], start[alternative + 1]
        need_start[alternative] = made
        for edge in range(first, end):
            edges[edge, NEED] = made + edge - first
            edges[edge, TEST] = edge_test[edge]
            edges[edge, WANTED] = 1 if edge_sign[edge] > 0 else 0
            edges[edge, HOLDER] = alternative
        if are_needs(needs, edges, seen, test_call, group, batch, alternative, first, end):
            made += end - first
        else:
            made = gather(
                needs, edges, seen, place, edge_test, edge_sign, test_call, group, batch,
                alternative, made, first, end,
            )  # fmt: skip
        for need in range(need_start[alternative], made):
            needs[need, ALTERNATIVE] = alternative
        widest = max(widest, made - need_start[alternative])
    need_start[len(start) - 1] = made
    needs[made, ALTERNATIVE] = needs[made, CALL] = 0
    needs[made, FIRST] = len(edge_test)
    sizes[0], sizes[3], sizes[4] = made, widest, 1
    for call in range(len(group)):
        sizes[1], sizes[2] = max(sizes[1], batch[call] + 1), max(sizes[2], group[call] + 1)
    for test in range(len(test_call)):
        if test_call[test] != test:
            sizes[4] = 0


@portable
def is_in_order(group: Ints, batch: Ints, call: int, following: int) -> bool:
    """Returns whether calls lie by preparation and batch."""
    return group[call] < group[following] or (
        group[call] == group[following] and batch[call] <= batch[following]
    )


@portable
def are_needs(
    needs: SmallInts,
    edges: SmallInts,
    seen: Ints,
    test_call: Ints,
    group: Ints,
    batch: Ints,
    alternative: int,
    first: int,
    end: int,
) -> bool:
    """Makes needs of the edges of an alternative; whether its calls differ and lie in order."""
    before = -1
    for edge in range(first, end):
        call, need = test_call[edges[edge, TEST]], edges[edge, NEED]
        if seen[call] == alternative or not (before < 0 or is_in_order(group, batch, before, call)):
            return False
        seen[call] = alternative
        needs[need, CALL] = before = call
        needs[need, FIRST] = edge
    return True


@portable
def gather(
    needs: SmallInts,
    edges: SmallInts,
    seen: Ints,
    place: Ints,
    edge_test: Ints,
    edge_sign: TinyInts,
    test_call: Ints,
    group: Ints,
    batch: Ints,
    alternative: int,
    first_need: int,
    first: int,
    end: int,
) -> int:
    """Makes needs of the calls of an alternative in order, and sorts its edges by them; returns the
    end of its needs."""
    made, mark = first_need, -2 - alternative
    for edge in range(first, end):
        call = test_call[edge_test[edge]]
        if seen[call] == mark:
            continue
        seen[call] = mark
        at = made
        while at > first_need and not is_in_order(group, batch, needs[at - 1, CALL], call):
            needs[at, CALL] = needs[at - 1, CALL]
            at -= 1
        needs[at, CALL] = call
        made += 1
    for need in range(first_need, made):
        needs[need, FIRST] = 0
        place[needs[need, CALL]] = need
    for edge in range(first, end):
        needs[place[test_call[edge_test[edge]]], FIRST] += 1
    at = first
    for need in range(first_need, made):
        count = needs[need, FIRST]
        needs[need, FIRST] = at
        at += count
    for edge in range(first, end):
        need = place[test_call[edge_test[edge]]]
        at = needs[need, FIRST]
        needs[need, FIRST] = at + 1
        edges[at, NEED] = need
        edges[at, TEST] = edge_test[edge]
        edges[at, WANTED] = 1 if edge_sign[edge] > 0 else 0
    at = first
    for need in range(first_need, made):
        following = needs[need, FIRST]
        needs[need, FIRST] = at
        at = following
    return made
