"""`isA(entity, class)`: which classes the entities of an event's facts are in.

Cost: a look-up with constants; with a variable, the entities of the class or the classes of the
entity.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pyoxigraph as ox

from tamis import Implication, Sample, Variable
from tamis_operators.reasoner.facts import Facts, FactsOperator
from tamis_operators.reasoner.vocabulary import TYPE

_EVENT = {"facts": ":unit7 a :PoliceCar ; :follows :van3 . :van3 a :Van ."}


class IsA(FactsOperator):
    """Decides whether an entity is in a class; with variables, finds entities or classes."""

    answers_many = True  # from one closure
    tried = (
        Sample("isA(unit7, EmergencyVehicle)", _EVENT, True),
        Sample("isA(van3, PoliceCar)", _EVENT, False),
        Sample("isA(?x, PoliceCar)", _EVENT, ["unit7"]),
        Sample("isA(unit7, ?c)", _EVENT),
    )

    def check(self, *arguments: Any) -> Sequence[object]:
        """Names as terms."""
        entity, kind = arguments
        names = self.known.names
        return (
            entity if isinstance(entity, Variable) else names.entity_of(entity, 0),
            kind if isinstance(kind, Variable) else names.class_of(kind, 1),
        )

    def solve(self, event: Any, *arguments: Any) -> Any:
        """Returns a bool, or solutions."""
        entity, kind = arguments
        facts: Facts = event.prepared
        number = None if isinstance(entity, Variable) else facts.number(entity)
        of = None if isinstance(kind, Variable) else facts.number(kind)
        unknown = (number is None and not isinstance(entity, Variable)) or (
            of is None and not isinstance(kind, Variable)
        )
        if number is not None and of is not None:
            return facts.closure.has(number, TYPE, of)
        if unknown:
            return [] if Variable in map(type, arguments) else False
        return _solutions(facts, number, of)

    def in_solutions(self, arguments: Sequence[Any]) -> Sequence[Any] | None:
        """Returns the words of entity and class; `None` for blank nodes, some being hidden."""
        if any(isinstance(each, ox.BlankNode) for each in arguments):
            return None
        scalar = self.known.names.scalar
        return [None if isinstance(each, Variable) else scalar(each) for each in arguments]

    def implications(
        self, arguments: Sequence[Any], others: Sequence[Sequence[Any]]
    ) -> Iterator[Implication]:
        """Implies every class above, and excludes those that are disjoint with one of these."""
        entity, kind = arguments
        known = self.known
        above = known.superclasses(kind)
        apart = known.disjoint(above)
        for place, (other, other_kind) in enumerate(others):
            if other == entity:
                theirs = known.superclasses(other_kind)
                if known.terms.known(other_kind) in above:
                    yield Implication(True, place, True)
                elif not apart.isdisjoint(theirs):
                    yield Implication(True, place, False)


def _solutions(facts: Facts, number: int | None, of: int | None) -> Iterator[Any]:
    """Entities, classes, or pairs of them; classes without a name are none."""
    closure, scalar = facts.closure, facts.scalar
    if of is not None:
        yield from (scalar(each) for each in closure.subjects(TYPE, of) if facts.is_node(each))
    elif number is not None:
        yield from (scalar(each) for each in closure.objects(number, TYPE) if facts.is_iri(each))
    else:
        for each, kind in closure.pairs(TYPE):
            if facts.is_node(each) and facts.is_iri(kind):
                yield scalar(each), scalar(kind)
