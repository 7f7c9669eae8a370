"""Infers facts by owlrl, with its slips mended by the text of the rules.

Mended: prp-key does not look at the last key, eq-diff2, eq-diff3 and prp-adp not at the last member
of a list; and RDFS there takes literals for the same whose Python values are equal (`true` and `1`,
`"a"@en` and `"a"@fr`). Strings are `xsd:string`, as in RDF 1.1.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import rdflib
from owlrl import DeductiveClosure, OWLRL_Semantics, RDFS_Semantics
from rdflib import OWL, RDF, XSD, BNode, Literal, URIRef


class InconsistentError(Exception):
    """What owlrl calls an error."""


class OwlRl(OWLRL_Semantics):  # type: ignore[misc]
    """OWL 2 RL as its tables have it."""

    def add_error(self, message: str) -> None:
        raise InconsistentError(message)

    def _properties(self, triple: Any, cycle: int) -> None:
        subject, predicate, object = triple
        if predicate == OWL.hasKey:
            self._keys(subject, self._list(object))
        elif predicate == RDF.type and object == OWL.AllDisjointProperties:
            for members in self.graph.objects(subject, OWL.members):
                for one, other in itertools.combinations(self._list(members), 2):
                    for first, last in self.graph.subject_objects(one):
                        if (first, other, last) in self.graph:
                            self.add_error("disjoint properties")
        else:
            super()._properties(triple, cycle)

    def _keys(self, owner: Any, keys: list[Any]) -> None:
        people = list(self.graph.subjects(RDF.type, owner))
        for one, other in itertools.product(people, people):
            if keys and all(
                set(self.graph.objects(one, key)) & set(self.graph.objects(other, key))
                for key in keys
            ):
                self.store_triple((one, OWL.sameAs, other))

    def _equality(self, triple: Any, cycle: int) -> None:
        super()._equality(triple, cycle)
        subject, predicate, object = triple
        if predicate == RDF.type and object == OWL.AllDifferent:
            for head in (OWL.members, OWL.distinctMembers):
                for members in self.graph.objects(subject, head):
                    for one, other in itertools.combinations(self._list(members), 2):
                        if one != other and (one, OWL.sameAs, other) in self.graph:
                            self.add_error("same and different")


class Rdfs(RDFS_Semantics):  # type: ignore[misc]
    """RDFS without equal literals."""

    def one_time_rules(self) -> None:
        pass


def graph_of(*texts: str, format: str = "nt") -> rdflib.Graph:
    """The triples of documents, strings typed."""
    graph = rdflib.Graph()
    for text in texts:
        for subject, predicate, object in rdflib.Graph().parse(data=text, format=format):
            if isinstance(object, Literal) and object.datatype is None and not object.language:
                object = Literal(str(object), datatype=XSD.string)
            graph.add((subject, predicate, object))
    return graph


def closed(graph: rdflib.Graph, regime: str) -> rdflib.Graph:
    """The graph with all that follows; `InconsistentError` where it contradicts itself."""
    if regime != "none":
        DeductiveClosure(OwlRl if regime == "owl-rl" else Rdfs).expand(graph)
    return graph


def visible(graph: rdflib.Graph) -> set[str]:
    """The triples that SPARQL sees, as N-Triples."""
    return {
        f"{subject.n3()} {predicate.n3()} {object.n3()}"
        for subject, predicate, object in _rdf(graph)
    }


def _rdf(graph: rdflib.Graph) -> Iterator[tuple[Any, Any, Any]]:
    for subject, predicate, object in graph:
        if isinstance(predicate, URIRef) and isinstance(subject, (URIRef, BNode)):
            yield subject, predicate, object
