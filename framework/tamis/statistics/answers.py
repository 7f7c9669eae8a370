"""Keeps what calls with variables answered in history, to try tests to come on it.

While a call gave few different answers, each is counted; beyond that, those of the events of the
least hashes are kept. Both add up, and neither depends on the order in which events came.
Cost: some KB a call; a constraint evaluated for each answer that is kept.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from tamis.errors import TamisError
from tamis.event import Event
from tamis.language.constraint import Constraint
from tamis.language.predicate import Argument, OperatorPredicate, VariableArgument
from tamis.operators.asking import Solution, SolutionSlot, Test

ANSWER_COLUMNS = {
    "predicate": "string",
    "solutions": "string",
    "events": "int64",
    "event": "uint64",
}

MOST_ANSWERS = 256
MOST_SOLUTIONS = 64
_NO_EVENT = Event({}, "", {})


class AnswerShare(NamedTuple):
    """The share of the answers that satisfy a test, and how many answers that is a share of."""

    share: float
    events: int


class CallAnswers:
    """The answers of one call, as JSON.

    >>> answers = CallAnswers()
    >>> for event, people in enumerate([3, 60, 3]):
    ...     answers.add(event, [(people,)])
    >>> sorted(answers)
    [('[[3]]', 2), ('[[60]]', 1)]
    """

    __slots__ = ("counts", "kept")

    def __init__(
        self, counts: Mapping[str, int] | None = None, kept: Iterable[tuple[int, str]] = ()
    ) -> None:
        self.counts: dict[str, int] | None = None if counts is None else dict(counts)
        self.kept: list[tuple[int, str]] = list(kept)
        """Hashes of events with their answers; what counts when there are too many to count."""
        if counts is None and not self.kept:
            self.counts = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return CallAnswers, (self.counts, self.kept)

    def add(self, event: int, solutions: Iterable[Solution]) -> None:
        """Takes what a call gave for the event of a hash."""
        text = json.dumps([list(each) for each in list(solutions)[:MOST_SOLUTIONS]])
        if self.counts is not None:
            self.counts[text] = self.counts.get(text, 0) + 1
        self.kept.append((event, text))
        self._bound(2 * MOST_ANSWERS)

    def _bound(self, most: int) -> None:
        if self.counts is not None and len(self.counts) > MOST_ANSWERS:
            self.counts = None
        if len(self.kept) > most:
            self.kept = sorted(self.kept)[:MOST_ANSWERS]

    def settle(self) -> CallAnswers:
        """Keeps no more than are kept."""
        self._bound(MOST_ANSWERS)
        self.kept.sort()
        return self

    def merged(self, other: CallAnswers) -> CallAnswers:
        """Returns the answers of both."""
        counts = None
        if self.counts is not None and other.counts is not None:
            counts = dict(self.counts)
            for text, events in other.counts.items():
                counts[text] = counts.get(text, 0) + events
        return CallAnswers(counts, [*self.kept, *other.kept]).settle()

    def __iter__(self) -> Iterator[tuple[str, int]]:
        """Returns the answers, and how many events each stands for."""
        if self.counts is not None:
            return iter(self.counts.items())
        return iter((text, 1) for _, text in self.kept)

    def satisfying(self, test: Test) -> AnswerShare | None:
        """Returns how often a test would have been true; `None` where that needs the event, too."""
        if test.attributes:
            return None
        true = all_ = 0
        for text, events in self:
            solutions = [tuple(each) for each in json.loads(text)]
            all_ += events
            true += events * bool(test.select(solutions, _NO_EVENT))
        return AnswerShare(true / all_, all_) if all_ else None


def test_of(text: str) -> tuple[str, Test] | None:
    """Returns the call and the test that a canonical text with variables is about, if it is one.

    Constants in the place of outputs are taken for arguments: their test has to be known."""
    from tamis.language.condition import Language

    try:
        alternatives = Language().parse(text).alternatives
    except TamisError:
        return None
    if len(alternatives) != 1:
        return None
    atoms = [leaf.atom for leaf in alternatives[0]]
    asked = [each for each in atoms if isinstance(each, OperatorPredicate)]
    guards = tuple(each for each in atoms if isinstance(each, Constraint))
    if len(asked) != 1 or len(guards) + 1 != len(atoms) or not asked[0].variables:
        return None
    names = asked[0].variables
    numbers = {name: str(at + 1) for at, name in enumerate(names)}
    guards = tuple(each.renamed(numbers) for each in guards)
    places: list[SolutionSlot] = []
    arguments: list[Argument] = []
    for argument in asked[0].arguments:
        if isinstance(argument, VariableArgument):
            places.append(SolutionSlot(names.index(argument.name)))
            argument = VariableArgument(str(len(places)))
        arguments.append(argument)
    call = OperatorPredicate(asked[0].name, tuple(arguments)).text()
    # a test asks nothing of its call but what the call answers
    return call, Test((), None, tuple(places), guards, text)  # type: ignore[arg-type]


def answer_rows(answers: Mapping[str, CallAnswers]) -> Iterable[dict[str, Any]]:
    """Yields the answers of each call: counted ones without an event, kept ones with its hash."""
    for predicate, mine in answers.items():
        for solutions, events in (mine.counts or {}).items():
            yield {"predicate": predicate, "solutions": solutions, "events": events, "event": None}
        for event, solutions in mine.kept:
            yield {"predicate": predicate, "solutions": solutions, "events": 0, "event": event}


def answers_from(rows: Iterable[Mapping[str, Any]]) -> dict[str, CallAnswers]:
    """Reads the rows that `answer_rows` gave."""
    found: dict[str, tuple[dict[str, int], list[tuple[int, str]]]] = {}
    for row in rows:
        counts, kept = found.setdefault(row["predicate"], ({}, []))
        if row["event"] is None:
            counts[row["solutions"]] = row["events"]
        else:
            kept.append((row["event"], row["solutions"]))
    return {
        predicate: CallAnswers(counts or None, sorted(kept))
        for predicate, (counts, kept) in found.items()
    }
