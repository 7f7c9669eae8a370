"""Keeps what is known of one event on arrays: the outcomes of its tests, the verdicts on its
alternatives.

Logic is Kleene's: a false test decides its alternative at once, an unknown one never does. What
joins decide, and what a failed test that may still be implied leaves open, waits on a list for
whoever knows. Interpreted or compiled, the same functions run on the same numbers.
Invariant: an alternative is on the list of those decided as soon as it has a verdict, once.
Cost: O(edges) an event, each visited once for what it ends and once for what it leaves open.
"""

from __future__ import annotations

from typing import NamedTuple

from tamis.numeric.kernels import portable
from tamis.numeric.types import Flags, Ints, SmallInts, TinyInts
from tamis.planning import DECIDED, FALSE, KNOWN, TRUE, UNKNOWN

OPEN = 3
SPARED = 4

# edges
ALTERNATIVE, TEST, WANTED = range(3)
# alternatives, what never changes; a plan may have joins to look at before all tests are known
OWNER, IS_FREE, PLAN = range(3)
NO_PLAN, PLANNED, CHECKED = range(3)
# alternatives: tests that are open, tests that are unknown, the test that made it false
VERDICT, LEFT, UNKNOWNS, KILLER = range(4)
# tests: `SOURCE` implied it; a test is rescued that failed before it was implied
HOW, SOURCE, RESCUED = range(3)
# numbers
WAITING, IMPLYING = range(2)
# how a test was decided
CALLED, SHARED, IMPLIED, MEMO, EXCLUDED = range(5)


class EventState(NamedTuple):
    """One event: what never changes first, then what does; last what planners read (`Progress`)."""

    edges: SmallInts
    test_edges: SmallInts
    """The edges of each test."""
    owned: SmallInts
    """The alternatives of each subscription."""
    fixed: SmallInts
    alternatives: SmallInts
    tests: SmallInts
    numbers: Ints
    waiting: SmallInts
    """Edges of tests that are known and whose alternatives wait for whoever knows more."""
    known: SmallInts
    outcome: SmallInts
    decided: SmallInts
    counts: Ints


@portable
def lay_out(
    state: EventState,
    start: Ints,
    edge_test: Ints,
    edge_sign: TinyInts,
    subscription: Ints,
    binds: Flags,
    plans: Ints,
) -> None:
    """Fills in a problem of which nothing is known; alternatives have `start` and `plans`."""
    for alternative in range(len(state.alternatives)):
        state.fixed[alternative, OWNER] = subscription[alternative]
        state.fixed[alternative, IS_FREE] = 0 if binds[alternative] else 1
        state.fixed[alternative, PLAN] = plans[alternative]
        state.alternatives[alternative, VERDICT] = OPEN
        state.alternatives[alternative, LEFT] = start[alternative + 1] - start[alternative]
        state.alternatives[alternative, UNKNOWNS] = state.alternatives[alternative, KILLER] = 0
        for edge in range(start[alternative], start[alternative + 1]):
            state.edges[edge, ALTERNATIVE] = alternative
            state.edges[edge, TEST] = edge_test[edge]
            state.edges[edge, WANTED] = 1 if edge_sign[edge] > 0 else 0
    for test in range(len(state.outcome)):
        state.tests[test, HOW] = state.tests[test, RESCUED] = 0
        state.tests[test, SOURCE] = -1
        state.outcome[test] = OPEN


@portable
def decide(state: EventState, alternative: int, verdict: int, killer: int) -> None:
    """Gives an open alternative its verdict."""
    state.alternatives[alternative, VERDICT] = verdict
    state.alternatives[alternative, KILLER] = killer
    state.decided[state.counts[DECIDED]] = alternative
    state.counts[DECIDED] += 1


@portable
def spare(state: EventState, alternative: int) -> None:
    """Makes an alternative needless, if it is open."""
    if state.alternatives[alternative, VERDICT] == OPEN:
        decide(state, alternative, SPARED, -1)


@portable
def accept(state: EventState, alternative: int) -> None:
    """Finds an open alternative true: siblings without variables are needless."""
    decide(state, alternative, TRUE, -1)
    owner = state.fixed[alternative, OWNER]
    for at in range(state.owned[owner], state.owned[owner + 1]):
        if state.fixed[state.owned[at], IS_FREE]:
            spare(state, state.owned[at])


@portable
def end(state: EventState, test: int) -> None:
    """Decides the alternatives that want the outcome of a test to be another."""
    outcome = state.outcome[test]
    if outcome == UNKNOWN:
        return
    for at in range(state.test_edges[test], state.test_edges[test + 1]):
        edge = state.test_edges[at]
        alternative = state.edges[edge, ALTERNATIVE]
        if (
            state.edges[edge, WANTED] != outcome
            and state.alternatives[alternative, VERDICT] == OPEN
        ):
            decide(state, alternative, FALSE, test)


@portable
def keep(state: EventState, test: int) -> None:
    """Goes on with the alternatives that the outcome of a test leaves open.

    Who wants another outcome than a known one has ended."""
    outcome = state.outcome[test]
    for wanted in range(1, -1, -1):
        if outcome not in (wanted, UNKNOWN):
            continue
        for at in range(state.test_edges[test], state.test_edges[test + 1]):
            edge = state.test_edges[at]
            if state.edges[edge, WANTED] == wanted:
                keep_one(state, test, edge, state.edges[edge, ALTERNATIVE])


@portable
def keep_one(state: EventState, test: int, edge: int, alternative: int) -> None:
    """Counts a test of an alternative as known; decides the alternative with its last one."""
    if state.alternatives[alternative, VERDICT] != OPEN:
        return
    outcome = state.outcome[test]
    if state.tests[test, RESCUED]:
        state.alternatives[alternative, UNKNOWNS] -= 1
    else:
        state.alternatives[alternative, LEFT] -= 1
        if outcome == UNKNOWN:
            state.alternatives[alternative, UNKNOWNS] += 1
    is_last = state.alternatives[alternative, LEFT] == 0
    plan, unknowns = state.fixed[alternative, PLAN], state.alternatives[alternative, UNKNOWNS]
    if plan != NO_PLAN:
        if is_last or (plan == CHECKED and outcome == TRUE):
            wait(state, edge)
    elif is_last:
        if unknowns == 0:
            accept(state, alternative)
        elif state.numbers[IMPLYING]:
            wait(state, edge)
        else:
            decide(state, alternative, UNKNOWN, -1)


@portable
def wait(state: EventState, edge: int) -> None:
    """Puts an edge on the list of those whose alternatives wait."""
    state.waiting[state.numbers[WAITING]] = edge
    state.numbers[WAITING] += 1


@portable
def settle(state: EventState, test: int, outcome: int, how: int) -> None:
    """Gives a test its first outcome."""
    state.outcome[test] = outcome
    state.tests[test, HOW] = how
    state.known[state.counts[KNOWN]] = test
    state.counts[KNOWN] += 1


@portable
def settle_and_follow(state: EventState, test: int, outcome: int, how: int) -> None:
    """Gives a test its first outcome, and its alternatives what follows from it."""
    settle(state, test, outcome, how)
    end(state, test)
    keep(state, test)


@portable
def settle_all(state: EventState, known: Ints) -> None:
    """Gives tests their first outcomes, one after another: rows of a test, its outcome and how."""
    for at in range(len(known)):
        settle_and_follow(state, known[at, 0], known[at, 1], known[at, 2])


@portable
def follow(state: EventState, tests: Ints) -> None:
    """Gives the alternatives of tests what follows from their outcomes."""
    for test in tests:
        end(state, test)
    for test in tests:
        keep(state, test)


@portable
def reject(state: EventState, tests: Ints) -> None:
    """Decides that whoever asks for one of these tests is false, whatever it wants."""
    for test in tests:
        for at in range(state.test_edges[test], state.test_edges[test + 1]):
            alternative = state.edges[state.test_edges[at], ALTERNATIVE]
            if state.alternatives[alternative, VERDICT] == OPEN:
                decide(state, alternative, FALSE, -1)


@portable
def spare_all(state: EventState, alternatives: Ints) -> None:
    """Makes alternatives needless that are open."""
    for alternative in alternatives:
        spare(state, alternative)
