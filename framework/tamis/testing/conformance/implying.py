"""The laws of implications and of wider calls: what an operator says of its answers is true of its
answers, and what it answers with variables holds of constants."""

from __future__ import annotations

import math
from collections.abc import Iterator

from tamis.calling.answers import Answer
from tamis.calling.event_calls import EventCalls
from tamis.engine.wider import WiderAnswer, narrower_call
from tamis.language.predicate import VariableArgument
from tamis.language.text import constant_text, name_text
from tamis.operators.asking import Call, Test
from tamis.testing.conformance.breach import Breach
from tamis.testing.conformance.outcome import TOLERANCE, alike, outcome_of
from tamis.testing.conformance.subject import LawSubject, event_of

_MOST_LISTS = 24
_MOST_CALLS = 600
Literal = tuple[int, bool]


def implications(subject: LawSubject) -> None:
    """what it says that an answer implies is so, contraposed and chained too"""
    if not subject.instance.operator.implies or not subject.steady:
        return
    calls = _calls(subject)
    said = _said(subject, [test.call for test in calls.values()])
    if not said:
        return
    texts = list(calls)
    for content in subject.events[: max(1, _MOST_CALLS // max(1, len(calls)))]:
        event_calls = EventCalls(event_of(content))
        known: dict[int, bool] = {}
        for at, call in enumerate(calls.values()):
            outcome = subject.instance.answer(call, event_calls)
            if outcome.known:
                known[at] = outcome.holds
        for literal in list(known.items()):
            for other, truth in _following(said, literal):
                if known.get(other, truth) != truth:
                    raise Breach(
                        f"it says that when {texts[literal[0]]} is {literal[1]}, "
                        f"{texts[other]} is {truth}",
                        predicate=texts[other],
                        event=content,
                        expected=truth,
                        got=known[other],
                        mend="give only implications that hold for every event; look at which way "
                        "each is said",
                    )


def wider(subject: LawSubject) -> None:
    """what it answers with variables is what it answers with constants in their places"""
    if not subject.instance.operator.is_comparable or not subject.steady:
        return
    tests = {
        test.call.text: test
        for test in (subject.instance.bind(each) for each in _narrowed(subject))
        if all(place.slot == at for at, place in enumerate(test.places))
    }
    contents = list({id(case.content): case.content for case in subject.all_cases}.values())
    for content in contents[: max(1, _MOST_CALLS // max(1, len(tests)))]:
        event = event_of(content)
        event_calls = EventCalls(event)
        given = {text: subject.instance.answer(test, event_calls) for text, test in tests.items()}
        for text, test in tests.items():
            solutions = given[text].solutions
            if solutions is None:
                continue
            known = WiderAnswer(Answer(solutions=list(solutions)))
            for other, asked in tests.items():
                narrower = narrower_call(asked.call, 0, test.call, 1)
                if narrower is None or not given[other].known:
                    continue
                got = outcome_of(known.narrowed(narrower), asked, event)
                if not alike(given[other], got, TOLERANCE):
                    raise Breach(
                        f"the solutions of {text} do not say of {other} what that answers",
                        predicate=other,
                        event=content,
                        expected=given[other],
                        got=got,
                        mend="let in_solutions give what constants are called in solutions, or "
                        "None where that is not certain",
                    )


def _narrowed(subject: LawSubject) -> Iterator[str]:
    """Yields the predicates of the samples, and those with a value of a solution as a constant."""
    for case in subject.all_cases[:_MOST_LISTS]:
        yield case.predicate
        for solution in (subject.instance.ask(case.predicate, case.content).solutions or ())[:3]:
            for name, value in zip(case.arguments.variables, solution, strict=True):
                words = [
                    (constant_text(value) if each.name == name else f"?{each.name}")
                    if isinstance(each, VariableArgument)
                    else constant_text(each)
                    for each in case.arguments.arguments
                ]
                if not isinstance(value, float) or math.isfinite(value):
                    yield f"{name_text(case.arguments.name)}({', '.join(words)})"


def _calls(subject: LawSubject) -> dict[str, Test]:
    """Returns the tests of the samples' calls without variables, by the text of the call."""
    calls: dict[str, Test] = {}
    for case in subject.all_cases:
        test = subject.instance.bind(case.predicate)
        if test.call.width == 0 and len(calls) < _MOST_LISTS:
            calls.setdefault(test.call.text, test)
    return calls


def _said(subject: LawSubject, calls: list[Call]) -> dict[Literal, set[Literal]]:
    """Returns the implications, as said and contraposed."""
    found: dict[Literal, set[Literal]] = {}
    for at, call in enumerate(calls):
        others = [place for place in range(len(calls)) if place != at]
        if not others:
            continue
        try:
            said = list(
                subject.instance.operator.implications(
                    call.arguments, [calls[place].arguments for place in others]
                )
            )
            rows = [
                (bool(truth), others[range(len(others))[place]], bool(conclusion), place)
                for truth, place, conclusion in said
            ]
            if any(place < 0 for *_, place in rows):
                raise IndexError("a place below 0")
        except Exception as failure:
            raise Breach(
                "implications fails",
                predicate=call.text,
                expected="tamis.Implication(truth, place of the other, conclusion)",
                got=f"{type(failure).__name__}: {failure}",
                mend="name others by their place in the list that is given",
            ) from failure
        for truth, other, conclusion, _ in rows:
            found.setdefault((at, truth), set()).add((other, conclusion))
            found.setdefault((other, not conclusion), set()).add((at, not truth))
    return found


def _following(said: dict[Literal, set[Literal]], literal: Literal) -> Iterator[Literal]:
    """Yields all that follows, through calls whose answer is not known as well."""
    reached = {literal}
    waiting = [literal]
    while waiting:
        for then in sorted(said.get(waiting.pop(), ())):
            if then not in reached:
                reached.add(then)
                waiting.append(then)
                yield then
