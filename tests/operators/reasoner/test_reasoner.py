"""The operators among others: samples, threads, other processes, memory, settings."""

from __future__ import annotations

import gc
import inspect
import subprocess
import sys
import threading
import weakref
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyoxigraph", reason="pip install 'tamis[reasoner]'")

import pyoxigraph as ox

import tamis
from tamis.operators import OperatorRecord, Sample
from tamis.operators.shipping import packed
from tamis.plugins.loader import installed
from tamis_bench import facts
from tamis_operators import reasoner
from tamis_operators.reasoner import sparql
from tamis_operators.reasoner.facts import prepared_facts
from tamis_operators.reasoner.settings import settings_of
from tests.operators.reasoner.asking import holds, matcher_of, solutions, written

RECORDS = reasoner.operators()[:4]  # the last one, infers, wants rules
SAMPLES = [(record, sample) for record in RECORDS for sample in record.factory().samples()]


def named(records: list[OperatorRecord]) -> dict[str, OperatorRecord]:
    return {record.specification.name: record for record in records}


@pytest.mark.parametrize(
    ("record", "sample"), SAMPLES, ids=lambda each: getattr(each, "predicate", "")
)
def test_samples(record: OperatorRecord, sample: Sample) -> None:
    found = solutions(sample.predicate, sample.event["facts"])
    if isinstance(sample.answer, bool):
        assert bool(found) is sample.answer
    elif sample.answer is not ...:
        assert isinstance(found, list)
        rows = [tuple(each.values()) for each in found]
        assert [row if len(row) > 1 else row[0] for row in rows] == sample.answer
    else:
        assert isinstance(found, list)


def test_they_are_installed() -> None:
    assert {"isA", "holds", "ask", "select"} <= installed().operators.keys()
    for name, record in named(RECORDS).items():
        specification = record.specification
        assert (specification.deterministic, specification.missing) == (True, None)
        assert record.factory().specification == specification, name


def test_listing_imports_nothing_heavy() -> None:
    program = (
        "import sys; from tamis_operators import reasoner; reasoner.operators();"
        "print(*sorted({'pyoxigraph', 'rdflib', 'owlrl', 'networkx', 'xml'} & sys.modules.keys()))"
    )
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert run.stdout.split() == []


def test_a_missing_library_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "tamis.operators.specification._is_installed", lambda module: module != "pyoxigraph"
    )
    with pytest.raises(tamis.SubscriptionError) as refused:
        matcher_of("isA(?x, Car)")
    assert "isA needs pyoxigraph, which is not installed: pip install 'tamis[reasoner]'" in str(
        refused.value
    )


def test_what_is_not_there_is_false_and_what_contradicts_is_unknown() -> None:
    matcher = matcher_of("isA(x, Boat)", "not isA(x, Boat)", "a = 1 or isA(x, Boat)")
    nothing = matcher.match({"a": 1})
    assert [match.subscription for match in nothing.matches] == ["2"]
    assert not nothing.undetermined
    both = matcher.match({"facts": ":x a :Boat, :Car ."})
    assert not both.matches
    assert [each.subscription for each in both.undetermined] == ["0", "1", "2"]
    assert "the facts are inconsistent: x is a " in str(both.undetermined[0].reason)
    assert "which are disjoint" in str(both.undetermined[0].reason)
    empty = matcher.match({"facts": ""})
    assert [match.subscription for match in empty.matches] == ["1"]


def test_one_preparation_for_all() -> None:
    matcher = matcher_of(
        "isA(x, Car) and holds(x, near, ?y) and ask('ASK { ?x :near ?y }') "
        "and select('SELECT ?y { :x :near ?y }', ?z)"
    )
    result = matcher.match({"facts": ":x a :Car ; :near :b ."})
    assert result.matches[0].bindings == [{"y": "b", "z": "b"}]
    preparations = {id(record.specification.preparation) for record in RECORDS}
    assert len(preparations) == 1


def test_joins_over_variables() -> None:
    facts = ":p a :PoliceCar ; :pursues :v . :q a :PoliceCar . :v a :Van ; :speed 30 ."
    where = "isA(?car, PoliceCar), holds(?car, pursues, ?who), holds(?who, speed, ?v), ?v >= 30"
    assert solutions(where, facts) == [{"car": "p", "who": "v", "v": 30}]
    assert solutions("isA(?x, Chasing)", facts) == [{"x": "p"}]


def test_hasKey_says_what_is_the_same() -> None:
    facts = (
        ':a a :Car ; :plate "X1" ; :near :c . :b a :Van ; :plate "X1" . :d a :Car ; :plate "Y" .'
    )
    assert holds("holds(a, 'owl:sameAs', b)", facts)
    assert not holds("holds(a, 'owl:sameAs', d)", facts)
    assert holds("holds(b, near, c)", facts)


@pytest.mark.parametrize("workers", [1, 4])
def test_threads(workers: int) -> None:
    wheres = [
        "isA(?x, EmergencyVehicle)",
        "holds(?x, near, ?y)",
        "ask('ASK { ?x a :Vehicle ; :near ?y }')",
        "select('SELECT ?x ?v { ?x a :Car ; :speed ?v }', ?x, ?v)",
    ]
    matcher = tamis.Matcher(reasoner.operators(), workers=workers, memo_bytes=0)
    for number, where in enumerate(wheres):
        matcher.subscribe(where, id=str(number))
    failures: list[object] = []

    def run(thread: int) -> None:
        for number in range(40):
            name = f"c{thread}x{number}"
            facts = f":{name} a :PoliceCar ; :speed {number} ; :near :n{name} ."
            result = matcher.match({"facts": facts})
            found = {match.subscription: match.bindings for match in result.matches}
            both = sorted(tuple(each.values()) for each in found.get("1", []))
            if (
                found.get("0") != [{"x": name}]
                or both != sorted([(name, f"n{name}"), (f"n{name}", name)])
                or "2" not in found
                or found.get("3") != [{"x": name, "v": number}]
                or result.undetermined
            ):
                failures.append((found, result.undetermined))

    threads = [threading.Thread(target=run, args=(each,)) for each in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_stores_are_renewed_and_forget_their_events(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sparql, "_MOST_REMOVED", 200)
    triples = [(ox.NamedNode(f"urn:s{n}"), ox.NamedNode("urn:p"), ox.Literal(n)) for n in range(10)]
    datasets = sparql.Datasets(lambda: triples, {})
    count = "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }"
    stores = set()

    class Owner:
        pass

    for event in range(50):
        owner = Owner()
        own = [
            (ox.NamedNode(f"urn:e{event}"), ox.NamedNode("urn:q"), ox.Literal(n)) for n in range(20)
        ]
        dataset = datasets.dataset(own, owner)
        found = dataset.query(count)
        assert isinstance(found, ox.QuerySolutions)
        (row,) = found
        assert row["n"].value == "30"
        stores.add(id(dataset._store))
        last = dataset._store
    del owner
    gc.collect()
    assert len(last) == 10
    assert len(stores) > 1


OTHER = """
import sys
from tamis import Matcher
from tamis.operators.shipping import unpacked
matcher = Matcher(unpacked(sys.stdin.buffer.read()))
matcher.subscribe("isA(?x, EmergencyVehicle) and ask('ASK { ?x :near ?y }')", id="s")
print(matcher.match({"facts": ":a a :PoliceCar ; :near :b ."}).matches[0].bindings)
"""


def test_they_travel(tmp_path: Path) -> None:
    assert matcher_of("isA(?x, Car)").match({"facts": ":x a :Car ."}).matches
    run = subprocess.run(
        [sys.executable, "-c", OTHER], input=packed(RECORDS), capture_output=True, check=True
    )
    assert run.stdout.decode().strip() == "[{'x': 'a'}]"


def test_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (
        "@prefix : <urn:o#> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n"
        ":A rdfs:subClassOf :B ."
    )
    path = written(tmp_path, text)

    def version(**configuration: Any) -> str:
        return named(reasoner.operators(**configuration))["isA"].specification.version

    versions = {version(), version(ontology=path), version(ontology=path, regime="rdfs")}
    versions |= {version(ontology=path, most_triples=5)}
    path.write_text(text + " ", encoding="utf-8")
    versions.add(version(ontology=path))
    assert len(versions) == 5
    assert version() == version()
    monkeypatch.setenv("TAMIS_ONTOLOGY", str(path))
    assert version() == version(ontology=str(path))
    assert holds("isA(x, B)", ":x a :A .")
    specification = named(reasoner.operators(timeout=2, isolation="thread"))["ask"].specification
    assert (specification.timeout, specification.isolation) == (2, "thread")
    with pytest.raises(tamis.OperatorError, match="did you mean owl-rl"):
        reasoner.operators(regime="owlrl")
    with pytest.raises(tamis.OperatorError, match="an ontology is files, folders, or graphs"):
        reasoner.operators(ontology=5)  # type: ignore[arg-type]
    with pytest.raises(tamis.OperatorError, match="rules are a file, or several, not 5"):
        reasoner.operators(rules=5)  # type: ignore[arg-type]
    with pytest.raises(tamis.OperatorError, match="at least one file"):
        reasoner.operators(ontology=[])


def test_the_readme_names_every_setting() -> None:
    text = (Path(reasoner.__file__).parent / "README.md").read_text(encoding="utf-8")
    for name in inspect.signature(reasoner.operators).parameters:
        assert f"`{name}" in text or f"{name}=" in text


def test_the_bench_finds_what_owlrl_finds() -> None:
    pytest.importorskip("owlrl", reason="pip install 'tamis[reasoner]'")
    rows = list(facts.measured(sizes=[100, 150], facts=[5, 10], events=2))
    assert [(row["ontology"], row["facts"]) for row in rows] == [
        *((100, 5), (100, 10), (150, 5), (150, 10))
    ]
    assert ["owlrl_ms" in row for row in rows] == [True, True, False, False]
    (quick,) = facts.measured(sizes=[100], facts=[5], events=2, quick=True)
    assert "select_rdflib_ms" in quick
    assert "owlrl_ms" not in quick


def test_a_query_that_takes_long_is_unknown() -> None:
    facts = " ".join(f":s{number} :speed {number} ." for number in range(2_000))
    long = "ASK { ?a :speed ?b . ?c :speed ?d FILTER(?b + ?d = -1) }"
    reason = solutions(f"ask('{long}')", facts, timeout=0.3)
    assert isinstance(reason, str)
    assert "timed out" in reason


def test_regimes() -> None:
    facts = ":a a :PoliceCar ; :pursues :b ."
    for where, regimes in (
        ("isA(a, PoliceCar)", {"owl-rl", "rdfs", "none"}),
        ("isA(a, Vehicle)", {"owl-rl", "rdfs"}),
        ("holds(a, near, b)", {"owl-rl", "rdfs"}),
        ("holds(b, near, a)", {"owl-rl"}),
        ("isA(a, Chasing)", {"owl-rl"}),
    ):
        for regime in ("owl-rl", "rdfs", "none"):
            assert holds(where, facts, regime=regime) is (regime in regimes)


def test_answers_are_kept_by_what_the_facts_are() -> None:
    matcher = matcher_of("isA(?x, Van)")
    for number in range(3):
        result = matcher.match({"id": str(number), "facts": "[] a :Van . _:b a :Van ."})
        assert result.matches[0].bindings == [{"x": "_:anonymous.1"}, {"x": "_:b"}]
    assert result.account.calls == 0


def test_an_event_goes_with_its_last_reference() -> None:
    settings = settings_of(None, "owl-rl", {})
    gc.disable()
    try:
        facts = prepared_facts(settings, {"facts": ":a a :Car ; :near :b ; :plate 'x' ."})
        assert facts.dataset.query("ASK { ?x a :Car }")
        gone = [weakref.ref(each) for each in (facts, facts.closure)]
        del facts
        assert [each() for each in gone] == [None, None]
    finally:
        gc.enable()
