"""Queries: what is refused, before anything runs it, and what is not."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("pyoxigraph", reason="pip install 'tamis[reasoner]'")

import tamis
from tamis.errors import ArgumentError
from tamis_operators.reasoner.queries import checked_query
from tests.operators.reasoner.asking import holds, matcher_of, solutions

PREFIXES = {"": "http://e/", "service": "http://s/", "rdfs": "http://r/"}


REACHING = (
    "ASK { SERVICE <URL> { ?s ?p ?o } }",
    "ASK { service silent <URL> { ?s ?p ?o } }",
    "ASK { SERVICE<URL>{ ?s ?p ?o } }",
    "ASK { { SELECT * { SERVICE ?x { ?s ?p ?o } VALUES ?x { <URL> } } } }",
    "ASK { FILTER EXISTS { SERVICE <URL> { ?s ?p ?o } } }",
    "ASK { ?s ?p 'a' . # ' \n SERVICE <URL> { ?s ?p ?o } }",
    "ASK { ?s ?p ?o FILTER(?s<?p) SERVICE <URL> {?a ?b ?c} }",
    'ASK { ?s ?p ?a FILTER(?a<?b#>"""\n) SERVICE <URL> {?s ?p ?o} #"""\n }',
    "ASK { ?s ?p ?a FILTER(?a<'>'''\n') SERVICE <URL> {?s ?p ?o} #'''\n }",
    "ASK { \\u0053ERVICE <URL> { ?s ?p ?o } }",
    'ASK { ?s ?p "\\u0022 . SERVICE <URL> { ?s ?p ?o } #" }',
    "ASK FROM <URL> { ?s ?p ?o }",
    "ASK FROM NAMED <URL> { GRAPH ?g { ?s ?p ?o } }",
    "LOAD <URL>",
    "LOAD <file:CANARY>",
    "ASK FROM <file:CANARY> { ?s ?p ?o }",
    "INSERT DATA { <a:a> <b:b> <c:c> }",
    "ASK { ?s ?p ?o }; LOAD <URL>",
    "DESCRIBE <URL>",
    "CONSTRUCT { ?s ?p ?o } FROM <URL> WHERE { ?s ?p ?o }",
)


@pytest.mark.parametrize("query", REACHING)
def test_no_query_reaches_anything(
    server: tuple[str, list[str]], tmp_path: Path, query: str
) -> None:
    url, requests = server
    canary = tmp_path / "canary.ttl"
    canary.write_text("<http://c/s> <http://c/p> <http://c/o> .")
    text = query.replace("URL", url).replace("CANARY", str(canary))
    with pytest.raises(ArgumentError):
        checked_query(text, PREFIXES, "ASK")
    with pytest.raises(ArgumentError):
        checked_query(text.replace("ASK", "SELECT *"), PREFIXES, "SELECT")
    assert requests == []


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("ASK { SERVICE <http://h/> { ?s ?p ?o } }", "SERVICE is refused: it asks another server"),
        ("ASK {\n  ?s ?p ?o FILTER(NOW() > 3) }", "NOW is refused: an answer depends on the facts"),
        ("ASK {\n  ?s ?p ?o FILTER(rand() > 3) }", "(line 2, column 19 of the query)"),
        ("ASK { ?s ?p", "the query cannot be read: error at 1:12"),
        ("ASK { ?s nope:p ?o }", "the query cannot be read: error at 1:"),
        ("SELECT ?s { ?s ?p ?o }", "this is a query for select('…', ?a): here stands an ASK query"),
        ("DELETE WHERE { ?s ?p ?o }", "DELETE is refused: a query changes nothing"),
        ("DESCRIBE :a", "DESCRIBE is refused: a query is an ASK or a SELECT"),
        ('ASK { ?s ?p "a }', "the query cannot be read at"),
        ("ASK {" + " " * 70_000 + "}", "65,536 are allowed"),
    ],
)
def test_reasons(query: str, words: str) -> None:
    with pytest.raises(ArgumentError) as refused:
        checked_query(query, PREFIXES, "ASK")
    assert words in str(refused.value)


@pytest.mark.parametrize(
    "query",
    [
        "ASK { ?s ?p 'SERVICE <http://h/> { FROM }' }",
        'ASK { ?s ?p "LOAD \\" SERVICE" }',
        "ASK { ?s ?p '''it's a \\' SERVICE''' }",
        'ASK { ?s ?p """a "quoted" SERVICE""" }',
        "ASK { ?s ?p ?o } # SERVICE <http://h/>",
        "ASK { ?s <http://h/#SERVICE> ?o }",
        "ASK { ?service ?from ?load . $now ?rand ?o }",
        "ASK { :SERVICE service:FROM ?o . ?s service: _:service }",
        "ASK { ?s ?p ?o FILTER(?o < 3 && ?s<?p) }",
        "ASK { ?s (:a|^:b)/:c* [ :d (1 2.5 -3e4 true) ] ; :e 'x'@en-GB, '5'^^:t }",
        "ASK { ?s ?p ?o FILTER regex(?o, '^\\\\d+', 'i') VALUES ?s { UNDEF } BIND(1+2*3 AS ?n) }",
        "BASE <http://b/> PREFIX é: <p/> ASK { é:x a é:y.z\\,w%20 }",
        "ASK { ?s ?p 'caf\\u00E9' MINUS { ?s ?p <urn:x:y> } }",
    ],
)
def test_what_is_not_refused(query: str) -> None:
    assert checked_query(query, PREFIXES, "ASK") == []


def test_variables_are_counted() -> None:
    query = "SELECT ?x ?y { ?x :near ?y }"
    for wanted, words in (
        ("?a", "the query gives 2 values a solution (?x, ?y), and 1 is asked for"),
        ("?a, ?b, ?c", "and 3 are asked for"),
    ):
        with pytest.raises(tamis.SubscriptionError) as refused:
            matcher_of(f"select('{query}', {wanted})")
        assert words in str(refused.value)
    with pytest.raises(tamis.SubscriptionError, match="and 0 are asked for"):
        matcher_of(f"select('{query}')")
    with pytest.raises(tamis.SubscriptionError, match="this is a query for ask"):
        matcher_of("select('ASK { ?x :near ?y }', ?a)")
    with pytest.raises(tamis.SubscriptionError, match="a query is a string"):
        matcher_of("holds(?q, near, ?x), ask(?q)")


def test_constants_in_the_place_of_variables() -> None:
    facts = ':a :near :b ; :speed 5, 7.5, "5", "x"@en .'
    near = "select('SELECT ?x ?y {{ ?x :near ?y }}', {})"
    speed = "select('SELECT ?x ?v {{ ?x :speed ?v }}', {})"
    assert solutions(near.format("?u, b"), facts) == [{"u": "a"}]
    assert solutions(near.format("?u, c"), facts) == []
    assert holds(near.format("a, b"), facts)
    assert not holds(near.format("a, a"), facts)
    assert solutions(near.format("?u, ?u"), ":a :near :b .") == []
    assert solutions(speed.format("?u, 5"), facts) == [{"u": "a"}]
    assert holds(speed.format('a, "5"'), facts)
    assert holds(speed.format("a, x"), facts)
    assert not holds(speed.format("a, 6"), facts)


def test_unbound_is_no_solution_and_equal_ones_are_one() -> None:
    facts = ":a a :Van . :b a :Van ; :speed 3, 3.0 ."
    query = "SELECT ?x ?v { ?x a :Van OPTIONAL { ?x :speed ?v } }"
    assert solutions(f"select('{query}', ?x, ?v)", facts) == [{"x": "b", "v": 3}]
