"""The figures that planners are to reach, from goals.md, and how far measured ones are from them.

A goal is of a workload at its full size: on another size nothing is said. A figure that is a ratio
of paired sums comes with its standard error over events.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tamis.matcher import DEFAULT_PLANNER

JUDGED = DEFAULT_PLANNER
"""The planner that the goals are about."""
OVER_BOUND = {
    "Zipf 1 5K/20K/5": 1.015,
    "Zipf 1 30K/20K/5": 1.015,
    "Zipf 1 5K/20K/11": 1.015,
    "Zipf 1 5K/20K/5 lognormal 1": 1.015,
    "Zipf 1 30K/20K/5 lognormal 1": 1.015,
    "Zipf 1 5K/20K/11 lognormal 1": 1.015,
    "Uniform 40K/80K/5": 1.10,
    "Uniform 40K/80K/5 lognormal 1": 1.04,
}
GUARDED, OVER_BOOLEAN = "Zipf 1 2K/8K/5 guarded 40%", 1.02
ONE_AT_A_TIME = "Zipf 1 5K/20K/5"
GROUPED, OVER_UNGROUPED = 16, 0.29
ROUNDS, OVER_ONE_AT_A_TIME = 20, 1.005
SCENES_MATTER, RECOVERED = 0.03, 0.8
PLANNER_US_A_CALL = 15.0


@dataclass(frozen=True)
class Ratio:
    """A sum over another one of the same events, and its standard error."""

    value: float
    error: float | None

    @classmethod
    def of(cls, above: Sequence[float], below: Sequence[float]) -> Ratio | None:
        """The ratio of the sums; `None` where the lower one is nothing."""
        over, under = np.asarray(above, np.float64), np.asarray(below, np.float64)
        if not under.sum():
            return None
        value = float(over.sum() / under.sum())
        count = len(over)
        if count < 2:
            return cls(value, None)
        spread = float((over - value * under).std(ddof=1))
        return cls(value, spread / (float(under.mean()) * math.sqrt(count)))

    def __str__(self) -> str:
        return f"{self.value:.4f}" + ("" if self.error is None else f" ± {self.error:.4f}")


def goal(
    workload: str, method: str, what: str, figure: float, must: float, *, more: bool = False
) -> dict[str, Any]:
    """A figure beside what it must be, in the words of `tamis_bench.goals`."""
    beyond = (figure - must) / must if more else (must - figure) / must
    return {
        "workload": workload,
        "method": method,
        "what": what,
        "figure": figure,
        "must": must,
        "target": None,
        "more_is_better": more,
        "reached": beyond >= 0,
        "beyond_must": beyond,
        "beyond_target": None,
    }


def has_goal(shape: object) -> bool:
    """Whether a goal is about costs on this workload."""
    return str(shape) in OVER_BOUND


def judged(row: Mapping[str, Any], planner: str) -> Iterator[dict[str, Any]]:
    """The goals of a measured row of costs."""
    workload, found = row["workload"], row["planners"].get(planner)
    if found is None:
        return
    must = OVER_BOUND.get(workload)
    if must is not None and found["over_bound"] is not None:
        yield goal(
            workload, planner, "cost over the non-anticipative bound", found["over_bound"], must
        )
    if workload == GUARDED and found["over_boolean"] is not None:
        what = "calls over those of boolean predicates"
        yield goal(workload, planner, what, found["over_boolean"], OVER_BOOLEAN)
    if workload == ONE_AT_A_TIME:
        what = "the planner's own us a call"
        yield goal(workload, planner, what, found["planner_us_a_call"], PLANNER_US_A_CALL)
