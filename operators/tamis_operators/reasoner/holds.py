"""`holds(subject, property, object)`: what an event's facts, and what follows, relate.

A constant object is the entity that it names, and every literal that shows as it: numbers by value,
strings whatever their language.
Cost: a look-up with constants; else what there is to find.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from tamis import Implication, Sample, Variable
from tamis.kit import Scalar
from tamis_operators.reasoner.facts import Facts, FactsOperator
from tamis_operators.reasoner.names import Node


class ConstantObject(NamedTuple):
    """A constant object: a value, and the entity that it may name."""

    value: Scalar
    entity: Node | None


_EVENT = {"facts": ":unit7 a :PoliceCar ; :pursues :van3 ; :speed 31.5 . :van3 :speed 30 ."}


class Holds(FactsOperator):
    """Decides whether a triple is true; with variables, finds those that are."""

    answers_many = True  # from one closure
    tried = (
        Sample("holds(unit7, follows, van3)", _EVENT, True),
        Sample("holds(van3, follows, unit7)", _EVENT, False),
        Sample("holds(van3, near, ?y)", _EVENT, ["unit7"]),
        Sample("holds(?x, speed, ?v), ?v > 31", _EVENT),
        Sample("holds(van3, speed, 30)", _EVENT, True),
    )

    def check(self, *arguments: Any) -> Sequence[object]:
        """Names as terms."""
        subject, property, object = arguments
        names = self.known.names
        return (
            subject if isinstance(subject, Variable) else names.entity_of(subject, 0),
            property if isinstance(property, Variable) else names.property_of(property, 1),
            object
            if isinstance(object, Variable)
            else ConstantObject(object, names.object_of(object, 2)),
        )

    def solve(self, event: Any, *arguments: Any) -> Any:
        """Returns a bool, or solutions."""
        facts: Facts = event.prepared
        asked = [place for place, each in enumerate(arguments) if isinstance(each, Variable)]
        found = _found(facts, *arguments)
        if not asked:
            return next(found, None) is not None
        if len(asked) == 1:
            (place,) = asked
            return (facts.scalar(triple[place]) for triple in found)
        return (tuple(facts.scalar(triple[place]) for place in asked) for triple in found)

    def implications(
        self, arguments: Sequence[Any], others: Sequence[Sequence[Any]]
    ) -> Iterator[Implication]:
        """Implies for a property the properties above it."""
        subject, property, object = arguments
        known = self.known
        above = known.superproperties(property)
        for place, (other, other_property, value) in enumerate(others):
            if (other, value) == (subject, object) and known.terms.known(other_property) in above:
                yield Implication(True, place, True)


def _found(
    facts: Facts, subject: Any, property: Any, object: Any
) -> Iterator[tuple[int, int, int]]:
    """Yields the triples that fit, with a node as subject and an IRI between."""
    if isinstance(property, Variable):
        properties: Iterable[int] = [
            each for each in facts.closure.predicates() if facts.is_iri(each)
        ]
    else:
        properties = _numbers(facts, property)
    for predicate in properties:
        for first, last in _related(facts, subject, predicate, object):
            if facts.is_node(first):
                yield first, predicate, last


def _numbers(facts: Facts, node: Node) -> tuple[int, ...]:
    number = facts.number(node)
    return () if number is None else (number,)


def _related(facts: Facts, subject: Any, predicate: int, object: Any) -> Iterator[tuple[int, int]]:
    """Yields the pairs that a property relates, of a subject and an object that may be given."""
    closure = facts.closure
    if isinstance(object, Variable):
        if isinstance(subject, Variable):
            yield from closure.pairs(predicate)
            return
        for number in _numbers(facts, subject):
            yield from ((number, each) for each in closure.objects(number, predicate))
        return
    entity = () if object.entity is None else _numbers(facts, object.entity)
    for last in itertools.chain(entity, facts.literals(object.value)):
        if isinstance(subject, Variable):
            yield from ((each, last) for each in closure.subjects(predicate, last))
        else:
            for number in _numbers(facts, subject):
                if closure.has(number, predicate, last):
                    yield number, last
