"""Counting: Figures 2 to 4 and Tables 1 and 2, and what the paper's text says of them.

The numbers of the paper's workloads are lost in the text that we have: ours are said here. Tables
are `counting`, lists for predicates `counting:most_values=0`; the byte matrix is what the paper
calls regular matching. Kdb is not to be had: databases are those of the index `dbms` where there is
one, and DuckDB's scan of the bench.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tamis_bench.boxes import Boxes
from tamis_bench.papers.claims import (
    Claim,
    Figures,
    Told,
    best,
    both,
    everywhere,
    grows,
    steady,
    times,
)
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
from tamis_bench.report import Row

TABLE, LIST = "counting", "counting:most_values=0"
BYTES, BITS, LISTS = "counting:form=bytes", "counting:form=bits", "counting:form=lists"
DUCKDB, SQLITE, DUCK = "duckdb", "dbms", "dbms:database=duckdb"
_SCHEMES = {TABLE: "table", LIST: "list"}
_DOMAINS = {"small": 100, "medium": 1_000, "big": 4_000}
_ATTRIBUTES = 10
_PREDICATES = (1_000, 5_000, 20_000)
_MOST_IN_MATRICES = 1_000_000
"""Subscriptions up to which a matrix of bytes is measured: the paper's had no memory for more."""


def _of(size: PaperSize, count: int, values: int, longest: int) -> GivenBoxes:
    drawn = Drawn(
        count, _ATTRIBUTES, values, longest=longest, shortest=longest, pairs=_ATTRIBUTES,
        equality=0.34,
    )  # fmt: skip
    return GivenBoxes("Counting", drawn, size.seed, size.events)


def _mixed(size: PaperSize, count: int) -> GivenBoxes:
    """Draws predicates over domains of all sizes: attributes take turns."""
    boxes = _of(size, count, max(_DOMAINS.values()), 1)
    sizes = np.resize(list(_DOMAINS.values()), _ATTRIBUTES).astype(np.float64)
    top = sizes[boxes.attribute] - 1
    is_open = boxes.high == max(_DOMAINS.values()) - 1
    boxes.low %= top + 1
    boxes.high = np.where(is_open, top, np.maximum(boxes.low, boxes.high % (top + 1)))
    boxes.events %= sizes
    return boxes


def _predicates(size: PaperSize) -> Iterator[Row]:
    """Yields rows of subscriptions of one predicate: the first of the two stages alone."""
    for place in size.some(_PREDICATES):
        count = max(40, round(place * min(1.0, 10 * size.scale)))
        for name, values in {**_DOMAINS, "mixed": 0}.items():
            boxes = _of(size, count, values, 1) if values else _mixed(size, count)
            for row in compared(boxes, tuple(_SCHEMES), size, f"{count:,}"):
                yield {**row, "method": f"{_SCHEMES[row['method']]}, {name}"}


def _subscriptions(size: PaperSize) -> Iterator[Row]:
    """Yields rows of subscriptions of five predicates, of which few are distinct."""

    def draw(place: int) -> Boxes:
        return _of(size, size.count(place), 20, 5)

    matrices = (BYTES, BITS) if size.count(1_000_000) <= _MOST_IN_MATRICES else ()
    yield from along(
        size.some((100_000, 500_000, 1_000_000, 5_000_000)), draw,
        (*matrices, LISTS, SQLITE, DUCK, DUCKDB), size, "subscriptions",
    )  # fmt: skip


EXPERIMENTS = (
    Experiment(
        "counting-predicates", "Counting, Figure 2: predicates", "predicates", _predicates,
        (matching("2, 1 to 3"), memory("2, 4 to 6")),
    ),
    Experiment(
        "counting-subscriptions", "Counting, Figures 3 and 4, Tables 1 and 2: subscriptions",
        "subscriptions", _subscriptions,
        (matching("3, Table 1"), memory("4"), building("Table 2")),
    ),
)  # fmt: skip
_P, _S = "counting-predicates", "counting-subscriptions"
_LINES = (
    "a line of the table holds the numbers of all predicates that a value satisfies, so that what "
    "it takes follows from how many hold, not from how wide the domain is"
)
_INDEXED = "lists are decided on sorted arrays of constants, not along linked lists"
_FEW = "the figures are of a few hundred predicates a domain; what a look-up costs is nearly all"
_WARM = "a table has lines of the values that events had; few values were there yet"


def _by_domain(scheme: str) -> tuple[str, ...]:
    return tuple(f"{scheme}, {name}" for name in _DOMAINS)


def _domains(scheme: str, column: str, is_rising: bool) -> Any:
    """Compares the domains of all sizes at most predicates."""

    def told(figures: Figures) -> Told:
        values = {name: figures.value(_P, name, column) for name in _by_domain(scheme)}
        words = ", ".join(f"{name} {value:,.1f}" for name, value in values.items())
        first, *_, last = values.values()
        return words, last > 1.2 * first if is_rising else max(first, last) < 1.5 * min(first, last)

    return told


CLAIMS = (
    Claim("§5.1.1, Figure 2(1)", "tables match slower over larger domains",
          _domains("table", "mean_us", True), _LINES),
    Claim("§5.1.1, Figure 2(2)", "lists hardly depend on the size of domains",
          _domains("list", "mean_us", False), _INDEXED),
    Claim("§5.1.1, Figure 2(3)", "over mixed domains, lists are better for few predicates",
          times(_P, "table, mixed", "list, mixed", 1, at=0),
          "a line that is there is one look-up, however few predicates there are"),
    Claim("§5.1.1, Figure 2(3)", "over mixed domains, tables are better for many predicates",
          times(_P, "list, mixed", "table, mixed", 1), _FEW),
    Claim("§5.1.1, Figure 2(4)", "the memory of tables depends on the size of domains",
          _domains("table", "bytes", True), _WARM),
    Claim("§5.1.1, Figure 2(5)", "the memory of lists depends on predicates alone",
          _domains("list", "bytes", False)),
    Claim("§5.1.1, Figure 2(6)", "lists take less memory for few predicates",
          times(_P, "table, mixed", "list, mixed", 1, column="bytes", at=0)),
    Claim("§5.1.1, Figure 2(6)", "tables take less memory for many predicates",
          times(_P, "list, mixed", "table, mixed", 1, column="bytes"),
          "a predicate has its number in the line of each value that it holds for"),
    Claim("§5.1.2, Figure 3", "association lists match fastest",
          everywhere(_S, [BYTES, BITS], LISTS),
          "over few distinct predicates a matrix is dense, where adding whole lines is better"),
    Claim("§5.1.2, Figure 3", "the byte matrix matches slowest",
          everywhere(_S, [BYTES], BITS),
          "bytes of a line are added by vector instructions; planes of bits take several steps"),
    Claim("§5.1.2, Figure 3", "bits match three times as fast as bytes",
          times(_S, BYTES, BITS, 2, 5),
          "bytes of a line are added by vector instructions; planes of bits take several steps"),
    Claim("§5.1.2, Figure 4", "lists alone take the least memory",
          best(_S, LISTS, [BYTES, BITS], "bytes"),
          "lists are counted with what deletes need, as the paper's next sentence does"),
    Claim("§5.1.2, Figure 4", "with what deletes need, bits take less memory than lists",
          times(_S, LISTS, BITS, 1, column="bytes"),
          "rows know their predicates' numbers in every form here, so that lists are the smaller "
          "ones where a row has few of all predicates"),
    Claim("§5.1.2", "a database takes many times the memory of bits",
          times(_S, SQLITE, BITS, 4, column="bytes"),
          "bits are counted with predicates and rows, databases by their size"),
    Claim("§5.1.3, Table 1", "a database matches slower, however many subscriptions there are",
          both(everywhere(_S, [DUCKDB], LISTS), everywhere(_S, [DUCKDB], BITS))),
    Claim("§5.1.3, Table 1", "a row-wise database in SQL matches slower than lists and bits",
          both(everywhere(_S, [SQLITE], LISTS), everywhere(_S, [SQLITE], BITS))),
    Claim("§5.1.3, Table 1", "at most subscriptions a database takes hundreds of times as long",
          times(_S, SQLITE, LISTS, 50), "an index over columns in memory serves the query here"),
    Claim("§5.1.3, Table 2", "bits are loaded fastest",
          best(_S, BITS, [LISTS, SQLITE], "build_us"),
          "reading predicates is most of loading, and is the same for all forms"),
    Claim("§5.1.3, Table 2", "loading many subscriptions, a database is faster than lists",
          times(_S, LISTS, SQLITE, 1, column="build_us"),
          "lists grow in place here; the paper's were allocated anew"),
    Claim("§5.1.3, Table 2", "a subscription costs lists more to load the more there are",
          grows(_S, [LISTS], 2, column="build_us"), "lists grow by half, not by a constant"),
    Claim("§6", "tables with lists are the best combination for many subscriptions",
          best(_S, LISTS, [BYTES, BITS, DUCKDB]),
          "over few distinct predicates a matrix is dense, where adding whole lines is better"),
    Claim("§3.3", "bits take memory by subscriptions times predicates",
          steady(_S, [BITS], "bytes", 1.5),
          "rows, predicates and what an index takes whatever it holds are counted too"),
)  # fmt: skip
PAPER = Paper(
    "Predicate Matching and Subscription Matching in Publish/Subscribe Systems "
    "(Ashayer, Leung, Jacobsen; 2002)",
    EXPERIMENTS, CLAIMS,
)  # fmt: skip
