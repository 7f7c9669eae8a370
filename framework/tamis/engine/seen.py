"""Takes what an event has shown into rows of numbers, and says what to expect by them.

A test, a call and an operator is a row each. The number of the event in which something was seen
last is in it: what was not seen for long fades to half in so many events, and what is below it (its
call, its operator, history) shows through. Rows are lists for the interpreter, and of an array for
what is compiled; both compute the same. Cost: O(1) an outcome, an answer, an expectation.
"""

from __future__ import annotations

from tamis.numeric.kernels import portable
from tamis.numeric.types import Bytes, Floats, Ints, SmallInts
from tamis.planning import UNKNOWN
from tamis.statistics.costs import (
    add_cost,
    add_invocation,
    after_declared,
    batch_line,
)
from tamis.statistics.history import PRIOR_OUTCOMES
from tamis.statistics.shares import (
    TRUE,
    WEIGHT,
    add_outcome,
    is_surprised,
    mean,
)

# all rows begin with a share that may drift: of true outcomes of a test, of failures of calls; then
# the event in which it was seen last (below zero for what was only asked for), and how often it was
AT, MADE = 5, 6
# tests and calls: how often they failed and were true; what history says (a share or a cost, below
# zero if nothing), and how many outcomes or measurements this counts as
FAILED, SATISFIED, GIVEN, STRENGTH = range(7, 11)
# tests
CALL, IS_GUARDED, HAS_DRIFTED, TEST_WIDTH = range(11, 15)
# calls and operators: a cost
COST = 11
# calls: the share of its tests with constraints, how often it failed by history, and what was
# measured altogether
GUARDED, FAILED_BEFORE, OPERATOR, MEASURED, SECONDS, CALL_WIDTH = 13, 15, 16, 17, 18, 19
# operators: measured costs over those that history has (the machine may be another one); batches;
# the shares of tests without and with constraints, and what history says of them; declarations
PACE, BATCH, AVERAGES, PRIORS = 13, 15, 20, 24
DECLARED, MARGINAL, IS_BATCHED, IS_PREPARED, OPERATOR_WIDTH = range(26, 31)

NOTHING = -1.0
_FAILURE_MEMORY = 32
_SURPRISING_FAILURE = 0.1
_SOUND = 4.0
"""Calls without failure that an operator is credited with."""
_FRESH = 32
_HALF_LIFE = 1024.0
_FAILURE_HALF_LIFE = 256.0
_SURPRISING = 10.0
_SURPRISING_SECONDS = 1e-3
_COST_FORGOTTEN = 4.0


@portable
def faded(pause: float, half_life: float) -> float:
    """Returns what is left of the weight of something that was not seen for so many events."""
    if pause <= _FRESH:
        return 1.0
    left: float = 0.5 ** ((pause - _FRESH) / half_life)
    return left


# learning


@portable
def begin(test: Floats, calls: Floats, now: int) -> None:
    """Notes that a test that was only asked for is seen, and so is its call."""
    test[AT] = now
    call = calls[int(test[CALL])]
    if call[AT] < 0.0:
        call[AT] = now


@portable
def take_outcomes(
    tests: Floats,
    calls: Floats,
    operators: Floats,
    credible: Floats,
    rows: Ints,
    numbers: SmallInts,
    outcomes: SmallInts,
    now: int,
) -> bool:
    """Counts the outcomes of tests with these numbers; whether one has drifted."""
    has_drifted = False
    for number in numbers:
        test = tests[rows[number]]
        if test[AT] < 0.0:
            begin(test, calls, now)
        test[MADE] += 1.0
        truth = outcomes[number]
        if truth == UNKNOWN:
            test[FAILED] += 1.0
            continue
        if now - test[AT] > _FRESH:
            left = faded(now - test[AT], _HALF_LIFE)
            test[WEIGHT] *= left
            test[TRUE] *= left
        test[AT] = now
        test[SATISFIED] += truth
        if is_surprised(test, truth, test[GIVEN], test[STRENGTH], credible):
            test[HAS_DRIFTED] = 1.0
            test[STRENGTH] = 0.0
            has_drifted = True
        call = calls[int(test[CALL])]
        average = AVERAGES
        if test[IS_GUARDED]:
            average += 2
            add_outcome(call, GUARDED, truth)
        add_outcome(operators[int(call[OPERATOR])], average, truth)
    return has_drifted


@portable
def take_failure(row: Floats, failed: int, now: int, credible: Floats) -> bool:
    """Counts a call of itself or an operator; whether something broke by it, or was mended.

    Calls before the first failure are only counted when there is one."""
    if row[WEIGHT] and now - row[AT] > _FRESH:
        left = faded(now - row[AT], _FAILURE_HALF_LIFE)
        row[WEIGHT] *= left
        row[TRUE] *= left
    row[AT] = now
    row[MADE] += 1.0
    if not row[WEIGHT]:
        if not failed:
            return False
        row[WEIGHT] = min(row[MADE], _FAILURE_MEMORY) - 1.0
    is_new = failed and row[TRUE] < _SURPRISING_FAILURE * row[WEIGHT]
    return bool(is_surprised(row, failed, 0.5, 0.0, credible) or is_new)


@portable
def take_cost(call: Floats, operator: Floats, seconds: float, together: int) -> bool:
    """Measures a call, one of so many of an invocation; whether that was a surprise.

    Where several events are asked about at once, its equal part is what a call costs."""
    call[MEASURED] += 1.0
    call[SECONDS] += seconds
    if operator[IS_BATCHED]:
        add_invocation(operator, BATCH, together, seconds * together, 1.0 / together)
        if together != 1:
            return False
    is_surprise = False
    if seconds > _SURPRISING_SECONDS:
        is_surprise = seconds > _SURPRISING * expected_cost(call, operator)
    if call[GIVEN] > 0.0:
        add_cost(operator, PACE, seconds / call[GIVEN])
    add_cost(call, COST, seconds)
    add_cost(operator, COST, seconds)
    return is_surprise


@portable
def take_answers(
    calls: Floats,
    operators: Floats,
    credible: Floats,
    rows: Ints,
    numbers: Ints,
    truths: Bytes,
    failures: Bytes,
    seconds: Floats,
    together: Ints,
    now: int,
) -> bool:
    """Measures the calls with these numbers; whether one was a surprise."""
    is_surprise = False
    for at in range(len(numbers)):
        call = calls[rows[numbers[at]]]
        operator = operators[int(call[OPERATOR])]
        failed = failures[at]
        take_failure(operator, failed, now, credible)
        if take_failure(call, failed, now, credible):
            is_surprise = True
        if failed:
            call[FAILED] += 1.0
            if operator[IS_PREPARED]:
                continue  # it may never have come to the call
        else:
            call[SATISFIED] += truths[at]
        if take_cost(call, operator, seconds[at], together[at]):
            is_surprise = True
    return is_surprise


# expecting


@portable
def inherited(test: Floats, call: Floats, operator: Floats) -> float:
    """Returns what to expect of a test of which nothing is known, by its call and operator."""
    guarded = int(test[IS_GUARDED])
    prior = operator[PRIORS + guarded]
    expected = mean(operator, AVERAGES + 2 * guarded, prior, PRIOR_OUTCOMES, 1.0)
    return mean(call, GUARDED, expected, PRIOR_OUTCOMES, 1.0) if guarded else expected


@portable
def expect_selectivities(
    tests: Floats, calls: Floats, operators: Floats, rows: Ints, now: int, expected: Floats
) -> None:
    """Finds the share of events that satisfy each test."""
    for at in range(len(rows)):
        test = tests[rows[at]]
        strength = test[STRENGTH]
        if test[AT] < 0.0 and test[GIVEN] >= 0.0:
            expected[at] = test[GIVEN]
            continue
        left = faded(now - test[AT], _HALF_LIFE) if test[WEIGHT] else 1.0
        if strength:
            prior = test[GIVEN]
        else:
            call = calls[int(test[CALL])]
            prior = inherited(test, call, operators[int(call[OPERATOR])])
            if test[AT] < 0.0:
                expected[at] = prior
                continue
            strength = PRIOR_OUTCOMES
        expected[at] = mean(test, WEIGHT, prior, strength, left)


@portable
def expected_cost(call: Floats, operator: Floats) -> float:
    """Returns the seconds of a call."""
    if call[GIVEN] >= 0.0:
        prior: float = call[GIVEN] * after_declared(operator, PACE, 1.0)
        strength = call[STRENGTH]
    else:
        strength = 1.0
        if operator[BATCH]:
            prior = batch_line(operator, BATCH, operator[DECLARED], operator[MARGINAL])[0]
        else:
            prior = after_declared(operator, COST, operator[DECLARED])
    weight: float = call[COST]
    if weight == 0.0:
        return prior
    strength /= 1.0 + weight / _COST_FORGOTTEN
    cost: float = (weight * call[COST + 1] + strength * prior) / (weight + strength)
    return cost


@portable
def failing_share(row: Floats, prior: float, strength: float, now: int) -> float:
    """Returns how often a call or an operator fails: what is broken may be mended after a while."""
    if not row[WEIGHT]:
        return prior
    return mean(row, WEIGHT, prior, strength, faded(now - row[AT], _FAILURE_HALF_LIFE))


@portable
def expect_calls(
    calls: Floats,
    operators: Floats,
    rows: Ints,
    now: int,
    costs: Floats,
    failures: Floats,
    marginal: Floats,
) -> None:
    """Finds the seconds of each call, by itself or together with others of its batch, and the share
    of events for which it fails."""
    for at in range(len(rows)):
        call = calls[rows[at]]
        operator = operators[int(call[OPERATOR])]
        costs[at] = marginal[at] = expected_cost(call, operator)
        if operator[IS_BATCHED]:
            line = batch_line(operator, BATCH, operator[DECLARED], operator[MARGINAL])
            marginal[at] = min(costs[at], line[1])
        of_operator = failing_share(operator, 0.0, _SOUND, now)
        prior = max(call[FAILED_BEFORE], of_operator)
        failures[at] = failing_share(call, prior, PRIOR_OUTCOMES, now)
