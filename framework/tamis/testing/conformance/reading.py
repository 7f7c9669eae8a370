"""Laws of inputs: nothing undeclared is read, what is optional may be absent, nothing changes."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import Any

from tamis.testing.conformance.subject import LawSubject

_MOST_SUBSETS = 32


def inputs_declared(subject: LawSubject) -> None:
    """it reads the inputs that it declares, and nothing else of the event"""
    for case in subject.cases:
        for content in _thinned(subject, case.content):
            noted = subject.instance.notes
            noted.undeclared.clear()
            subject.instance.ask(case.predicate, content)
            if noted.undeclared:
                name, reader = noted.undeclared[0]
                raise case.breach(
                    f"{reader} reads {name!r}, which is not declared",
                    content=content,
                    expected=f"reads of {', '.join(subject.specification.visible or ()) or 'none'}",
                    got=f"a read of {name!r}",
                    mend=f"add {name!r} to inputs or optional_inputs"
                    + (" of the preparation" if reader != "solve" else "")
                    + ", else it is never there",
                )


def inputs_untouched(subject: LawSubject) -> None:
    """it changes neither the event nor what was prepared"""
    notes = subject.instance.notes
    for case in subject.cases:
        try:
            notes.loosely = True
            notes.changed.clear()
            subject.instance.ask(case.predicate, case.content)
        finally:
            notes.loosely = False
        if notes.changed:
            raise case.breach(
                f"it changes {notes.changed[0]}",
                expected="inputs that are as they were",
                got=f"another value of {notes.changed[0]}",
                mend="work on a copy: list(…), dict(…), array.copy()",
            )


def optional_inputs(subject: LawSubject) -> None:
    """whichever of its optional inputs are absent, it answers, or says in words why it cannot"""
    names = subject.optional_inputs
    if not names:
        return
    for case, outcome in subject.answered:
        for content in _thinned(subject, case.content):
            got = subject.instance.ask(case.predicate, content)
            if got.failure is not None and got.failure.message.startswith(_SLIPS):
                absent = [name for name in names if name not in content]
                raise case.breach(
                    f"without {' and '.join(absent)} it gives no answer",
                    content=content,
                    expected=f"an answer, as with it ({outcome})",
                    got=got,
                    mend="read it with event.get(…), or declare it among inputs",
                )


_SLIPS = tuple(f"{each}:" for each in ("KeyError", "TypeError", "AttributeError", "IndexError"))
"""The errors of operators that do not expect an absent input."""


def _thinned(subject: LawSubject, content: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yields the event without each set of its optional inputs, the empty set too."""
    names = [name for name in subject.optional_inputs if name in content]
    subsets = itertools.chain.from_iterable(
        itertools.combinations(names, count) for count in range(len(names) + 1)
    )
    for absent in itertools.islice(subsets, _MOST_SUBSETS):
        thinned = {name: value for name, value in content.items() if name not in absent}
        yield thinned
