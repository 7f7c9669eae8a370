"""Picks the next calls: what is certain, then what ends most for its cost.

A round is picked call by call, each on the expectation of those before it, and ends when what it
would have been needless to ask, had one waited, exceeds a small share of all that was spent.
Cost: O(needs of the alternatives that a call ends or that survive it) a call, and a look at the
blocks of units.
"""

from __future__ import annotations

from tamis.kit import portable
from tamis.planning import DECIDED, KNOWN
from tamis_planners.adaptive_shape import ALTERNATIVE, CALL, HOLDER
from tamis_planners.adaptive_state import (
    ASKED,
    AT_ONCE,
    AWAITED,
    BATCH,
    BLOCK,
    CERTAIN,
    CHANGED,
    COST,
    DECIDED_HEARD,
    DIRTY,
    GROUP,
    IMPLYING,
    IN_CERTAIN,
    IN_CHANGED,
    IN_LISTED,
    IN_SEEN,
    IN_UNSEEN,
    IS_ASKED,
    IS_NEW,
    IS_OPEN,
    IS_SETTLED,
    LEFT,
    LISTED,
    MARKED,
    MAY_BE_LESS,
    NEVER,
    OWN,
    PAID,
    PRICE,
    QUEUED,
    SPENT,
    SURVIVAL,
    TESTS_HEARD,
    UNIT,
    UNSEEN,
    WASTED,
    WorthState,
    affect,
    await_answer,
    benefit,
    close,
    give,
    is_answered,
    is_wanted,
    key_of,
    learn,
    share,
    split_up,
    touch,
    weigh,
)

TOLERATED_WASTE = 0.002
LEAST_SHARE = 1.0 / 3.0
_SMALL = 1e-12


@portable
def certain_call(state: WorthState) -> int:
    """Returns a call that every planner must make, -1 when none is known."""
    while state.numbers[CERTAIN] > 0:
        state.numbers[CERTAIN] -= 1
        alternative = state.alternatives[state.numbers[CERTAIN], IN_CERTAIN]
        state.alternatives[alternative, QUEUED] = 0
        if (
            not state.undecided[alternative]
            or state.alternatives[alternative, LEFT] != 1
            or state.alternatives[alternative, AWAITED]
        ):
            continue
        for need in range(state.need_start[alternative], state.need_start[alternative + 1]):
            call = state.needs[need, CALL]
            if state.stage[need] == IS_OPEN and not state.calls[call, ASKED]:
                return int(call)
    return -1


@portable
def put_back(state: WorthState) -> None:
    """Puts back the alternative that was taken last from those with a certain call."""
    state.alternatives[state.alternatives[state.numbers[CERTAIN], IN_CERTAIN], QUEUED] = 1
    state.numbers[CERTAIN] += 1


@portable
def rate(state: WorthState, unit: int) -> None:
    """Computes the key of a unit anew; the highest one of its block then is known, or too high."""
    block, before, now = unit // BLOCK, state.key[unit], key_of(state, unit)
    state.key[unit] = now
    if now >= state.best[block]:
        state.best[block] = now
        state.units[block, MAY_BE_LESS] = 0
    elif before >= state.best[block]:
        state.units[block, MAY_BE_LESS] = 1


@portable
def look_through(state: WorthState, block: int) -> None:
    """Finds the highest key of a block."""
    highest = NEVER
    for unit in range(block * BLOCK, min(len(state.units), (block + 1) * BLOCK)):
        highest = max(highest, state.key[unit])
    state.best[block] = highest
    state.units[block, MAY_BE_LESS] = 0


@portable
def best_unit(state: WorthState) -> int:
    """Returns the unit of the highest key, the first of several, -1 if none is needed.

    Keys mostly sink: a block is looked through only where it might have the highest one. Where
    outcomes imply others, what is found is rated anew before it is believed."""
    believed = -1
    while True:
        for at in range(state.numbers[CHANGED]):
            unit = state.units[at, IN_CHANGED]
            rate(state, unit)
            state.units[unit, DIRTY] = 0
        state.numbers[CHANGED] = 0
        top, found = NEVER, -1
        for block in range(len(state.best)):
            if state.best[block] > top:
                top, found = state.best[block], block
        if found < 0:
            return -1
        if state.units[found, MAY_BE_LESS]:
            look_through(state, found)
            continue
        best = found * BLOCK
        while state.key[best] != top:
            best += 1
        if best == believed or not state.numbers[IMPLYING]:
            return best
        touch(state, best)  # what others imply may have sunk since
        believed = best


@portable
def best_call(state: WorthState) -> int:
    """Returns the best call of the best unit, -1 when nobody needs any."""
    unit = best_unit(state)
    if unit < len(state.calls):
        return int(unit)
    found, highest = -1, -1.0
    for at in range(state.unit_calls[unit], state.unit_calls[unit + 1]):
        call = state.unit_calls[at]
        if is_wanted(state, call) and state.calls[call, UNIT] == unit:
            mine = benefit(state, call) / state.worth[call, COST]
            if mine > highest:
                found, highest = call, mine
    return int(found)


@portable
def needless_chance(state: WorthState, call: int) -> float:
    """Returns the chance that what is asked already ends every open alternative that needs a call.

    Alternatives that the same call is likeliest to end are taken to end together."""
    chance, listed = 1.0, 0
    for at in range(state.call_needs[call], state.call_needs[call + 1]):
        need = state.call_needs[at]
        alternative = state.needs[need, ALTERNATIVE]
        if state.stage[need] != IS_OPEN or not state.undecided[alternative]:
            continue
        if state.alternatives[alternative, AWAITED] == 0:
            chance = 0.0
            break
        survives, deadliest, ends = 1.0, -1, -1.0
        for other in range(state.need_start[alternative], state.need_start[alternative + 1]):
            if state.stage[other] == IS_ASKED:
                survives *= 1.0 - state.ends[other]
                if state.ends[other] > ends:
                    deadliest, ends = state.needs[other, CALL], state.ends[other]
        if state.worth[deadliest, SURVIVAL] < 0.0:
            state.calls[listed, IN_SEEN] = deadliest
            listed += 1
        state.worth[deadliest, SURVIVAL] = max(survives, state.worth[deadliest, SURVIVAL])
    for at in range(listed):
        deadliest = state.calls[at, IN_SEEN]
        chance *= 1.0 - state.worth[deadliest, SURVIVAL]
        state.worth[deadliest, SURVIVAL] = -1.0
    return chance


@portable
def is_worth_adding(state: WorthState, call: int) -> bool:
    """Returns whether a call of a batch is cheaper now, with the others, than perhaps later."""
    wanted = state.worth[call, OWN] / state.worth[call, COST]
    if wanted >= 1.0:
        return False
    spared = 1.0
    for at in range(state.call_needs[call], state.call_needs[call + 1]):
        need = state.call_needs[at]
        alternative = state.needs[need, ALTERNATIVE]
        if state.stage[need] != IS_OPEN or not state.undecided[alternative]:
            continue
        reached = 1.0
        ratio = state.worth[call, COST] / (state.ends[need] + _SMALL)
        for other in range(state.need_start[alternative], state.need_start[alternative + 1]):
            if other == need:
                continue
            its_call = state.needs[other, CALL]
            if state.stage[other] != IS_SETTLED and (
                state.calls[its_call, ASKED]
                or state.worth[its_call, COST] / (state.ends[other] + _SMALL) < ratio
            ):
                reached *= 1.0 - state.ends[other]
        spared *= 1.0 - reached
        if 1.0 - spared > wanted:
            return True
    return False


@portable
def full_cost(state: WorthState, call: int) -> float:
    """Returns the cost of a call now, with its preparation when that is not paid."""
    cost, group = state.worth[call, COST], state.calls[call, GROUP]
    if group >= 0 and not state.units[group, PAID]:
        cost += state.prices[group, PRICE]
    return cost


@portable
def ask_one(state: WorthState, call: int, cost: float, asked: int) -> int:
    """Puts a call on the list of what is asked for."""
    state.calls[call, ASKED] = 1
    touch(state, state.calls[call, UNIT])
    group = state.calls[call, GROUP]
    if group >= 0 and not state.units[group, PAID]:
        cost += state.prices[group, PRICE]
        state.units[group, PAID] = 1
    state.sums[SPENT] += cost
    state.calls[state.numbers[UNSEEN], IN_UNSEEN] = call
    state.numbers[UNSEEN] += 1
    state.picks[asked] = call
    return asked + 1


@portable
def ask(state: WorthState, call: int, asked: int) -> int:
    """Asks for a call, and for those of its batch that are cheaper with it than perhaps later."""
    asked = ask_one(state, call, state.worth[call, COST], asked)
    batch = state.calls[call, BATCH]
    if batch >= 0:
        unit = len(state.calls) + batch
        for at in range(state.unit_calls[unit], state.unit_calls[unit + 1]):
            other = state.unit_calls[at]
            if is_wanted(state, other) and is_worth_adding(state, other):
                asked = ask_one(state, other, state.worth[other, OWN], asked)
    return asked


@portable
def list_affected(state: WorthState, tests: int, decided: int) -> None:
    """Lists the alternatives that what is known and what was asked is going to change."""
    for at in range(state.numbers[TESTS_HEARD], tests):
        test = state.progress_known[at]
        if not state.known[test]:
            state.known[test] = IS_NEW
            for place in range(state.test_edges[test], state.test_edges[test + 1]):
                affect(state, state.edges[state.test_edges[place], HOLDER])
    for at in range(state.numbers[DECIDED_HEARD], decided):
        affect(state, state.progress_decided[at])
    listed = -1
    for at in range(state.numbers[UNSEEN]):
        call = state.calls[at, IN_UNSEEN]
        unit = state.calls[call, UNIT]
        if unit == listed:
            continue  # all calls of its preparation are listed already
        if unit == state.calls[call, GROUP]:
            listed = unit
            start, stop = state.unit_calls[unit], state.unit_calls[unit + 1]
        else:
            start, stop = 0, 1
        for member in range(start, stop):
            mine = state.unit_calls[member] if start > 0 else call
            if is_answered(state, mine):
                continue  # who needs it is listed already
            for place in range(state.call_needs[mine], state.call_needs[mine + 1]):
                need = state.call_needs[place]
                if state.stage[need] == IS_OPEN:
                    affect(state, state.needs[need, ALTERNATIVE])


@portable
def update(state: WorthState) -> None:
    """Takes in what is known by now, and that calls are asked; weights and scores follow."""
    tests, decided = state.progress_counts[KNOWN], state.progress_counts[DECIDED]
    list_affected(state, tests, decided)
    for at in range(state.numbers[LISTED]):
        share(state, state.alternatives[at, IN_LISTED], -1.0)
    for at in range(state.numbers[TESTS_HEARD], tests):
        test = state.progress_known[at]
        learn(state, test, state.progress_outcome[test])
    for at in range(state.numbers[DECIDED_HEARD], decided):
        if state.undecided[state.progress_decided[at]]:
            close(state, state.progress_decided[at])
    state.numbers[TESTS_HEARD], state.numbers[DECIDED_HEARD] = tests, decided
    for at in range(state.numbers[UNSEEN]):
        call = state.calls[at, IN_UNSEEN]
        await_answer(state, call)
        if state.calls[call, UNIT] == state.calls[call, GROUP]:
            split_up(state, state.calls[call, UNIT])
    state.numbers[UNSEEN] = 0
    for at in range(state.numbers[LISTED]):
        if state.undecided[state.alternatives[at, IN_LISTED]]:
            weigh(state, state.alternatives[at, IN_LISTED])
    for at in range(state.numbers[LISTED]):
        alternative = state.alternatives[at, IN_LISTED]
        state.alternatives[alternative, MARKED] = 0
        if state.undecided[alternative]:
            give(state, alternative)
    state.numbers[LISTED] = 0


@portable
def wasteful(state: WorthState, call: int, first: float) -> bool:
    """Returns whether a round had better end than be joined by a call, whose waste counts if not;
    its first call had this key."""
    waste = needless_chance(state, call) * full_cost(state, call)
    if (
        state.key[state.calls[call, UNIT]] < LEAST_SHARE * first
        or state.sums[WASTED] + waste > TOLERATED_WASTE * state.sums[SPENT]
    ):
        return True
    state.sums[WASTED] += waste
    return False


@portable
def advance(state: WorthState, limit: int) -> int:
    """Takes in what is known by now and picks the next calls; how many they are.

    What is certain comes first: calls that every planner must make, whatever others answer; all of
    them at once where that is allowed, but for one of a batch with its batch alone."""
    asked, first = 0, NEVER
    for made in range(limit):
        update(state)
        before, more = asked, True
        while more:
            call = certain_call(state)
            if call >= 0:
                is_batched = state.calls[call, BATCH] >= 0
                if asked > before and is_batched:
                    put_back(state)
                    break
                more = state.numbers[AT_ONCE] and not is_batched
            elif asked > before:
                break
            else:
                call = best_call(state)
                if call < 0 or (made > 0 and wasteful(state, call, first)):
                    return asked
                if first == NEVER:
                    first = state.key[state.calls[call, UNIT]]
                more = False
            asked = ask(state, call, asked)
    return asked
