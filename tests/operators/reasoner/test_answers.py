"""Checks answers of the operators against owlrl's closure, and rdflib's engine over it."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyoxigraph", reason="pip install 'tamis[reasoner]'")
pytest.importorskip("owlrl", reason="pip install 'tamis[reasoner]'")

from hypothesis import given, reject
from hypothesis import strategies as st
from rdflib import OWL, RDF, RDFS, XSD, Graph, Literal, URIRef

import tamis
from tamis_operators import reasoner
from tamis_operators.reasoner import knowledge as loading
from tests.operators.reasoner import oracle
from tests.operators.reasoner.graphs import CLASSES, EX, PEOPLE, PROPERTIES, VALUES, documents

FILES = itertools.count()
PREFIXES = {
    "owl:": str(OWL),
    "rdf:": str(RDF),
    "rdfs:": str(RDFS),
    "xsd:": str(XSD),
    "": EX,
}


def asked(folder: Path, texts: tuple[str, str], wheres: list[str], regime: str) -> Any:
    """What matched, with its bindings, and the closure, of consistent facts."""
    try:
        graph = oracle.closed(oracle.graph_of(*texts), regime)
    except oracle.InconsistentError:
        reject()
    path = folder / f"{next(FILES)}.ttl"
    path.write_text(f"@prefix : <{EX}> .\n{texts[0]}", encoding="utf-8")
    limits = tamis.Limits(solutions=100_000, assignments=100_000)
    matcher = tamis.Matcher(reasoner.operators(path, regime), limits=limits)
    try:
        for where in wheres:
            with contextlib.suppress(tamis.SubscriptionError):  # a name that nothing uses
                matcher.subscribe(where, id=where)
        result = matcher.match({"facts": texts[1]})
    finally:
        loading._LOADED.clear()
    assert not result.undetermined
    known = {match.subscription: match.bindings for match in result.matches}
    return [(where, known.get(where, [])) for where in subscribed(matcher, wheres)], graph


def subscribed(matcher: tamis.Matcher, wheres: list[str]) -> list[str]:
    return [where for where in wheres if where in matcher]


def shown(term: Any) -> Any:
    """A term as a solution has it."""
    if isinstance(term, Literal):
        value = str(term) if term.language else term.toPython()
        return float(value) if isinstance(value, Decimal) else value
    for prefix, namespace in PREFIXES.items():
        if term.startswith(namespace):
            return prefix + term[len(namespace) :]
    raise AssertionError(term)


def rows(values: Iterable[Iterable[Any]]) -> set[tuple[Any, ...]]:
    return {tuple((type(each) is bool, each) for each in row) for row in values}


def bound(bindings: Iterable[dict[str, Any]]) -> set[tuple[Any, ...]]:
    return rows(tuple(each.values()) for each in bindings)


def named(iri: str) -> Any:
    return URIRef(iri.strip("<>"))


def nodes(graph: Graph) -> Iterable[tuple[Any, Any, Any]]:
    return (each for each in graph if not isinstance(each[0], Literal))


@pytest.mark.parametrize("regime", ["owl-rl", "rdfs", "none"])
@given(data=st.data())
def test_is_a_and_holds(tmp_path: Path, regime: str, data: st.DataObject) -> None:
    texts = data.draw(documents("rdfs" if regime == "rdfs" else "owl-rl"))
    pairs = list(itertools.product(PEOPLE, CLASSES))
    triples = list(itertools.product(PEOPLE, PROPERTIES, PEOPLE))
    constants = {f"isA('{one}', '{kind}')": (one, str(RDF.type), kind) for one, kind in pairs}
    constants |= {f"holds('{s}', '{p}', '{o}')": (s, p, o) for s, p, o in triples}
    free = ["isA(?x, ?c)", "holds(?s, ?p, ?o)"]
    about = [f"isA(?x, '{kind}')" for kind in CLASSES]
    found, graph = asked(tmp_path, texts, [*constants, *about, *free], regime)
    for where, bindings in found:
        if where in constants:
            assert bool(bindings) == (tuple(map(named, constants[where])) in graph), where
        elif where in about:
            kind = named(where[8:-2].strip("'"))
            people = [s for s, _, _ in graph.triples((None, RDF.type, kind))]
            assert bound(bindings) == rows((shown(s),) for s in people if isinstance(s, URIRef))
        elif where == free[0]:
            types = (each for each in nodes(graph) if each[1] == RDF.type)
            assert bound(bindings) == rows((shown(s), shown(o)) for s, _, o in types)
        else:
            assert bound(bindings) == rows(map(shown, each) for each in nodes(graph))


@given(texts=documents("owl-rl"), property=st.sampled_from(VALUES))
def test_a_value_that_is_found_is_held(
    tmp_path: Path, texts: tuple[str, str], property: str
) -> None:
    ask = [f"holds(?s, '{property}', {value})" for value in (1, 7, 1.5, 2.5, '"a"', "true", "chat")]
    found, graph = asked(tmp_path, texts, ask, "owl-rl")
    wanted = dict(zip(ask, (1, 7, 1.5, 2.5, "a", True, "chat"), strict=True))
    for where, bindings in found:
        value = (type(wanted[where]) is bool, wanted[where])
        people = (
            (shown(s),)
            for s, _, o in graph.triples((None, named(property), None))
            if isinstance(o, Literal)
            and not isinstance(s, Literal)
            and (type(shown(o)) is bool, shown(o)) == value
        )
        assert bound(bindings) == rows(people)


QUERIES = (
    "SELECT ?x ?y { ?x a ?y }",
    "SELECT ?x ?z { ?x :P0 ?y . ?y :P1 ?z }",
    "SELECT ?x ?v { ?x :D0 ?v FILTER(isNumeric(?v) && ?v > 1) }",
    "SELECT ?x ?y { ?x :P0+ ?y }",
    "SELECT ?x ?c { ?x rdfs:subClassOf ?c . FILTER NOT EXISTS { ?x a rdfs:Datatype } }",
    "SELECT ?p (COUNT(*) AS ?n) { ?s ?p ?o } GROUP BY ?p",
    "SELECT ?x ?y { ?x :P2 ?y OPTIONAL { ?x :D1 ?z } }",
)


@given(texts=documents("owl-rl"))
def test_queries_see_the_ontology_and_the_facts_as_one_graph(
    tmp_path: Path, texts: tuple[str, str]
) -> None:
    selects = {f"select('{query}', ?a, ?b)": query for query in QUERIES}
    asks = {
        f"ask('{query}')": query
        for query in (
            "ASK { ?x :P0 ?y . ?y :P1 ?x }",
            "ASK { ?x a :C0 , :C1 }",
            "ASK { :I0 owl:sameAs :I1 }",
        )
    }
    found, graph = asked(tmp_path, texts, [*selects, *asks], "owl-rl")
    seen = Graph()
    for each in nodes(graph):
        seen.add(each)
    namespaces = {"": URIRef(EX), "owl": OWL, "rdfs": RDFS}
    assert len(found) == len(selects) + len(asks)
    for where, bindings in found:
        expected = seen.query((selects | asks)[where], initNs=namespaces)
        if where in asks:
            assert bool(bindings) == bool(expected.askAnswer)
        else:
            assert bound(bindings) == rows(map(shown, row) for row in expected)  # type: ignore[arg-type]
