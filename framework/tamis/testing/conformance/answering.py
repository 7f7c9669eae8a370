"""Laws of answers: samples are there and true, answers well formed, and nothing else sways them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence

from tamis.calling.event_calls import EventCalls
from tamis.errors import PluginWarning, TamisError
from tamis.language.text import constant_text, name_text
from tamis.language.values import Scalar
from tamis.operators import Sample
from tamis.operators.asking import Test
from tamis.testing.conformance.breach import Breach
from tamis.testing.conformance.outcome import TOLERANCE, LawOutcome, alike, expected_outcome
from tamis.testing.conformance.subject import Case, Instance, LawSubject, event_of

_MOST_EVENTS = 6

_SHOW = 'tamis.Sample("louderThan(3)", {"loudness": 7}, True)'


def made(subject: LawSubject) -> None:
    """its factory makes an operator, each time it is asked"""
    for instance in (subject.instance, subject.made()):
        own = getattr(instance.operator, "specification", None)
        if own is None or own.name != subject.name:
            raise Breach(
                "what the factory makes is not the operator of the record",
                expected=f"an operator whose specification is named {subject.name}",
                got=repr(own)[:80],
                mend="set `specification` of the class to that of the OperatorRecord",
            )


def samples(subject: LawSubject) -> None:
    """it brings samples that can be asked: predicates of its own on events with its inputs"""
    if not subject.samples:
        raise Breach(
            "it has no samples, so that nothing can be tried",
            mend=f"add some: @tamis.operator(samples=[{_SHOW}]), or a method samples()",
        )
    for sample in subject.samples:
        _check_sample(subject, sample)
    if not subject.all_cases:
        needed = ", ".join(subject.specification.needed)
        raise Breach(
            f"no sample has an event with the inputs that it needs ({needed})",
            mend="add a sample whose event has all of them: without them it is never called",
        )


def _check_sample(subject: LawSubject, sample: Sample) -> None:
    if not isinstance(sample, tuple) or len(sample) != len(Sample._fields):
        raise Breach("what it gives is not a sample", got=repr(sample)[:80], mend=f"write {_SHOW}")
    predicate, content, answer = sample
    try:
        event = event_of(content)
    except TamisError as bad:
        raise Breach("a sample's event is none", got=bad, mend="give a dict") from bad
    try:
        atom = subject.instance.read(predicate)
        if atom.name != subject.name:
            raise TamisError(f"it asks {atom.name}, not {subject.name}")
        subject.instance.bind(predicate)
    except (TamisError, TypeError) as bad:
        raise Breach(
            "a sample's predicate cannot be subscribed",
            predicate=str(predicate),
            got=bad,
            mend="write the predicate as a subscription would, arguments that `check` takes",
        ) from bad
    if answer is not ... and expected_outcome(answer) is None:
        raise Breach(
            "a sample's answer is none",
            predicate=predicate,
            event=event.content,
            expected="a bool, or the list of solutions: [3], or [(3, 'a')]",
            got=repr(answer)[:80],
            mend="state the answer, or leave it out where it is not known",
        )


def answers(subject: LawSubject) -> None:
    """it answers its samples, as they say"""
    for case in subject.all_cases:
        got = subject.instance.ask(case.predicate, case.content)
        wanted = None if case.answer is ... else expected_outcome(case.answer)
        if got.nonsense:
            continue  # another law's
        if not got.known or (wanted is not None and not _as_stated(got, wanted)):
            raise case.breach(
                "a sample has another answer" if got.known else "a sample has no answer",
                expected="any answer" if wanted is None else wanted,
                got=got,
                mend="correct the operator, or the sample",
            )


def _as_stated(got: LawOutcome, wanted: LawOutcome) -> bool:
    if got.solutions is None or wanted.solutions is None:
        return got.holds == wanted.holds
    return alike(got, wanted, TOLERANCE)


def solutions(subject: LawSubject) -> None:
    """it gives a bool, or solutions of as many scalars as are asked for"""
    for case, outcome in zip(subject.cases, subject.outcomes, strict=True):
        if outcome.nonsense:
            raise case.breach(
                "what it gives is not an answer",
                expected="without a variable a bool, with some a list of values or tuples",
                got=outcome,
                mend="return bool(…), or a list with one value (a tuple each for several outputs)",
            )


def deterministic(subject: LawSubject) -> None:
    """declared deterministic, it gives equal answers to equal inputs for ever"""
    if not subject.specification.deterministic:
        return
    other = subject.made()
    for case, first in zip(subject.cases, subject.outcomes, strict=True):
        for instance, words in ((subject.instance, "asked again"), (other, "another instance")):
            for _ in range(1 if subject.is_costly else 3):
                _compare(case, first, instance.ask(case.predicate, case.content), words)
    order = list(zip(subject.cases, subject.outcomes, strict=True))
    for case, first in reversed(order):
        _compare(case, first, other.ask(case.predicate, case.content), "asked in another order")


def _compare(case: Case, first: LawOutcome, got: LawOutcome, how: str) -> None:
    if not alike(first, got):
        raise case.breach(
            f"{how}, it answers otherwise",
            expected=first,
            got=got,
            mend="take out what varies (chance, time, earlier calls, the order of a set), or do "
            "not say deterministic=True",
        )


def stateless(subject: LawSubject) -> None:
    """it keeps no state between calls: the order of events does not matter"""
    if not subject.steady:
        return
    pairs = list(zip(subject.cases, subject.outcomes, strict=True))
    orders = [pairs[::-1], pairs[1::2] + pairs[::2], [pair for pair in pairs for _ in "12"]]
    for order in orders[:1] if subject.is_costly else orders:
        instance = subject.made()
        for case, first in order:
            got = instance.ask(case.predicate, case.content)
            if not alike(first, got):
                raise case.breach(
                    "after other events, it answers otherwise",
                    expected=first,
                    got=got,
                    mend="decide from the event and the arguments alone; what an event is "
                    "compared with has to be in the event",
                )


def batches(subject: LawSubject) -> None:
    """solve_many gives the answers of one by one, whatever is asked together, in any order"""
    instance = subject.instance
    if instance.operator.answers_many and subject.steady:
        for content in subject.events:
            _check_together(subject, [content], "solve_many", "lists", instance.answer_together)


def events(subject: LawSubject) -> None:
    """solve_events gives the answers of one by one, whatever events come together, in any order"""
    instance = subject.instance
    if instance.operator.answers_events and subject.steady:
        several = subject.events[:_MOST_EVENTS]
        _check_together(subject, several, "solve_events", "events", instance.answer_events)


def _check_together(
    subject: LawSubject,
    contents: Sequence[Mapping[str, object]],
    method: str,
    things: str,
    answer: Callable[[list[tuple[Test, EventCalls]]], list[LawOutcome]],
) -> None:
    """Compares the answers about the cases' predicates on some events with those of one by one."""
    predicates = list(dict.fromkeys(case.predicate for case in subject.cases))
    if len(contents) > 1:
        predicates = predicates[:_MOST_EVENTS]
    tests = [subject.instance.bind(predicate) for predicate in predicates]
    pairs = [(test, calls) for calls in map(_event_calls, contents) for test in tests]
    single = [subject.instance.answer(*each) for each in pairs]
    for places in _splits(len(pairs)):
        asked = [pairs[at] for at in places]
        try:
            found = answer(asked)
        except PluginWarning as failed:
            raise Breach(
                f"{method} fails as a whole",
                predicate=" | ".join(dict.fromkeys(test.text for test, _ in asked)),
                event=contents[0] if len(contents) == 1 else None,
                expected=f"an answer for each of the {things}, an exception in the place of a "
                "failure",
                got=failed,
                mend="return as many answers; catch what fails and return the exception",
            ) from failed
        for at, (test, calls), got in zip(places, asked, found, strict=True):
            if not alike(single[at], got, TOLERANCE):
                raise Breach(
                    f"among {len(places)} {things}, {method} answers otherwise than solve",
                    predicate=test.text,
                    event=calls.event.content,
                    expected=single[at],
                    got=got,
                    mend=f"give the answers in the order of the {things}, duplicates too",
                )


def _event_calls(content: Mapping[str, object]) -> EventCalls:
    return EventCalls(event_of(content))


def _splits(count: int) -> list[Sequence[int]]:
    """Ways of asking together: all, backwards, twice each, halves, pairs."""
    whole = list(range(count))
    ways: list[Sequence[int]] = [whole, whole[::-1], [*whole, *whole], whole[::2], whole[1::2]]
    ways += [[at, at] for at in whole[:3]]
    ways += itertools.islice(itertools.pairwise(whole), 3)
    return [way for way in ways if len(way) > 1]


def outputs(subject: LawSubject) -> None:
    """a constant at an output asks whether a solution has that value"""
    declared = subject.specification.outputs
    if not declared or not subject.steady:
        return
    for case, outcome in subject.answered:
        for solution in (outcome.solutions or ())[:3]:
            values = dict(zip(case.arguments.variables, solution, strict=True))
            _check_constants(subject.instance, case, values, True)
            if len(values) == 1:
                unlike = [
                    other
                    for other in _others(solution[0])
                    if (other,) not in (outcome.solutions or ())
                ]
                for other in unlike[:1]:
                    _check_constants(subject.instance, case, dict.fromkeys(values, other), False)


def _check_constants(
    instance: Instance, case: Case, values: dict[str, Scalar], expected: bool
) -> None:
    words = [
        constant_text(values[argument.name] if hasattr(argument, "name") else argument)
        for argument in case.arguments.arguments
    ]
    if any(word in ("inf", "-inf") for word in words):
        return  # no subscription can write it
    predicate = f"{name_text(case.arguments.name)}({', '.join(words)})"
    try:
        got: object = instance.ask(predicate, case.content)
        fine = isinstance(got, LawOutcome) and got.known and got.holds == expected
    except TamisError as refusal:
        got, fine = refusal, False
    if not fine:
        raise Breach(
            f"{case.predicate} has the solution {values}"
            if expected
            else f"{case.predicate} has no solution {values}",
            predicate=predicate,
            event=case.content,
            expected=expected,
            got=got,
            mend="let the parameter of an output take the kinds of its values, and answer with "
            "all solutions whatever is asked",
        )


def _others(value: Scalar) -> list[Scalar]:
    """Values of the kind that are probably no solution."""
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, str):
        return [f"{value}?", "no such value"]
    return [value + 1, value - 12_345, 0]
