"""`infers(head, …)`: what rules of one's own derive from an event and the ontology.

All heads are derived at once, the first time that an event is asked for one. A predicate of two
places is a property by its local name, the first letter small, one of one place a class;
`attribute(name, value)` is an attribute of the event.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import pyoxigraph as ox

from tamis import ArgumentError, Operator, OperatorError, Sample, Specification, Variable
from tamis.kit import Scalar, did_you_mean, kind_of
from tamis_operators.reasoner.evaluation import ProgramRun, Row
from tamis_operators.reasoner.facts import Facts, closed, prepared_facts
from tamis_operators.reasoner.knowledge import Knowledge, knowledge
from tamis_operators.reasoner.program import Key, RulesError, decoded, encoded, program_of
from tamis_operators.reasoner.rule_files import ATTRIBUTE, Rules, texts_in
from tamis_operators.reasoner.settings import ReasonerSettings
from tamis_operators.reasoner.vocabulary import TYPE

_LOADED: dict[tuple[ReasonerSettings, Rules], Inference] = {}
_LOCK = threading.Lock()


class Inference:
    """A program over an ontology."""

    def __init__(self, settings: ReasonerSettings, rules: Rules) -> None:
        self.settings = settings
        self._rules = rules
        self._known = knowledge(settings)
        try:
            self.program = program_of(texts_in(rules))
            self._told = dict(self._told_by_facts(self._known))
        except RulesError as problem:
            raise OperatorError(f"the rules are refused: {problem}") from None

    def _told_by_facts(self, known: Knowledge) -> Iterator[tuple[Key, ox.NamedNode]]:
        """Yields the predicates that facts may tell, and the term of each."""
        heads = self.program.heads
        for (name, places), place in self.program.used.items():
            if (name, places) == ATTRIBUTE:
                continue
            names = known.names.in_rules(places) if places in (1, 2) else {}
            iris = names.get(name, [])
            if len(iris) > 1:
                raise RulesError(f"{place}: {name} is ambiguous: {', '.join(sorted(iris))}")
            if iris:
                yield (name, places), ox.NamedNode(iris[0])
            elif (name, places) not in heads:
                kind = {1: "class", 2: "property"}.get(places, "predicate")
                near = did_you_mean(name, [*names, *(each for each, _ in heads)])
                raise RulesError(
                    f"{place}: {name} of {_places(places)} is not a rule's head or a {kind} of "
                    f"the ontology{near}"
                )

    def evaluated(self, event: Mapping[str, Any]) -> ProgramRun:
        """Returns all that follows from an event."""
        if event.get("facts") is None:
            facts = closed(self._known, ())
        else:
            facts = prepared_facts(self.settings, event)
        rows: dict[Key, list[Row]] = {
            key: list(_rows(facts, key[1], term)) for key, term in self._told.items()
        }
        rows[ATTRIBUTE] = [
            (name, encoded(value))
            for name in self._rules.attributes
            if (value := _plain(event.get(name))) is not None and value == value
        ]
        return ProgramRun(self.program, rows, self.settings.most_consequences, self._rules.seconds)


def _rows(facts: Facts, places: int, term: ox.NamedNode) -> Iterator[Row]:
    """Yields the rows of a class or a property in facts."""
    number = facts.number(term)
    if number is None:
        return
    if places == 1:
        found: Iterable[tuple[int, ...]] = (
            (each,) for each in facts.closure.subjects(TYPE, number)
        )
    else:
        found = facts.closure.pairs(number)
    for numbers in found:
        values = [facts.scalar(each) for each in numbers]
        if facts.is_node(numbers[0]) and None not in values:
            yield tuple(map(encoded, values))


def _plain(value: Any) -> Scalar | None:
    """Returns an attribute as a plain scalar; `None` where it is none."""
    if getattr(value, "shape", None) == () and hasattr(value, "item"):
        value = value.item()
    for kind in (bool, str, int, float):
        if isinstance(value, kind):
            return kind(value)
    return None


def _places(count: int) -> str:
    return f"{count} place{'s' * (count != 1)}"


def inference(settings: ReasonerSettings, rules: Rules) -> Inference:
    """Returns the rules over the ontology, loaded once a process."""
    with _LOCK:
        found = _LOADED.get((settings, rules))
        if found is None:
            found = _LOADED[settings, rules] = Inference(settings, rules)
        return found


def prepared_inference(
    settings: ReasonerSettings, rules: Rules, event: Mapping[str, Any]
) -> ProgramRun:
    """Returns the preparation of `infers`."""
    return inference(settings, rules).evaluated(event)


class Infers(Operator):
    """Decides whether rules derive a head; with variables, for which values."""

    answers_many = True  # from one evaluation

    def __init__(
        self, settings: ReasonerSettings, specification: Specification, rules: Rules
    ) -> None:
        self.specification = specification
        self._settings = settings
        self._rules = rules

    def check(self, *arguments: Any) -> Sequence[object]:
        """Checks that the head is one of the rules, and has as many places as are asked for."""
        head, *asked = arguments
        known = inference(self._settings, self._rules).program.heads
        if not isinstance(head, str):
            raise ArgumentError("the head is a name: infers(speeding, ?driver)", 0)
        places = sorted(places for name, places in known if name == head)
        if not places:
            raise ArgumentError.unknown("head", head, [name for name, _ in known], 0)
        if len(asked) not in places:
            told = " or ".join(map(str, places))
            raise ArgumentError(
                f"{head} has {told} place{'s' * (told != '1')}, and {len(asked)} are asked for", 0
            )
        return (head, *(each if isinstance(each, Variable) else encoded(each) for each in asked))

    def solve(self, event: Any, *arguments: Any) -> Any:
        """Returns a bool, or solutions."""
        head, *asked = arguments
        evaluation: ProgramRun = event.prepared
        rows = evaluation.rows((head, len(asked)))
        free = [place for place, each in enumerate(asked) if isinstance(each, Variable)]
        if not free:
            return tuple(asked) in rows
        given = [(place, each) for place, each in enumerate(asked) if place not in free]
        found = {
            tuple(decoded(row[place]) for place in free)
            for row in rows
            if all(row[place] == value for place, value in given)
        }
        return sorted(found, key=lambda row: [(kind_of(each), each) for each in row])

    def samples(self) -> Iterable[Sample]:
        """Yields each head, of an event without facts."""
        for name, places in sorted(inference(self._settings, self._rules).program.heads):
            variables = "".join(f", ?v{place}" for place in range(places))
            yield Sample(f'infers("{name}"{variables})', {"facts": ""})
