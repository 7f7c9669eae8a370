"""OpIndex: the experiments of section 7 and Figure 1, and what the paper's text says of them.

The published sets (AOL queries, Twitter, Wikipedia, Ebay) are drawn like they are described.
OpIndex-BS, without buckets and signatures, is here `opindex:segments=1`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

from tamis_bench.be_tree import be_tree
from tamis_bench.coded import coded
from tamis_bench.papers import opindex_texts
from tamis_bench.papers.claims import (
    Claim,
    best,
    both,
    everywhere,
    exponent,
    grows,
    grows_less,
    steady,
    times,
)
from tamis_bench.papers.drawing import INTERVAL, SET, Drawn, GivenBoxes
from tamis_bench.papers.measuring import (
    Experiment,
    Paper,
    PaperSize,
    along,
    building,
    compared,
    matching,
    memory,
    rival,
)
from tamis_bench.report import Row
from tamis_bench.timing import time_all

OP, BS, BE, K = "opindex", "opindex:segments=1", "be-tree", "k-index"
_ALL = (OP, BS, BE, K)
_DEFAULT = Drawn(1_000_000, 20_000, values=200, longest=8, pairs=60, equality=0.4)
_KEYWORDS = Drawn(
    1_000_000, 50_000, values=1, longest=6, mean_length=2.5, asked=1.0, held=1.0, width=8
)
_PRODUCTS = Drawn(
    1_000_000, 10_204, values=128, longest=8, pairs=18, spread=0.4, asked=0.3, held=1.0,
    equality=0.5, other=SET,
)  # fmt: skip
_CAPACITIES = (5, 50, 150, 250)


def _drawn(size: PaperSize, **changes: Any) -> GivenBoxes:
    full = replace(changes.pop("of", _DEFAULT), **changes)
    drawn = replace(
        full, subscriptions=size.count(full.subscriptions), attributes=size.wide(full.attributes)
    )
    return GivenBoxes("OpIndex", drawn, size.seed, size.events)


def _varied(name: str, places: tuple[float, ...], of: Drawn = _DEFAULT, methods: Any = _ALL) -> Any:
    """Returns the run of an experiment that varies one parameter."""

    def run(size: PaperSize) -> Iterator[Row]:
        chosen = size.some(places)
        yield from along(
            chosen, lambda place: _drawn(size, of=of, **{name: place}), methods, size, name
        )

    return run


def _values(size: PaperSize) -> Iterator[Row]:
    for place in size.some((50, 200, 800, 3_200, 12_800)):
        boxes = _drawn(size, values=place)
        share = boxes.share_true()
        for row in compared(boxes, _ALL, size, f"{place:,}"):
            yield {**row, "share_true": share}


def _zipf(size: PaperSize) -> Iterator[Row]:
    yield from along(
        size.some((0.0, 0.2, 0.4, 0.6, 0.8, 1.0)),
        lambda place: _drawn(size, asked=place, held=place, operands=place), _ALL, size,
    )  # fmt: skip


def _capacities(size: PaperSize) -> Iterator[Row]:
    """Yields rows of BE-Trees, a node of which holds more and more."""
    boxes = _drawn(size)
    codes = coded(boxes, boxes.start[:-1] * 0 + range(len(boxes)))
    for capacity in _CAPACITIES:
        method, row = rival(partial(be_tree, codes, capacity), codes)
        method.events, method.repeats = size.events, 2
        time_all({BE: method}, size.passes)
        mean = method.figures()["mean_us"]
        yield {"at": f"{capacity:,}", "method": BE, "mean_us": mean, **row}


def _keywords(pairs: float, spread: float, **how: Any) -> Any:
    of = replace(_KEYWORDS, pairs=pairs, spread=spread, **how)
    return _varied("subscriptions", (1_000_000, 3_000_000, 5_000_000), of, (OP, BE, K))


_BETWEEN = {"values": 40, "equality": 0.0, "other": INTERVAL, "operands": 1.0}
_COUNTS = (1_000_000, 10_000_000, 40_000_000)
EXPERIMENTS = (
    Experiment(
        "opindex-attributes", "OpIndex, Figure 1: attributes", "attributes",
        _varied("attributes", (20_000, 30_000, 40_000, 50_000, 60_000)),
        (building("1a"), matching("1b"), memory("1")),
    ),
    Experiment(
        "opindex-capacity", "OpIndex, Figure 7: what a node of BE-Tree holds", "capacity",
        _capacities, (building("7"), matching("7")),
    ),
    Experiment(
        "opindex-subscriptions", "OpIndex, Figures 8 to 10, (a): subscriptions", "subscriptions",
        _varied("subscriptions", _COUNTS), (memory("8a"), building("9a"), matching("10a")),
    ),
    Experiment(
        "opindex-lengths", "OpIndex, Figures 9 and 10, (b): longest subscription", "predicates",
        _varied("longest", (4, 8, 12, 16, 20)), (building("9b"), matching("10b")),
    ),
    Experiment(
        "opindex-pairs", "OpIndex, Figure 10(c): pairs an event", "pairs",
        _varied("pairs", (20, 40, 60, 80, 100, 120)), (matching("10c"),),
    ),
    Experiment(
        "opindex-equality", "OpIndex, Figure 10(d): share of =", "share of =",
        _varied("equality", (0.2, 0.4, 0.6, 0.8, 1.0)), (matching("10d"),),
    ),
    Experiment(
        "opindex-values", "OpIndex, Figures 8(b) and 10(e): values of an attribute", "values",
        _values, (memory("8b"), matching("10e")),
    ),
    Experiment(
        "opindex-zipf", "OpIndex, Figure 10(f): Zipf", "exponent", _zipf, (matching("10f"),)
    ),
    Experiment(
        "opindex-twitter-equal", "OpIndex, Figure 11(c): keywords, short texts, =",
        "subscriptions", _keywords(5.4, 0.4), (building("11a"), matching("11c")),
    ),
    Experiment(
        "opindex-twitter-between", "OpIndex, Figure 11(d): keywords, short texts, intervals",
        "subscriptions", _keywords(5.4, 0.4, **_BETWEEN), (building("11b"), matching("11d")),
    ),
    Experiment(
        "opindex-wiki-equal", "OpIndex, Figure 11(e): keywords, articles, =",
        "subscriptions", _keywords(123, 0.6), (matching("11e"),),
    ),
    Experiment(
        "opindex-wiki-between", "OpIndex, Figure 11(f): keywords, articles, intervals",
        "subscriptions", _keywords(123, 0.6, **_BETWEEN), (matching("11f"),),
    ),
    Experiment(
        "opindex-products", "OpIndex, Figure 12: products, subscriptions", "subscriptions",
        _varied("subscriptions", (1_000_000, 3_000_000, 5_000_000), _PRODUCTS, (OP, BE, K)),
        (building("12"), matching("12")),
    ),
    Experiment(
        "opindex-products-lengths", "OpIndex, Figure 12: products, longest subscription",
        "predicates", _varied("longest", (4, 8, 12, 16, 20), _PRODUCTS, (OP, BE, K)),
        (building("12 lengths"), matching("12 lengths")),
    ),
    *opindex_texts.EXPERIMENTS,
)  # fmt: skip

_COMPILED = (
    "all are compiled here, built in bulk or one by one in a kernel; the paper ran others' binaries"
)
_SETS = (
    "an index of the framework reads sets as predicates, one by one, which is nearly all of the "
    "time; rivals are given arrays"
)
_PIVOT = (
    "with few subscriptions an attribute a list is a handful long, and the look-ups of 60 pairs in "
    "each list cost more than what they spare"
)
_TREE = (
    "this BE-Tree is laid out flat after it is built, checks in a kernel, and so is a faster one"
)
_FLAT = "differences this small are below what a loaded machine tells apart"
_DENSE_TREE = "the tree's nodes are of a kernel's arrays: 14 words each, whatever values there are"
_N, _L, _M = "opindex-subscriptions", "opindex-lengths", "opindex-pairs"
_E, _V, _Z, _A = "opindex-equality", "opindex-values", "opindex-zipf", "opindex-attributes"
_TE, _TB, _WE, _WB = (f"opindex-{each}" for each in (
    "twitter-equal", "twitter-between", "wiki-equal", "wiki-between"
))  # fmt: skip
_P, _PL = "opindex-products", "opindex-products-lengths"
CLAIMS = (
    Claim("§1, Figure 1", "k-index is built much faster than BE-Tree over very many attributes",
          times(_A, BE, K, 2, column="build_us"), _COMPILED),
    Claim("§1, Figure 1", "k-index keeps its matching time better than BE-Tree as attributes grow",
          grows_less(_A, [K], [BE]), _TREE),
    Claim("§1, Figure 1", "k-index takes more memory than BE-Tree",
          times(_A, K, BE, 1, column="bytes"), _DENSE_TREE),
    Claim("§1, Figure 1", "OpIndex matches faster than both over very many attributes",
          both(everywhere(_A, [BE, K], OP), times(_A, BE, OP, 1)), f"{_TREE}; {_PIVOT}"),
    Claim("§1, Figure 1", "OpIndex is built at a much smaller cost than both",
          both(times(_A, BE, OP, 2, column="build_us"), times(_A, K, OP, 2, column="build_us")),
          _COMPILED),
    Claim("§7.2, Figure 7", "from 5 to 150 a node, BE-Tree is built 15 times faster",
          grows("opindex-capacity", [BE], 0, 1 / 5, "build_us"),
          "an overflowing node costs a kernel little, so that more of them do not cost much more"),
    Claim("§7.2, Figure 7", "from 5 to 150 a node, BE-Tree matches 15 times slower",
          grows("opindex-capacity", [BE], 5),
          "what hangs in a node is checked from memory in a row, so that a long node costs little"),
    Claim("§7.3.1, Figure 8(a)", "BE-Tree takes about twice the memory of OpIndex",
          times(_N, BE, OP, 1.5, 3, "bytes"),
          "this OpIndex also holds what deletes and inserts in place need"),
    Claim("§7.3.1, Figure 8(a)", "k-index takes seven times the memory of OpIndex",
          times(_N, K, OP, 5, column="bytes"), "a posting takes four bytes here"),
    Claim("§7.3.1, Figure 8(a)", "the memory of BE-Tree and OpIndex grows alike",
          steady(_N, [BE, OP], "bytes", 2.5)),
    Claim("§7.3.1, Figure 8(b)", "the memory of k-index explodes with the values of an attribute",
          grows(_V, [K], 5, column="bytes")),
    Claim("§7.3.1, Figure 8(b)", "the memory of BE-Tree grows about tenfold with the values",
          grows(_V, [BE], 5, column="bytes"), _DENSE_TREE),
    Claim("§7.3.1, Figure 8(b)", "the memory of OpIndex does not depend on the values",
          steady(_V, [OP], "bytes", 1.3)),
    Claim("§7.3.2, Figure 9", "OpIndex takes inserts a thousand times faster than BE-Tree",
          times(_N, BE, OP, 300, column="build_us"), _COMPILED),
    Claim("§7.3.2, Figure 9", "OpIndex takes inserts ten times faster than k-index",
          times(_N, K, OP, 5, column="build_us"), _COMPILED),
    Claim("§7.3.2, Figure 9", "segments and signatures make building slightly longer",
          times(_N, OP, BS, 1, 2, "build_us"), _FLAT),
    Claim("§7.3.2, Figure 9(b)", "k-index costs much more to build as subscriptions grow",
          grows(_L, [K], 2, column="build_us")),
    Claim("§7.3.3, Figure 10(a)", "OpIndex matches more than ten times faster than k-index",
          times(_N, K, OP, 10), "skips in a kernel make this k-index faster than a counting one"),
    Claim("§7.3.3, Figure 10(a)", "OpIndex matches fastest, however many subscriptions there are",
          everywhere(_N, [BS, BE, K], OP), f"{_TREE}; {_PIVOT}"),
    Claim("§7.3.3, Figure 10(a)", "OpIndex scales better than without segments and signatures",
          grows_less(_N, [OP], [BS]), _FLAT),
    Claim("§7.3.3, Figure 10(a)", "BE-Tree scales well: less than subscriptions do",
          exponent(_N, BE, "mean_us", -0.5, 1.0)),
    Claim("§7.3.4, Figure 10(b)", "OpIndex scales best with the longest subscription",
          grows_less(_L, [OP], [K, BE]), "a BE-Tree has one more attribute to go down by instead"),
    Claim("§7.3.4, Figure 10(b)", "k-index grows linearly with the longest subscription",
          exponent(_L, K, "mean_us", 0.6, 1.6), "longer ones are skipped for want of pairs"),
    Claim("§7.3.4, Figure 10(b)", "BE-Tree gets clearly worse at 20 predicates",
          grows(_L, [BE], 1.5), _TREE),
    Claim("§7.3.5, Figure 10(c)", "all get slower with the pairs of an event",
          grows(_M, _ALL, 1.2)),
    Claim("§7.3.5, Figure 10(c)", "OpIndex scales with the pairs as BE-Tree does",
          grows_less(_M, [OP], [BE]), f"an event has look-ups by the square of its pairs; {_TREE}"),
    Claim("§7.3.5, Figure 10(c)", "OpIndex scales better with the pairs than without segments",
          grows_less(_M, [OP], [BS]), _FLAT),
    Claim("§7.3.5, Figure 10(c)", "k-index is the slowest, and scales worst with the pairs",
          both(everywhere(_M, [K], OP), grows_less(_M, [OP, BE], [K])), _PIVOT),
    Claim("§7.3.6, Figure 10(d)", "all get faster with the share of =",
          grows(_E, [OP, BE, K], 0, 1.05), _FLAT),
    Claim("§7.3.6, Figure 10(d)", "k-index and BE-Tree gain more from = than OpIndex",
          grows_less(_E, [K, BE], [OP]), "a bucket of an equality is short already here"),
    Claim("§7.3.7, Figure 10(e)", "matching time is stable over the values, in all three",
          steady(_V, [OP, BE, K], within=2.0),
          "k-index runs through more lists the more values a range has"),
    Claim("§7.3.7, Lemma 6", "the share of predicates that hold hardly changes with the values",
          steady(_V, [OP], "share_true", 1.1)),
    Claim("§7.3.8, Figure 10(f)", "OpIndex is the fastest at every skew",
          everywhere(_Z, [BE, K], OP), _TREE),
    Claim("§7.3.8, Figure 10(f)", "OpIndex scales better with skew than k-index",
          grows_less(_Z, [OP], [K])),
    Claim("§7.4, Figure 11(a)", "with = alone, k-index and OpIndex are built in similar time",
          times(_TE, K, OP, 1 / 3, 3, "build_us"), _COMPILED),
    Claim("§7.4, Figure 11(b)", "with intervals, k-index takes longer to build than OpIndex",
          times(_TB, K, OP, 1, column="build_us"), _COMPILED),
    Claim("§7.4, Figure 11", "BE-Tree takes a hundred times as long to build as OpIndex",
          times(_TE, BE, OP, 30, column="build_us"), _COMPILED),
    Claim("§7.4, Figure 11(c)", "on short texts, OpIndex is 4 to 9 times as fast as BE-Tree",
          times(_TE, BE, OP, 4), _TREE),
    Claim("§7.4, Figure 11(c)", "on short texts, OpIndex is a hundred times as fast as k-index",
          times(_TE, K, OP, 50), "an event of five pairs has but five lists to run through"),
    Claim("§7.4, Figure 11(d)", "on short texts with intervals, OpIndex is the fastest",
          best(_TB, OP, [BE, K]), _TREE),
    Claim("§7.4, Figure 11(e)", "on articles, OpIndex is the fastest", best(_WE, OP, [BE, K]),
          f"{_TREE}; {_PIVOT}"),
    Claim("§7.4, Figure 11(f)", "on articles with intervals, OpIndex is the fastest",
          best(_WB, OP, [BE, K]), f"{_TREE}; {_PIVOT}"),
    Claim("§7.5, Figure 12", "on products, k-index and OpIndex are built in similar time",
          times(_P, K, OP, 1 / 3, 3, "build_us"), _SETS),
    Claim("§7.5, Figure 12", "on products, BE-Tree takes orders of magnitude longer to build",
          times(_P, BE, OP, 30, column="build_us"), _SETS),
    Claim("§7.5, Figure 12", "on products, OpIndex matches fastest",
          both(everywhere(_P, [BE, K], OP), everywhere(_PL, [BE, K], OP)), _TREE),
    Claim("§7.5, Figure 12", "the longer product subscriptions are, the further BE-Tree is behind",
          grows_less(_PL, [OP], [BE]), _TREE),
    Claim("§7.5, Figure 12(f)", "BE-Tree gets slower with longer product subscriptions",
          grows(_PL, [BE], 1.1), _TREE),
    *opindex_texts.CLAIMS,
)  # fmt: skip
PAPER = Paper(
    "An Efficient Publish/Subscribe Index for E-Commerce Databases (Zhang, Chan, Tan; 2014)",
    EXPERIMENTS, CLAIMS,
)  # fmt: skip
