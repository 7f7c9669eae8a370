"""The figures that indexes are to reach, from goals.md, and how far a measured row is from them.

A goal is of a workload at its full size: on another size nothing is said. "Linear" is taken as: a
subscription costs at most half as much again to build as in a workload of a quarter of the size.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

LANES, BLOOM, HASH = "lanes", "pstbloom", "psthash"
INDEXES = (LANES, BLOOM, HASH)
PORTABLE = "lanes portable"
COMPILED, NAIVE = "compiled", "naive"
"""Scans, by the names of options; as methods they are called `… scan`."""

_SIZES = {
    "dense": 1_000_000, "dense3m": 3_000_000, "ads": 3_000_000, "sparse": 1_000_000,
    "equality": 1_000_000, "matching": 1_000_000, "continuous": 1_000_000, "mixed": 1_000_000,
}  # fmt: skip
_EVERY = tuple(_SIZES)
_FAR = 9
"""From how many times better than it must a figure is said in times."""


@dataclass(frozen=True)
class Goal:
    """A figure of a method on workloads, what it must be and what it should be."""

    words: str
    figure: tuple[str, ...]
    """The path to the figure in what was measured of a method."""
    methods: tuple[str, ...]
    workloads: tuple[str, ...]
    must: float
    target: float | None = None
    more: bool = True
    """Whether more is better."""


def _lanes_times(workloads: tuple[str, ...], must: float, target: float) -> Iterator[Goal]:
    figure = ("times", COMPILED)
    yield Goal("times the compiled scan", figure, (LANES,), workloads, must, target)


GOALS = (
    *_lanes_times(("dense", "dense3m"), 150, 200),
    *_lanes_times(("ads",), 250, 320),
    *_lanes_times(("sparse",), 110, 130),
    *_lanes_times(("matching",), 65, 80),
    Goal(
        "of that after 10% were replaced", ("after", "of_before"), (LANES,),
        ("dense", "dense3m", "ads", "sparse", "matching"), 0.8, 0.9,
    ),
    Goal("times the compiled scan", ("times", COMPILED), (PORTABLE,), ("dense",), 30, 65),
    Goal("times the naive scan", ("times", NAIVE), (BLOOM,), ("ads",), 300, 531),
    Goal("times the naive scan", ("times", NAIVE), (HASH,), ("ads",), 700, 1_814),
    Goal("never slower than the compiled scan", ("times", COMPILED), INDEXES, _EVERY, 1),
    Goal("bytes a subscription", ("bytes",), (LANES,), ("dense", "dense3m"), 30, 20, more=False),
    Goal("bytes a subscription", ("bytes",), (LANES,), ("ads",), 45, 30, more=False),
    Goal("bytes a subscription", ("bytes",), INDEXES, ("continuous",), 300, more=False),
    Goal(
        "build us a subscription over that of a quarter of them", ("build_growth",), INDEXES,
        ("continuous",), 1.5, more=False,
    ),
    Goal(
        "build us a subscription", ("build_us",), (LANES,), ("dense", "dense3m", "ads"), 0.5, 0.25,
        more=False,
    ),
    Goal(
        "build us a subscription", ("build_us",), (BLOOM,), ("dense", "dense3m", "ads"), 4, 2,
        more=False,
    ),
    Goal("insert us", ("insert_us",), (LANES,), ("dense", "dense3m"), 0.5, 0.15, more=False),
    Goal("delete us", ("delete_us",), (LANES,), ("dense", "dense3m"), 1, 0.4, more=False),
    Goal("p99 over mean", ("p99_over_mean",), INDEXES, _EVERY, 2, 1.4, more=False),
    Goal(
        "us of match(dict) over the kernel, 30 attributes", ("dict_us",), INDEXES,
        ("dense", "dense3m", "mixed"), 8, 5, more=False,
    ),
)  # fmt: skip


def judged(workload: str, row: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The goals of a measured row: figure, goal, and by what share it is reached or missed."""
    if row["subscriptions"] != _SIZES.get(workload):
        return
    for goal in GOALS:
        if workload not in goal.workloads:
            continue
        for method in goal.methods:
            figure: Any = row["methods"].get(method)
            for name in goal.figure:
                figure = figure.get(name) if isinstance(figure, dict) else None
            if figure is not None:
                yield {
                    "workload": workload,
                    "method": method,
                    "what": goal.words,
                    "figure": figure,
                    "must": goal.must,
                    "target": goal.target,
                    "more_is_better": goal.more,
                    "reached": _beyond(figure, goal.must, goal.more) >= 0,
                    "beyond_must": _beyond(figure, goal.must, goal.more),
                    "beyond_target": (
                        None if goal.target is None else _beyond(figure, goal.target, goal.more)
                    ),
                }


def _beyond(figure: float, goal: float, more: bool) -> float:
    """By what share of the goal a figure is better; negative where it is worse."""
    return (figure - goal) / goal if more else (goal - figure) / goal


def said(goal: Mapping[str, Any]) -> str:
    """A goal and what came of it, in a line."""
    words = f"{goal['method']}, {goal['what']}: {_number(goal['figure'])}"
    words += f" ({'at least' if goal['more_is_better'] else 'at most'} {_number(goal['must'])}"
    if goal["target"] is not None:
        words += f", better {_number(goal['target'])}"
    share = abs(goal["beyond_must"])
    if goal["reached"]:
        far = f"{share + 1:,.0f} times over" if share > _FAR else f"{share:.0%} to spare"
        words += f"): reached, {far}"
    else:
        words += f"): MISSED by {share:.0%}"
    beyond = goal["beyond_target"]
    if goal["reached"] and beyond is not None:
        words += (
            ", the better one too" if beyond >= 0 else f", the better one missed by {-beyond:.0%}"
        )
    return words


def _number(figure: float) -> str:
    return f"{figure:,.0f}" if abs(figure) >= 100 else f"{figure:.4g}"
