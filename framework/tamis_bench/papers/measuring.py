"""Measures methods beside each other on one workload of a paper: time, building, bytes.

Methods are indexes by the names under which they are registered, with options, and rivals by
theirs. What is not registered or not installed is left out. Every answer is compared with the
compiled scan's before anything is timed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, TypeVar

import numpy as np

from tamis.plugins.loader import installed
from tamis_bench.boxes import Boxes
from tamis_bench.coded import CodedWorkload, coded
from tamis_bench.papers.claims import Claim
from tamis_bench.report import Row, progress
from tamis_bench.scans import DUCKDB, K_INDEX, SCANS, Scan, compiled_scan
from tamis_bench.subjects import BuiltIndex, source
from tamis_bench.timing import Method, check, time_all

T = TypeVar("T")
_WARM = 500
_QUICK_SECONDS, _LONG_SECONDS = 1.0, 20.0
_MOST_WRITTEN_OUT = 150_000_000
"""Postings up to which the k-index is measured: it takes one for each value of a range."""


@dataclass(frozen=True)
class PaperSize:
    """The share of a paper's size that is measured, and how carefully."""

    name: str
    scale: float
    events: int
    passes: int
    places: int
    """Of a figure's places the first, the last and some between are measured."""
    seed: int = 1

    def count(self, full: float) -> int:
        """Returns a number of subscriptions."""
        return max(40, round(full * self.scale))

    def wide(self, full: float) -> int:
        """Returns a number of attributes: very many are scaled by the root, so that there are still
        many, and few subscriptions of each."""
        return max(50, round(full * self.scale**0.5)) if full > 1_000 else round(full)

    def some(self, places: Sequence[T]) -> list[T]:
        """Returns the places that are measured."""
        chosen = np.linspace(0, len(places) - 1, min(self.places, len(places))).round()
        return [places[int(each)] for each in dict.fromkeys(chosen.tolist())]


@dataclass(frozen=True)
class Drawing:
    """A picture of an experiment: which column stands upwards."""

    figure: str
    """Its name in the paper."""
    column: str
    across: str


@dataclass(frozen=True)
class Experiment:
    """An experiment of a paper: rows of methods along the places of something that varies."""

    name: str
    title: str
    below: str
    """The parameter that varies."""
    run: Callable[[PaperSize], Iterator[Row]]
    drawings: tuple[Drawing, ...]
    line: str = "method"
    """The lines: methods along the places, or places along the methods."""


@dataclass(frozen=True)
class Paper:
    """A paper's experiments, and what its text states of them."""

    title: str
    experiments: tuple[Experiment, ...]
    claims: tuple[Claim, ...]


def matching(figure: str) -> Drawing:
    """Returns the picture of the microseconds of an event."""
    return Drawing(figure, "mean_us", "µs an event")


def building(figure: str) -> Drawing:
    """Returns the picture of building."""
    return Drawing(figure, "build_us", "µs a subscription to build")


def memory(figure: str) -> Drawing:
    """Returns the picture of the bytes of a subscription."""
    return Drawing(figure, "bytes", "bytes a subscription")


def is_there(name: str) -> bool:
    """Says whether a method can be measured here."""
    if name in SCANS:
        return name != DUCKDB or find_spec(DUCKDB) is not None
    return name.partition(":")[0] in installed().indexes


def along(
    places: Iterable[T], draw: Callable[[T], Boxes], methods: Sequence[str], size: PaperSize,
    shown: str = "",
) -> Iterator[Row]:  # fmt: skip
    """Yields the rows of methods at every place; scaled places show what is drawn."""
    for place in places:
        boxes = draw(place)
        counts = {"subscriptions": len(boxes), "attributes": len(boxes.names)}
        yield from compared(boxes, methods, size, f"{counts.get(shown, place):,}")


def compared(boxes: Boxes, methods: Sequence[str], size: PaperSize, at: str) -> Iterator[Row]:
    """Yields a row for each method that is there."""
    rows = np.arange(len(boxes))
    codes, events = coded(boxes, rows), boxes.event_dicts()
    timed: dict[str, Method] = {}
    costs: dict[str, tuple[float, Callable[[], float]]] = {}
    for name in filter(is_there, methods):
        if name == K_INDEX and _written_out(codes) > _MOST_WRITTEN_OUT:
            yield {"at": at, "method": name, "note": "would write out too many values"}
            continue
        progress(f"{boxes.name} {at}: building {name}")
        made = _rival if name in SCANS else _index
        timed[name], *costs[name] = made(name, boxes, codes, events)
    scan = compiled_scan(codes)
    expected = [np.sort(scan(each)) for each in range(len(events))]
    progress(f"{boxes.name} {at}: matching")
    words = f"{boxes.name} at {at}, seed {boxes.seed}"
    answers = check(timed, expected, size.passes, words)
    time_all(timed, size.passes)
    share = float(np.mean([len(each) for each in expected])) / max(1, len(boxes))
    for name, method in timed.items():
        build, held_bytes = costs[name]
        row = {"at": at, "method": name, "mean_us": method.figures()["mean_us"], "build_us": build}
        about = {"subscriptions": len(boxes), "match_ratio": share, "answers_compared": answers}
        yield {**row, "bytes": held_bytes() or None, "about": about}


def _written_out(codes: CodedWorkload) -> int:
    return int((codes.high.astype(np.int64) - codes.low + 1).sum())


def _index(name: str, boxes: Boxes, codes: CodedWorkload, events: list[dict[str, Any]]) -> Any:
    few = BuiltIndex(name, source(boxes, np.arange(min(_WARM, len(boxes)))))
    few.method(events).match(0)
    given = source(boxes, np.arange(len(boxes)))
    subject = BuiltIndex(name, given)
    seconds = subject.build_seconds
    if seconds < _QUICK_SECONDS:
        del subject
        subject = BuiltIndex(name, given)
    seconds = min(seconds, subject.build_seconds)
    return subject.method(events), 1e6 * seconds / max(1, len(boxes)), lambda: subject.bytes_each


def _rival(name: str, boxes: Boxes, codes: CodedWorkload, events: list[dict[str, Any]]) -> Any:
    method, row = rival(lambda: SCANS[name](boxes, codes), codes)
    return method, row["build_us"], lambda: row["bytes"]


def rival(make: Callable[[], Scan], codes: CodedWorkload) -> tuple[Method, Row]:
    """Returns a rival, and what it took to build: the faster of two where that is not long."""
    seconds: list[float] = []
    while len(seconds) < 2:
        begun = time.perf_counter()
        scan = make()
        seconds.append(time.perf_counter() - begun)
        if seconds[0] > _LONG_SECONDS:  # less may have been spent on compiling
            break
    each = {"build_us": 1e6 * min(seconds), "bytes": float(held(scan, codes.events.shape))}
    return Method(scan), {name: value / max(1, len(codes)) for name, value in each.items()}


def held(scan: object, left_out: tuple[int, ...] = ()) -> int:
    """Returns the bytes of the arrays that a rival holds, those of a shape left out: its events."""
    waiting = [cell.cell_contents for cell in getattr(scan, "__closure__", None) or ()]
    arrays: dict[int, int] = {}
    while waiting:
        each = waiting.pop()
        if isinstance(each, np.ndarray) and each.shape != left_out:
            arrays[id(each)] = each.nbytes
        elif isinstance(each, tuple | list):
            waiting += each
        elif isinstance(each, dict):
            waiting += each.values()
    return sum(arrays.values())
