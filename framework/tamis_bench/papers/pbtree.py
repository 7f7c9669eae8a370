"""PB+tree: Table 1 as growth, and what the paper's text says of it.

The paper compares by analysis alone. Here the steps of every structure are counted, for n and for
four times n and so on; a claim is about the power of n with which they grow, results left out. Two
workloads: *few* comparisons hold for the values that are asked, or *half* of them do, in which case
intervals without an end overlap.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from tamis_bench import pbtree as on_disk
from tamis_bench.ibs_tree import IbsTree
from tamis_bench.one_dimension import Asked, OneDimension
from tamis_bench.papers.claims import (
    Claim,
    Figures,
    Told,
    UnmeasuredError,
    both,
    exponent,
    lately,
    times,
    unbuilt,
)
from tamis_bench.papers.measuring import Drawing, Experiment, Paper, PaperSize, is_there
from tamis_bench.red_black import RedBlackTree
from tamis_bench.report import Row, progress
from tamis_bench.subjects import BuiltIndex
from tamis_bench.time_index import TimeIndex

RED_BLACK, IBS, TIME, PB = "red-black", "ibs-tree", "time-index", "pbtree"
_STRUCTURES: dict[str, Callable[[], OneDimension]] = {
    RED_BLACK: RedBlackTree,
    IBS: IbsTree,
    TIME: TimeIndex,
}
_LARGEST = 400_000
_ON_DISK, _FEWEST_ON_DISK, _MOST_ON_DISK = 100_000_000, 10_000, 10_000_000
_STEPS, _SEARCHES, _CHANGES = 4, 40, 200
_FEWEST = 40
_MOST_OVERLAPPING = 4_000
"""Comparisons up to which the Time Index is measured where half of them hold: n² places."""
_WIDTH = 20.0
"""The part of the line in a predicate with two ends, over the share of one predicate."""

Predicate = tuple[str, Asked]


def _few(chance: np.random.Generator, count: int) -> list[Predicate]:
    """Returns comparisons that hold for few values between 0.4 and 0.6."""
    kinds, constants = chance.integers(0, 5, count).tolist(), chance.random(count)
    ops = ("=", "<", "<=", ">", ">=")
    return [
        (ops[kind], float((0.4 * each) if 1 <= kind <= 2 else 0.6 + 0.4 * each if kind else each))
        for kind, each in zip(kinds, constants, strict=True)
    ]


def _half(chance: np.random.Generator, count: int) -> list[Predicate]:
    """Returns comparisons of which about half hold."""
    ops = chance.choice(["<", "<=", ">", ">="], count).tolist()
    return list(zip(ops, chance.random(count).tolist(), strict=True))


def _short(chance: np.random.Generator, count: int) -> list[Predicate]:
    """Returns intervals with two ends, of which a few hold."""
    low = chance.random(count)
    high = low + chance.random(count) * _WIDTH / count
    return [("between", pair) for pair in zip(low.tolist(), high.tolist(), strict=True)]


def _counts(size: PaperSize) -> list[int]:
    largest = max(_FEWEST << 2 * (_STEPS - 1), round(_LARGEST * size.scale))
    return [largest >> 2 * step for step in reversed(range(_STEPS))]


def _grown(
    draw: Callable[[np.random.Generator, int], list[Predicate]], names: tuple[str, ...]
) -> Callable[[PaperSize], Iterator[Row]]:
    """Returns the run of a workload."""

    def run(size: PaperSize) -> Iterator[Row]:
        for count in _counts(size):
            chance = np.random.default_rng(size.seed)
            predicates = draw(chance, count + _CHANGES)
            values = chance.uniform(0.4, 0.6, _SEARCHES).tolist()
            for name in names:
                if name == TIME and draw is _half and count > _MOST_OVERLAPPING:
                    continue
                progress(f"{name} of {count:,}")
                row: Row = {"at": f"{count:,}", "method": name}
                if name in _STRUCTURES:
                    yield row | _counted(_STRUCTURES[name](), predicates, values)
                elif is_there(name):
                    yield row | _timed(name, predicates, values)

    return run


def _counted(index: OneDimension, predicates: list[Predicate], values: list[float]) -> Row:
    """Returns what is counted of a structure: of searches, insertions and deletions, and of it."""
    count, changes = len(predicates) - _CHANGES, min(_CHANGES, len(predicates) // 8)

    def steps(work: Callable[[Any], object], given: Iterable[Any]) -> float:
        before, works = index.steps, list(map(work, given))
        return (index.steps - before) / max(1, len(works))

    def insert(row: int) -> None:
        index.insert(row, *predicates[row])

    for row in range(count):
        insert(row)
    cells, more = index.cells, range(count, count + changes)
    return {
        "search": steps(index.match, values),
        "insert": steps(insert, more),
        "delete": steps(index.delete, more),
        "cells": cells,
    }


def _timed(name: str, predicates: list[Predicate], values: list[float]) -> Row:
    """Returns the times of an index of the framework, which says no steps."""
    clauses = [(row, [("a", *each)]) for row, each in enumerate(predicates)]
    count = len(predicates) - _CHANGES
    subject = BuiltIndex(name, clauses[:count])
    cells, searches = subject.index.nbytes, []
    for value in values:
        begun = time.perf_counter()
        subject.index.match({"a": value})
        searches.append(time.perf_counter() - begun)
    inserted = subject.insert(clauses[count:])
    deleted = subject.delete(np.arange(count, count + _CHANGES))
    return {
        "search": 1e6 * float(np.median(searches)), "insert": 1e6 * inserted / _CHANGES,
        "delete": 1e6 * deleted / _CHANGES, "cells": cells,
    }  # fmt: skip


_COLUMNS = (
    Drawing("Table 1, search", "search", "nodes a search (pbtree: µs)"),
    Drawing("Table 1, insertion", "insert", "nodes an insertion (pbtree: µs)"),
    Drawing("Table 1, deletion", "delete", "nodes a deletion (pbtree: µs)"),
    Drawing("Table 1, space", "cells", "cells (pbtree: bytes)"),
)


def _on_disk(size: PaperSize) -> Iterator[Row]:
    """Yields what the bench of the index itself measures."""
    largest = min(_MOST_ON_DISK, max(_FEWEST_ON_DISK, round(_ON_DISK * size.scale)))
    for row in on_disk.measured(predicates=largest, seed=size.seed):
        kept = {name: row[name] for name in ("pages_an_event", "commit_ms", "disk_mb", "open_ms")}
        yield {"at": f"{row['predicates']:,}", "method": PB, **kept}


EXPERIMENTS = (
    Experiment(
        "pbtree-disk", "PB+tree, Table 1: pages and disk", "predicates", _on_disk,
        (
            Drawing("Table 1, search", "pages_an_event", "pages looked at, an event of 20 values"),
            Drawing("Table 1, insertion", "commit_ms", "ms a commit"),
            Drawing("Table 1, space", "disk_mb", "MB on disk"),
        ),
    ),
    Experiment(
        "pbtree-few", "PB+tree, Table 1: comparisons of which few hold", "predicates",
        _grown(_few, (*_STRUCTURES, PB)), _COLUMNS,
    ),
    Experiment(
        "pbtree-half", "PB+tree, Table 1: comparisons of which half hold", "predicates",
        _grown(_half, (*_STRUCTURES, PB)), _COLUMNS,
    ),
    Experiment(
        "pbtree-short", "PB+tree, Table 1: short intervals", "predicates",
        _grown(_short, (IBS, TIME)), _COLUMNS,
    ),
)  # fmt: skip
_D, _F, _H, _S = "pbtree-disk", "pbtree-few", "pbtree-half", "pbtree-short"
_LOG = 0.35
"""The power of n below which growth is taken for logarithmic."""
_LEFT_OUT = "not in the tree: of Table 1, red-black tree, IBS-tree and Time Index are measured"


def _a_step(name: str) -> Callable[[Figures], Told]:
    """Compares what an interval without an end takes with what a short one does."""

    def told(figures: Figures) -> Told:
        ratios = []
        for experiment in (_H, _S):
            line = figures.line(experiment, name, "cells")
            at, cells = list(line.items())[-1]
            ratios.append((float(at.replace(",", "")), cells))
        (count, open_cells), (others, short_cells) = ratios
        if count != others:
            shared = f"{int(count):,}"
            short_cells = figures.line(_S, name, "cells").get(shared, math.nan)
            if math.isnan(short_cells):
                raise UnmeasuredError(f"{name} of {shared} short intervals")
        ratio = open_cells / short_cells
        return f"{name}: {ratio:.3g} times the cells of short ones", ratio > 1.5

    return told


def _log(name: str, column: str, experiment: str = _F) -> Any:
    return exponent(experiment, name, column, -1, _LOG)


CLAIMS = (
    Claim("Table 1", "PB+tree takes O(n) space", lately(_D, PB, "disk_mb", 0.6, 1.15),
          "what a store takes whatever it holds is most of it at a small scale"),
    Claim("Table 1", "PB+tree searches in O(log n), results left out",
          both(lately(_D, PB, "pages_an_event", -0.2, _LOG), _log(PB, "search"))),
    Claim("Table 1", "PB+tree inserts and deletes in O(log n)",
          both(exponent(_D, PB, "commit_ms", -1, _LOG), _log(PB, "delete"))),
    Claim("Table 1", "Grouped Filter takes O(n) space, O(log n) to search, insert and delete",
          unbuilt(_LEFT_OUT)),
    Claim("Table 1", "the red-black tree takes O(n) space",
          exponent(_F, RED_BLACK, "cells", 0.9, 1.1)),
    Claim("Table 1", "the red-black tree searches in O(n)",
          exponent(_F, RED_BLACK, "search", 0.9, 1.1)),
    Claim("Table 1", "the red-black tree inserts and deletes in O(log n)",
          both(_log(RED_BLACK, "insert"), _log(RED_BLACK, "delete"))),
    Claim("Table 1", "the IBS-tree takes O(n log n) space", exponent(_H, IBS, "cells", 1.0, 1.35)),
    Claim("Table 1", "the IBS-tree searches in O(log n), results left out", _log(IBS, "search")),
    Claim("Table 1", "the IBS-tree inserts and deletes in O(log² n)",
          both(exponent(_F, IBS, "insert", -0.2, 0.5), exponent(_F, IBS, "delete", -0.2, 0.5))),
    Claim("Table 1", "the Time Index takes O(n²) space", exponent(_H, TIME, "cells", 1.7, 2.1)),
    Claim("Table 1", "the Time Index searches in O(log n), results left out", _log(TIME, "search")),
    Claim("Table 1", "the Time Index inserts and deletes in O(log n) at best",
          both(_log(TIME, "insert", _S), _log(TIME, "delete", _S))),
    Claim("Table 1", "the Time Index inserts and deletes in O(n) at worst",
          both(exponent(_H, TIME, "insert", 0.7, 1.15), exponent(_H, TIME, "delete", 0.7, 1.15))),
    Claim("Table 1", "the interval B+tree takes O(n) space, O(n) to search, O(log n) to change",
          unbuilt(_LEFT_OUT)),
    Claim("§5", "intervals without an end overlap much more in an IBS-tree", _a_step(IBS),
          "one end has marks on one way down the tree, where a short interval has them on two"),
    Claim("§5", "intervals without an end overlap much more in a Time Index", _a_step(TIME)),
    Claim("§5", "where few hold, a red-black tree looks at far more than the trees of intervals",
          both(times(_F, RED_BLACK, IBS, 10, column="search"),
               times(_F, RED_BLACK, TIME, 10, column="search"))),
    Claim("§4.3", "a search of PB+tree has at most four paths down the tree",
          unbuilt("a test of the index: the search paths of the paper's Figure 7")),
)  # fmt: skip
PAPER = Paper(
    "Design of Secondary Storage Predicate Index for Publish/Subscribe System "
    "(Wang, Zhang, Kitsuregawa; about 2003)",
    EXPERIMENTS, CLAIMS,
)  # fmt: skip
