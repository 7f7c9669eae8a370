"""Names: what a word names, what is refused, and that a solution's word names its term."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("pyoxigraph", reason="pip install 'tamis[reasoner]'")

import pyoxigraph as ox
from hypothesis import given
from hypothesis import strategies as st

import tamis
from tamis.errors import ArgumentError
from tamis_operators.reasoner import knowledge as loading
from tamis_operators.reasoner.names import TermNames
from tamis_operators.reasoner.settings import settings_of
from tests.operators.reasoner.asking import holds, matcher_of, solutions, written

ONE = """
@prefix : <http://one/#> .
@prefix two: <http://two/> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:Car a owl:Class ; rdfs:subClassOf :Vehicle .
:Boat a owl:Class . two:Boat a owl:Class . two:Canoe a owl:Class ; rdfs:subClassOf two:Boat .
:near a owl:ObjectProperty . two:near a owl:ObjectProperty . two:length a owl:DatatypeProperty .
<urn:x:Kite> a owl:Class .
:home a :Vehicle .
"""


def names_of(folder: Path, text: str = ONE) -> TermNames:
    settings = settings_of(written(folder, text), "owl-rl", {})
    return loading.knowledge(settings).names


@pytest.mark.parametrize(
    "where",
    [
        "isA(c, Car)",
        "isA(c, Vehicle)",
        "isA(':c', ':Vehicle')",
        "isA('<http://one/#c>', '<http://one/#Vehicle>')",
        "isA('http://one/#c', 'http://one/#Vehicle')",
        "isA('two:k', Canoe) and isA('http://two/k', 'two:Boat')",
        "isA(c, 'owl:Thing')",
        "isA('urn:u:1', Kite) and isA('<urn:u:1>', '<urn:x:Kite>')",
        "isA(c, 'http://elsewhere/Car')",
        "holds(c, 'rdf:type', Car)",
        "isA('_:b', Car)",
        "isA(home, Vehicle)",
    ],
)
def test_forms_of_names(tmp_path: Path, where: str) -> None:
    facts = ":c a :Car, <http://elsewhere/Car> . two:k a two:Canoe . _:b a :Car ."
    facts += " <urn:u:1> a <urn:x:Kite> ."
    assert holds(where, facts, ontology=written(tmp_path, ONE))


@pytest.mark.parametrize(
    ("where", "words"),
    [
        ("isA(?x, Caar)", "unknown class 'Caar'; did you mean Car?"),
        ("isA(?x, ':Caar')", "unknown class ':Caar'; did you mean :Car?"),
        ("isA(?x, 'two:Boot')", "unknown class 'two:Boot'; did you mean two:Boat?"),
        ("isA(?x, 'http://one/#Caar')", "unknown class 'http://one/#Caar'; did you mean Car?"),
        ("isA(?x, 'twoo:Boat')", "unknown prefix 'twoo'; did you mean two?"),
        ("isA(?x, Boat)", "Boat is ambiguous: write one of ':Boat', 'two:Boat'"),
        ("holds(?x, near, ?y)", "near is ambiguous: write one of ':near', 'two:near'"),
        ("holds(?x, lenght, ?y)", "unknown property 'lenght'; did you mean length?"),
        ("holds(?x, Car, ?y)", "unknown property 'Car'"),
        ("isA(?x, near)", "unknown class 'near'"),
        ("isA(?x, 3)", "a class is a name, not 3"),
        ("isA(3, Car)", "an entity is a name, not 3"),
        ("isA('a b', Car)", "'a b' is not an IRI"),
        ("isA('_:', Car)", "names no blank node"),
    ],
)
def test_names_that_are_refused(tmp_path: Path, where: str, words: str) -> None:
    with pytest.raises(tamis.SubscriptionError) as refused:
        matcher_of(where, ontology=written(tmp_path, ONE))
    assert words in str(refused.value)


def test_a_bare_entity_needs_a_namespace(tmp_path: Path) -> None:
    empty = written(tmp_path, "<http://a/s> <http://www.w3.org/2002/07/owl#sameAs> <http://a/o> .")
    with pytest.raises(tamis.SubscriptionError, match="in no namespace"):
        matcher_of("isA(c, '<http://a/C>')", ontology=empty, regime="none")
    assert holds("isA('http://a/c', 'http://b/C')", "<http://a/c> a <http://b/C> .", ontology=empty)


def test_words_of_solutions(tmp_path: Path) -> None:
    path = written(tmp_path, ONE)
    facts = ":c :near :Boat, two:Boat, two:w, <http://z/1>, <urn:u:1>, _:b, [], <x-y:z> ."
    found = solutions("holds(c, ':near', ?y)", facts, ontology=path)
    assert not isinstance(found, str)
    words = {each["y"] for each in found}
    assert words == {
        *(":Boat", "two:Boat", "two:w", "http://z/1", "urn:u:1"),
        *("_:b", "_:anonymous.1", "<x-y:z>"),
    }
    for word in words:
        assert holds(f"holds(c, ':near', '{word}')", facts, ontology=path)
        assert holds(f"isA('{word}', 'owl:Thing') or holds(?x, ?p, '{word}')", facts, ontology=path)


iris = st.one_of(
    st.builds("{}{}".format,
        st.sampled_from(["http://one/#", "http://two/", "http://o/a/", "urn:x:", "x:", "two:"]),
        st.one_of(
            st.sampled_from(["Car", "Boat", "near", "Kite", "c", "", "a/b", "a#b", "_:x", "::"]),
            st.text("abC:/#_.-%é", max_size=6),
        ),
    ),
)  # fmt: skip


@given(iri=iris)
def test_the_word_of_a_solution_names_its_term(tmp_path: Path, iri: str) -> None:
    names = names_of(tmp_path)
    try:
        node = ox.NamedNode(iri)
    except ValueError:
        return
    assert names.entity_of(names.scalar(node), 0) == node
    blank = ox.BlankNode("b.1")
    assert names.entity_of(names.scalar(blank), 0) == blank


def test_classes_that_are_only_used(tmp_path: Path) -> None:
    names = names_of(
        tmp_path,
        "@prefix : <http://one/#> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> ."
        ":p rdfs:domain :A ; rdfs:range :B . :x :q :y ; a :C .",
    )
    for kind in "ABC":
        names.class_of(kind, 0)
    for property in "pq":
        names.property_of(property, 0)
    with pytest.raises(ArgumentError):
        names.class_of("x", 0)
