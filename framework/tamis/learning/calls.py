"""Asks operators every call and test of the subscriptions, for events of a sample.

A test is true, false or unknown of an event as in a match; a call whose required input is absent is
not made, and its tests are false. A test is counted on the events in which its declarations hold,
and a call on those that a test of it is counted on. Answers of deterministic operators are
remembered; what a call costs is the mean of those made alone.
Invariant: counts follow from the events alone, seconds do not.
Cost: every distinct call once an event, less those that are remembered or excluded.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from tamis.calling.answers import Answer
from tamis.calling.digest import EventDigests
from tamis.calling.event_calls import EventCalls
from tamis.calling.gateway import Gateway
from tamis.calling.memo import Memo
from tamis.catalog.resolve import Resolver
from tamis.errors import StatisticsError
from tamis.event import Event
from tamis.language.condition import Language
from tamis.limits import DEFAULT_LIMITS, Limits
from tamis.numeric.types import Bytes, Flags, Floats, Ints
from tamis.operators.asking import Call, Operators, Test
from tamis.planning import FALSE, TRUE, UNKNOWN
from tamis.statistics.answers import CallAnswers
from tamis.statistics.sample import brief

Bits = bytes

MOST_EVENTS = 512
"""Fully observed events that are kept."""
_ALONE = 16
"""One event in so many has the calls of a batch made one by one, to learn what one costs."""


@dataclass
class CallCounts:
    """The counts of tests and calls, by their places; counts add up."""

    tested: int = 0
    """Events; of a test and a call, less those that declarations exclude."""
    test_excluded: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    call_excluded: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    test_satisfied: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    test_failed: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    call_satisfied: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    call_failed: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    measured: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    seconds: Floats = field(default_factory=lambda: np.zeros(0))
    answers: dict[int, CallAnswers] = field(default_factory=dict)
    observed: list[tuple[int, Bits, Bits, str]] = field(default_factory=list)
    """Hashes of events, what was true of each as packed bits, what was known, their content."""
    prepared: dict[str, tuple[int, float]] = field(default_factory=dict)
    """The number of times each preparation was made, and its seconds."""

    @classmethod
    def empty(cls, calls: int, tests: int) -> CallCounts:
        """Returns counts of nothing."""
        return cls(
            test_excluded=np.zeros(tests, np.int64),
            call_excluded=np.zeros(calls, np.int64),
            test_satisfied=np.zeros(tests, np.int64),
            test_failed=np.zeros(tests, np.int64),
            call_satisfied=np.zeros(calls, np.int64),
            call_failed=np.zeros(calls, np.int64),
            measured=np.zeros(calls, np.int64),
            seconds=np.zeros(calls),
        )

    def merged(self, other: CallCounts) -> CallCounts:
        """Returns the counts of both."""
        both = CallCounts(
            self.tested + other.tested,
            self.test_excluded + other.test_excluded,
            self.call_excluded + other.call_excluded,
            self.test_satisfied + other.test_satisfied,
            self.test_failed + other.test_failed,
            self.call_satisfied + other.call_satisfied,
            self.call_failed + other.call_failed,
            self.measured + other.measured,
            self.seconds + other.seconds,
        )
        both.answers = dict(self.answers)
        for call, answers in other.answers.items():
            mine = both.answers.get(call)
            both.answers[call] = answers if mine is None else mine.merged(answers)
        both.observed = sorted([*self.observed, *other.observed])[:MOST_EVENTS]
        both.prepared = dict(self.prepared)
        for name, (made, seconds) in other.prepared.items():
            before = both.prepared.get(name, (0, 0.0))
            both.prepared[name] = (before[0] + made, before[1] + seconds)
        return both


class Observer:
    """Asks operators about events."""

    def __init__(
        self,
        operators: Operators,
        tests: Sequence[str],
        memo: Memo,
        *,
        limits: Limits = DEFAULT_LIMITS,
        timer: Callable[[], float] = time.perf_counter,
    ) -> None:
        self.tests = _tests_of(operators, tests, limits)
        self.calls: list[Call] = list(dict.fromkeys(test.call for test in self.tests))
        self._gateway = Gateway(limits, timer)
        self._memo = memo
        place = {call: at for at, call in enumerate(self.calls)}
        self._tests_of: list[list[int]] = [[] for _ in self.calls]
        for at, test in enumerate(self.tests):
            self._tests_of[place[test.call]].append(at)
        self._declaring = [at for at, test in enumerate(self.tests) if test.necessary]
        self._operators: dict[str, list[int]] = {}
        for at, call in enumerate(self.calls):
            self._operators.setdefault(call.specification.name, []).append(at)
        self.counts = CallCounts.empty(len(self.calls), len(self.tests))

    def observe(self, event: Event, number: int) -> None:
        """Makes all calls about an event, which has a hash."""
        event_calls, digests = EventCalls(event), EventDigests(event)
        outcomes = np.zeros(len(self.tests), np.uint8)
        counts = self.counts
        excluded = self._excluded(event)
        outcomes[excluded] = UNKNOWN
        for every in self._operators.values():
            calls = every
            if excluded.any():
                calls = [at for at in every if not excluded[self._tests_of[at]].all()]
                counts.call_excluded[every] += 1
                counts.call_excluded[calls] -= 1
            if not calls:
                continue
            specification = self.calls[calls[0]].specification
            if any(not event.present(name) for name in specification.needed):
                for at in calls:
                    if self.calls[at].width:
                        self._answers_of(at).add(number, [])
                continue
            for at, answer, made in self._answers(calls, event_calls, digests):
                self._take(at, answer, event, number, outcomes, excluded)
                if made:
                    self._measure(at, answer)
        counts.tested += 1
        counts.test_excluded += excluded
        counts.test_satisfied += outcomes == TRUE
        counts.test_failed += (outcomes == UNKNOWN) & ~excluded
        true, known = np.packbits(outcomes == TRUE), np.packbits(outcomes != UNKNOWN)
        content = brief(event.content)
        counts.observed.append((number, true.tobytes(), known.tobytes(), content))
        if len(counts.observed) >= 2 * MOST_EVENTS:
            counts.observed = sorted(counts.observed)[:MOST_EVENTS]

    def finish(self) -> CallCounts:
        """Returns all that was counted."""
        self.counts.observed = sorted(self.counts.observed)[:MOST_EVENTS]
        for answers in self.counts.answers.values():
            answers.settle()
        return self.counts

    def _answers(
        self, places: list[int], event_calls: EventCalls, digests: EventDigests
    ) -> list[tuple[int, Answer, bool]]:
        """Answers the calls of an operator, and tells which of them were made for this event."""
        gateway = self._gateway
        calls = [self.calls[at] for at in places]
        alone = not calls[0].batched or self.counts.tested % _ALONE == 0

        def make(mine: Sequence[Call]) -> Sequence[Answer]:
            if alone:
                return [gateway.call(each, event_calls) for each in mine]
            return gateway.call_together(mine, event_calls)

        shelf = self._memo.about(calls[0].specification, digests)
        if shelf is None:
            return [(at, each, True) for at, each in zip(places, make(calls), strict=True)]
        given = shelf.compute_many(calls, make)
        return [(at, each.answer, each.made) for at, each in zip(places, given, strict=True)]

    def _answers_of(self, at: int) -> CallAnswers:
        return self.counts.answers.setdefault(at, CallAnswers())

    def _excluded(self, event: Event) -> Flags:
        """Returns the tests that are false by what their operators declare necessary."""
        found = np.zeros(len(self.tests), np.bool_)
        for at in self._declaring:
            found[at] = self.tests[at].necessary.broken(event) is not None
        return found

    def _take(
        self, at: int, answer: Answer, event: Event, number: int, outcomes: Bytes, excluded: Flags
    ) -> None:
        counts = self.counts
        tests = [test for test in self._tests_of[at] if not excluded[test]]
        if answer.failure is not None:
            counts.call_failed[at] += 1
            outcomes[tests] = UNKNOWN
            return
        if answer.solutions is None:
            counts.call_satisfied[at] += answer.truth
            outcomes[tests] = TRUE if answer.truth else FALSE
            return
        counts.call_satisfied[at] += bool(answer.solutions)
        if not answer.cut:
            self._answers_of(at).add(number, answer.solutions)
        for test in tests:
            if self.tests[test].select(answer.solutions, event):
                outcomes[test] = TRUE
            elif answer.cut:
                outcomes[test] = UNKNOWN

    def _measure(self, at: int, answer: Answer) -> None:
        counts = self.counts
        for made in answer.prepared:
            before = counts.prepared.get(made.preparation.name, (0, 0.0))
            counts.prepared[made.preparation.name] = (before[0] + 1, before[1] + made.seconds)
        if answer.together > 1 or not answer.made:
            return
        if answer.failure is not None and self.calls[at].specification.preparation is not None:
            return  # it may never have come to the call
        counts.measured[at] += 1
        counts.seconds[at] += answer.seconds


def _tests_of(operators: Operators, texts: Sequence[str], limits: Limits) -> list[Test]:
    """Tests from their canonical texts."""
    language = Language(limits)
    resolver = Resolver(operators, lambda key: None, lambda key: None)
    tests = []
    for text in texts:
        alternatives = language.parse(text).alternatives
        edges = [resolver.resolve(each, text).edges for each in alternatives]
        if len(edges) != 1 or len(edges[0]) != 1 or edges[0][0][0].text != text:
            raise StatisticsError(f"the test {text} does not read as itself")
        tests.append(edges[0][0][0])
    return tests
