"""Measures indexes as programs use them: from a dict to ids, and filled while events are matched.

- `dicts`: `index.match(event)` itself, from a dict to ids of strings, beside the compiled scan,
  which is given codes and gives numbers; and what all but the kernel takes of it.
- `filled`: subscriptions come a hundred at a time, one event is matched after each, in one thread;
  of each match the faster of two such lives counts.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tamis import index as attribute_indexes
from tamis.index import Columns
from tamis_bench.boxes import SHAPES, Boxes
from tamis_bench.coded import coded
from tamis_bench.goals import BLOOM, DICTS, FILLED, INDEXES, LANES
from tamis_bench.kernels import Ints
from tamis_bench.report import Row, progress
from tamis_bench.scans import COMPILED, compiled_scan
from tamis_bench.subjects import BuiltIndex, compiled, source
from tamis_bench.timing import Method, beyond, check, compare, time_all

_EACH = 100
"""Subscriptions that come between two events."""
_LIVES = 2
USES = {DICTS: replace(SHAPES["dense"], subscriptions=200_000), FILLED: SHAPES["dense"]}
"""The workload drawn for each."""


def dicts(boxes: Boxes, title: str, names: Sequence[str] | None, passes: int) -> Iterator[Row]:
    """Yields a row for each index, and for the compiled scan."""
    events, first = boxes.event_dicts(), np.arange(boxes.count)
    scan = Method(compiled_scan(coded(boxes, first)))
    methods, kernels = {f"{COMPILED} scan": scan}, {}
    for name in names or (LANES, BLOOM):
        progress(f"{title}: building {name}")
        subject = BuiltIndex(name, _with_strings(source(boxes, first)))
        methods[name] = Method(subject.whole(events).match, _numbers)
        kernels[name] = _kernel(subject, events)
    expected = [np.sort(scan.match(at)) for at in range(len(events))]
    compared = check(methods, expected, passes, title) + check(kernels, expected, passes, title)
    time_all(methods, passes)
    found = np.mean([len(answer) for answer in expected])
    part = (
        f"{title}: {boxes.count:,} subscriptions whose ids are strings, from a dict to ids;\n"
        f"{found:,.0f} ids an event, seed {boxes.seed}; {compared:,} answers compared, none wrong"
    )
    for name, method in methods.items():
        row = {"part": part, "workload": title, "method": name, **method.figures()}
        row["whole_x_compiled"] = method.times(scan)
        if name in kernels:
            row["beyond_kernel_us"] = 1e6 * beyond(kernels[name], method, passes)
        yield row


def _kernel(subject: BuiltIndex, events: Sequence[dict[str, Any]]) -> Method:
    ids = subject.index._ids
    return Method(subject.method(events).match, lambda rows: _numbers(ids.of(rows)))


def _numbers(ids: Any) -> Ints:
    return np.array([int(id[1:]) for id in ids], np.int64)


def _with_strings(given: Any) -> Columns:
    """Returns the same subscriptions with ids of strings."""
    given.ids = [f"s{id}" for id in given.ids.tolist()]
    return given  # type: ignore[no-any-return]


def filled(boxes: Boxes, title: str, names: Sequence[str] | None) -> Iterator[Row]:
    """Yields a row for each index that is filled while it is matched."""
    events = boxes.event_dicts()
    scan = compiled_scan(coded(boxes, np.arange(boxes.count)))
    right = [np.sort(scan(at)) for at in range(len(events))]
    for name in names or INDEXES:
        lives = []
        for life in range(_LIVES):
            progress(f"{title}: filling {name}, life {life + 1} of {_LIVES}")
            lives.append(_life(name, boxes, events, right, title))
        inserts, matches = np.minimum(*lives)
        part = (
            f"{title}: {boxes.count:,} subscriptions, {_EACH} between two events, one thread;\n"
            f"seed {boxes.seed}; {_LIVES * len(matches):,} answers compared, none wrong"
        )
        mean = float(matches.mean())
        yield {
            "part": part,
            "workload": title,
            "method": name,
            "match_us": 1e6 * mean,
            "match_p99_over_mean": float(np.quantile(matches, 0.99)) / mean,
            "match_most_us": 1e6 * float(matches.max()),
            "insert_us": 1e6 * float(inserts.sum()) / boxes.count,
            "insert_most_ms": 1e3 * float(inserts.max()),
        }


def _life(
    name: str, boxes: Boxes, events: Sequence[dict[str, Any]], right: Sequence[Any], title: str
) -> Any:
    """Returns the seconds of every insertion, and of the match that comes after it."""
    index = attribute_indexes.build(name, [], **compiled(name, {}))
    spent: list[tuple[float, float]] = []
    clock = time.perf_counter
    for first in range(0, boxes.count, _EACH):
        last = min(first + _EACH, boxes.count)
        given, at = source(boxes, np.arange(first, last)), len(spent) % len(events)
        begun = clock()
        index.insert_many(given)
        between = clock()
        found = index.match(events[at])
        spent.append((between - begun, clock() - between))
        answer = right[at][: np.searchsorted(right[at], last)]
        compare(name, np.sort(found), answer, at, f"{title} while it was filled")
    return np.array(spent).T
