"""The stream of RDF: its README is right, and what it finds is what owlrl finds."""

from __future__ import annotations

import json
import shlex
import shutil
from pathlib import Path

import pytest

from tests.examples.running import EXAMPLES, STRICT, run, shown

RDF = EXAMPLES / "rdf"


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The example, where it may write."""
    for module in ("rdflib", "owlrl", "pyoxigraph"):
        pytest.importorskip(module, reason="pip install 'tamis[reasoner]'")
    return Path(shutil.copytree(RDF, tmp_path / "rdf"))


def test_its_readme_is_right(copy: Path) -> None:
    commands = shown((RDF / "README.md").read_text(encoding="utf-8"))
    assert len(commands) == 3
    for command, output in commands:
        words = shlex.split(command)
        environment = {}
        while "=" in words[0]:
            name, _, value = words.pop(0).partition("=")
            environment[name] = value
        program, *arguments = words
        target = arguments.index(">") if ">" in arguments else len(arguments)
        to = arguments[target + 1 :]
        arguments = ["-m", "tamis", *arguments] if program == "tamis" else arguments[:target]
        ended = run(*STRICT, *arguments, folder=copy, **environment)
        assert ended.status == 0, ended.err
        assert ended.out
        assert not output or ended.out == output
        for path in to:
            (copy / path).write_text(ended.out, encoding="utf-8")


def test_it_finds_what_owlrl_finds_from_the_start(copy: Path) -> None:
    import owlrl
    from rdflib import Graph, Namespace
    from rdflib.namespace import RDF as RDF_NAMESPACE

    harbor = Namespace("urn:example:harbor#")
    events = run("stream.py", "--events", "--count", "4", "--seed", "5", folder=copy).out
    ended = run("stream.py", "--count", "4", "--seed", "5", folder=copy)
    found = {
        line.split(": ")[0]: line.split("=")
        for line in ended.out.splitlines()
        if "hazard-in-the-city" in line
    }
    expected = {}
    for event in map(json.loads, events.splitlines()):
        graph = Graph().parse(copy / "harbor.ttl")
        graph.parse(data=f"@prefix : <{harbor}> .\n{event['facts']}", format="turtle")
        owlrl.DeductiveClosure(owlrl.OWLRL_Semantics).expand(graph)
        ships = sorted(
            str(ship).removeprefix(str(harbor))
            for ship in graph.subjects(RDF_NAMESPACE.type, harbor.Hazard)
            if (ship, harbor.locatedIn, harbor.City) in graph
        )
        if ships:
            expected[event["id"]] = ships
    assert expected
    assert set(found) == set(expected)
    for event_id, ships in expected.items():
        assert all(any(ship in part for part in found[event_id]) for ship in ships)


def test_reports_become_events(copy: Path) -> None:
    ended = run("stream.py", "--reports", "reports.ttl", "--events", folder=copy)
    [first, *_] = map(json.loads, ended.out.splitlines())
    assert first["id"] == "pilot@2026-05-02T08:00:00+02:00"
    assert ":northern a :Tanker" in first["facts"]
