"""Facts and ontologies as documents: forms, places of errors, bounds, and nothing reached."""

from __future__ import annotations

import json
import os
import re
import time
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyoxigraph", reason="pip install 'tamis[reasoner]'")

import tamis
from tamis_operators import reasoner
from tests.operators.reasoner.asking import holds, matcher_of, solutions, written

CONTEXT = {"@vocab": "urn:tamis:surveillance#", "@base": "urn:tamis:surveillance"}
FORMS = {
    "f.ttl": "@prefix s: <urn:tamis:surveillance#> .\ns:a a s:PoliceCar .\n",
    "f.nt": "<urn:tamis:surveillance#a> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> "
    "<urn:tamis:surveillance#PoliceCar> .\n",
    "f.rdf": '<?xml version="1.0"?><rdf:RDF '
    'xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:s="urn:tamis:surveillance#">'
    '<s:PoliceCar rdf:about="urn:tamis:surveillance#a"/></rdf:RDF>',
    "f.jsonld": json.dumps(
        {"@context": CONTEXT, "@id": "urn:tamis:surveillance#a", "@type": "PoliceCar"}
    ),
}


@pytest.mark.parametrize("name", FORMS)
def test_files_of_facts_and_of_ontologies(tmp_path: Path, name: str) -> None:
    path = written(tmp_path, FORMS[name], name)
    assert holds("isA(a, EmergencyVehicle)", str(path))
    alone = written(tmp_path, ":b a :PoliceCar .", "b.ttl")
    assert alone.exists()
    facts = "<urn:tamis:surveillance#b> a <urn:tamis:surveillance#PoliceCar> ."
    kind = "'urn:tamis:surveillance#PoliceCar'"
    assert holds(f"isA('urn:tamis:surveillance#a', {kind})", facts, ontology=path)


def test_relative_paths_are_of_the_events_file(tmp_path: Path) -> None:
    from tamis.event import Event

    written(tmp_path, FORMS["f.ttl"], "f.ttl")
    matcher = matcher_of("isA(a, PoliceCar)")
    missing = matcher.match({"facts": "f.ttl"}).undetermined[0].reason
    assert "f.ttl cannot be read: No such file" in str(missing)
    event = Event({"facts": "f.ttl"}, "e", folder=str(tmp_path))
    assert event.view(("facts",))["facts"] == str(tmp_path / "f.ttl")
    text = ":a a :PoliceCar . # as in f.ttl"
    assert Event({"facts": text}, "e", folder="/x").view(None)["facts"] == text


@pytest.mark.parametrize(
    ("facts", "path"),
    [
        ("f.ttl", True),
        ("day/F.TTL", True),
        ("my facts.nt", True),
        ("/abs/x.jsonld", True),
        ("http://h/x.ttl", True),
        (":a :b :c.", False),
        (":a :b :c. # x.ttl", False),
        ("#x.ttl", False),
        ("PREFIX : <x.ttl>", False),
        ("BASE <http://x/y.ttl>", False),
        (":a :b 'f.ttl' .\n", False),
        ("f.txt", False),
        ("", False),
        ("a\n.ttl", False),
    ],
)
def test_text_or_path(facts: str, path: bool) -> None:
    from tamis.event import is_facts_path

    assert is_facts_path(facts) is path


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        (":a :b :c .\n:d :e ; .", "the facts, line 2, column "),
        (":a :b :c", "the facts, line 1, column "),
        ("]", "the facts, line 1, column 1: "),
        (":a nope:b :c .", "the facts, line 1, column "),
        ("<a> :b :c .", "the facts, line 1, column "),
        ("<urn:a b> :b :c .", "the facts, line 1, column 1: Invalid IRI code point ' '"),
        (":a :b <<( :c :d :e )>> .", "triples about triples are not read"),
        (":a a '\udc83' .", r"the facts: '\udc83' is half of a letter"),
        (":a :b 1 . " * 100, ""),
    ],
)
def test_errors_say_where(facts: str, words: str) -> None:
    found = solutions("isA(a, Van)", facts)
    if words:
        assert words in str(found)
    else:
        assert found == []


@pytest.mark.parametrize("facts", [5, ["a"], {"a": 1}, True, b":a a :Van ."])
def test_facts_of_another_kind(facts: Any) -> None:
    reason = matcher_of("isA(a, Van)").match({"facts": facts}).undetermined[0].reason
    assert "facts are Turtle text, a path or a graph of rdflib, not" in str(reason)


CHAIN = (
    ":q owl:propertyChainAxiom ("
    + ":q " * 200
    + ").\n"
    + "".join(f":a{number} :q :a{number * 7 % 50} .\n" for number in range(500))
)
SHARED = (
    "".join(f"_:l{at} rdf:first :m{at} ; rdf:rest _:l{at + 1} .\n" for at in range(2_000))
    + "_:l2000 rdf:first :z ; rdf:rest rdf:nil .\n"
    + "".join(f":o{at} owl:unionOf _:l0 .\n" for at in range(3_000))
)


@pytest.mark.parametrize("facts", [CHAIN, SHARED], ids=["chain", "shared list"])
def test_axioms_that_explode_end_in_time(facts: str) -> None:
    """Chains join without end before they find the next triple; lists are read once an owner."""
    matcher = matcher_of("isA(?x, Van)", timeout=0.5)
    began = time.monotonic()
    (lost,) = matcher.match({"facts": facts}).undetermined
    assert time.monotonic() - began < 60
    assert re.search("takes longer than 0.5 s|more than 100,000 triples", lost.reason)


def test_bounds() -> None:
    many = " ".join(f":a :near :b{number} ." for number in range(50))
    assert "more than 40 triples" in str(solutions("isA(a, Van)", many, most_triples=40))
    assert "more than 200 bytes" in str(solutions("isA(a, Van)", many, most_bytes=200))
    bounded = solutions("isA(a, Van)", many, most_consequences=60)
    assert "more than 60 triples follow" in str(bounded)
    square = "@prefix owl: <http://www.w3.org/2002/07/owl#> . :driver a owl:FunctionalProperty . "
    square += " ".join(f":a :driver :b{number} ." for number in range(3_000))
    assert "triples follow" in str(solutions("isA(a, Van)", square, most_consequences=5_000))
    hub = ":contains a owl:TransitiveProperty . "
    hub += " ".join(f":a{n} :contains :hub . :hub :contains :b{n} ." for n in range(2_000))
    members = " ".join(f":m{number}" for number in range(3_000))
    apart = f"[] a owl:AllDifferent ; owl:members ( {members} ) ."
    for wide in (hub, apart):
        assert "triples follow" in str(solutions("isA(a, Van)", wide, most_consequences=20_000))
    for wrong in ({"most_bytes": 0}, {"most_triples": True}, {"regime": "owl"}):
        with pytest.raises(tamis.OperatorError):
            reasoner.operators(**wrong)


def test_a_file_is_bounded_and_plain(tmp_path: Path) -> None:
    path = written(tmp_path, FORMS["f.ttl"], "f.ttl")
    assert "more than 20 bytes" in str(solutions("isA(a, Van)", str(path), most_bytes=20))
    (tmp_path / "folder.ttl").mkdir()
    assert "cannot be read" in str(solutions("isA(a, Van)", str(tmp_path / "folder.ttl")))
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe.ttl")
        assert "not a plain file" in str(solutions("isA(a, Van)", str(tmp_path / "pipe.ttl")))
    (tmp_path / "l.ttl").write_bytes(b"\xff\xfe")
    assert "is not UTF-8" in str(solutions("isA(a, Van)", str(tmp_path / "l.ttl")))


DOCTYPE = """<?xml version="1.0"?>
<!DOCTYPE rdf:RDF [ <!ENTITY e SYSTEM "TARGET"> %s ]>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:s="urn:tamis:surveillance#">
<rdf:Description rdf:about="urn:tamis:surveillance#a"><s:name>&e;</s:name></rdf:Description>
</rdf:RDF>
"""
REACHING = {
    "external.rdf": DOCTYPE % "",
    "parameter.xml": DOCTYPE % '<!ENTITY % p SYSTEM "TARGET"> %p;',
    "outer.owl": DOCTYPE.replace("[ <", 'SYSTEM "TARGET" [ <') % "",
    "context.jsonld": '{"@context": "TARGET", "@id": "urn:a", "urn:p": 1}',
    "listed.json": '{"@context": [{"a": "urn:a"}, ["TARGET"]], "@id": "urn:a"}',
    "inner.jsonld": '{"@id": "urn:a", "urn:p": {"@context": "TARGET", "urn:q": 1}}',
    "scoped.jsonld": '{"@context": {"p": {"@id": "urn:p", "@context": "TARGET"}}, "p": {}}',
    "import.jsonld": '{"@context": {"@version": 1.1, "@import": "TARGET"}, "urn:p": 1}',
    "twice.jsonld": '{"@context": "TARGET", "@context": {}, "urn:p": 1}',
}


@pytest.mark.parametrize("name", REACHING)
@pytest.mark.parametrize("what", ["server", "file"])
def test_no_document_reaches_anything(
    server: tuple[str, list[str]], tmp_path: Path, name: str, what: str
) -> None:
    url, requests = server
    canary = written(tmp_path, "the canary sings", "canary.txt")
    target = url if what == "server" else canary.as_uri()
    path = written(tmp_path, REACHING[name].replace("TARGET", target), name)
    reason = solutions("holds(?s, ?p, ?o)", str(path))
    assert isinstance(reason, str), reason
    assert "sings" not in reason
    with pytest.raises(tamis.SubscriptionError, match="the ontology cannot be read"):
        matcher_of("holds(?s, ?p, ?o)", ontology=path)
    assert requests == []


def test_reasons_for_documents(tmp_path: Path) -> None:
    def reason(name: str) -> str:
        return str(solutions("isA(a, Van)", str(written(tmp_path, REACHING[name], name))))

    assert "line 2: a document type is refused" in reason("external.rdf")
    assert "the context 'TARGET' is an address, and nothing is fetched" in reason("inner.jsonld")
    assert "@import is refused" in reason("import.jsonld")
    deep = written(tmp_path, "[" * 500 + "]" * 500, "deep.json")
    assert "nested too deep" in str(solutions("isA(a, Van)", str(deep)))


def test_addresses_are_not_fetched(server: tuple[str, list[str]]) -> None:
    url, requests = server
    for facts in (f"{url}x.ttl", "file:///etc/x.ttl"):
        assert "is an address, and nothing is fetched" in str(solutions("isA(a, Van)", facts))
    imports = f"@prefix owl: <http://www.w3.org/2002/07/owl#> . <urn:o> owl:imports <{url}> ."
    assert solutions("isA(a, Van)", imports) == []
    assert requests == []


def test_blank_nodes_of_facts_and_ontologies_are_apart(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        "@prefix : <urn:o#> . @prefix owl: <http://www.w3.org/2002/07/owl#> .\n"
        ":C a owl:Class . _:b a :C ; :p :x .",
    )
    facts = "_:b a <urn:o#D> . [] a <urn:o#D> . <urn:o#y> <urn:o#p> _:b ."
    assert solutions("isA(?x, C)", facts, ontology=path) == [{"x": "_:tamis.1.b"}]
    assert holds("isA('_:tamis.1.b', C)", facts, ontology=path)
    assert not holds("isA('_:b', C)", facts, ontology=path)
    for query in ("holds(?x, p, ?y)", "select('SELECT ?x ?y { ?x :p ?y }', ?x, ?y)"):
        found = solutions(query, facts, ontology=path)
        assert isinstance(found, list)
        assert {tuple(each.values()) for each in found} == {("_:tamis.1.b", "x"), ("y", "_:b")}
    stolen = "_:tamis.1.b a <urn:o#D> ."
    assert "is the ontology's own" in str(solutions("isA(?x, C)", stolen, ontology=path))


def test_ontologies_that_cannot_be_used(tmp_path: Path) -> None:
    def refused(path: Path) -> str:
        with pytest.raises(tamis.SubscriptionError) as failure:
            matcher_of("isA(?x, ?c)", ontology=path)
        return str(failure.value)

    assert "there is no " in refused(tmp_path / "none.ttl")
    assert "holds no RDF file" in refused(tmp_path)
    assert "line 2, column" in refused(written(tmp_path, "<urn:a> a <urn:b> .\n]", "bad.ttl"))
    apart = written(
        tmp_path,
        "@prefix owl: <http://www.w3.org/2002/07/owl#> . @prefix : <urn:o#> .\n"
        ":A owl:disjointWith :B . :x a :A, :B .",
        "apart.ttl",
    )
    assert "the ontology is inconsistent: x is a A and a B, which are disjoint" in refused(apart)


def test_folders_and_several_files(tmp_path: Path) -> None:
    folder = tmp_path / "onto"
    (folder / "deeper").mkdir(parents=True)
    rdfs = "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix : <urn:o#> .\n"
    written(folder, rdfs + ":A rdfs:subClassOf :B .", "a.ttl")
    written(folder / "deeper", rdfs + ":B rdfs:subClassOf :C .", "b.ttl")
    written(folder, "no RDF", "notes.txt")
    other = written(tmp_path, rdfs + ":C rdfs:subClassOf :D .", "c.ttl")
    for regime in ("rdfs", "owl-rl"):
        assert holds("isA(x, D)", ":x a :A .", ontology=[folder, other], regime=regime)
    assert not holds("isA(x, D)", ":x a :A .", ontology=[folder, other], regime="none")
