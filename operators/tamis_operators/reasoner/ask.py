"""`ask('…')`: whether a SPARQL ASK query is true of an event's facts and what follows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from tamis import ArgumentError, Operator, Sample, Specification, Variable
from tamis_operators.reasoner.facts import Facts
from tamis_operators.reasoner.knowledge import knowledge
from tamis_operators.reasoner.queries import checked_query
from tamis_operators.reasoner.settings import ReasonerSettings


class Ask(Operator):
    """Answers an ASK query."""

    def __init__(self, settings: ReasonerSettings, specification: Specification) -> None:
        self.settings = settings
        self.specification = specification

    def check(self, *arguments: Any) -> None:
        """Checks the query, which may read no more than the facts and the ontology."""
        (query,) = arguments
        if isinstance(query, Variable):
            raise ArgumentError("a query is a string, not a variable")
        checked_query(query, knowledge(self.settings).prefixes, "ASK")

    def solve(self, event: Any, *arguments: Any) -> bool:
        """Returns the answer of the query."""
        facts: Facts = event.prepared
        return bool(facts.dataset.query(arguments[0]))

    def solve_many(self, event: Any, lists: Sequence[Sequence[Any]]) -> Sequence[Any]:
        """Answers all from one graph."""
        return [self.solve(event, *arguments) for arguments in lists]

    def samples(self) -> Iterable[Sample]:
        """Returns samples of the bundled ontology."""
        if not self.settings.is_bundled:
            return ()
        event = {"facts": ":unit7 a :PoliceCar ; :pursues :van3 . :van3 a :Van ."}
        return (
            Sample("ask('ASK { ?x a :EmergencyVehicle ; :follows ?y }')", event, True),
            Sample("ask('ASK { ?x a :Boat }')", event, False),
        )
