"""The law of failures: whatever stands in an event, a call ends in an answer or an Exception."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from tamis.testing.conformance.subject import Case, LawSubject, silently

_PROCESS = "process"
_WRONG: tuple[object, ...] = (
    *(True, -1, 0.5, math.inf, 10**30, "", "no such thing", "data:,x", "0" * 5_000),
    *([], [None], ["a", 1, {}], [[[[]]]], {}, {"type": "Nothing", "coordinates": [[]]}),
    *(b"", b"\x00\xff" * 20),
)


def failures(subject: LawSubject) -> None:
    """an event that it cannot read costs one answer: no hang, no exit, no print"""
    cases = list({case.arguments.text(): case for case in subject.cases}.values())
    for case in cases[: 1 if subject.is_costly else 2]:
        _check(subject, case, case.content)
        for content in _damaged(subject, case.content):
            _check(subject, case, content)


def _check(subject: LawSubject, case: Case, content: Mapping[str, Any]) -> None:
    instance = subject.instance
    instance.notes.raised.clear()
    printed = ""

    try:
        if subject.specification.isolation == _PROCESS:  # what ends it there harms nobody
            subject.matched(case.predicate, content)
        else:
            _, printed = silently(lambda: instance.ask(case.predicate, content))
    except KeyboardInterrupt as problem:
        if problem not in instance.notes.raised:
            raise
    ending = [each for each in instance.notes.raised if not isinstance(each, Exception)]
    if ending:
        raise case.breach(
            "a call tries to end the process",
            content=content,
            expected="an answer or an Exception",
            got=repr(ending[0]),
            mend="raise an Exception with a line that says what is wrong with the event",
        )
    if printed:
        raise case.breach(
            "a call prints to standard output, which belongs to the matches",
            content=content,
            expected="silence",
            got=repr(printed[:80]),
            mend="take out print, or use the module logging",
        )


def _damaged(subject: LawSubject, content: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yields the event with one of the inputs replaced by something else, or cut short."""
    known = subject.specification
    declared = [*known.needed, *subject.optional_inputs]
    whole = known.inputs is None or any(each.inputs is None for each in known.preparations)
    for name in dict.fromkeys([*declared, *(content if whole else ())]):
        if "." in name and name not in content:
            continue  # a path into an object, which is damaged by its own name
        for value in (*_WRONG, *_cut(content.get(name))):
            yield {**content, name: value}


def _cut(value: object) -> Iterator[object]:
    """Yields the value with a part missing."""
    if isinstance(value, (str, bytes, list)) and value:
        yield value[: len(value) // 2]
        yield value[:-1]
    if isinstance(value, list) and value:
        yield [None, *value[1:]]
    if isinstance(value, Mapping):
        for key in value:
            yield {other: inner for other, inner in value.items() if other != key}
            yield {**value, key: None}
