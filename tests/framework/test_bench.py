"""The workloads are those of the paper's Table 1, and the benches count exactly."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest

from tamis.bench.planners import FIGURES, measure
from tamis.bench.workloads import MATCH_RATIO, UNIFORM, Shape, Workload

SMALL = Shape(300, 1_200)


@pytest.mark.parametrize("zipf", [UNIFORM, 1.0])
def test_a_workload_has_the_parameters_of_table_1(zipf: float) -> None:
    workload = Workload(Shape(2_000, 8_000, longest=7, zipf=zipf), seed=3)
    lengths = np.array([len(members) for members in workload._members])
    assert lengths.min() == 3
    assert lengths.max() == 7
    assert abs(lengths.mean() - 5) < 0.1
    assert all(len(set(members)) == len(members) for members in workload._members)
    expected = np.mean([np.prod(workload.passes[members]) for members in workload._members])
    assert expected == pytest.approx(MATCH_RATIO, rel=1e-6)
    popularity = np.bincount(np.concatenate(workload._members), minlength=2_000)
    if zipf:
        assert popularity[0] > 5 * popularity[20] > popularity[1_000]


def test_the_same_seed_gives_the_same_workload() -> None:
    first, second, other = (Workload(SMALL, seed) for seed in (5, 5, 6))
    assert list(first.subscriptions()) == list(second.subscriptions())
    assert list(first.subscriptions()) != list(other.subscriptions())


def test_guards_make_no_call_more() -> None:
    planners = ["naive", "sequential", "suborder"]
    plain = measure(SMALL, planners, events=6, seed=2, workloads=2)
    guarded = measure(Shape(300, 1_200, guarded=0.4), planners, events=6, seed=2, workloads=2)
    for planner in planners:
        assert guarded["planners"][planner]["calls"] == plain["planners"][planner]["calls"]


def test_planners_stand_as_the_paper_and_the_bounds_say() -> None:
    row = measure(
        Shape(500, 2_000), ["naive", "sequential", "suborder"], events=20, seed=4, workloads=2
    )
    costs = {planner: each["cost"] for planner, each in row["planners"].items()}
    assert row["marked_by_sequential"] <= row["at_least"] <= costs["suborder"]
    assert costs["sequential"] < costs["naive"] < row["every_distinct"]
    with_costs = measure(
        Shape(500, 2_000, spread=1.0),
        ["naive", "sequential", "suborder"],
        events=20,
        seed=4,
        workloads=2,
    )["planners"]
    assert with_costs["suborder"]["cost"] < with_costs["sequential"]["cost"]


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
    assert "no method whatever can come so low" in table.stdout
    done = subprocess.run(
        [*command, "--figures", "7", "--json", "--planner", "naive", "suborder"],
        capture_output=True,
        text=True,
        check=True,
    )
    rows = json.loads(done.stdout)["rows"]
    assert len(rows) == len(FIGURES["7"])
    assert list(rows[0]["planners"]) == ["naive", "suborder"]
    wrong = subprocess.run(
        [*command, "--figures", "9"], capture_output=True, text=True, check=False
    )
    assert wrong.returncode == 2
    assert "Traceback" not in wrong.stderr
