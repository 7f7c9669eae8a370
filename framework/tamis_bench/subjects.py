"""An index while it is measured: built, matched, and changed in batches as subscriptions are."""

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
from tamis_bench.draws import Ints
from tamis_bench.timing import Method

COMPILED = ("lanes", "pstbloom", "psthash")
Source = Columns | list[tuple[int, list[Clause]]]


def source(boxes: Boxes, rows: Ints) -> Source:
    """Subscriptions as an index takes them: in columns where all are boxes, else as clauses."""
    if boxes.extra is not None:
        return list(boxes.clauses(rows))
    start, places = selected(boxes, rows)
    attribute = boxes.attribute[places]
    used = np.flatnonzero(np.bincount(attribute, minlength=len(boxes.names)))
    number = np.zeros(len(boxes.names), np.int64)
    number[used] = np.arange(len(used))
    names = [boxes.names[each] for each in used.tolist()]
    return Columns(rows, names, start, number[attribute], boxes.low[places], boxes.high[places])


class Subject:
    """An index with subscriptions of a workload, and what it took to build."""

    def __init__(self, name: str, given: Source, **options: Any) -> None:
        if name in COMPILED:
            options.setdefault("scan_up_to", 0)
            attribute_indexes.build(name, [], **options)  # compiling is not measured
        gc.collect()
        begun = time.perf_counter()
        self.index = attribute_indexes.build(name, given, **options)
        self.build_seconds = time.perf_counter() - begun

    @property
    def bytes_each(self) -> float:
        """Bytes a subscription."""
        return self.index.nbytes / max(1, len(self.index))

    def method(self, events: Sequence[Mapping[str, Any]]) -> Method:
        """The kernel as a function of an event's number; events are read now."""
        return Method(self.index.kernel(events), self.index._ids.of)

    def candidates(self, kernel: Method) -> float | None:
        """How many subscriptions the index looks at for an event, if it counts them."""
        inside: Any = self.index._index
        if not hasattr(inside, "checked"):
            return None
        before = inside.checked
        for at in range(kernel.events):
            kernel.match(at)
        return float(inside.checked - before) / kernel.events

    def insert(self, given: Source) -> float:
        """Inserts a batch; how many seconds it took."""
        begun = time.perf_counter()
        self.index.insert_many(given)
        return time.perf_counter() - begun

    def delete(self, ids: Ints) -> float:
        """Deletes a batch; how many seconds it took."""
        begun = time.perf_counter()
        self.index.delete_many(ids)
        return time.perf_counter() - begun
