"""The workloads are those of the paper's Table 1, and the benches count exactly."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tamis_bench.goals import ONE_AT_A_TIME, judged
from tamis_bench.planners import FIGURES, SECTIONS, TITLES, measure, measured
from tamis_bench.report import Row
from tamis_bench.workloads import MATCH_RATIO, UNIFORM, Effort, Ratio, Shape, Workload

SMALL = Shape(300, 1_200)


def by_planner(rows: list[Row]) -> dict[str, Row]:
    return {row["planner"]: row for row in rows if "planner" in row}


@pytest.mark.parametrize("zipf", [UNIFORM, 1.0])
def test_a_workload_has_the_parameters_of_table_1(zipf: float) -> None:
    workload = Workload(Shape(2_000, 8_000, longest=7, zipf=zipf), seed=3)
    lengths = np.array([len(members) for members in workload.members])
    assert lengths.min() == 3
    assert lengths.max() == 7
    assert abs(lengths.mean() - 5) < 0.1
    assert all(len(set(members)) == len(members) for members in workload.members)
    expected = np.mean([np.prod(workload.passes[members]) for members in workload.members])
    assert expected == pytest.approx(MATCH_RATIO, rel=1e-6)
    popularity = np.bincount(np.concatenate(workload.members), minlength=2_000)
    if zipf:
        assert popularity[0] > 5 * popularity[20] > popularity[1_000]


def test_the_same_seed_gives_the_same_workload() -> None:
    first, second, other = (Workload(SMALL, seed) for seed in (5, 5, 6))
    assert list(first.subscriptions()) == list(second.subscriptions())
    assert list(first.subscriptions()) != list(other.subscriptions())


@pytest.mark.slow
def test_guards_make_no_call_more() -> None:
    planners = ["naive", "sequential", "suborder"]
    rows = list(measured(figures=["guarded"], planner=planners, seed=2, scale=0.08, events=6))
    guarded = by_planner([row for row in rows if "guarded 40%" in row.get("workload", "")])
    plain = by_planner([row for row in rows if "guarded" not in row.get("workload", "guarded")])
    for planner in planners:
        assert guarded[planner]["calls"] == plain[planner]["calls"]
        assert guarded[planner]["over_boolean"] == 1.0


@pytest.mark.slow
@pytest.mark.parametrize("spread", [0.0, 1.0])
def test_planners_stand_as_the_paper_and_the_bounds_say(spread: float) -> None:
    shape, effort = Shape(500, 2_000, spread=spread), Effort(seed=4, events=20, workloads=2)
    rows = by_planner(measure(shape, ["naive", "sequential", "suborder"], effort))
    costs = {planner: row["cost"] for planner, row in rows.items()}
    about = rows["naive"]["about"]
    assert about["bounded_events"] == about["events"] == 20
    assert costs["(packing)"] <= costs["(clairvoyant)"] <= costs["(reached)"] < costs["suborder"]
    assert costs["(clairvoyant)"] <= costs["(non-anticipative)"] < costs["suborder"]
    assert costs["sequential"] < costs["naive"] < costs["(distinct)"]
    for planner in ("naive", "sequential", "suborder"):
        over = rows[planner]["over_bound"]
        assert over >= 1.0
        assert over == pytest.approx(costs[planner] / costs["(non-anticipative)"], 0.25)
    if spread:
        assert costs["suborder"] < costs["sequential"]
    else:
        assert costs["(marked)"] <= costs["(clairvoyant)"]


def test_large_workloads_have_fewer_events_and_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tamis_bench.planners._LARGE", 600)
    monkeypatch.setattr("tamis_bench.planners._BOUNDED_WHERE_LARGE", 3)
    about = measure(SMALL, ["naive"], Effort(events=16, workloads=2))[0]["about"]
    assert (about["events"], about["workloads"], about["bounded_events"]) == (8, 1, 3)


@pytest.mark.slow
def test_fewer_events_get_bounds_where_that_is_said() -> None:
    rows = measure(SMALL, ["naive"], Effort(events=6, workloads=2, bounded=3))
    about = rows[0]["about"]
    assert (about["events"], about["workloads"], about["bounded_events"]) == (6, 2, 4)
    assert by_planner(rows)["naive"]["over_bound"] >= 1.0


def test_ratios_of_paired_sums_come_with_their_error() -> None:
    chance = np.random.default_rng(1)
    below = chance.uniform(50, 150, (400, 100))
    above = 1.02 * below + chance.normal(0, 5, below.shape)
    ratios = [Ratio.of(a, b) for a, b in zip(above, below, strict=True)]
    values = [ratio.value for ratio in ratios if ratio.value]
    errors = [ratio.error for ratio in ratios if ratio.error]
    assert np.mean(values) == pytest.approx(1.02, abs=0.001)
    assert np.mean(errors) == pytest.approx(np.std(values), rel=0.15)
    assert Ratio.of([3.0], [2.0]) == Ratio(1.5, None)
    assert Ratio.of([], []) == Ratio(None, None)


@pytest.mark.slow
def test_the_command_prints_figures_as_a_table_and_as_json() -> None:
    command = [
        sys.executable,
        "-m",
        "tamis",
        "bench",
        "planners",
        "--scale",
        "0.01",
        "--events",
        "2",
    ]
    table = subprocess.run([*command, "--figures", "4"], capture_output=True, text=True, check=True)
    assert "Figure 4" in table.stdout
    assert "no method whatever can come so low" in " ".join(table.stdout.split())
    done = subprocess.run(
        [*command, "--figures", "7", "--json", "--planner", "naive", "suborder"],
        capture_output=True,
        text=True,
        check=True,
    )
    told = json.loads(done.stdout)
    assert {name: told[name] for name in ("bench", "seed", "goals")} == {
        "bench": "planners", "seed": 1, "goals": [],
    }  # fmt: skip
    rows = [row for row in told["rows"] if "calls" in row]
    assert len({row["workload"] for row in rows}) == len(FIGURES["7"])
    assert [row["planner"] for row in rows[:2]] == ["naive", "suborder"]
    wrong = subprocess.run(
        [*command, "--figures", "9"], capture_output=True, text=True, check=False
    )
    assert wrong.returncode == 2
    assert "Traceback" not in wrong.stderr


def test_goals_are_said_of_the_whole_size_alone() -> None:
    row = {"workload": ONE_AT_A_TIME, "planner": "savings", "over_bound": 1.02, "us_a_call": 9.0}
    over, own = judged("planners", [row, row])
    assert (over["reached"], own["reached"]) == (False, True)
    assert judged("planners", [{**row, "workload": "Zipf 1 250/1K/5"}]) == []
    assert judged("planners", [{**row, "planner": "naive"}]) == []


@pytest.mark.slow
def test_every_figure_is_drawn(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tamis", "bench", "planners", "--scale", "0.01", "--events", "2",
         "--planner", "naive", "sequential", "--json", "--plots", str(tmp_path)],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    rows = json.loads(done.stdout)["rows"]
    assert {row["figure"] for row in rows if "figure" in row} == set(TITLES)
    drawn = {path.name: path.read_text(encoding="utf-8") for path in tmp_path.iterdir()}
    named = [f"figure-{name}.svg" if name.isdigit() else f"{name}.svg" for name in TITLES]
    assert sorted(drawn) == sorted(named)
    for name, picture in drawn.items():
        assert picture.count("<path") > 10, name


def test_sections_have_titles() -> None:
    assert set(SECTIONS) < set(TITLES)
