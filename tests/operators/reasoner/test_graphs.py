"""Graphs of rdflib are facts and ontologies: the answers are those of their Turtle."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tamis
from tamis.operators.shipping import packed, unpacked
from tamis_operators import reasoner
from tamis_operators.reasoner.hermit import NO_JAVA, find_java
from tamis_operators.reasoner.instance_of import instance_records
from tamis_operators.reasoner.settings import BUNDLED
from tests.operators.reasoner.asking import matcher_of, solutions
from tests.operators.reasoner.graphs import a_literal, a_person, a_property, triple

rdflib = pytest.importorskip("rdflib", reason="pip install 'tamis[reasoner]'")

SEEN = """
@prefix : <https://example.org/x#> .
:unit7 a :PoliceCar ; :speed 31.5 ; :pursues :van3 ; :near [ :name "a crowd"@en ] .
:van3 :speed "030"^^<http://www.w3.org/2001/XMLSchema#byte> ; :seen true .
"""
WHERES = (
    "isA(?x, ?c)",
    "holds(?s, ?p, ?o)",
    "holds(?x, speed, 31.5)",
    "ask('ASK { ?x a :EmergencyVehicle }')",
    "select('SELECT ?x ?v { ?x :speed ?v }', ?x, ?v), ?v > 30",
)


def bundled_prefix() -> str:
    (line,) = [e for e in Path(BUNDLED).read_text().splitlines() if e.startswith("@prefix : ")]
    return line


def text_of() -> str:
    return (
        bundled_prefix()
        + "\n"
        + "\n".join(SEEN.strip().splitlines()[1:]).replace("[", "_:b .  _:b").replace(" ] ", " ")
    )


def graph_of(text: str) -> Any:
    return rdflib.Graph().parse(data=text, format="turtle")


def dataset_of(text: str) -> Any:
    """The triples, each in one of three graphs."""
    whole = rdflib.Dataset()
    for number, each in enumerate(graph_of(text)):
        whole.graph(rdflib.URIRef(f"urn:graph:{number % 3}")).add(each)
    return whole


def found(where: str, facts: Any, **settings: Any) -> list[str]:
    """The solutions, whatever blank nodes are called."""
    bindings = solutions(where, facts, **settings)
    assert isinstance(bindings, list), bindings
    shown = [
        {name: "_:" if str(v).startswith("_:") else v for name, v in each.items()}
        for each in bindings
    ]
    return sorted(map(repr, shown))


@pytest.mark.parametrize("where", WHERES)
def test_a_graph_is_its_turtle(where: str) -> None:
    text = text_of().replace("030", "30")  # rdflib writes numbers in their shortest form
    wanted = found(where, text)
    assert wanted
    assert found(where, graph_of(text)) == wanted
    assert found(where, dataset_of(text)) == wanted


@given(st.lists(st.builds(triple, a_person, a_property, a_person | a_literal), max_size=12))
def test_random_graphs_are_their_triples(lines: list[str]) -> None:
    prefix = "@prefix : <http://example.org/x#> .\n"
    text = prefix + "\n".join(lines)
    own = 'FILTER(STRSTARTS(STR(?s), "http://ex"))'
    where = f"select('SELECT ?s ?p ?o {{ ?s ?p ?o . {own} }}', ?s, ?p, ?o)"
    assert found(where, graph_of(text)) == found(where, text)


def test_an_ontology_may_be_a_graph(tmp_path: Path) -> None:
    graph = rdflib.Graph().parse(BUNDLED)
    facts = "\n".join(text_of().splitlines()[1:])
    for where in WHERES:
        one, other = (found(where, facts, ontology=each) for each in (graph, BUNDLED))
        assert one == other != []
    more = graph_of("@prefix : <urn:more#> . :Tank a <http://www.w3.org/2002/07/owl#Class> .")
    path = tmp_path / "empty.ttl"
    path.write_text("")
    for ontology in ([BUNDLED, more], [graph, more], [dataset_of(Path(BUNDLED).read_text()), more]):
        assert solutions("isA(?x, Tank)", ":a a <urn:more#Tank> .", ontology=ontology) == [
            {"x": "a"}
        ]
    versions = [
        reasoner.operators(each)[0].specification.version
        for each in (graph, rdflib.Graph().parse(BUNDLED), more)
    ]
    assert versions[0] == versions[1] != versions[2]


def test_class_expressions_are_asked_of_graphs() -> None:
    pytest.importorskip("owlready2", reason="pip install 'tamis[reasoner]'")
    if find_java() is None:
        pytest.skip(NO_JAVA)
    matcher = tamis.Matcher(instance_records(rdflib.Graph().parse(BUNDLED)))
    matcher.subscribe("instanceOf(?x, 'PoliceCar and pursues some Thing')")
    result = matcher.match({"facts": graph_of(text_of())})
    assert result.matches[0].bindings == [{"x": "unit7"}]


def test_an_ontology_of_a_graph_travels() -> None:
    graph = rdflib.Graph().parse(BUNDLED)
    matcher = tamis.Matcher(list(unpacked(packed(reasoner.operators(graph)))))
    matcher.subscribe("isA(?x, EmergencyVehicle)")
    assert matcher.match({"facts": ":unit7 a :PoliceCar ."}).matches[0].bindings == [{"x": "unit7"}]


@pytest.mark.parametrize(
    ("add", "reason"),
    [
        ((rdflib.URIRef("no iri"), rdflib.RDF.type, rdflib.OWL.Thing), "no iri"),
        ((rdflib.Literal("a"), rdflib.RDF.type, rdflib.OWL.Thing), "is not a triple of RDF"),
        ((rdflib.URIRef("urn:a"), rdflib.BNode(), rdflib.OWL.Thing), "is not a triple of RDF"),
        ((rdflib.BNode("tamis.1"), rdflib.RDF.type, rdflib.OWL.Thing), "is the ontology's own"),
        ((rdflib.URIRef("urn:a"), rdflib.RDF.type, rdflib.Variable("x")), "not a Variable"),
    ],
)
def test_what_is_no_rdf_is_a_reason(add: Any, reason: str) -> None:
    graph = rdflib.Graph()
    graph.add(add)
    answer = solutions("isA(?x, ?c)", graph)
    assert reason in str(answer)


def test_graphs_are_bounded() -> None:
    graph = rdflib.Graph()
    for number in range(20):
        graph.add((rdflib.URIRef(f"urn:{number}"), rdflib.RDF.type, rdflib.OWL.Thing))
    assert "more than 19 triples" in str(solutions("isA(?x, ?c)", graph, most_triples=19))
    assert {"x": "urn:19"} in solutions("isA(?x, 'owl:Thing')", graph, most_triples=20)


def test_a_graph_that_changes_is_read_anew() -> None:
    graph = graph_of(text_of())
    matcher = matcher_of("isA(?x, PoliceCar)")
    assert len(matcher.match({"facts": graph}).matches[0].bindings) == 1
    ((subject, kind),) = graph.subject_objects(rdflib.RDF.type)
    graph.add((rdflib.URIRef(f"{subject}8"), rdflib.RDF.type, kind))
    assert len(matcher.match({"facts": graph}).matches[0].bindings) == 2


def test_terms_are_those_of_rdflib() -> None:
    values = [
        rdflib.URIRef("urn:a"),
        rdflib.BNode("b1"),
        rdflib.Literal('a "quoted"\nline \\ é 😀'),
        rdflib.Literal("chat", lang="fr"),
        rdflib.Literal(30),
        rdflib.Literal("2026-01-01", datatype=rdflib.XSD.date),
    ]
    graph = rdflib.Graph()
    for each in values:
        graph.add((rdflib.URIRef("urn:s"), rdflib.URIRef("urn:p"), each))
    where = "select('SELECT ?o { <urn:s> <urn:p> ?o }', ?o)"
    given = solutions(where, graph, terms="n3")
    assert {reasoner.rdflib_term(each["o"]) for each in given} == set(values)  # type: ignore[index]
    assert len(given) == len(values)
    assert len(solutions(where.replace("?o)", "30)"), graph, terms="n3")) == 1
    with pytest.raises(tamis.OperatorError, match="unknown terms 'n4'; did you mean"):
        reasoner.operators(terms="n4")
