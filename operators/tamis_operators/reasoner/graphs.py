"""Reads graphs of rdflib, an event's facts or an ontology, and makes terms of it.

A `Graph` is its triples, a `Dataset` the triples of all its graphs together. Whoever has a graph
has imported rdflib, so that it is not imported to see whether something is one.
Cost: some 5 microseconds a triple.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, TypeGuard

if TYPE_CHECKING:
    import rdflib

_BLANK = re.compile(r"_:\S+")
Triple = tuple[Any, Any, Any]


def is_graph(value: object) -> TypeGuard[rdflib.Graph]:
    """Returns whether a value is a graph of rdflib, or several."""
    library = sys.modules.get("rdflib")
    return library is not None and isinstance(value, library.Graph)


def triples_in(graph: rdflib.Graph) -> Iterator[Triple]:
    """Yields the triples of a graph, or of all graphs of a dataset."""
    quads = getattr(graph, "quads", None)
    if quads is None:
        yield from graph
    else:
        yield from (quad[:3] for quad in quads((None, None, None, None)))


def turtle_of(graph: rdflib.Graph) -> str:
    """Writes a graph as Turtle, with the prefixes that it uses: so an ontology travels."""
    import rdflib

    whole = rdflib.Graph(bind_namespaces="none")
    for prefix, namespace in graph.namespaces():
        whole.bind(prefix, namespace)
    for triple in triples_in(graph):
        whole.add(triple)
    return whole.serialize(format="turtle")


def lines_of(graph: rdflib.Graph) -> list[str]:
    """Identifies a graph by its triples, whatever its blank nodes are called."""
    lines = (" ".join(term.n3() for term in triple) for triple in triples_in(graph))
    return sorted(_BLANK.sub("_:", line) for line in lines)


def rdflib_term(text: str) -> Any:
    """Returns the rdflib term of a text of N-Triples, as `select` gives with `terms="n3"`."""
    from rdflib import BNode, Graph

    if text.startswith("_:"):
        return BNode(text[2:])
    (triple,) = Graph().parse(data=f"<urn:s> <urn:p> {text} .\n", format="nt")
    return triple[2]
