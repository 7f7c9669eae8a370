"""`ask('…')`: whether a SPARQL ASK query is true of an event's facts and what follows."""

from __future__ import annotations

from typing import Any

from tamis import ArgumentError, Sample, Variable
from tamis_operators.reasoner.facts import Facts, FactsOperator
from tamis_operators.reasoner.queries import checked_query

_EVENT = {"facts": ":unit7 a :PoliceCar ; :pursues :van3 . :van3 a :Van ."}


class Ask(FactsOperator):
    """Answers an ASK query."""

    answers_many = True  # from one graph
    tried = (
        Sample("ask('ASK { ?x a :EmergencyVehicle ; :follows ?y }')", _EVENT, True),
        Sample("ask('ASK { ?x a :Boat }')", _EVENT, False),
    )

    def check(self, *arguments: Any) -> None:
        """Checks the query, which may read no more than the facts and the ontology."""
        (query,) = arguments
        if isinstance(query, Variable):
            raise ArgumentError("a query is a string, not a variable")
        checked_query(query, self.known.prefixes, "ASK")

    def solve(self, event: Any, *arguments: Any) -> bool:
        """Returns the answer of the query."""
        facts: Facts = event.prepared
        return bool(facts.dataset.query(arguments[0]))
