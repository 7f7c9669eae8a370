"""Asks of history what subscriptions want to know, and makes statistics of the counts.

Each attribute predicate of the alternatives is counted once, as it is written there; each test with
its guards, and each call by itself. The values of attributes that operators declare something of
are counted too: how often declarations hold follows from them.
Cost: reading the texts; some microseconds a distinct predicate.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np

from tamis.calling.memo import Memo
from tamis.catalog import Catalog
from tamis.catalog.intake import Intake
from tamis.errors import EventError, StatisticsError
from tamis.event import Event, plain_name
from tamis.event.clock import derived_in, zone_of
from tamis.language.condition import Language
from tamis.language.predicate import AttributePredicate, parts_of
from tamis.learning.calls import CallCounts, Observer
from tamis.learning.counts import Counts
from tamis.learning.learner import Task, TimeStretch
from tamis.learning.predicates import Questions
from tamis.limits import DEFAULT_LIMITS, Limits
from tamis.operators import OperatorRecord
from tamis.operators.asking import Operators, Test
from tamis.operators.code import code_of
from tamis.operators.shipping import packed
from tamis.plugins.loader import installed, operators_of
from tamis.spaces.attribute import AttributeSpaces, Marks
from tamis.statistics import PredicateStatistics, Statistics
from tamis.statistics.sample import ObservedSample, SampleEvent

_TRIAL_SECONDS = 5.0


class Lesson:
    """The questions that subscriptions ask of history."""

    def __init__(
        self,
        subscriptions: Iterable[Mapping[str, Any] | str],
        operators: Iterable[object] | None = None,
        *,
        sample: float = 1.0,
        window: TimeStretch | None = None,
        limits: Limits = DEFAULT_LIMITS,
        time_zone: str | None = None,
        renamed: tuple[tuple[str, str], ...] = (),
    ) -> None:
        records = operators_of(operators)
        self._operators = Operators(records)
        predicates, tests = _asked(subscriptions, self._operators, limits)
        self.texts = list(predicates)
        self.questions = Questions(list(predicates.values()))
        self.tests = tests
        used = {test.call.specification.name for test in tests}
        self.operators: list[OperatorRecord] = [
            self._operators.records[name] for name in sorted(used)
        ]
        self.task = Task(
            marks=_declared_marks(tests) | self.questions.marks,
            tests=tuple(test.text for test in tests),
            operators=packed(self.operators) if tests else b"",
            window=window or TimeStretch(),
            limits=limits,
            time_zone=time_zone,
            renamed=renamed,
        )
        zone_of(time_zone)
        self.ask(sample)

    def ask(self, sample: float) -> None:
        """Asks operators about this share of the events."""
        if not isinstance(sample, (int, float)) or not 0 <= sample <= 1:
            raise StatisticsError(f"a sample is a share of the events, 0 to 1, not {sample!r}")
        self.task = replace(self.task, sample=float(sample))

    @property
    def versions(self) -> dict[str, str]:
        """The versions of the operators that are asked."""
        return {each.specification.name: each.specification.version for each in self.operators}

    @property
    def codes(self) -> dict[str, str]:
        """The digests of the code of the operators that are asked."""
        return {name: code_of(self._operators.operator(name)) for name in self.versions}

    def seconds_an_event(self, documents: Iterable[Mapping[str, Any]], folder: str = "") -> float:
        """Estimates the time of an event's calls by trying each operator, else as declared."""
        firsts = {test.call.specification.name: test.text for test in reversed(self.tests)}
        costs = dict.fromkeys(firsts, 0.0)
        prepared = 0.0
        observer = Observer(
            self._operators, sorted(firsts.values()), Memo(0), limits=self.task.limits
        )
        derived = derived_in(installed().attributes, zone_of(self.task.time_zone))
        end = time.monotonic() + _TRIAL_SECONDS
        for at, document in enumerate(documents):
            if at == 1:  # what is loaded for the first one is loaded once
                observer.counts = CallCounts.empty(len(firsts), len(firsts))
            with suppress(EventError):
                observer.observe(Event.of(document, str, derived, folder), at)
            if time.monotonic() > end:
                break
        counts = observer.counts
        for at, call in enumerate(observer.calls):
            name, measured = call.specification.name, int(counts.measured[at])
            declared = call.specification.expected_cost_seconds
            costs[name] = float(counts.seconds[at]) / measured if measured else declared
        if counts.tested:
            prepared = sum(seconds for _, seconds in counts.prepared.values()) / counts.tested
        calls = {test.call.text: test.call.specification.name for test in self.tests}
        return prepared + sum(costs[name] for name in calls.values())

    @property
    def reads(self) -> list[str]:
        """The attributes that subscriptions and the operators in them read."""
        names = set(self.questions.marks) | set(_declared_marks(self.tests))
        names.update(name for test in self.tests for name in test.attributes)
        names.update(name for each in self.operators for name in each.specification.visible or ())
        return sorted(names)

    def statistics(self, counts: Counts) -> Statistics:
        """Makes statistics of counts."""
        learned = Statistics()
        events = learned.events = counts.events
        learned.rejects = counts.rejects
        learned.spaces = dict(counts.attributes)
        counted = {name: AttributeSpaces(marks) for name, marks in self.questions.marks.items()}
        satisfied = self.questions.answers(counted | counts.attributes, events).tolist()
        for text, count in zip(self.texts, satisfied, strict=True):
            learned.predicates[text] = PredicateStatistics("attribute", events, count, 0)
        if counts.calls is not None:
            self._take_calls(learned, counts.calls)
        learned.settle()
        return learned

    def _take_calls(self, learned: Statistics, counts: CallCounts) -> None:
        calls = list(dict.fromkeys(test.call for test in self.tests))
        costs: dict[str, tuple[float | None, int]] = {}
        for at, call in enumerate(calls):
            measured = int(counts.measured[at])
            cost = float(counts.seconds[at]) / measured if measured else None
            costs[call.text] = cost, measured
            satisfied, failed = int(counts.call_satisfied[at]), int(counts.call_failed[at])
            tested = counts.tested - int(counts.call_excluded[at])
            learned.predicates[call.text] = PredicateStatistics(
                "operator", tested, satisfied, failed, None, cost, measured
            )
            if at in counts.answers:
                learned.answers[call.text] = counts.answers[at]
        for at, test in enumerate(self.tests):
            satisfied, failed = int(counts.test_satisfied[at]), int(counts.test_failed[at])
            tested = counts.tested - int(counts.test_excluded[at])
            learned.predicates[test.text] = PredicateStatistics(
                "operator", tested, satisfied, failed, None, *costs[test.call.text]
            )
        learned.prepared = dict(counts.prepared)
        if counts.observed:
            learned.sample = self._sample(counts)

    def _sample(self, counts: CallCounts) -> ObservedSample:
        width = len(self.tests)
        _, *bits, _ = zip(*counts.observed, strict=True)
        true, known = (
            np.unpackbits(np.frombuffer(b"".join(each), np.uint8).reshape(len(each), -1), axis=1,
                          count=width).view(np.bool_).T
            for each in bits
        )  # fmt: skip
        kept = [SampleEvent(number, content) for number, *_, content in counts.observed]
        return ObservedSample.from_arrays(self.task.tests, true, known, kept)


def _declared_marks(tests: Iterable[Test]) -> dict[str, Marks]:
    """Marks the derived attributes that declarations read: all values are counted, in cells."""
    return {plain_name(name): Marks() for test in tests for name in test.necessary.names}


def _asked(
    subscriptions: Iterable[Mapping[str, Any] | str], operators: Operators, limits: Limits
) -> tuple[dict[str, AttributePredicate], list[Test]]:
    """Reads attribute predicates by canonical text, and tests; errors name every subscription."""
    intake = Intake(Language(limits), operators, Catalog(limits.implications))
    entries = [{"where": each} if isinstance(each, str) else each for each in subscriptions]
    seen: set[int] = set()
    predicates: dict[str, AttributePredicate] = {}
    tests: dict[str, Test] = {}
    for accepted in intake.accept(entries, replace=False):
        for warning in accepted.warnings:
            warnings.warn(warning, stacklevel=4)
        for asked in (*accepted.alternatives, *accepted.excluded):
            for predicate in chain.from_iterable(map(parts_of, asked.predicates)):
                if id(predicate) not in seen:  # atoms are shared by subscriptions
                    seen.add(id(predicate))
                    predicates.setdefault(predicate.text(), predicate)
            for test, _ in asked.edges:
                tests.setdefault(test.text, test)
    return predicates, [tests[text] for text in sorted(tests)]
