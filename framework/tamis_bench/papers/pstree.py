"""PS-Tree: Figures 5 to 15 and Table 2, and what the paper's text says of them.

Synthetic workloads are BE-Gen's, with the parameters of Table 1. The query log and the ads are
drawn like they are described: as many attributes, predicates and pairs. SCAN is here the naive one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from tamis_bench import begen
from tamis_bench.boxes import SHAPES, Boxes
from tamis_bench.papers import pstree_claims
from tamis_bench.papers.drawing import Drawn, GivenBoxes
from tamis_bench.papers.measuring import (
    Experiment,
    Paper,
    PaperSize,
    along,
    building,
    compared,
    matching,
    memory,
)
from tamis_bench.papers.pstree_claims import BE, BLOOM, HASH, OP, PROPAGATION, SCAN, K
from tamis_bench.papers.stabbed import EXPERIMENT as ONE_DIMENSION
from tamis_bench.report import Row
from tamis_bench.subjects import BuiltIndex, source

_ALL = (BLOOM, HASH, OP, BE, K, PROPAGATION, SCAN)
_SPARSE = 30_000
_QUERIES = Drawn(
    2_100_000, 17_577, values=500, longest=8, mean_length=2.78, pairs=93.07, spread=0.3,
    asked=0.7, held=0.7, operands=0.7,
)  # fmt: skip
_ONE_BY_ONE = 1_000
_BETWEEN = 20
"""Subscriptions that come one by one, and how many of them between two events."""


def _boxes(size: PaperSize, attributes: int, **changes: float) -> Boxes:
    parameters = begen.DEFAULTS | {"dimensions": attributes} | changes
    parameters["subscriptions"] = size.count(parameters["subscriptions"])
    return Boxes("PS-Tree", begen.shape_of(parameters), size.seed, size.events)


def _varied(name: str, places: tuple[float, ...], is_sparse: bool) -> Any:
    """Returns the run of an experiment that varies one of Table 1's parameters."""

    def run(size: PaperSize) -> Iterator[Row]:
        attributes = size.wide(_SPARSE) if is_sparse else 100
        yield from along(
            size.some(places), lambda place: _boxes(size, attributes, **{name: place}), _ALL, size,
            name,
        )  # fmt: skip

    return run


def _attributes(size: PaperSize) -> Iterator[Row]:
    places = size.some((100, 300, 1_000, size.wide(_SPARSE)))
    yield from along(places, lambda place: _boxes(size, place), _ALL, size)


def _attributes_kept(size: PaperSize) -> Iterator[Row]:
    """Yields rows of more and more attributes, each with as many subscriptions."""
    for place in size.some((100, 300, 1_000)):
        boxes = _boxes(size, place, subscriptions=place * 1_000)
        yield from compared(boxes, _ALL, size, f"{place:,}")


def _kept_ready(size: PaperSize) -> Iterator[Row]:
    """Yields what a subscription costs that comes alone, an event being matched now and then."""
    for place in size.some((100, 300, 1_000, size.wide(_SPARSE))):
        boxes = _boxes(size, place)
        count, events = min(_ONE_BY_ONE, len(boxes)), boxes.event_dicts()
        for name in (BLOOM, HASH, OP):
            subject, seconds = BuiltIndex(name, []), 0.0
            for at in range(count):
                seconds += subject.insert(source(boxes, np.arange(at, at + 1)))
                if at % _BETWEEN == 0:
                    subject.index.match(events[at // _BETWEEN % len(events)])
            yield {"at": f"{place:,}", "method": name, "build_us": 1e6 * seconds / count}


def _queries(size: PaperSize) -> Iterator[Row]:
    def draw(count: int) -> Boxes:
        drawn = replace(
            _QUERIES, subscriptions=size.count(count), attributes=size.wide(_QUERIES.attributes)
        )
        return GivenBoxes("PS-Tree queries", drawn, size.seed, size.events)

    yield from along(size.some((300_000, 1_000_000, 2_100_000)), draw, _ALL, size, "subscriptions")


def _ads(size: PaperSize) -> Iterator[Row]:
    shape = SHAPES["ads"]
    shape = replace(shape, subscriptions=size.count(shape.subscriptions), longest=56)
    boxes = Boxes("PS-Tree ads", shape, size.seed, size.events)
    yield from compared(boxes, _ALL, size, "ads")


def _two(
    name: str, number: int, below: str, parameter: str, places: tuple[float, ...],
    more: tuple[Any, ...] = (), more_sparse: tuple[Any, ...] = (),
) -> tuple[Experiment, Experiment]:  # fmt: skip
    """Returns an experiment over few attributes, and over very many."""
    dense, sparse = (
        Experiment(
            f"pstree-{name}-{kind}",
            f"PS-Tree, Figure {number}({letter}): {below}, {words}",
            below,
            _varied(parameter, places, kind == "sparse"),
            (matching(f"{number}{letter}"), *others),
        )
        for kind, letter, words, others in (
            ("dense", "a", "100 attributes", more),
            ("sparse", "b", "very many attributes", more_sparse),
        )
    )
    return dense, sparse


EXPERIMENTS = (
    *_two("subscriptions", 6, "subscriptions", "subscriptions",
          (300_000, 1_000_000, 3_000_000, 10_000_000), (building("5a"), memory("14a"))),
    *_two("zipf", 7, "exponent", "zipf", (0, 1, 2, 3, 4, 5)),
    Experiment(
        "pstree-attributes", "PS-Tree, Figures 5(b) and 8(a): attributes", "attributes",
        _attributes, (building("5b"), matching("8a")),
    ),
    Experiment(
        "pstree-attributes-kept", "PS-Tree, Figure 8(b): attributes of as many subscriptions",
        "attributes", _attributes_kept, (matching("8b"),),
    ),
    Experiment(
        "pstree-ready", "PS-Tree, Figure 5(b): subscriptions that come one by one", "attributes",
        _kept_ready, (building("5b, one by one"),),
    ),
    *_two("values", 9, "values", "cardinality", (3, 10, 30, 100, 300, 1_000)),
    *_two("lengths", 10, "predicates", "subscription_size", (5, 10, 15, 20, 25, 30),
          (building("5c"), memory("14b"))),
    *_two("pairs", 11, "pairs", "event_size", (30, 42, 54, 66, 78, 90)),
    *_two("matching", 12, "share that matches", "matching", (0.001, 0.005, 0.01, 0.05, 0.1, 0.5)),
    *_two("equality", 13, "share of =", "equality", (0.0, 0.2, 0.4, 0.6, 0.8, 1.0),
          (building("5d"),), (building("5d, very many attributes"),)),
    Experiment(
        "pstree-queries", "PS-Tree, Figure 15: queries", "subscriptions", _queries,
        (matching("15a"), building("15b")),
    ),
    Experiment(
        "pstree-ads", "PS-Tree, Table 2: ads", "workload", _ads,
        (matching("Table 2"), building("Table 2"), memory("Table 2")),
    ),
    ONE_DIMENSION,
)  # fmt: skip
PAPER = Paper(
    "PS-Tree-Based Efficient Boolean Expression Matching for High-Dimensional and Dense Workloads "
    "(Ji, Jacobsen; 2018)",
    EXPERIMENTS, pstree_claims.CLAIMS,
)  # fmt: skip
