"""Answers SPARQL queries over the ontology's closure and one event's, as one graph.

The ontology is in the default graph of a store, what an event adds in a graph of its own while the
event is asked about; a query reads the two together. Both are disjoint, so nothing is seen twice.
The store keeps memory of what was removed: after as many removals as the ontology has triples (and
at least 100,000) a new one takes its place, and the old one goes with its last event.
Safe for threads: stores are, and each event has its own graph.
Cost: microseconds for each triple of the event once, then what the query costs; never the
ontology's size, but that rare copy.
"""

from __future__ import annotations

import itertools
import threading
import weakref
from collections.abc import Callable, Iterable, Mapping

import pyoxigraph as ox

from tamis_operators.reasoner.terms import Term

_MOST_REMOVED = 100_000
Visible = Iterable[tuple[ox.NamedNode | ox.BlankNode, ox.NamedNode, Term]]


class Datasets:
    """Stores with the ontology, in which events get a graph each."""

    def __init__(self, ontology: Callable[[], Visible], prefixes: Mapping[str, str]) -> None:
        self._ontology = ontology
        self._prefixes = dict(prefixes)
        self._lock = threading.Lock()
        self._store: ox.Store | None = None
        self._size = 0
        self._added = 0
        self._numbers = itertools.count()

    def dataset(self, triples: Visible, owner: object) -> Dataset:
        """Returns a graph for what an event adds, removed with its owner."""
        graph = ox.NamedNode(f"urn:tamis:event:{next(self._numbers)}")
        quads = [
            ox.Quad(subject, predicate, object, graph) for subject, predicate, object in triples
        ]
        with self._lock:
            self._added += len(quads)
            store = self._store
            if store is None or self._added > max(_MOST_REMOVED, self._size):
                store = self._store = ox.Store()
                store.extend(ox.Quad(*triple) for triple in self._ontology())
                self._size, self._added = len(store), len(quads)
        store.extend(quads)
        weakref.finalize(owner, store.remove_graph, graph).atexit = False
        return Dataset(store, graph, self._prefixes)


class Dataset:
    """The ontology's closure and one event's as one graph."""

    def __init__(self, store: ox.Store, graph: ox.NamedNode, prefixes: dict[str, str]) -> None:
        self._store = store
        self._graph = graph
        self._prefixes = prefixes

    def query(self, query: str) -> ox.QuerySolutions | ox.QueryBoolean | ox.QueryTriples:
        """Runs a query; solutions come one by one."""
        return self._store.query(
            query,
            prefixes=self._prefixes,
            default_graph=[ox.DefaultGraph(), self._graph],
            named_graphs=[],
        )
