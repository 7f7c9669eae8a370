"""Goals are judged at the size they are for, and a missed one says by how much."""

from __future__ import annotations

from typing import Any

import pytest

from tamis.matcher import DEFAULT_PLANNER
from tamis_bench import index, planners, scenes
from tamis_bench.goals import (
    AUTO,
    BE_TREE,
    GOALS,
    INDEXES,
    JUDGED,
    OPINDEX,
    PORTABLE,
    RIVALS,
    judged,
    said,
)
from tamis_bench.scans import SCANS


def rows(workload: str = "dense") -> list[dict[str, Any]]:
    figures = (
        {"x_compiled": 180.0, "p99_over_mean": 1.5},
        {"of_before": 0.7},
        {"bytes": 36.0, "build_us": 0.2},
    )
    return [
        *({"workload": workload, "method": "lanes", **each} for each in figures),
        {"workload": workload, "method": "compiled scan", "p99_over_mean": 9.0},
    ]


SAID = """
4 of 6 goals reached
goal measured must better verdict
dense, lanes: x compiled 180 ≥ 150 200 reached, 20% to spare, better missed by 10%
dense, lanes: of before 0.7 ≥ 0.8 0.9 MISSED by 13%
dense, lanes: x compiled 180 ≥ 1 reached, 180 times over
dense, lanes: bytes 36 ≤ 30 20 MISSED by 20%
dense, lanes: build µs 0.2 ≤ 0.5 0.25 reached, 60% to spare, better too
dense, lanes: p99 over mean 1.5 ≤ 2 1.4 reached, 25% to spare, better missed by 7%
"""


def test_goals_are_said_with_what_came_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "130")
    found = said("index", judged("index", rows()))
    assert [line.split() for line in found.splitlines()] == [
        line.split() for line in SAID.rstrip().splitlines()
    ]


def test_no_figure_hides_a_worse_one() -> None:
    worse = {"workload": "dense", "method": "lanes", "x_compiled": 100.0}
    for some in ([*rows(), worse], [worse, *rows()]):
        figures = [each["figure"] for each in judged("index", some) if each["what"] == "x compiled"]
        assert set(figures) == {100.0}
    commits = [{"batch": size, "of_bare": 0.7 + size / 1_024} for size in (1, 16, 128, 1_024)]
    found = judged("server", commits)
    assert [each["of"] for each in found] == ["batch 1", "batch 16", "batch 128", "batch 1,024"]
    assert [each["reached"] for each in found] == [False, False, False, True]


def test_another_size_has_no_goals() -> None:
    assert judged("index", rows("dense at 0.1")) == []
    assert judged("planners", rows()) == []
    assert "No goal" in said("index", [])
    assert said("phrases", []) == ""


def test_goals_are_of_what_is_measured() -> None:
    shapes = {str(shape) for figure in planners.FIGURES.values() for shape in figure}
    shapes |= {str(shape) for shape in scenes.SHAPES}
    for goal in GOALS:
        assert goal.better is None or (goal.better > goal.must) is goal.more
        workload, method = goal.where.get("workload", ()), goal.where.get("method", ())
        workloads = {workload} if isinstance(workload, str) else workload
        if goal.bench == "index":
            assert set(workloads) <= set(index.WORKLOADS)
            known = {*INDEXES, OPINDEX, AUTO, PORTABLE, BE_TREE}
            assert {method} <= known or set(method) <= {*INDEXES, *RIVALS}
            if goal.column.startswith("x_"):
                assert goal.column[2:] in SCANS
        elif goal.bench == "planners":
            drawn = shapes if callable(workloads) else shapes & set(workloads)
            assert any(map(workloads, drawn)) if callable(workloads) else drawn == set(workloads)
    assert {each.removesuffix(" scan") for each in (BE_TREE, *RIVALS)} <= set(SCANS)
    assert JUDGED == DEFAULT_PLANNER


def test_a_goal_of_nothing_is_reached_by_nothing_alone() -> None:
    wrong = [judged("spark", [{"workload": "w", "wrong": each}])[0]["reached"] for each in (0, 1)]
    assert wrong == [True, False]


@pytest.mark.parametrize("figure", [{}, {"of_before": None}, {"of_before": "much"}])
def test_what_was_not_measured_is_not_judged(figure: dict[str, Any]) -> None:
    assert judged("index", [{"workload": "dense", "method": "lanes", **figure}]) == []
