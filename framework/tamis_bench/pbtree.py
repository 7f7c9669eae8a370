"""Measures the index on disk: the pages that an event visits and reads, by the number of
predicates.

A subscription has five predicates on five of twenty attributes: a narrow one, true of few values
however many there are, and four one-sided ones. An index is built, closed and opened again; events
are matched with an empty pool, then once more with the pool that this left.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import numpy as np

import tamis
from tamis.event import Event
from tamis.index.pbtree.index import PBTree
from tamis.index.pbtree.store import PageTally
from tamis_bench.options import Seed, count
from tamis_bench.report import Row, progress

_ATTRIBUTES, _EACH, _PAIRS = 20, 5, 20
_EVENTS, _CHANGES = 300, 50
_NAMES = [f"a{at}" for at in range(_ATTRIBUTES)]


def measured(
    *,
    predicates: Annotated[int, count("Predicates of the largest index.", 5_000)] = 1_000_000,
    pool: Annotated[int, count("Megabytes of the pool.")] = 64,
    seed: Seed = 1,
) -> Iterator[Row]:
    """Yields a row for a thousandth of the predicates, a hundredth, a tenth, and all of them."""
    for size in (predicates // 1_000, predicates // 100, predicates // 10, predicates):
        if size >= _EACH:
            progress(f"{size:,} predicates")
            with tempfile.TemporaryDirectory() as folder:
                yield _one(Path(folder) / "index", size, pool, seed)


def subscriptions(rows: int, chance: np.random.Generator) -> tamis.index.Columns:
    """Returns boxes with one narrow side, and four that are open."""
    first = chance.integers(0, _ATTRIBUTES, rows)
    step = chance.integers(1, 20, rows)
    attribute = (first[:, None] + step[:, None] * np.arange(_EACH)) % _ATTRIBUTES
    low = chance.integers(0, rows, (rows, _EACH)).astype(np.float64)
    high = low + chance.choice([0, 1, 3], (rows, 1))
    is_below = chance.random((rows, _EACH - 1)) < 0.5
    high[:, 1:] = np.where(is_below, low[:, 1:], np.inf)
    low[:, 1:] = np.where(is_below, -np.inf, low[:, 1:])
    start = np.arange(rows + 1) * _EACH
    parts = attribute.ravel(), low.ravel(), high.ravel()
    return tamis.index.Columns(np.arange(rows), _NAMES, start, *parts)


def _events(rows: int, chance: np.random.Generator) -> list[dict[str, Any]]:
    return [
        {_NAMES[at]: int(chance.integers(0, rows)) for at in chosen[:_PAIRS]}
        for chosen in (chance.permutation(_ATTRIBUTES) for _ in range(_EVENTS))
    ]


def _one(folder: Path, predicates: int, megabytes: int, seed: int) -> Row:
    """Measures an index of one size."""
    chance = np.random.default_rng(seed)
    rows, pool = predicates // _EACH, megabytes << 20
    boxes, documents = subscriptions(rows, chance), _events(rows, chance)
    start = time.perf_counter()
    index = PBTree(folder, pool)
    index.build_columns(np.arange(rows), boxes)
    built = time.perf_counter() - start
    disk_bytes = index.disk_bytes
    index.close()
    start = time.perf_counter()
    index = PBTree(folder, pool)
    opened = time.perf_counter() - start
    events = [Event.of(each, str, {}) for each in documents]
    tally, matches = PageTally(), 0
    start = time.perf_counter()
    for event in events:
        matches += len(index.find(event, tally).rows)
    seconds = time.perf_counter() - start
    again = PageTally()
    for event in events:
        index.find(event, again)
    start = time.perf_counter()
    for row in range(_CHANGES):
        index.insert(rows + row, [])
    inserted = time.perf_counter() - start
    pool_bytes = index.nbytes
    index.close()
    return {
        "part": f"{_EACH} predicates a subscription, a pool of {megabytes} MB",
        "predicates": rows * _EACH,
        "pages_an_event": tally.pages / len(events),
        "reads_an_event": tally.reads / len(events),
        "reads_again": again.reads / len(events),
        "matches": matches / len(events),
        "event_us": 1e6 * seconds / len(events),
        "open_ms": 1e3 * opened,
        "build_us": 1e6 * built / rows,
        "commit_ms": 1e3 * inserted / _CHANGES,
        "pool_mb": pool_bytes / 2**20,
        "disk_mb": disk_bytes / 2**20,
    }
