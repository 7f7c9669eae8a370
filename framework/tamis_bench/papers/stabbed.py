"""PS-Tree, Table 3: intervals of one attribute that a value lies in.

The paper does not say how long the intervals are: here once so that few have a value, once so that
many have. Finding ends with the numbers of the intervals, for all alike.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from tamis.index import Columns
from tamis_bench.kernels import Floats
from tamis_bench.papers.measuring import Drawing, Experiment, PaperSize, held
from tamis_bench.report import Row
from tamis_bench.stabbing import STABS, Stab
from tamis_bench.subjects import BuiltIndex
from tamis_bench.timing import Method, check, time_all

NAME, BLOOM = "pstree-one-dimension", "pstbloom"
_INTERVALS, _POINTS = 100_000, 20
_FOUND = {"few": 10.0, "many": 1_000.0}
"""The mean number of 10,000 intervals that have a value."""


def _columns(low: Floats, high: Floats) -> Columns:
    rows = np.arange(len(low))
    start = np.arange(len(low) + 1, dtype=np.int32)
    return Columns(rows, ["a"], start, np.zeros(len(low), np.int64), low, high)


def _index(low: Floats, high: Floats, values: Floats) -> tuple[Method, float, float]:
    subject = BuiltIndex(BLOOM, _columns(low, high))
    events: list[dict[str, Any]] = [{"a": value} for value in values.tolist()]
    return subject.method(events), subject.build_seconds, subject.index.nbytes


def _asked(stab: Stab, values: Floats) -> Method:
    return Method(lambda number: stab(values[number]))


def _rows(size: PaperSize) -> Iterator[Row]:
    count = max(100, round(_INTERVALS * size.scale**0.5))
    for at, found in _FOUND.items():
        chance = np.random.default_rng(size.seed)
        low = chance.random(count)
        high = low + chance.random(count) * 2 * found / 10_000
        values = chance.random(_POINTS)
        methods, figures = {}, {}
        for _ in range(2):  # the second time everything is compiled
            for name, make in STABS.items():
                begun = time.perf_counter()
                stab = make(low, high)
                seconds = time.perf_counter() - begun
                methods[name] = _asked(stab, values)
                figures[name] = seconds, float(held(stab))
            methods[BLOOM], *built = _index(low, high, values)
            figures[BLOOM] = built[0], built[1]
            expected = [np.flatnonzero((low <= value) & (value <= high)) for value in values]
            check(methods, expected, size.passes, f"{NAME} {at}")
        time_all(methods, size.passes)
        for name, method in methods.items():
            built_us, held_bytes = 1e6 * figures[name][0] / count, figures[name][1] / count
            mean = method.figures()["mean_us"]
            yield {
                "at": at, "method": name, "mean_us": mean, "build_us": built_us, "bytes": held_bytes
            }  # fmt: skip


EXPERIMENT = Experiment(
    NAME, "PS-Tree, Table 3: intervals of one attribute", "intervals that have a value", _rows,
    (
        Drawing("Table 3", "mean_us", "µs a value"),
        Drawing("Table 3", "build_us", "µs an interval to build"),
        Drawing("Table 3", "bytes", "bytes an interval"),
    ),
)  # fmt: skip
