"""Holds an index while it is measured: built, matched, and changed in batches.

Only names that are public are used, and a few inside of an index where it has them, so that indexes
of other versions can be measured too.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tamis import index as attribute_indexes
from tamis.index import Columns
from tamis_bench.boxes import Boxes, Clause
from tamis_bench.coded import selected
from tamis_bench.kernels import Ints
from tamis_bench.timing import Method

Source = Columns | list[tuple[int, list[Clause]]]


def source(boxes: Boxes, rows: Ints) -> Source:
    """Returns subscriptions as an index takes them: columns where all are boxes, else clauses."""
    if boxes.extra is not None:
        return list(boxes.clauses(rows))
    start, places = selected(boxes, rows)
    attribute = boxes.attribute[places]
    used = np.flatnonzero(np.bincount(attribute, minlength=len(boxes.names)))
    number = np.zeros(len(boxes.names), np.int64)
    number[used] = np.arange(len(used))
    names = [boxes.names[each] for each in used.tolist()]
    return Columns(rows, names, start, number[attribute], boxes.low[places], boxes.high[places])


def compiled(name: str, options: dict[str, Any]) -> dict[str, Any]:
    """Compiles an index, and returns the options with which it is compiled from the first row."""
    try:
        attribute_indexes.build(name, [], scan_up_to=0, **options)
    except (TypeError, ValueError):
        return options
    return {"scan_up_to": 0, **options}


class BuiltIndex:
    """An index with subscriptions of a workload, and what it took to build."""

    def __init__(self, name: str, given: Source, **options: Any) -> None:
        options = compiled(name, options)
        gc.collect()
        begun = time.perf_counter()
        self.index = attribute_indexes.build(name, given, **options)
        self.build_seconds = time.perf_counter() - begun

    @property
    def bytes_each(self) -> float:
        """Returns the bytes of a subscription."""
        return self.index.nbytes / max(1, len(self.index))

    def method(self, events: Sequence[Mapping[str, Any]]) -> Method:
        """Returns the kernel as a function of an event's number; events are read now."""
        return Method(self.index.kernel(events), self.index._ids.of)

    def whole(self, events: Sequence[Mapping[str, Any]]) -> Method:
        """Returns all that a user calls, from a dict to ids."""
        return Method(lambda at: self.index.match(events[at]))

    def candidates(self, kernel: Method) -> float | None:
        """Returns how many subscriptions the index looks at for an event, if it counts them."""
        inside: Any = self.index._index
        if not hasattr(inside, "checked"):
            return None
        before = inside.checked
        for at in range(kernel.events):
            kernel.match(at)
        return float(inside.checked - before) / kernel.events

    def insert(self, given: Source) -> float:
        """Inserts a batch, and returns the seconds it took."""
        begun = time.perf_counter()
        self.index.insert_many(given)
        return time.perf_counter() - begun

    def delete(self, ids: Ints) -> float:
        """Deletes a batch, and returns the seconds it took."""
        begun = time.perf_counter()
        self.index.delete_many(ids)
        return time.perf_counter() - begun
