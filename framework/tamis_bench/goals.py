"""Knows every figure that is to be reached, and says of measured rows how far they are from it.

A goal is about the rows of a bench that have the values in `where`: one value, any of several, or
what a function accepts. Rows name the size of what they were measured on, where it matters: a goal
is about the whole size, and says nothing of another one. "Linear" is taken as: a subscription costs
at most half as much again to build as in a workload of a quarter of the size.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tamis_bench.report import Row, cell, heading, table

LANES, BLOOM, HASH = "lanes", "pstbloom", "psthash"
OPINDEX, AUTO, BE_TREE = "opindex", "auto", "be-tree scan"
RIVALS = ("k-index scan", "propagation scan")
INDEXES = (LANES, BLOOM, HASH)
PORTABLE = "lanes portable"
DICTS, FILLED = "dicts", "filled"
JUDGED = "savings"
"""The planner that the goals are about: the default one."""
_FAR = 9
"""From how many times better than it must a figure is said in times."""


@dataclass(frozen=True)
class Goal:
    """The value that a column of some rows must have, and a better one."""

    bench: str
    column: str
    must: float
    better: float | None
    more: bool
    """True if more is better."""
    where: Mapping[str, Any]

    def is_about(self, row: Row) -> bool:
        """Returns whether the row has the figure, and is one of those that are meant."""
        return isinstance(row.get(self.column), int | float) and all(
            _is_one(row.get(name), wanted) for name, wanted in self.where.items()
        )

    def beyond(self, figure: float, goal: float) -> float:
        """Returns by what share of the goal a figure is better; negative where it is worse."""
        better = figure - goal if self.more else goal - figure
        return better / goal if goal else better


def _is_one(value: object, wanted: Any) -> bool:
    if callable(wanted):
        return bool(wanted(value))
    return value in wanted if isinstance(wanted, tuple) else value == wanted


def most(
    bench: str, column: str, must: float, better: float | None = None, **where: object
) -> Goal:
    """Returns the goal of a figure that is to be at most so much."""
    return Goal(bench, column, must, better, False, where)


def least(
    bench: str, column: str, must: float, better: float | None = None, **where: object
) -> Goal:
    """Returns the goal of a figure that is to be at least so much."""
    return Goal(bench, column, must, better, True, where)


def _begins(*words: str) -> Callable[[object], bool]:
    return lambda value: isinstance(value, str) and value.startswith(words)


_BOTH, _BUILT = ("dense", "dense3m"), ("dense", "dense3m", "ads")
WORKLOADS = (*_BUILT, "sparse", "equality", "matching", "continuous", "mixed")
ZIPF = tuple(
    f"Zipf 1 {size}{costs}"
    for size in ("5K/20K/5", "30K/20K/5", "5K/20K/11")
    for costs in ("", " lognormal 1")
)
UNIFORM = ("Uniform 40K/80K/5", "Uniform 40K/80K/5 lognormal 1")
GUARDED, ONE_AT_A_TIME = "Zipf 1 2K/8K/5 guarded 40%", ZIPF[0]

_INDEX = (
    least("index", "x_compiled", 150, 200, method=LANES, workload=_BOTH),
    least("index", "x_compiled", 250, 320, method=LANES, workload="ads"),
    least("index", "x_compiled", 110, 130, method=LANES, workload="sparse"),
    least("index", "x_compiled", 65, 80, method=LANES, workload="matching"),
    least("index", "of_before", 0.8, 0.9, method=LANES, workload=(*_BUILT, "sparse", "matching")),
    least("index", "x_compiled", 30, 65, method=PORTABLE, workload="dense"),
    least("index", "x_compiled", 110, 150, method=BLOOM, workload="dense"),
    least("index", "x_naive", 300, 531, method=BLOOM, workload="ads"),
    least("index", "x_naive", 700, 1_814, method=HASH, workload="ads"),
    least("index", "x_compiled", 3, 4, method=OPINDEX, workload="dense"),
    least("index", "x_compiled", 1, method=INDEXES, workload=WORKLOADS),
    least("index", "x_compiled", 0.05, 0.1, method=BE_TREE, workload="dense"),
    least("index", "x_naive", 1, method=RIVALS, workload="dense"),
    most("index", "over_best", 1.3, method=AUTO, workload=WORKLOADS),
    most("index", "bytes", 30, 20, method=LANES, workload=_BOTH),
    most("index", "bytes", 45, 30, method=LANES, workload="ads"),
    most("index", "bytes", 40, 30, method=BLOOM, workload=_BOTH),
    most("index", "bytes", 300, method=INDEXES, workload="continuous"),
    most("index", "build_over_quarter", 1.5, method=INDEXES, workload="continuous"),
    most("index", "build_us", 0.5, 0.25, method=LANES, workload=_BUILT),
    most("index", "build_us", 4, 2, method=BLOOM, workload=_BUILT),
    most("index", "insert_us", 0.5, 0.15, method=LANES, workload=_BOTH),
    most("index", "delete_us", 1, 0.4, method=LANES, workload=_BOTH),
    most("index", "p99_over_mean", 2, 1.4, method=INDEXES, workload=WORKLOADS),
    most("index", "dict_us", 8, 5, method=INDEXES, workload=(*_BOTH, "mixed")),
    least("index", "whole_x_compiled", 40, 80, method=(LANES, BLOOM), workload=DICTS),
    most("index", "match_p99_over_mean", 2, method=INDEXES, workload=FILLED),
)
_PLANNERS = (
    most("planners", "over_bound", 1.015, planner=JUDGED, workload=ZIPF),
    most("planners", "over_bound", 1.10, planner=JUDGED, workload=UNIFORM[0]),
    most("planners", "over_bound", 1.04, planner=JUDGED, workload=UNIFORM[1]),
    most("planners", "over_boolean", 1.02, planner=JUDGED, workload=GUARDED),
    most("planners", "us_a_call", 15, planner=JUDGED, workload=ONE_AT_A_TIME),
    most(
        "planners", "over_alone", 0.29,
        form=("preparation", "batch"), predicates=16, workload=ONE_AT_A_TIME,
    ),
    most("planners", "rounds", 20, workers=128, workload=ONE_AT_A_TIME),
    most("planners", "over_one", 1.005, workers=128, workload=ONE_AT_A_TIME),
    least(
        "planners", "recovered", 0.8,
        known="fitted", gap=lambda share: share >= 0.03, workload=_begins(f"{ONE_AT_A_TIME} "),
    ),
)  # fmt: skip
_ENGINE = tuple(
    most("engine", "minimum", must, what=what)
    for what, must in (
        ("import tamis", 0.15),
        ("tamis --help", 0.3),
        ("modules switched by an event of three calls", 85),
        ("around a call that does nothing", 15),
        ("a subscription text, read", 50),
        ("the same subscribed, index included", 50),
        ("a join of 20,000 by 20,000 solutions", 0.05),
        ("20,000 over 5,000 operators loaded", 3),
        ("80,000 chains over 40,000, ordered", 10),
        ("one more inserted", 1),
        ("heavy libraries after import tamis", 0),
    )
) + tuple(
    most("engine", "ms", must, what=f"{what} left, warm", stage="all")
    for what, must in (
        ("20,000 subscriptions, 1%", 1.2),
        ("200,000 subscriptions, 1%", 5),
        ("200,000 subscriptions, 10%", 20),
    )
)
_CALLS = (
    least("calls", "times", 3, what=_begins("a batch of 8")),
    least("calls", "of_batched", 0.95, part=_begins("ONNX detectors")),
)
_SPARK = (
    most("spark", "over_few", 1.5),
    least("spark", "a_core", 0.6),
    most("spark", "wrong", 0),
    least("spark", "x_process", 1.6),
)
_OTHERS = (
    most("places", "over_index", 8),
    most("policies", "bytes", 1_000, 700, keys=1_000_000),
    most("policies", "over_one", 1.5, subscriptions=100_000),
    least("server", "of_bare", 0.9, batch=(1, 16, 128, 1_024)),
    most("server", "p99_ms", 100, what=_begins("one", "the closest")),
    least("image", "recall", 0.95, model="yolov8n", workload="pedestrians, from a mast"),
    least("image", "recall", 0.85, 0.95, model="ssd-mobilenet-v2", workload=_begins("pedestrians")),
    least(
        "image", "precision", 0.95, model=("yolov8n", "yolo11n", "ssd-mobilenet-v2"), label="person"
    ),
    least("image", "recall", 0.95, model="yunet", label="face"),
    least("image", "precision", 0.95, model="yunet", label="face"),
    most("forms", "seconds", 1, what="first answer"),
    most("forms", "numba", 0, what="first answer"),
    most("isolation", "over_inline_us", 60, what=_begins("same", "new")),
    most("isolation", "after_deadline_ms", 100),
)
GOALS = (*_INDEX, *_PLANNERS, *_ENGINE, *_CALLS, *_SPARK, *_OTHERS)


def judged(bench: str, rows: Iterable[Row]) -> list[dict[str, Any]]:
    """Returns what came of the goals of a bench, once; of rows of one name that of the worst."""
    found: dict[Any, dict[str, Any]] = {}
    rows = list(rows)
    for goal in GOALS:
        for row in rows if goal.bench == bench else ():
            if goal.is_about(row):
                each = _judgment(goal, row)
                worst = found.setdefault((each["of"], each["what"], goal.must), each)
                if each["beyond_must"] < worst["beyond_must"]:
                    worst.update(each)
    return list(found.values())


def _judgment(goal: Goal, row: Row) -> dict[str, Any]:
    names = dict.fromkeys(["workload", *goal.where, "what", "method"])
    figure = row[goal.column]
    return {
        "of": ", ".join(_value(name, row[name]) for name in names if row.get(name) is not None),
        "what": heading(goal.column),
        "figure": figure,
        "must": goal.must,
        "better": goal.better,
        "more_is_better": goal.more,
        "reached": goal.beyond(figure, goal.must) >= 0,
        "beyond_must": goal.beyond(figure, goal.must),
        "beyond_better": None if goal.better is None else goal.beyond(figure, goal.better),
    }


def _value(name: str, value: object) -> str:
    return value if isinstance(value, str) else f"{name} {cell(value)}"


def said(bench: str, goals: Sequence[Mapping[str, Any]]) -> str:
    """Returns how many goals were reached, and each with what came of it."""
    if not goals:
        known = any(goal.bench == bench for goal in GOALS)
        return "\nNo goal is about this size or choice." if known else ""
    reached = sum(goal["reached"] for goal in goals)
    rows = [
        {
            "goal": f"{goal['of']}: {goal['what']}",
            "measured": goal["figure"],
            "must": f"{'≥' if goal['more_is_better'] else '≤'} {cell(goal['must'])}",
            "better": goal["better"],
            "verdict": _verdict(goal),
        }
        for goal in goals
    ]
    return f"\n{reached} of {len(goals)} goals reached\n{table(rows)}"


def _verdict(goal: Mapping[str, Any]) -> str:
    share, beyond = abs(goal["beyond_must"]), goal["beyond_better"]
    if not goal["reached"]:
        return f"MISSED by {share:.0%}"
    words = "reached, "
    words += f"{share + 1:,.0f} times over" if share > _FAR else f"{share:.0%} to spare"
    if beyond is not None:
        words += ", better too" if beyond >= 0 else f", better missed by {-beyond:.0%}"
    return words
