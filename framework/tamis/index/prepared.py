"""Compiles what an index needs before it is needed, or takes it from the cache, once a process.

Whoever waits for it is told (`tamis.waiting`). Cost: seconds on a machine where nothing is in the
cache, some tenths of a second elsewhere.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from tamis.event import Event
from tamis.index.clauses import Clause, predicate_of
from tamis.indexing import Index
from tamis.log import log
from tamis.waiting import COMPILING, waiting_for

_ready: set[type] = set()
_preparing = threading.Lock()

_ROWS: list[list[Clause]] = [
    [("a", "<", 3), ("b", "in", [1, 2])],
    [("a", "between", (1, 3)), ("c", "starts with", "x")],
    [("d", "has", "y"), ("a", "!=", 2)],
    [("c", "contains", "needle")],
    [],
]


def prepared(make: Callable[[], Index]) -> Index:
    """Returns an empty index whose functions are compiled."""
    with _preparing, waiting_for(COMPILING):
        began = time.perf_counter()
        index = make()
        kind = type(index)
        if kind not in _ready:
            _exercise(make())
            _ready.add(kind)
            log.info("kernels of %s ready in %.1f s", kind.__name__, time.perf_counter() - began)
    return index


def _exercise(index: Index) -> None:
    """Does with an index what is ever done with one."""
    rows = [(row, [predicate_of(clause) for clause in asked]) for row, asked in enumerate(_ROWS)]
    events = [Event.of({"a": 1, "b": 2, "c": "x needle", "d": ["y"]}, str, {}) for _ in range(2)]
    index.build(rows)
    index.match(events[0])
    index.insert(len(rows), rows[0][1])
    index.match_many(events)
    index.delete(0)
    index.match(events[1])
    index.adapt()
