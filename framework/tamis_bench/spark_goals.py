"""How the goals of the Spark benches are told: the figure, what it has to be, and the verdict."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any


def goal_lines(goals: Iterable[Mapping[str, Any]], of: str) -> list[str]:
    """A line for each goal, which begins with what it is held against."""
    lines = []
    for goal in goals:
        figure, must = goal["figure"], goal["must"]
        reached = figure >= must if goal["more"] else figure <= must
        size = "" if goal["is_full"] else f" (of {goal['events']:,} events)"
        bound = "at least" if goal["more"] else "at most"
        verdict = "reached" if reached else "MISSED"
        lines.append(f"{goal[of]}, {goal['what']}{size}: {figure:.4g} ({bound} {must}): {verdict}")
    return lines
