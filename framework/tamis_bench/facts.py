"""What an event costs by its own consequences, against closing everything again with owlrl; and a
query over both graphs, against rdflib's engine.

    tamis bench facts [--quick | --long] [--json] [--seed N]

Times are medians of several events, measured in turn in one process and one thread; owlrl's of one
event, for the smaller ontology. With `--quick` owlrl is left out, with `--long` it also closes the
larger one, which takes very long. Both must find the same triples, else the bench says so and ends
with 1.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pyoxigraph as ox

from tamis_operators.reasoner.facts import Facts, prepared_facts
from tamis_operators.reasoner.knowledge import Knowledge, knowledge, visible
from tamis_operators.reasoner.settings import settings_of
from tamis_operators.reasoner.vocabulary import OWL, RDFS

_EX = "http://example.org/bench#"
_SIZES = (1_000, 10_000)
_FACTS = (10, 30, 100)
_EVENTS = 21
_QUERIES = {
    "ask": "ASK { ?x a :C1 ; :p0 ?y . ?y a ?c }",
    "select": "SELECT ?x ?y { ?x :p1 ?y . ?y a :C0 }",
}


def ontology(triples: int, seed: int) -> str:
    """Classes in a tree, properties with domains and characteristics, and individuals."""
    random_ = random.Random(seed)
    classes, properties, people = triples // 10, max(8, triples // 100), triples // 5
    lines = [f"@prefix : <{_EX}> . @prefix owl: <{OWL}> . @prefix rdfs: <{RDFS}> ."]
    count = 0

    def say(line: str) -> None:
        nonlocal count
        lines.append(line + " .")
        count += 1

    for number in range(classes):
        say(f":C{number} a owl:Class")
        if number:
            say(f":C{number} rdfs:subClassOf :C{(number - 1) // 4}")
    for number in range(properties):
        say(f":p{number} a owl:ObjectProperty")
        say(f":p{number} rdfs:domain :C{random_.randrange(classes)}")
        if number >= 4:
            say(f":p{number} rdfs:subPropertyOf :p{number // 4}")
        if number % 8 == 2:
            say(f":p{number} owl:inverseOf :p{number + 1}")
        if number % 16 == 5:
            say(f":p{number} a owl:TransitiveProperty")
        if number % 16 == 9:
            say(f":p{number} a owl:SymmetricProperty")
    while count < triples:
        say(_said(random_, f":i{random_.randrange(people)}", people, classes, properties))
    return "\n".join(lines)


def _said(random_: random.Random, who: str, people: int, classes: int, properties: int) -> str:
    if random_.random() < 0.5:
        return f"{who} a :C{random_.randrange(classes)}"
    return f"{who} :p{random_.randrange(properties)} :i{random_.randrange(people)}"


def facts(triples: int, size: int, seed: int) -> str:
    """What an event says of things of its own, and of some that the ontology knows."""
    random_ = random.Random(seed)
    own = max(2, triples // 4)
    classes, properties, people = size // 10, max(8, size // 100), size // 5
    lines = [
        _said(random_, f":e{seed}.{random_.randrange(own)}", people, classes, properties)
        for _ in range(triples)
    ]
    return " .\n".join(lines) + " ."


def timed(work: Callable[[], object]) -> float:
    """Milliseconds."""
    started = time.perf_counter()
    work()
    return (time.perf_counter() - started) * 1_000


def measured(size: int, whole: Sequence[int], seed: int, folder: Path) -> Iterator[dict[str, Any]]:
    """A row for each number of facts."""
    path = folder / f"{size}.ttl"
    path.write_text(ontology(size, seed), encoding="utf-8")
    settings = settings_of(path, "owl-rl", {})
    loading = timed(partial(knowledge, settings))
    known = knowledge(settings)
    for count in _FACTS:
        events = [{"facts": facts(count, size, seed + number)} for number in range(_EVENTS)]
        prepared_facts(settings, events[0])
        made: list[Facts] = []
        spent = []
        for event in events:
            started = time.perf_counter()
            made.append(prepared_facts(settings, event))
            spent.append((time.perf_counter() - started) * 1_000)
        row: dict[str, Any] = {
            "ontology": size,
            "closed": known.closure.count,
            "closing_ms": loading,
            "facts": count,
            "consequences": statistics.median(each.closure.count for each in made),
            "event_ms": statistics.median(spent),
        }
        row |= _queries(made, known)
        if count in whole:
            row |= _owlrl(path, events[-1]["facts"], made[-1], known)
        yield row


def _queries(made: Sequence[Facts], known: Knowledge) -> dict[str, float]:
    """Queries over the two graphs; the first one of an event makes its graph."""
    row = {"graph_ms": statistics.median(timed(partial(getattr, each, "dataset")) for each in made)}
    seen = _rdflib(made[-1], known)
    for name, query in _QUERIES.items():
        spent = [timed(partial(_run, each, query)) for each in made]
        row[f"{name}_ms"] = statistics.median(spent)
        row[f"{name}_rdflib_ms"] = min(timed(partial(_asked, seen, query)) for _ in range(2))
        if _run(made[-1], query) != _asked(seen, query):
            raise SystemExit(f"rdflib answers otherwise: {query}")
    return row


def _run(each: Facts, query: str) -> int:
    found = each.dataset.query(query)
    if isinstance(found, ox.QueryBoolean):
        return int(bool(found))
    return sum(1 for _ in found)


def _asked(graph: Any, query: str) -> int:
    found = graph.query(query)
    return int(found.askAnswer) if found.type == "ASK" else len(list(found))


def _rdflib(each: Facts, known: Knowledge) -> Any:
    import rdflib

    graph = rdflib.Graph()
    graph.parse(data=_lines(known, each), format="nt")
    graph.bind("", rdflib.Namespace(_EX))
    return graph


def _lines(known: Knowledge, each: Facts) -> str:
    layers = (visible(known.closure, known.terms), visible(each.closure, each.terms))
    return "\n".join(f"{s} {p} {o} ." for layer in layers for s, p, o in layer)


def _owlrl(path: Path, text: str, each: Facts, known: Knowledge) -> dict[str, float]:
    """The same event by owlrl: everything again."""
    import owlrl
    import rdflib

    prefix = f"@prefix : <{_EX}> . "

    def whole() -> Any:
        graph = rdflib.Graph()
        graph.parse(path, format="turtle")
        graph.parse(data=prefix + text, format="turtle")
        owlrl.DeductiveClosure(owlrl.OWLRL_Semantics).expand(graph)
        return graph

    started = time.perf_counter()
    graph = whole()
    spent = (time.perf_counter() - started) * 1_000
    theirs = {f"{s.n3()} {p.n3()} {o.n3()} ." for s, p, o in graph}
    ours = set(_lines(known, each).splitlines())
    if theirs != ours:
        raise SystemExit(f"owlrl finds {len(theirs - ours)} more and {len(ours - theirs)} less")
    return {"owlrl_ms": spent}


def main(arguments: Sequence[str] | None = None) -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(prog="tamis bench facts")
    much = parser.add_mutually_exclusive_group()
    much.add_argument("--quick", action="store_true", help="without owlrl")
    much.add_argument("--long", action="store_true", help="with owlrl for the larger ontology too")
    parser.add_argument("--json", action="store_true", help="rows as JSON lines")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    if not options.json:
        print(" ".join(f"{name:>14}" for name in (*_COLUMNS, "times owlrl")))
    with tempfile.TemporaryDirectory() as folder:
        for place, size in enumerate(_SIZES):
            whole: Sequence[int] = () if options.quick else _FACTS
            if place:
                whole = _FACTS[:1] if options.long else ()
            for row in measured(size, whole, options.seed, Path(folder)):
                print(json.dumps(row) if options.json else _shown(row), flush=True)


_COLUMNS = (
    *("ontology", "closed", "closing_ms", "facts", "consequences", "event_ms", "graph_ms"),
    *("ask_ms", "ask_rdflib_ms", "select_ms", "select_rdflib_ms", "owlrl_ms"),
)


def _shown(row: dict[str, Any]) -> str:
    cells = [_cell(row.get(name)) for name in _COLUMNS]
    times = row["owlrl_ms"] / row["event_ms"] if "owlrl_ms" in row else None
    return " ".join(f"{cell:>14}" for cell in [*cells, _cell(times)])


def _cell(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:,}" if isinstance(value, int) else f"{value:,.2f}"
