"""Holds what laws are tried on: an operator, its samples, and how to ask it for an outcome.

Predicates are read by the language and bound by the resolver, calls are made by the gateway: there
is no second way to an operator.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import redirect_stdout
from functools import cached_property, partial
from io import StringIO
from typing import Any, NamedTuple, TypeVar

from tamis.calling.event_calls import EventCalls
from tamis.calling.gateway import Gateway
from tamis.calling.lanes import Lanes, LateError
from tamis.catalog.resolve import Resolver
from tamis.errors import PluginWarning, SubscriptionError, TamisError
from tamis.event import Event
from tamis.language.condition import Language
from tamis.language.predicate import OperatorPredicate
from tamis.limits import DEFAULT_LIMITS
from tamis.matcher import Matcher
from tamis.operators import Operator, OperatorRecord, Sample, record_of
from tamis.operators.asking import Operators, Test
from tamis.operators.specification import Specification
from tamis.plugins.loader import installed
from tamis.testing.conformance.breach import Breach
from tamis.testing.conformance.outcome import LawOutcome, alike, outcome_of
from tamis.testing.conformance.watched import Notes, WatchedOperator

T = TypeVar("T")
MOST_CASES, MOST_COSTLY_CASES = 12, 4
_COSTLY_SECONDS = 0.02
PATIENCE_SECONDS = 20.0
_LANES = Lanes()
"""The lanes of calls: one that hangs ends a law and not the tests."""


class Case(NamedTuple):
    """A sample that can be asked: its predicate is understood, and its event has what is needed."""

    predicate: str
    content: Mapping[str, Any]
    answer: object
    arguments: OperatorPredicate

    def breach(
        self, problem: str, mend: str, content: Mapping[str, Any] | None = None, **said: object
    ) -> Breach:
        """Makes a breach of a law by its outcome, or by its predicate about another event."""
        event = self.content if content is None else content
        return Breach(problem, predicate=self.predicate, event=event, mend=mend, **said)


class Instance:
    """One operator as its factory makes it, under observation."""

    def __init__(
        self,
        record: OperatorRecord,
        operator: Operator,
        patience_seconds: float = PATIENCE_SECONDS,
    ) -> None:
        self.notes = Notes()
        self._name = record.specification.name
        self._patience_seconds = patience_seconds
        self.operator = operator
        watched = WatchedOperator(operator, record.specification, self.notes)
        self._operators = Operators([OperatorRecord(watched.specification, lambda: watched)])
        self._language = Language()
        self.gateway = Gateway(DEFAULT_LIMITS)
        self._bound: dict[str, Test] = {}

    def read(self, predicate: str) -> OperatorPredicate:
        """Returns the one operator predicate of a text."""
        leaves = self._leaves(predicate)
        atoms = [leaf for leaf in leaves if isinstance(leaf.atom, OperatorPredicate)]
        if len(atoms) != 1 or atoms[0].negated:
            raise SubscriptionError("a sample has one operator predicate, without not or or")
        atom = atoms[0].atom
        assert isinstance(atom, OperatorPredicate)
        return atom

    def _leaves(self, predicate: str) -> Sequence[Any]:
        alternatives = self._language.parse(predicate).alternatives
        return alternatives[0] if len(alternatives) == 1 else ()

    def bind(self, predicate: str, *, again: bool = True) -> Test:
        """Binds a predicate as a subscription asks it; `again` checks it once more."""
        if not again and predicate in self._bound:
            return self._bound[predicate]
        resolver = Resolver(self._operators, lambda key: None, lambda key: None)
        [asked] = resolver.resolve_all([self._leaves(predicate)], predicate)
        if len(asked.tests) != 1:
            raise SubscriptionError("a sample has one operator predicate", text=predicate)
        (test,) = asked.tests.values()
        self._bound[predicate] = test
        return test

    def ask(self, predicate: str, content: Mapping[str, Any], *, again: bool = True) -> LawOutcome:
        """Asks about an event."""
        event_calls = EventCalls(event_of(content))
        return self.answer(self.bind(predicate, again=again), event_calls)

    def answer(self, test: Test, event_calls: EventCalls) -> LawOutcome:
        """Asks a test, about an event that may have been asked about before."""
        answer = self._waited(
            lambda: self.gateway.call(test.call, event_calls), test.text, event_calls
        )
        if answer.failure is not None:  # no failure may sway what comes of the next call
            self.gateway = Gateway(DEFAULT_LIMITS)
        return outcome_of(answer, test, event_calls.event)

    def answer_together(self, asked: Sequence[tuple[Test, EventCalls]]) -> list[LawOutcome]:
        """Asks tests of one event together."""
        calls = [test.call for test, _ in asked]
        return self._outcomes(asked, lambda: self.gateway.call_together(calls, asked[0][1]))

    def answer_events(self, asked: Sequence[tuple[Test, EventCalls]]) -> list[LawOutcome]:
        """Asks tests together, each about its event."""
        calls = [(test.call, event_calls) for test, event_calls in asked]
        return self._outcomes(asked, lambda: self.gateway.call_events(calls))

    def _outcomes(
        self, asked: Sequence[tuple[Test, EventCalls]], answer: Callable[[], Any]
    ) -> list[LawOutcome]:
        """Asks tests together; `PluginWarning`s are errors here."""
        texts = " | ".join(dict.fromkeys(test.text for test, _ in asked))
        with warnings.catch_warnings():
            warnings.simplefilter("error", PluginWarning)
            answers = self._waited(answer, texts, asked[0][1])
        return [
            outcome_of(answer, test, event_calls.event)
            for answer, (test, event_calls) in zip(answers, asked, strict=True)
        ]

    def _waited(self, call: Callable[[], Any], texts: str, event_calls: EventCalls) -> Any:
        """Waits for calls, which have to end."""
        try:
            return _LANES.run(call, self._patience_seconds, self._name)
        except LateError as late:
            raise does_not_end(texts, event_calls.event.content, late) from late


class LawSubject:
    """An operator that is held to the laws, with what several of them want to know of it."""

    def __init__(
        self,
        operator: object,
        samples: Iterable[Sample] | None = None,
        *,
        examples: int = 25,
        patience_seconds: float = PATIENCE_SECONDS,
    ) -> None:
        self.record = _record(operator)
        self.examples = examples
        self.patience_seconds = max(patience_seconds, self.specification.timeout or 0)
        self._given = None if samples is None else list(samples)
        self._matcher: Matcher | None = None
        self.trip: object = None
        """The outcome of sending it to another interpreter, once it was."""

    @property
    def specification(self) -> Specification:
        """The specification that it declares."""
        return self.record.specification

    @property
    def name(self) -> str:
        """Its name."""
        return self.specification.name

    def has(self, what: str) -> bool:
        """Returns whether there is an `instance`, or are `cases`; not where they broke a law."""
        try:
            return bool(getattr(self, what))
        except Breach:
            return False

    def made(self) -> Instance:
        """Returns a new one, as its factory makes it."""
        try:
            operator = self.record.factory()
        except Exception as failure:
            raise Breach(
                "its factory raises",
                got=f"{type(failure).__name__}: {failure}",
                mend="make what may be missing when it is first needed, or say modules=(…)",
            ) from failure
        if not isinstance(operator, Operator):
            raise Breach(
                "its factory makes no operator",
                expected="a tamis.Operator",
                got=repr(operator)[:80],
                mend="return an instance of a subclass of tamis.Operator from the factory",
            )
        return Instance(self.record, operator, self.patience_seconds)

    @cached_property
    def instance(self) -> Instance:
        """One for all laws that do not mind what it was asked before."""
        return self.made()

    @cached_property
    def samples(self) -> list[Sample]:
        """The samples that were given, else its own."""
        if self._given is not None:
            return self._given
        try:
            return list(self.instance.operator.samples())
        except Breach:
            raise
        except Exception as failure:
            raise Breach(
                "samples() raises",
                got=f"{type(failure).__name__}: {failure}",
                mend="return a list of tamis.Sample from samples()",
            ) from failure

    @cached_property
    def all_cases(self) -> list[Case]:
        """The samples that can be asked."""
        return [case for case in map(self._case, self.samples) if isinstance(case, Case)]

    @cached_property
    def cases(self) -> list[Case]:
        """As many of them as a law asks about, from all over the list."""
        cases = self.all_cases
        most = MOST_COSTLY_CASES if self.is_costly else MOST_CASES
        step = max(1.0, len(cases) / most)
        return [cases[int(at * step)] for at in range(min(most, len(cases)))]

    @property
    def is_costly(self) -> bool:
        """True if it declares that a call takes long, so that laws ask it less often."""
        known = self.specification
        preparing = sum(each.cost_seconds for each in known.preparations)
        return known.expected_cost_seconds + preparing > _COSTLY_SECONDS

    def _case(self, sample: Sample) -> Case | None:
        try:
            predicate, content, answer = sample
            if not self.has_what_is_needed(content):
                return None
            arguments = self.instance.read(predicate)
            self.instance.bind(predicate)
        except (TamisError, TypeError, ValueError):
            return None
        return Case(predicate, content, answer, arguments)

    def has_what_is_needed(self, content: Mapping[str, Any]) -> bool:
        """Returns whether an event has the required inputs: without, the operator is not called."""
        event = event_of(content)
        return all(event.present(name) for name in self.specification.needed)

    @property
    def optional_inputs(self) -> tuple[str, ...]:
        """The inputs that may be absent: for itself, or for its preparations."""
        known = self.specification
        names = (*known.optional_inputs, *_optional_of_preparations(known))
        return tuple(name for name in dict.fromkeys(names) if name not in known.needed)

    @cached_property
    def events(self) -> list[Mapping[str, Any]]:
        """The events of the cases, each once."""
        return list({id(case.content): case.content for case in self.cases}.values())

    @cached_property
    def outcomes(self) -> list[LawOutcome]:
        """The outcome of each case."""
        return [self.instance.ask(case.predicate, case.content) for case in self.cases]

    @cached_property
    def answered(self) -> list[tuple[Case, LawOutcome]]:
        """The cases that have an answer, and these."""
        pairs = zip(self.cases, self.outcomes, strict=True)
        return [(case, outcome) for case, outcome in pairs if outcome.known]

    @cached_property
    def steady(self) -> bool:
        """True if it answers alike when it is asked the same again at once."""
        for case in self.cases:
            _, *again = (
                self.instance.ask(case.predicate, case.content)
                for _ in range(3 if self.is_costly else 4)
            )
            if not all(alike(again[0], other) for other in again[1:]):
                return False
        return True

    def matched(self, predicate: str, content: Mapping[str, Any]) -> None:
        """Has an event matched against the predicate, the operator isolated as it says."""
        if self._matcher is None:
            self._matcher = Matcher([self.record], index="scan", memo_bytes=0)
        id = self._matcher.subscribe(predicate)
        try:
            _LANES.run(partial(self._matcher.match, content), self.patience_seconds, self.name)
        except LateError as late:
            raise does_not_end(predicate, content, late) from late
        finally:
            self._matcher.unsubscribe(id)


def _record(operator: object) -> OperatorRecord:
    """Returns an operator in any of its forms, or the installed one of a name."""
    if not isinstance(operator, str):
        return record_of(operator)
    known = installed().operators
    if operator not in known:
        names = ", ".join(sorted(known)) or "none"
        raise TamisError(f"there is no installed operator {operator!r} (installed: {names})")
    return known[operator]


def _optional_of_preparations(known: Specification) -> Iterator[str]:
    for preparation in known.preparations:
        yield from getattr(preparation, "optional_inputs", ())


def does_not_end(predicate: str, content: Mapping[str, Any], late: LateError) -> Breach:
    """Makes the breach of a call that hangs, whichever law it was made for."""
    return Breach(
        "a call does not end",
        predicate=predicate,
        event=content,
        expected="an answer or an exception",
        got=late,
        mend="bound what an event can ask for, and declare timeout=…, or isolation in a process "
        "for what cannot be interrupted",
    )


def event_of(content: Mapping[str, Any]) -> Event:
    """Returns the event that a sample describes."""
    return Event.of(content, lambda: "sample", installed().attributes)


def silently(work: Callable[[], T]) -> tuple[T, str]:
    """Returns the result of work, and what it printed."""
    printed = StringIO()
    with redirect_stdout(printed):
        result = work()
    return result, printed.getvalue()
