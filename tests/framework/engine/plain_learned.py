"""Learns with an object for each test and call, plainly: what rows are compared with."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import TypeVar

import numpy as np

from tamis import Event, Preparation, Specification, Statistics
from tamis.calling.answers import Answer
from tamis.engine.decision import Decision
from tamis.numeric.types import Floats
from tamis.operators.asking import Call, Test
from tamis.planning import UNKNOWN
from tamis.statistics import PredicateStatistics

from .plain_seen import Cost, SeenCall, SeenOperator, SeenTest, inherited

PRIOR_SELECTIVITY = 0.5
OPINION = 16.0
_MOST_HISTORY, _MOST_COST_HISTORY = 128, 32
_COST_OPINION, _CALL_OPINION, _COST_FORGOTTEN = 8.0, 2.0, 4.0
_LONGEST_PAUSE = 32
_SURPRISING, _SURPRISING_SECONDS = 10.0, 1e-3
_ANSWERS, _SOLUTIONS, _SAMPLED_CALLS = 16, 64, 4096

_Kept = TypeVar("_Kept", SeenCall, SeenTest)


class PlainLearned:
    def __init__(self, history: Statistics | None = None, *, capacity: int = 1 << 18) -> None:
        self.history = Statistics() if history is None else history
        self.stamp = 0
        self.events = 0
        self._capacity = capacity
        self._next_stamp = 1
        self._averages = self.history.averages
        self._operators: dict[str, SeenOperator] = {}
        self._calls: dict[str, SeenCall] = {}
        self._tests: dict[str, SeenTest] = {}
        self._prices: dict[Preparation, Cost] = {}
        self._sampled: deque[SeenCall] = deque()
        self._known_costs: tuple[Sequence[Call], int, Floats] | None = None
        self._no_event = Event.of({}, str, {})

    # learning

    def observe(self, decision: Decision) -> None:
        if not decision.outcomes:
            return
        skeleton = decision.skeleton
        tests = skeleton.tests
        self.events += 1
        moved = False
        for number in decision.outcomes:
            if number not in decision.excluded:
                moved |= self._take_outcome(tests[number], decision.outcome[number])
        for at in decision.made:
            moved |= self._take_answer(skeleton.calls[at], decision.answers[at])
        if moved or self.events >= self._next_stamp:
            self.stamp += 1
            self._next_stamp = self.events + min(self.events, _LONGEST_PAUSE)
        self._tests = self._bounded(self._tests)
        self._calls = self._bounded(self._calls)

    def _take_outcome(self, test: Test, truth: int) -> bool:
        seen = self._tests.get(test.text)
        if seen is None:
            seen = self._new_test(test)
        seen.tested += 1
        if truth == UNKNOWN:
            seen.failed += 1
            return False
        return seen.take(truth, self.events)

    def _take_answer(self, call: Call, answer: Answer) -> bool:
        seen = self._seen_call(call)
        operator = seen.operator
        failed = answer.failure is not None
        is_surprise = seen.take(failed, self.events)
        if not failed:
            self._take_solutions(seen, answer)
        seconds = answer.seconds
        for made in answer.prepared:
            self._prices.setdefault(made.preparation, Cost()).add(made.seconds)
        if failed and call.specification.preparation is not None:
            return is_surprise  # it may never have come to the call
        seen.measured += 1
        seen.seconds += seconds
        if call.batched:
            operator.batch.add(answer.together, seconds * answer.together, 1.0 / answer.together)
        if answer.together == 1:
            if seconds > _SURPRISING_SECONDS:
                is_surprise |= seconds > _SURPRISING * self._cost_of(call)
            if seen.given:
                operator.pace.add(seconds / seen.given)
            seen.cost.add(seconds)
            operator.cost.add(seconds)
        return is_surprise

    def _take_solutions(self, seen: SeenCall, answer: Answer) -> None:
        if answer.solutions is None:
            seen.satisfied += answer.truth
            return
        seen.satisfied += bool(answer.solutions)
        if answer.cut:
            return
        if seen.answers is None:
            seen.answers = deque(maxlen=_ANSWERS)
            self._sampled.append(seen)
            if len(self._sampled) > _SAMPLED_CALLS:
                self._sampled.popleft().answers = None
        seen.answers.append(answer.solutions[:_SOLUTIONS])

    def _seen_operator(self, specification: Specification) -> SeenOperator:
        seen = self._operators.get(specification.name)
        if seen is None:
            averages = [
                self._averages.expected(specification.name, is_guarded, PRIOR_SELECTIVITY)
                for is_guarded in (False, True)
            ]
            seen = self._operators[specification.name] = SeenOperator(*averages)
        return seen

    def _seen_call(self, call: Call) -> SeenCall:
        seen = self._calls.get(call.text)
        if seen is None:
            operator = self._seen_operator(call.specification)
            found = self.history.predicates.get(call.text)
            seen = SeenCall(operator)
            if found is not None and found.cost_seconds is not None:
                seen.given = found.cost_seconds
                seen.strength = float(min(found.measured or 0, _MOST_COST_HISTORY)) or _COST_OPINION
            seen.at = self.events
            self._calls[call.text] = seen
        return seen

    def _new_test(self, test: Test) -> SeenTest:
        call = self._seen_call(test.call)
        seen = self._tests[test.text] = SeenTest(call, test.text != test.call.text)
        seen.at = self.events
        found = self.history.predicates.get(test.text)
        if found is not None and found.share is not None:
            seen.given = self.history.estimate(test)
            seen.strength = float(min(found.known, _MOST_HISTORY)) or OPINION
            return seen
        if call.answers is not None and not test.attributes and not test.necessary:
            for solutions in list(call.answers):
                seen.add(bool(test.select(solutions, self._no_event)))
            return seen
        tried = self.history.tried(test)
        of_call = self.history.selectivity(test.call.text)
        if tried is not None:
            seen.given, seen.strength = tried.share, float(min(tried.events, _MOST_HISTORY))
        elif of_call is not None:
            seen.given, seen.strength = of_call, _CALL_OPINION
        return seen

    def _bounded(self, kept: dict[str, _Kept]) -> dict[str, _Kept]:
        if len(kept) <= self._capacity:
            return kept
        latest = sorted(kept.items(), key=lambda item: item[1].at)
        return dict(latest[len(latest) // 2 :])

    # expecting

    def selectivities(self, tests: Sequence[Test]) -> Floats:
        if not self.events:
            return self.history.selectivities(tests)
        return np.array([self._selectivity_of(test) for test in tests], np.float64)

    def _selectivity_of(self, test: Test) -> float:
        seen = self._tests.get(test.text)
        if seen is None:
            call = self._calls.get(test.call.text)
            found = self.history.predicates.get(test.text)
            if found is not None and found.share is not None:
                return self.history.estimate(test)
            if call is None or call.answers is None:
                return self._unseen(test, call)
            seen = self._new_test(test)
        return seen.expected(self.events)

    def _unseen(self, test: Test, call: SeenCall | None) -> float:
        tried = self.history.tried(test)
        if tried is not None:
            return tried.share
        of_call = self.history.selectivity(test.call.text)
        if of_call is not None:
            return of_call
        if call is None:
            call = SeenCall(self._seen_operator(test.call.specification))
        return inherited(call, test.text != test.call.text)

    def costs(self, calls: Sequence[Call]) -> Floats:
        return self._costs_of(calls)

    def _costs_of(self, calls: Sequence[Call]) -> Floats:
        known = self._known_costs
        if known is None or known[0] is not calls or known[1] != self.events:
            costs = np.array([self._cost_of(call) for call in calls], np.float64)
            known = self._known_costs = (calls, self.events, costs)
        return known[2].copy()

    def _cost_of(self, call: Call) -> float:
        seen = self._calls.get(call.text)
        if seen is None:
            found = self.history.predicates.get(call.text)
            given = None if found is None else found.cost_seconds
            operator = self._operators.get(call.specification.name)
            if operator is None:
                return call.specification.expected_cost_seconds if given is None else given
        else:
            operator, given = seen.operator, seen.given
        if given is None:
            prior, strength = self._cost_of_any(call, operator), 1.0
        else:
            prior = given * operator.pace.after_declared(1.0)
            strength = 0.0 if seen is None else seen.strength
        if seen is None or not seen.cost.weight:
            return prior
        return seen.cost.expected(prior, strength / (1.0 + seen.cost.weight / _COST_FORGOTTEN))

    def _cost_of_any(self, call: Call, operator: SeenOperator) -> float:
        specification = call.specification
        if call.batched and operator.batch.weight:
            return operator.batch.line(
                specification.expected_cost_seconds, specification.expected_marginal_seconds
            )[0]
        return operator.cost.after_declared(specification.expected_cost_seconds)

    def marginal_costs(self, calls: Sequence[Call]) -> Floats:
        costs = self._costs_of(calls)
        for at, call in enumerate(calls):
            if call.batched:
                costs[at] = min(costs[at], self._marginal_of(call.specification))
        return costs

    def _marginal_of(self, specification: Specification) -> float:
        marginal = specification.expected_marginal_seconds
        operator = self._operators.get(specification.name)
        if operator is None:
            return marginal
        return operator.batch.line(specification.expected_cost_seconds, marginal)[1]

    def failures(self, calls: Sequence[Call]) -> Floats:
        if not any(operator.failing.weight for operator in tuple(self._operators.values())):
            return self.history.failures(calls)
        return np.array([self._failure_of(call) for call in calls], np.float64)

    def _failure_of(self, call: Call) -> float:
        found = self.history.predicates.get(call.text)
        history = (found.failed or 0) / found.tested if found is not None and found.tested else 0.0
        seen = self._calls.get(call.text)
        if seen is not None:
            return seen.failure(history, self.events)
        operator = self._operators.get(call.specification.name)
        return history if operator is None else max(history, operator.failure(self.events))

    def prices(self, preparations: Sequence[Preparation]) -> Floats:
        return np.array([sum(map(self._price_of, each.chain)) for each in preparations], np.float64)

    def _price_of(self, preparation: Preparation) -> float:
        price = self._prices.get(preparation)
        declared = self.history.price_of(preparation)
        return declared if price is None else price.after_declared(declared)

    def statistics(self) -> Statistics:
        seen = Statistics()
        for text, call in self._calls.items():
            if call.failing.made:
                seen.predicates[text] = call.counted()
        for text, test in self._tests.items():
            if test.tested:
                own = self._calls.get(text)
                seen.predicates[text] = PredicateStatistics(
                    tested=test.tested,
                    satisfied=test.satisfied,
                    failed=test.failed,
                    cost_seconds=None if own is None else own.cost_seconds,
                    measured=None if own is None else own.measured,
                )
        for text, found in self.history.predicates.items():
            if text in seen.predicates and not found.known and found.selectivity is not None:
                opinion = PredicateStatistics(
                    tested=round(OPINION), satisfied=round(OPINION * found.selectivity)
                )
                seen.predicates[text] = seen.predicates[text].merged(opinion)
        return self.history.merged(seen)
