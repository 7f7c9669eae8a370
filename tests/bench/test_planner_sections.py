"""The sections of `tamis bench planners` count exactly, and give the same whenever they run."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tamis_bench import groups, learning, rounds, scenes
from tamis_bench.effort import Effort
from tamis_bench.planner_goals import GROUPED, JUDGED, ROUNDS
from tamis_bench.planners import measure
from tamis_bench.workloads import Shape, Workload

EFFORT = Effort(seed=3, scale=0.05, events=6, workloads=2)
SMALL = Shape(250, 1_000)


def alone() -> float:
    """What the planner that goals are about makes of the same events, measured by itself."""
    calls: float = measure(SMALL, [JUDGED], EFFORT)["planners"][JUDGED]["calls"]
    return calls


@pytest.mark.slow
def test_groups_are_counted_where_they_happen() -> None:
    (row,) = groups.run(EFFORT)
    counts = {(each["predicates"], each["form"]): each for each in row["table"]}
    assert counts[1, "alone"]["invocations"] == alone()
    assert row["events"] == EFFORT.events
    for form in ("preparation", "batch"):
        made = [counts[size, form]["invocations"] for size in groups.SIZES]
        assert sorted(made, reverse=True) == made
        for size, invocations in zip(groups.SIZES, made, strict=True):
            assert counts[size, "preparation"]["clairvoyant"] <= invocations <= 250 / size + 1
            assert counts[size, form]["over_alone"] == pytest.approx(invocations / alone())
    assert row["goals"] == []


def test_rounds_are_fewer_than_calls_and_cost_little() -> None:
    (row,) = rounds.run(EFFORT)
    one, *more = row["table"]
    assert one["rounds"] == one["calls"] == alone()
    assert one["over_one"] == one["times_faster"] == 1.0
    for each in more:
        assert each["rounds"] < one["rounds"] / 3
        assert each["over_one"] == pytest.approx(each["calls"] / one["calls"])
        assert 0.98 < each["over_one"] < 1.1
        assert each["seconds"] > each["rounds"] * rounds.NAP_SECONDS / 3


@pytest.mark.slow
def test_learning_begins_without_anything_and_comes_near() -> None:
    unit, spread = learning.run(Effort(seed=3, scale=0.05, events=40, workloads=2))
    given = [each["given"] for each in unit["table"]]
    assert [each["after"] for each in unit["table"]] == list(learning.AFTER)
    assert unit["table"][0]["over_given"] > 1
    assert spread["table"][0]["over_given"] > 1.05
    for row in (unit, spread):
        assert abs(row["table"][-1]["over_given"] - 1) < 0.03
    assert given[0] == pytest.approx(first_events(10), abs=1e-9)


def first_events(count: int) -> float:
    """The mean calls for the first events with the true selectivities."""
    row = measure(SMALL, [JUDGED], Effort(seed=3, events=count, workloads=1))
    calls: float = row["planners"][JUDGED]["calls"]
    return calls


@pytest.mark.slow
@pytest.mark.parametrize("section", [groups.run, learning.run])
def test_sections_give_the_same_again(section: Any) -> None:
    effort = Effort(seed=5, scale=0.02, events=2, workloads=1)
    assert list(section(effort)) == list(section(effort))


def test_goals_are_said_of_the_whole_size(monkeypatch: pytest.MonkeyPatch) -> None:
    for section in (groups, rounds):
        monkeypatch.setattr(section, "ONE_AT_A_TIME", str(SMALL))
    (row,) = groups.run(EFFORT)
    figures = {each["predicates"]: each for each in row["table"] if each["form"] == "batch"}
    assert [goal["figure"] for goal in row["goals"]][1] == figures[GROUPED]["over_alone"]
    (row,) = rounds.run(EFFORT)
    number, over = row["goals"]
    assert number["must"] == ROUNDS
    assert number["reached"]
    assert over["figure"] == row["table"][-1]["over_one"]


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
    rows = list(scenes.run(Effort(seed=3, scale=0.1, events=12, workloads=2)))
    assert [row["workload"] for row in rows] == [str(each.scaled(0.1)) for each in scenes.SHAPES]
    for row in rows:
        known = {each["known"]: each for each in row["table"]}
        cost = {name: each["cost"] for name, each in known.items()}
        gap = cost["independent"] - cost["told"]
        assert gap > 0
        assert known["fitted"]["recovered"] == (cost["independent"] - cost["fitted"]) / gap
        assert (known["independent"]["recovered"], known["told"]["recovered"]) == (0, 1)
    for name in ("fitted", "mixture"):
        assert known[name]["recovered"] > 0.5
