"""Keeps up what deciding the open alternatives is worth, as outcomes come in.

The weight of an open alternative is shared out among the needs it has left: the score of a call is
the sum, over the open alternatives that need it, of the chance that it ends one times its weight.
A need is open, asked (its outcome is awaited: the weight counts with the chance to survive it), or
settled. Invariant: scores are sums over exactly the open needs of open alternatives; whether a call
is needed at all is counted in whole numbers. Cost: O(needs of the alternative) a change of one.
"""

from __future__ import annotations

from typing import NamedTuple

from tamis.kit import Floats, Ints, SmallInts, TinyInts, portable
from tamis_planners.adaptive_shape import ALTERNATIVE, CALL, FIRST, HOLDER, NEED, TEST, WANTED

# alternatives; the last two columns are lists: of those of which one need is left that nothing can
# make needless, and of those that are about to change
LEFT, AWAITED, QUEUED, MARKED, OWNER, FREE, IN_CERTAIN, IN_LISTED = range(8)
# calls; lists of those that were asked for since weights were computed, and for a search
NEEDED, ASKED, GROUP, BATCH, UNIT, IMPLICABLE, IN_UNSEEN, IN_SEEN = range(8)
# weights of alternatives: by itself, the chance to come out true, the expected cost of deciding it
# alone, the weight among its siblings, and what its calls gain for their cost when it is true
BASE, TRUE, ALONE, WEIGHT, PUSH = range(5)
# worth of calls
COST, OWN, SCORE, PEAK, FAILURE, SURVIVAL = range(6)
# prices of units
PRICE, JOINT = range(2)
# units; a list of those whose keys are not what they were; and by block of units, whether the
# highest key may have sunk
DIRTY, PAID, IN_CHANGED, MAY_BE_LESS = range(4)
# numbers of the run; how many known tests and decided alternatives were taken in, and whether what
# is certain may be asked for at once
CERTAIN, CHANGED, LISTED, UNSEEN, WEIGHTED, IMPLYING = range(6)
TESTS_HEARD, DECIDED_HEARD, AT_ONCE = range(6, 9)
# sums of the run
SPENT, WASTED = range(2)
# a test that has an outcome is taken in, or is about to be
IS_KNOWN, IS_NEW = 1, 2
# stages of a need
IS_OPEN, IS_ASKED, IS_SETTLED = range(3)
# what orders the open needs of one alternative
RATIO, EXPENSE, PASSES = range(3)

BLOCK = 64
SORTED_AT_MOST = 64
SIBLINGS_AT_MOST = 16
EXPONENT = 1.6
DAMPING = 0.75
DEAREST = 1e150
"""The highest cost of deciding an alternative, so that its weight is a finite number."""
_SMALL = 1e-12
_STALE = 1e-7
NEVER = -1.0


class WorthState(NamedTuple):
    """One event: what never changes first, then what does."""

    needs: SmallInts
    edges: SmallInts
    need_start: SmallInts
    test_edges: SmallInts
    call_needs: SmallInts
    owned: SmallInts
    call_tests: SmallInts
    implied: SmallInts
    unit_calls: SmallInts
    alternatives: SmallInts
    calls: SmallInts
    units: SmallInts
    siblings: SmallInts
    """The open alternatives of each subscription."""
    undecided: TinyInts
    """By alternative: whether it is open; by itself, as it is read most."""
    stage: TinyInts
    known: TinyInts
    numbers: Ints
    selectivity: Floats
    ends: Floats
    """By need: the chance that its call ends the alternative."""
    weights: Floats
    worth: Floats
    prices: Floats
    key: Floats
    """By unit: benefit for cost, below zero when nobody needs it."""
    best: Floats
    """The highest key of each block of units, or more."""
    sums: Floats
    ordered: Floats
    ended: Floats
    """The weight of open alternatives that outcome `o` of test `t` would end, at `2 * t + o`."""
    picks: Ints
    """The calls to make next."""
    progress_known: SmallInts
    """This and what follows is the `Progress` of the event, which grows as it is decided."""
    progress_outcome: SmallInts
    progress_decided: SmallInts
    progress_counts: Ints


@portable
def touch(state: WorthState, unit: int) -> None:
    """Notes that the key of a unit is to be computed anew."""
    if not state.units[unit, DIRTY]:
        state.units[unit, DIRTY] = 1
        state.units[state.numbers[CHANGED], IN_CHANGED] = unit
        state.numbers[CHANGED] += 1


@portable
def share(state: WorthState, alternative: int, sign: float) -> None:
    """Gives the weight of an open alternative to its calls and their units, or takes it back."""
    weight, push = (
        sign * state.weights[alternative, WEIGHT],
        sign * state.weights[alternative, PUSH],
    )
    singles = len(state.calls)
    unit, passes = -1, 1.0
    for need in range(state.need_start[alternative], state.need_start[alternative + 1]):
        if state.stage[need] != IS_OPEN:
            continue
        call = state.needs[need, CALL]
        ends, pushed = state.ends[need], push * state.worth[call, OWN]
        if state.numbers[IMPLYING]:
            for edge in range(state.needs[need, FIRST], state.needs[need + 1, FIRST]):
                both = 2 * state.edges[edge, TEST]
                state.ended[both + 1 - state.edges[edge, WANTED]] += weight
        state.worth[call, SCORE] += weight * ends + pushed
        mine = state.calls[call, UNIT]
        touch(state, mine)
        if mine != unit:
            if unit >= singles:
                state.prices[unit, JOINT] += weight * (1.0 - passes)
            unit, passes = mine, 1.0
        if mine >= singles:
            state.prices[mine, JOINT] += pushed
        passes *= 1.0 - ends
    if unit >= singles:
        state.prices[unit, JOINT] += weight * (1.0 - passes)


@portable
def put_in_order(state: WorthState, items: int, expense: float, passes: float) -> None:
    """Puts one more thing to pay for before those that end less for their expense."""
    ratio = expense / (1.0 - passes + _SMALL)
    at = items
    if items < SORTED_AT_MOST:
        while at > 0 and state.ordered[at - 1, RATIO] > ratio:
            state.ordered[at, RATIO] = state.ordered[at - 1, RATIO]
            state.ordered[at, EXPENSE] = state.ordered[at - 1, EXPENSE]
            state.ordered[at, PASSES] = state.ordered[at - 1, PASSES]
            at -= 1
    state.ordered[at, RATIO] = ratio
    state.ordered[at, EXPENSE] = expense
    state.ordered[at, PASSES] = passes


@portable
def weigh(state: WorthState, alternative: int) -> None:
    """Weighs an open alternative by itself: R^1.6 · 0.75^(units left - 1), R the expected cost
    of deciding it alone from here, times the chance that it survives what is asked already."""
    survives, true = 1.0, 1.0
    items, unit, batch = 0, -1, -1
    expense, passes, extra = 0.0, 1.0, 0.0
    for need in range(state.need_start[alternative], state.need_start[alternative + 1]):
        if state.stage[need] == IS_ASKED:
            survives *= 1.0 - state.ends[need]
        if state.stage[need] != IS_OPEN or not state.numbers[WEIGHTED]:
            continue
        call = state.needs[need, CALL]
        mine, its_batch = state.calls[call, UNIT], state.calls[call, BATCH]
        own = state.worth[call, OWN]
        if mine != unit:
            if unit >= 0:
                put_in_order(state, items, expense + extra, passes)
                items += 1
            unit, batch, passes, extra = mine, -1, 1.0, 0.0
            expense = state.prices[mine, PRICE]
        if its_batch < 0:
            expense += own
        elif its_batch == batch:
            expense += own
            extra = min(extra, state.worth[call, COST] - own)
        else:
            expense += own + extra
            extra = state.worth[call, COST] - own
            batch = its_batch
        passes *= 1.0 - state.ends[need]
        true *= 1.0 - state.ends[need]
    state.weights[alternative, ALONE] = 0.0
    state.weights[alternative, TRUE] = survives * true
    state.weights[alternative, BASE] = survives
    if not state.numbers[WEIGHTED]:
        return
    if unit >= 0:
        put_in_order(state, items, expense + extra, passes)
        items += 1
    alone, reached, damping = 0.0, 1.0, 1.0 / DAMPING
    for at in range(items):
        alone += reached * state.ordered[at, EXPENSE]
        reached *= state.ordered[at, PASSES]
        damping *= DAMPING
    alone = min(alone, DEAREST)
    state.weights[alternative, ALONE] = alone
    state.weights[alternative, BASE] = survives * alone**EXPONENT * damping


@portable
def temper(state: WorthState, alternative: int) -> None:
    """Weighs an open alternative among its siblings.

    It counts with the chance that none of them makes it needless; that it is true itself is worth
    what it and they weigh, and all its calls share that by their costs."""
    owner = state.alternatives[alternative, OWNER]
    weight, push = state.weights[alternative, BASE], 0.0
    if state.numbers[WEIGHTED] and 1 < state.siblings[owner] <= SIBLINGS_AT_MOST:
        spared = 0.0
        for at in range(state.owned[owner], state.owned[owner + 1]):
            other = state.owned[at]
            if other == alternative or not state.undecided[other]:
                continue
            if state.alternatives[alternative, FREE]:
                weight *= 1.0 - state.weights[other, TRUE]
            if state.alternatives[other, FREE]:
                spared += state.weights[other, BASE]
        if spared > 0.0 and state.weights[alternative, ALONE] > 0.0:
            spared += state.weights[alternative, BASE]
            push = state.weights[alternative, TRUE] * spared / state.weights[alternative, ALONE]
    state.weights[alternative, WEIGHT] = weight
    state.weights[alternative, PUSH] = push


@portable
def affect(state: WorthState, alternative: int) -> None:
    """Lists an open alternative that is about to change, with siblings that depend on it."""
    if not state.undecided[alternative]:
        return
    owner = state.alternatives[alternative, OWNER]
    if not state.numbers[WEIGHTED] or not 1 < state.siblings[owner] <= SIBLINGS_AT_MOST:
        put_on_list(state, alternative)
        return
    for at in range(state.owned[owner], state.owned[owner + 1]):
        if state.undecided[state.owned[at]]:
            put_on_list(state, state.owned[at])


@portable
def put_on_list(state: WorthState, alternative: int) -> None:
    """Lists an alternative once."""
    if not state.alternatives[alternative, MARKED]:
        state.alternatives[alternative, MARKED] = 1
        state.alternatives[state.numbers[LISTED], IN_LISTED] = alternative
        state.numbers[LISTED] += 1


@portable
def may_be_implied(state: WorthState, alternative: int) -> bool:
    """Returns whether another call may decide one that an alternative needs."""
    for need in range(state.need_start[alternative], state.need_start[alternative + 1]):
        if state.stage[need] == IS_OPEN and state.calls[state.needs[need, CALL], IMPLICABLE]:
            return True
    return False


@portable
def notice(state: WorthState, alternative: int) -> None:
    """Queues an alternative whose last call must be made by every planner: none may imply it."""
    if (
        state.undecided[alternative]
        and state.alternatives[alternative, LEFT] == 1
        and not state.alternatives[alternative, AWAITED]
        and not state.alternatives[alternative, QUEUED]
        and (
            not state.alternatives[alternative, FREE]
            or state.siblings[state.alternatives[alternative, OWNER]] == 1
        )
        and not (state.numbers[IMPLYING] and may_be_implied(state, alternative))
    ):
        state.alternatives[alternative, QUEUED] = 1
        state.alternatives[state.numbers[CERTAIN], IN_CERTAIN] = alternative
        state.numbers[CERTAIN] += 1


@portable
def close(state: WorthState, alternative: int) -> None:
    """Closes a decided alternative: it needs no call any more."""
    state.undecided[alternative] = 0
    for need in range(state.need_start[alternative], state.need_start[alternative + 1]):
        if state.stage[need] == IS_OPEN:
            state.calls[state.needs[need, CALL], NEEDED] -= 1
    owner = state.alternatives[alternative, OWNER]
    state.siblings[owner] -= 1
    if state.siblings[owner] == 1:
        for at in range(state.owned[owner], state.owned[owner + 1]):
            notice(state, state.owned[at])


@portable
def move_on(state: WorthState, need: int, stage: int) -> None:
    """Moves on an open alternative whose need is asked now, or settled without ending it."""
    alternative = state.needs[need, ALTERNATIVE]
    if state.stage[need] == IS_OPEN:
        state.alternatives[alternative, LEFT] -= 1
        state.calls[state.needs[need, CALL], NEEDED] -= 1
    else:
        state.alternatives[alternative, AWAITED] -= 1
    if stage == IS_ASKED:
        state.alternatives[alternative, AWAITED] += 1
    state.stage[need] = stage


@portable
def chance_to_end(state: WorthState, need: int) -> float:
    """Returns the chance that a need's call ends its alternative, by its unknown tests."""
    passes = 1.0
    for edge in range(state.needs[need, FIRST], state.needs[need + 1, FIRST]):
        test = state.edges[edge, TEST]
        if state.known[test] != IS_KNOWN:
            share_true = state.selectivity[test]
            passes *= share_true if state.edges[edge, WANTED] else 1.0 - share_true
    return (1.0 - passes) * (1.0 - state.worth[state.needs[need, CALL], FAILURE])


@portable
def learn(state: WorthState, test: int, outcome: int) -> None:
    """Takes one outcome; an unknown one ends nothing."""
    if state.known[test] == IS_KNOWN:
        return
    state.known[test] = IS_KNOWN
    for at in range(state.test_edges[test], state.test_edges[test + 1]):
        edge = state.test_edges[at]
        alternative = state.edges[edge, HOLDER]
        if not state.undecided[alternative]:
            continue
        need = state.edges[edge, NEED]
        if state.stage[need] == IS_SETTLED:
            continue
        if outcome <= 1 and outcome != state.edges[edge, WANTED]:
            close(state, alternative)
            continue
        left = 0
        for other in range(state.needs[need, FIRST], state.needs[need + 1, FIRST]):
            if state.known[state.edges[other, TEST]] != IS_KNOWN:
                left += 1
        if left == 0:
            move_on(state, need, IS_SETTLED)
        else:
            state.ends[need] = chance_to_end(state, need)


@portable
def is_answered(state: WorthState, call: int) -> bool:
    """Returns whether all tests of a call have an outcome."""
    for at in range(state.call_tests[call], state.call_tests[call + 1]):
        if not state.known[state.call_tests[at]]:
            return False
    return True


@portable
def await_answer(state: WorthState, call: int) -> None:
    """Lets those that need an asked call count with the chance to survive it."""
    if is_answered(state, call):
        return
    for at in range(state.call_needs[call], state.call_needs[call + 1]):
        need = state.call_needs[at]
        is_open = state.undecided[state.needs[need, ALTERNATIVE]]
        if is_open and state.stage[need] == IS_OPEN:
            move_on(state, need, IS_ASKED)


@portable
def split_up(state: WorthState, unit: int) -> None:
    """Splits up a paid preparation: its calls are units of their own now, or batches."""
    touch(state, unit)
    singles = len(state.calls)
    for at in range(state.unit_calls[unit], state.unit_calls[unit + 1]):
        call = state.unit_calls[at]
        batch = state.calls[call, BATCH]
        mine = call if batch < 0 else singles + batch
        state.calls[call, UNIT] = mine
        touch(state, mine)


@portable
def score(state: WorthState, call: int) -> float:
    """Returns the benefit of a call; summed anew when little is left and rounding would show."""
    found = state.worth[call, SCORE]
    if state.calls[call, NEEDED] == 0:
        found = 0.0
        state.worth[call, PEAK] = 0.0
    elif found < _STALE * state.worth[call, PEAK]:
        found = 0.0
        for at in range(state.call_needs[call], state.call_needs[call + 1]):
            need = state.call_needs[at]
            alternative = state.needs[need, ALTERNATIVE]
            if state.stage[need] == IS_OPEN and state.undecided[alternative]:
                found += state.weights[alternative, WEIGHT] * state.ends[need]
                found += state.weights[alternative, PUSH] * state.worth[call, OWN]
        state.worth[call, PEAK] = found
    state.worth[call, PEAK] = max(found, state.worth[call, PEAK])
    state.worth[call, SCORE] = found
    return found


@portable
def benefit(state: WorthState, call: int) -> float:
    """Returns the score of a call with what its outcomes end by what they imply."""
    found = max(0.0, score(state, call))
    if state.numbers[IMPLYING]:
        answers = 1.0 - state.worth[call, FAILURE]
        for at in range(state.call_tests[call], state.call_tests[call + 1]):
            test = state.call_tests[at]
            for outcome in range(2):
                ended = 0.0
                for place in range(
                    state.implied[2 * test + outcome],
                    state.implied[2 * test + outcome + 1],
                ):
                    ended += state.ended[state.implied[place]]
                share_true = state.selectivity[test]
                found += answers * ended * (share_true if outcome else 1.0 - share_true)
    return max(0.0, found)


@portable
def is_wanted(state: WorthState, call: int) -> bool:
    """Returns whether an open alternative needs a call that was not asked for."""
    return state.calls[call, NEEDED] > 0 and not state.calls[call, ASKED]


@portable
def key_of(state: WorthState, unit: int) -> float:
    """Returns the benefit of a unit for its cost: of all that is wanted, or of the best call."""
    singles = len(state.calls)
    if unit < singles:
        if not is_wanted(state, unit) or state.calls[unit, UNIT] != unit:
            return NEVER
        return benefit(state, unit) / state.worth[unit, OWN]
    if state.units[unit, PAID]:
        return NEVER
    price = total = state.prices[unit, PRICE]
    highest, batch, extra = NEVER, -1, 0.0
    for at in range(state.unit_calls[unit], state.unit_calls[unit + 1]):
        call = state.unit_calls[at]
        if not is_wanted(state, call) or state.calls[call, UNIT] != unit:
            continue
        cost, own = state.worth[call, COST], state.worth[call, OWN]
        its_batch = state.calls[call, BATCH]
        if its_batch != batch:
            total += extra
            batch, extra = its_batch, cost - own
        extra = min(extra, cost - own)
        total += own
        highest = max(highest, benefit(state, call) / (price + cost))
    total += extra
    if highest == NEVER:
        state.prices[unit, JOINT] = 0.0
        return NEVER
    return max(highest, state.prices[unit, JOINT] / total)


@portable
def give(state: WorthState, alternative: int) -> None:
    """Shares out the weight that an open alternative has now."""
    temper(state, alternative)
    share(state, alternative, 1.0)
    notice(state, alternative)


@portable
def weigh_all(state: WorthState) -> None:
    """Computes all weights and scores anew, from selectivities and stages."""
    for call in range(len(state.calls)):
        state.worth[call, SCORE] = state.worth[call, PEAK] = 0.0
    for unit in range(len(state.units)):
        state.prices[unit, JOINT] = 0.0
    for outcome in range(len(state.ended)):
        state.ended[outcome] = 0.0
    for alternative in range(len(state.alternatives)):
        if state.undecided[alternative]:
            for need in range(state.need_start[alternative], state.need_start[alternative + 1]):
                if state.stage[need] != IS_SETTLED:
                    state.ends[need] = chance_to_end(state, need)
            weigh(state, alternative)
    # backwards, so that of what is certain the first subscribed is asked for first
    for alternative in range(len(state.alternatives) - 1, -1, -1):
        if state.undecided[alternative]:
            give(state, alternative)
