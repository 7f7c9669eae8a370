"""`select('…', ?a, ?b)`: the solutions of a SPARQL SELECT query, a variable or constant for each
variable that it projects, in order.

A solution that leaves one of them unbound is none. Equal solutions are one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import pyoxigraph as ox

from tamis import ArgumentError, Sample, Variable
from tamis.kit import Scalar, kind_of
from tamis_operators.reasoner.facts import Facts, FactsOperator
from tamis_operators.reasoner.holds import ConstantObject
from tamis_operators.reasoner.queries import checked_query

_EVENT = {"facts": ":unit7 a :PoliceCar ; :pursues :van3 . :van3 :speed 30 ."}
_QUERY = "select('SELECT ?x ?v { ?x :follows/:speed ?v }', ?who, ?speed)"


class Select(FactsOperator):
    """The solutions of a SELECT query."""

    tried = (
        Sample(_QUERY, _EVENT, [("unit7", 30)]),
        Sample(f"{_QUERY}, ?speed > 40", _EVENT),
        Sample("select('SELECT ?x { ?x a :Boat }', ?x)", _EVENT, []),
    )

    def check(self, *arguments: Any) -> Sequence[object]:
        """Checks the query, which needs as many variables as are asked for."""
        query, *wanted = arguments
        if isinstance(query, Variable):
            raise ArgumentError("a query is a string, not a variable")
        known = self.known
        variables = checked_query(query, known.prefixes, "SELECT")
        if len(variables) != len(wanted):
            names = ", ".join(f"?{name}" for name in variables)
            raise ArgumentError(
                f"the query gives {len(variables)} value{'s' * (len(variables) != 1)} a solution "
                f"({names}), and {len(wanted)} {'is' if len(wanted) == 1 else 'are'} asked for"
            )
        return (
            query,
            *(
                each
                if isinstance(each, Variable)
                else ConstantObject(each, known.names.object_of(each, place))
                for place, each in enumerate(wanted, 1)
            ),
        )

    def solve(self, event: Any, *arguments: Any) -> Any:
        """Returns a bool, or solutions."""
        query, *wanted = arguments
        facts: Facts = event.prepared
        found = facts.dataset.query(query)
        assert isinstance(found, ox.QuerySolutions)
        solutions = _solutions(facts, found, wanted, self.settings.terms == "n3")
        if any(isinstance(each, Variable) for each in wanted):
            return solutions
        return next(solutions, None) is not None


def _solutions(
    facts: Facts,
    found: Iterable[ox.QuerySolution],
    wanted: Sequence[Variable | ConstantObject],
    as_terms: bool,
) -> Iterator[tuple[Scalar, ...]]:
    """Yields each once, in the order of the query."""
    scalar = facts.knowledge.names.scalar
    asked = [place for place, each in enumerate(wanted) if isinstance(each, Variable)]
    given = [(place, each) for place, each in enumerate(wanted) if isinstance(each, ConstantObject)]
    seen: set[tuple[tuple[int, Scalar], ...]] = set()
    for row in found:
        terms = [row[place] for place in range(len(wanted))]
        if any(term is None or isinstance(term, ox.Triple) for term in terms):
            continue
        values = [scalar(term) for term in terms]
        if not all(_fits(terms[place], values[place], each) for place, each in given):
            continue
        shown = list(map(str, terms)) if as_terms else values
        solution = tuple(shown[place] for place in asked)
        key = tuple((kind_of(value), value) for value in solution)
        if key not in seen:
            seen.add(key)
            yield solution


def _fits(term: object, value: Scalar, wanted: ConstantObject) -> bool:
    if wanted.entity is not None and term == wanted.entity:
        return True
    return (
        isinstance(term, ox.Literal)
        and kind_of(value) == kind_of(wanted.value)
        and value == wanted.value
    )
