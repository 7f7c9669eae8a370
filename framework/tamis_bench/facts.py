"""Measures reasoning over the facts of an event against owlrl, and queries against rdflib.

Times are medians of several events; that of owlrl is of one event with the smaller ontology.
`--quick` leaves owlrl out, `--long` also runs it with the larger ontology, which takes very long.
Both must find the same triples.
"""

from __future__ import annotations

import random
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import pyoxigraph as ox
import typer

from tamis_bench.options import Quick, Seed, count, several
from tamis_bench.report import Row, progress
from tamis_operators.reasoner.facts import Facts, prepared_facts
from tamis_operators.reasoner.knowledge import Knowledge, knowledge, visible
from tamis_operators.reasoner.settings import ReasonerSettings, settings_of
from tamis_operators.reasoner.vocabulary import OWL, RDFS

_EX = "http://example.org/bench#"
_QUERIES = {
    "ask": "ASK { ?x a :C1 ; :p0 ?y . ?y a ?c }",
    "select": "SELECT ?x ?y { ?x :p1 ?y . ?y a :C0 }",
}


def ontology(triples: int, seed: int) -> str:
    """Returns classes in a tree, properties with domains and characteristics, and individuals."""
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


def facts_of(triples: int, size: int, seed: int) -> str:
    """Returns what an event says of things of its own, and of some that the ontology knows."""
    random_ = random.Random(seed)
    own = max(2, triples // 4)
    classes, properties, people = size // 10, max(8, size // 100), size // 5
    lines = [
        _said(random_, f":e{seed}.{random_.randrange(own)}", people, classes, properties)
        for _ in range(triples)
    ]
    return " .\n".join(lines) + " ."


def measured(
    *,
    sizes: Annotated[list[int] | None, several("Triples of ontologies: 1,000 and 10,000.")] = None,
    facts: Annotated[list[int] | None, several("Facts an event: 10, 30 and 100.")] = None,
    events: Annotated[int, count("Events a row.")] = 21,
    quick: Quick = False,
    long: Annotated[
        bool, typer.Option("--long", help="Close the larger ontologies with owlrl, too.")
    ] = False,
    seed: Seed = 1,
) -> Iterator[Row]:
    """Yields a row for each size of the ontology and number of facts."""
    counts = facts or [10, 30, 100]
    with tempfile.TemporaryDirectory() as folder:
        for place, size in enumerate(sizes or (1_000, 10_000)):
            whole = [] if quick or (place and not long) else counts[: 1 if place else None]
            yield from _of_ontology(size, counts, whole, events, seed, Path(folder))


def _of_ontology(
    size: int, counts: Sequence[int], whole: Sequence[int], events: int, seed: int, folder: Path
) -> Iterator[Row]:
    path = folder / f"{size}.ttl"
    path.write_text(ontology(size, seed), encoding="utf-8")
    settings = settings_of(path, "owl-rl", {})
    closing_ms = _ms(lambda: knowledge(settings))
    known = knowledge(settings)
    for number in counts:
        progress(f"ontology of {size:,} triples, {number} facts an event")
        said = [{"facts": facts_of(number, size, seed + at)} for at in range(events)]
        prepared_facts(settings, said[0])
        made: list[Facts] = []
        spent = [_ms(partial(_made, settings, event, made)) for event in said]
        row: Row = {
            "part": "Facts of an event",
            "ontology": size,
            "closed": known.closure.count,
            "closing_ms": closing_ms,
            "facts": number,
            "consequences": statistics.median(each.closure.count for each in made),
            "event_ms": statistics.median(spent),
            **_queries(made, known),
        }
        if number in whole:
            row["owlrl_ms"] = _owlrl_ms(path, said[-1]["facts"], made[-1], known)
            row["times_owlrl"] = row["owlrl_ms"] / row["event_ms"]
        yield row


def _made(settings: ReasonerSettings, event: dict[str, str], made: list[Facts]) -> None:
    made.append(prepared_facts(settings, event))


def _queries(made: Sequence[Facts], known: Knowledge) -> dict[str, float]:
    """Returns the times of queries over the two graphs; the first of an event makes its graph."""
    row = {"graph_ms": statistics.median(_ms(partial(getattr, each, "dataset")) for each in made)}
    seen = _rdflib(made[-1], known)
    for name, query in _QUERIES.items():
        spent = [_ms(partial(_run, each, query)) for each in made]
        row[f"{name}_ms"] = statistics.median(spent)
        row[f"{name}_rdflib_ms"] = min(_ms(partial(_asked, seen, query)) for _ in range(2))
        if _run(made[-1], query) != _asked(seen, query):
            raise AssertionError(f"rdflib answers otherwise: {query}")
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


def _owlrl_ms(path: Path, text: str, each: Facts, known: Knowledge) -> float:
    """Returns the milliseconds of the same event by owlrl: everything again."""
    import owlrl
    import rdflib

    started = time.perf_counter()
    graph = rdflib.Graph()
    graph.parse(path, format="turtle")
    graph.parse(data=f"@prefix : <{_EX}> . {text}", format="turtle")
    owlrl.DeductiveClosure(owlrl.OWLRL_Semantics).expand(graph)
    spent = (time.perf_counter() - started) * 1_000
    theirs = {f"{s.n3()} {p.n3()} {o.n3()} ." for s, p, o in graph}
    ours = set(_lines(known, each).splitlines())
    if theirs != ours:
        raise AssertionError(f"owlrl finds {len(theirs - ours)} more and {len(ours - theirs)} less")
    return spent


def _ms(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return (time.perf_counter() - started) * 1_000
