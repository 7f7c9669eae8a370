"""Expects outcomes and costs of tests and calls, from history and from what this process has seen.

Every outcome counts for selectivities, however it came about (called, shared, implied by another
one, remembered), but for what a declaration excludes: they are shares of the events in which the
declarations of a test hold. Only calls that were made say what calls cost and how often they fail.
Unknown outcomes count for no selectivity: a broken operator would look selective.

What is not known of a test is taken from its call, then its operator, then the prior. History
counts for so many outcomes at most, and for none once a test has drifted; what was not seen for
long fades. State is kept by canonical text, so that what is subscribed again is known at once, and
for so many tests at most.

Invariant: expectations change no answer; before the first event they are those of history.
Cost: O(outcomes) an event and O(tests) to be asked, a microsecond or two each; for large problems a
tenth of that, most of it a look-up for each test of a problem that is new.
"""

from __future__ import annotations

import itertools
import threading
from collections import deque
from collections.abc import Callable, Container, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from tamis.catalog.interned import NumberedThings
from tamis.engine import seen
from tamis.engine.seen_form import INTERPRETED, Table, compiled_form, credible
from tamis.event import Event
from tamis.numeric.types import Floats
from tamis.operators.asking import Call, Solution, Test
from tamis.operators.specification import Preparation, Specification
from tamis.planning import KNOWN, Expectations, Problem, Scenes
from tamis.statistics.costs import add_cost, after_declared
from tamis.statistics.history import PRIOR_SELECTIVITY, Statistics
from tamis.statistics.predicates import PredicateStatistics
from tamis.statistics.shares import WEIGHT, add_outcome

if TYPE_CHECKING:
    from tamis.engine.decision import Decision


T = TypeVar("T", Test, Call)
CAPACITY = 1 << 18
"""Tests (and calls) of which something is kept at most, or twice as many as a problem has."""
OPINION = 16.0
"""Outcomes that a selectivity given without counts stands for."""
_MOST_HISTORY = 128
_COST_OPINION = 8.0
_MOST_COST_HISTORY = 32
_CALL_OPINION = 2.0
_LONGEST_PAUSE = 32
_ANSWERS = 16
_SOLUTIONS = 64
_SAMPLED_CALLS = 4096
_MOST_BY_TEXT = 16
"""Of fewer things, looking up texts is faster than arrays are."""
_NEW_OPERATOR = np.zeros(seen.OPERATOR_WIDTH)
_NEW_CALL, _NEW_TEST = np.zeros(seen.CALL_WIDTH), np.zeros(seen.TEST_WIDTH)
for _row in (_NEW_CALL, _NEW_TEST):
    _row[seen.AT] = _row[seen.GIVEN] = seen.NOTHING


class OnlineStatistics:
    """Expectations that follow the stream; it answers what `Statistics` answers."""

    def __init__(self, history: Statistics | None = None, *, capacity: int = CAPACITY) -> None:
        self.history = Statistics() if history is None else history
        self.stamp = 0
        """Changes when expectations have moved enough to make problems anew."""
        self.events = 0
        """The number of events that have taught something."""
        self._capacity = capacity
        self._lock = threading.Lock()
        self._next_stamp = 1
        self._averages = self.history.averages
        self._problem: Problem | None = None
        self._form = INTERPRETED
        self._limits: Any = None
        """The credible shares, from the first event on."""
        self._operators = Table(INTERPRETED, seen.OPERATOR_WIDTH)
        self._calls = Table(INTERPRETED, seen.CALL_WIDTH)
        self._tests = Table(INTERPRETED, seen.TEST_WIDTH)
        self._test_rows: tuple[Sequence[Test], Any] = ((), ())
        """The rows of the tests that were asked for last; the calls alike."""
        self._call_rows: tuple[Sequence[Call], Any] = ((), ())
        self._prices: dict[str, Floats] = {}
        """Of preparations, by name: one that was refreshed costs what it did."""
        self._answers: dict[str, deque[list[Solution]]] = {}
        """The latest solutions of calls, for tests that are new."""
        self._no_event = Event.of({}, str, {})

    # learning

    def observe(self, decision: Decision) -> None:
        """Takes what an event has shown."""
        if not decision.progress.counts[KNOWN]:
            return
        with self._lock:
            if not self.events:
                self._limits = credible(self._form)
            self.events += 1
            if decision.skeleton.problem is not self._problem:
                self._problem = decision.skeleton.problem
                if self._form is INTERPRETED and self._problem.is_large:
                    self._grow()
            moved = self._take_outcomes(decision)
            if decision.made:
                moved |= self._take_answers(decision)
            if moved or self.events >= self._next_stamp:
                self.stamp += 1
                self._next_stamp = self.events + min(self.events, _LONGEST_PAUSE)
            capacity = max(self._capacity, 2 * len(decision.skeleton.tests))
            if len(self._tests.places) > capacity or len(self._calls.places) > capacity:
                self._forget(capacity)

    def _take_outcomes(self, decision: Decision) -> bool:
        """Counts the outcomes of tests; whether one has drifted."""
        tests, progress, form = decision.skeleton.tests, decision.progress, self._form
        rows = self._rows_of_tests(tests)
        known = progress.known[: progress.counts[KNOWN]]
        if decision.excluded:
            known = known[~np.isin(known, list(decision.excluded))]
        if self._answers:
            self._take_samples(tests, rows, set(known.tolist()))
        return form.take_outcomes(
            self._tests.rows,
            self._calls.rows,
            self._operators.rows,
            self._limits,
            rows,
            form.given(known),
            form.given(progress.outcome),
            self.events,
        )

    def _take_answers(self, decision: Decision) -> bool:
        """Measures the calls that were made; whether one was a surprise."""
        calls, made = decision.skeleton.calls, decision.made
        rows = self._rows_of_calls(calls)
        found, solutions, failures, cuts, seconds, prepared, together, *_ = zip(
            *map(decision.answers.__getitem__, made), strict=True
        )
        if any(prepared):
            for preparation, taken in itertools.chain(*prepared):
                add_cost(self._prices.setdefault(preparation.name, np.zeros(2)), 0, taken)
        truths = [*found]
        if solutions.count(None) < len(made):
            for at, each in enumerate(solutions):
                if each is not None:
                    truths[at] = bool(each)
                    if failures[at] is None and not cuts[at]:
                        self._keep_answer(calls[made[at]], each)
        form = self._form
        return form.take_answers(
            self._calls.rows,
            self._operators.rows,
            self._limits,
            rows,
            form.numbers(made),
            form.flags(truths),
            form.flags([failure is not None for failure in failures]),
            form.seconds(seconds),
            form.numbers(together),
            self.events,
        )

    def _keep_answer(self, call: Call, solutions: list[Solution]) -> None:
        """Keeps an answer for tests to come, of so many calls at most."""
        answers = self._answers.get(call.text)
        if answers is None:
            answers = self._answers[call.text] = deque(maxlen=_ANSWERS)
            if len(self._answers) > _SAMPLED_CALLS:
                del self._answers[next(iter(self._answers))]
        answers.append(solutions[:_SOLUTIONS])

    def _take_samples(self, tests: Sequence[Test], rows: Any, wanted: Container[int]) -> None:
        """Lets tests that are new begin with the latest answers of their calls, if there are any.

        What history says of a test itself, or what reads the event, is not guessed from them."""
        for at in self._form.unseen(self._tests.rows, rows):
            test = tests[at]
            answers = self._answers.get(test.call.text)
            if answers is None or at not in wanted:
                continue
            if self.history.selectivity(test.text) is not None:
                continue
            row = self._tests.rows[rows[at]]
            if not test.attributes and not test.necessary:
                row[seen.GIVEN], row[seen.STRENGTH] = seen.NOTHING, 0.0
                for solutions in list(answers):
                    add_outcome(row, WEIGHT, bool(test.select(solutions, self._no_event)))
            seen.begin(row, self._calls.rows, self.events)

    # rows

    def _rows_of_tests(self, tests: Sequence[Test]) -> Any:
        """Returns where tests are, with rows for those that are new."""
        known, rows = self._test_rows
        if known is not tests:
            rows = self._rows_in(self._tests, tests, self._place_tests)
            self._test_rows = tests, rows
        return rows

    def _rows_of_calls(self, calls: Sequence[Call]) -> Any:
        """Returns where calls are, with rows for those that are new."""
        known, rows = self._call_rows
        if known is not calls:
            rows = self._rows_in(self._calls, calls, self._place_calls)
            self._call_rows = calls, rows
        return rows

    def _rows_in(
        self, table: Table, things: Sequence[T], place: Callable[[Sequence[T]], list[int]]
    ) -> Any:
        is_many = self._form is not INTERPRETED and len(things) > _MOST_BY_TEXT
        if is_many and isinstance(things, NumberedThings):
            return table.places_of(things, place)
        found: list[Any] = [*map(table.places.get, [thing.text for thing in things])]
        return self._form.numbers(place(things) if None in found else found)

    def _grow(self) -> None:
        """Goes on with compiled functions, as there was a large problem, for good."""
        self._form = compiled_form()
        self._limits = credible(self._form)
        for table in (self._tests, self._calls, self._operators):
            table.change(self._form)
        self._test_rows = self._call_rows = (), ()

    def _forget(self, capacity: int) -> None:
        """Keeps the half that was seen last, where there is too much; the calls of tests stay.

        What was only asked for is forgotten first."""
        tests, calls = self._tests, self._calls
        kept = tests.latest(capacity)
        moved = calls.keep(calls.latest(capacity), {int(tests.rows[at][seen.CALL]) for at in kept})
        tests.keep(kept)
        for row in tests.rows:
            row[seen.CALL] = moved[int(row[seen.CALL])]
        self._answers = {
            text: answers for text, answers in self._answers.items() if text in calls.places
        }
        self._test_rows = self._call_rows = (), ()

    def _operator_row(self, specification: Specification, is_batched: bool) -> int:
        place = self._operators.places.get(specification.name)
        if place is not None:
            return place
        at = self._operators.add_all([specification.name], _NEW_OPERATOR, {})
        row = self._operators.rows[at]
        for guarded in (False, True):
            row[seen.PRIORS + guarded] = self._averages.expected(
                specification.name, guarded, PRIOR_SELECTIVITY
            )
        row[seen.DECLARED] = specification.expected_cost_seconds
        row[seen.MARGINAL] = specification.expected_marginal_seconds
        row[seen.IS_BATCHED] = float(is_batched)
        row[seen.IS_PREPARED] = float(specification.preparation is not None)
        return at

    def _place_calls(self, calls: Sequence[Call]) -> list[int]:
        """Returns the places of calls, with rows for those that have none."""
        places = self._calls.places
        new = {call.text: call for call in calls if call.text not in places}
        if not new:
            return [places[call.text] for call in calls]
        row_of = self._operator_row
        operators = [row_of(call.specification, call.batched) for call in new.values()]
        first = self._calls.add_all(new, _NEW_CALL, {seen.OPERATOR: operators})
        if self.history.predicates:
            for row, text in zip(self._calls.rows[first:], new, strict=False):
                self._inform_call(row, text)
        return [places[call.text] for call in calls]

    def _inform_call(self, row: Any, text: str) -> None:
        """Puts what history says of a call into its row."""
        found = self.history.predicates.get(text)
        if found is not None and found.cost_seconds is not None:
            row[seen.GIVEN] = found.cost_seconds
            most = float(min(found.measured or 0, _MOST_COST_HISTORY))
            row[seen.STRENGTH] = most or _COST_OPINION
        if found is not None and found.tested:
            row[seen.FAILED_BEFORE] = (found.failed or 0) / found.tested

    def _place_tests(self, tests: Sequence[Test]) -> list[int]:
        """Returns the places of tests, with rows for those that have none, and for their calls."""
        places = self._tests.places
        new = {test.text: test for test in tests if test.text not in places}
        asked = new.values()
        calls = self._place_calls([test.call for test in asked])
        are_guarded = [test.text != test.call.text for test in asked]
        columns: dict[int, Sequence[float]] = {seen.CALL: calls}
        if any(are_guarded):
            columns[seen.IS_GUARDED] = are_guarded
        first = self._tests.add_all(new, _NEW_TEST, columns)
        if self.history.predicates or self.history.answers:
            for row, test in zip(self._tests.rows[first:], asked, strict=False):
                self._inform_test(row, test)
        return [places[test.text] for test in tests]

    def _inform_test(self, row: Any, test: Test) -> None:
        """Puts what history says of a test into its row."""
        history = self.history
        found = history.predicates.get(test.text)
        if found is not None and found.share is not None:
            row[seen.GIVEN] = history.estimate(test)
            row[seen.STRENGTH] = float(min(found.known, _MOST_HISTORY)) or OPINION
        else:
            tried, of_call = history.tried(test), history.selectivity(test.call.text)
            if tried is not None:
                row[seen.GIVEN] = tried.share
                row[seen.STRENGTH] = float(min(tried.events, _MOST_HISTORY))
            elif of_call is not None:
                row[seen.GIVEN], row[seen.STRENGTH] = of_call, _CALL_OPINION

    # expecting

    def expected(
        self, tests: Sequence[Test], calls: Sequence[Call], preparations: Sequence[Preparation]
    ) -> Expectations:
        """Returns what to expect of the tests and calls of a problem."""
        of_calls, shares = self._expected_of_calls(calls), self.selectivities(tests)
        return Expectations(shares, *of_calls, self.prices(preparations), self.scenes(tests))

    def selectivities(self, tests: Sequence[Test]) -> Floats:
        """Returns the selectivity to expect of each test."""
        if not self.events:
            return self.history.selectivities(tests)
        with self._lock:
            return self._selectivities_of(tests)

    def _selectivities_of(self, tests: Sequence[Test]) -> Floats:
        rows = self._rows_of_tests(tests)
        if self._answers:
            self._take_samples(tests, rows, range(len(tests)))
        expected = self._form.room(len(tests))
        self._form.expect_selectivities(
            *(self._tests.rows, self._calls.rows, self._operators.rows),
            *(rows, self.events, expected),
        )
        return np.asarray(expected, np.float64)

    def costs(self, calls: Sequence[Call]) -> Floats:
        """Returns the expected seconds of each call."""
        return self._expected_of_calls(calls)[0]

    def failures(self, calls: Sequence[Call]) -> Floats:
        """Returns the share of events for which each call is expected to fail."""
        return self._expected_of_calls(calls)[1]

    def marginal_costs(self, calls: Sequence[Call]) -> Floats:
        """Returns the expected seconds of each call when it is made together with others."""
        return self._expected_of_calls(calls)[2]

    def _expected_of_calls(self, calls: Sequence[Call]) -> tuple[Floats, Floats, Floats]:
        """Returns the costs of calls, their shares of failures, and their marginal costs."""
        form = self._form
        with self._lock:
            rows = self._rows_of_calls(calls)
            costs, failures, marginal = (form.room(len(calls)) for _ in range(3))
            form.expect_calls(
                *(self._calls.rows, self._operators.rows, rows, self.events),
                *(costs, failures, marginal),
            )
        return tuple(np.asarray(each, np.float64) for each in (costs, failures, marginal))  # type: ignore[return-value]

    def prices(self, preparations: Sequence[Preparation]) -> Floats:
        """Returns the expected seconds of each preparation, with what it builds on."""
        with self._lock:
            prices = [sum(map(self._price_of, each.chain)) for each in preparations]
        return np.array(prices, np.float64)

    def _price_of(self, preparation: Preparation) -> float:
        """Returns the expected seconds of a preparation by itself."""
        price = self._prices.get(preparation.name)
        declared = self.history.price_of(preparation)
        return declared if price is None else after_declared(price, 0, declared)

    def scenes(self, tests: Sequence[Test]) -> Scenes | None:
        """Returns how the tests go together, where history knows; drifted ones are by themselves.

        What was seen does not move the others: tests are asked after some came out as they did,
        which makes their shares those of some scenes more than of others."""
        scenes, sample = self.history.scenes(tests), self.history.sample
        if scenes is None or sample is None:
            return None
        with self._lock:
            expected, rows = self._selectivities_of(tests), self._rows_of_tests(tests)
            for at, test in enumerate(tests):
                if test.text not in sample.places or self._tests.rows[rows[at]][seen.HAS_DRIFTED]:
                    scenes.selectivity[:, at] = expected[at]
        return scenes

    # keeping

    def statistics(self) -> Statistics:
        """Returns history and all that was seen since, with counts: what to save.

        What history has without counts counts as so many outcomes beside what was seen."""
        added = Statistics()
        calls, tests = self._calls, self._tests
        with self._lock:
            for text, place in calls.places.items():
                if calls.rows[place][seen.MADE]:
                    added.predicates[text] = _counted(calls.rows[place], calls.rows[place])
            for text, place in tests.places.items():
                if tests.rows[place][seen.MADE]:
                    own = calls.places.get(text)
                    added.predicates[text] = _counted(
                        tests.rows[place], None if own is None else calls.rows[own]
                    )
        for text, found in self.history.predicates.items():
            if text in added.predicates and not found.known and found.selectivity is not None:
                opinion = PredicateStatistics(
                    tested=round(OPINION), satisfied=round(OPINION * found.selectivity)
                )
                added.predicates[text] = added.predicates[text].merged(opinion)
        return self.history.merged(added)


def _counted(row: Any, call: Any) -> PredicateStatistics:
    """Returns all that was seen of a test or call, and the cost of the call, as counts."""
    measured = None if call is None or call[seen.AT] < 0.0 else int(call[seen.MEASURED])
    return PredicateStatistics(
        tested=int(row[seen.MADE]),
        satisfied=int(row[seen.SATISFIED]),
        failed=int(row[seen.FAILED]),
        cost_seconds=float(call[seen.SECONDS]) / measured if measured else None,
        measured=measured,
    )
