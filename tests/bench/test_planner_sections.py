"""The sections of `tamis bench planners` count exactly, and give the same whenever they run."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tamis_bench import groups, learning, rounds, scenes
from tamis_bench.goals import JUDGED, ONE_AT_A_TIME, judged
from tamis_bench.planners import measure
from tamis_bench.workloads import Effort, Shape, Workload

EFFORT = Effort(seed=3, scale=0.05, events=6, workloads=2)
SMALL = Shape(250, 1_000)


def alone() -> float:
    """What the planner that goals are about makes of the same events, measured by itself."""
    return calls_of(EFFORT)


def calls_of(effort: Effort) -> float:
    calls: float = measure(SMALL, [JUDGED], effort)[1]["calls"]
    return calls


@pytest.mark.slow
def test_groups_are_counted_where_they_happen() -> None:
    counts = {(each["predicates"], each["form"]): each for each in groups.measured(EFFORT)}
    assert counts[1, "alone"]["invocations"] == alone()
    assert counts[1, "alone"]["events"] == EFFORT.events
    for form in ("preparation", "batch"):
        made = [counts[size, form]["invocations"] for size in groups.SIZES]
        assert sorted(made, reverse=True) == made
        for size, invocations in zip(groups.SIZES, made, strict=True):
            assert counts[size, "preparation"]["clairvoyant"] <= invocations <= 250 / size + 1
            assert counts[size, form]["over_alone"] == pytest.approx(invocations / alone())


@pytest.mark.slow
def test_rounds_are_fewer_than_calls_and_cost_little() -> None:
    one, *more = rounds.measured(EFFORT)
    assert one["rounds"] == one["calls"] == alone()
    assert one["over_one"] == one["times_faster"] == 1.0
    for each in more:
        assert each["rounds"] < one["rounds"] / 3
        assert each["over_one"] == pytest.approx(each["calls"] / one["calls"])
        assert 0.98 < each["over_one"] < 1.1
        assert each["seconds"] > each["rounds"] * rounds.NAP_SECONDS / 3


@pytest.mark.slow
def test_learning_begins_without_anything_and_comes_near() -> None:
    rows = list(learning.measured(Effort(seed=3, scale=0.05, events=40, workloads=2)))
    unit, spread = rows[: len(learning.AFTER)], rows[len(learning.AFTER) :]
    assert [each["after"] for each in unit] == [each["after"] for each in spread]
    assert [each["after"] for each in unit] == list(learning.AFTER)
    assert unit[0]["over_given"] > 1
    assert spread[0]["over_given"] > 1.05
    for stream in (unit, spread):
        assert abs(stream[-1]["over_given"] - 1) < 0.03
    true = calls_of(Effort(seed=3, events=10, workloads=1))
    assert unit[0]["given"] == pytest.approx(true, abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("section", [groups.measured, learning.measured])
def test_sections_give_the_same_again(section: Any) -> None:
    effort = Effort(seed=5, scale=0.02, events=2, workloads=1)
    assert list(section(effort)) == list(section(effort))


@pytest.mark.slow
def test_goals_are_said_of_the_whole_size() -> None:
    rows = [*groups.measured(EFFORT), *rounds.measured(EFFORT)]
    assert judged("planners", rows) == []
    *grouped, number, over = judged(
        "planners", [{**row, "workload": ONE_AT_A_TIME} for row in rows]
    )
    expected = [row["over_alone"] for row in rows if row.get("predicates") == 16]
    assert [goal["figure"] for goal in grouped] == expected
    assert number["must"] == 20
    assert number["reached"]
    assert over["figure"] == rows[-1]["over_one"]


def test_scenes_that_matter_little_have_no_goal() -> None:
    row = {"workload": f"{ONE_AT_A_TIME} 4 scenes, contrast 1", "known": "fitted", "recovered": 0.9}
    (goal,) = judged("planners", [{**row, "gap": 0.05}, {**row, "gap": 0.02}])
    assert goal["of"].endswith("fitted, gap 0.05")


def test_scenes_are_equally_frequent_and_have_their_own_selectivities() -> None:
    workload = Workload(Shape(400, 1_000, scenes=3, contrast=1.0), seed=2)
    chance = np.random.default_rng(1)
    seen = np.zeros((3, 400))
    drawn = np.zeros(3)
    for _ in range(3_000):
        workload.draw_event(chance)
        seen[workload.scene] += workload.truth
        drawn[workload.scene] += 1
    assert np.abs(drawn / 3_000 - 1 / 3).max() < 0.05
    assert np.abs(seen / drawn[:, None] - workload.scene_passes).max() < 0.09
    assert np.abs(workload.scene_passes - workload.passes).max() > 0.1
    each = workload.statistics(scene=1)
    assert each.selectivity("p(7)") == workload.scene_passes[1, 7]


@pytest.mark.slow
def test_knowing_scenes_spares_calls() -> None:
    rows = list(scenes.measured(Effort(seed=3, scale=0.1, events=12, workloads=2)))
    for shape in scenes.SHAPES:
        workload = str(shape.scaled(0.1))
        known = {row["known"]: row for row in rows if row["workload"] == workload}
        cost = {name: each["cost"] for name, each in known.items()}
        gap = cost["independent"] - cost["told"]
        assert gap > 0
        assert known["fitted"]["recovered"] == (cost["independent"] - cost["fitted"]) / gap
        assert (known["independent"]["recovered"], known["told"]["recovered"]) == (0, 1)
    for name in ("fitted", "mixture"):
        assert known[name]["recovered"] > 0.5
