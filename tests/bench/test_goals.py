"""Goals are judged at the size they are for, and a missed one says by how much."""

from __future__ import annotations

from typing import Any

import pytest

from tamis_bench.goals import GOALS, INDEXES, PORTABLE, judged, said
from tamis_bench.index import WORKLOADS
from tamis_bench.tables import closing

LANES: dict[str, Any] = {
    "times": {"compiled": 180.0},
    "after": {"of_before": 0.7},
    "bytes": 36.0,
    "build_us": 0.2,
    "p99_over_mean": 1.5,
}


def row(subscriptions: int = 1_000_000) -> dict[str, Any]:
    return {
        "subscriptions": subscriptions,
        "methods": {"lanes": LANES, "compiled scan": {"p99_over_mean": 9.0}},
        "answers_compared": 1_234,
    }


SAID = """\
lanes, times the compiled scan: 180 (at least 150, better 200): reached, 20% to spare, \
the better one missed by 10%
lanes, of that after 10% were replaced: 0.7 (at least 0.8, better 0.9): MISSED by 13%
lanes, never slower than the compiled scan: 180 (at least 1): reached, 180 times over
lanes, bytes a subscription: 36 (at most 30, better 20): MISSED by 20%
lanes, build us a subscription: 0.2 (at most 0.5, better 0.25): reached, 60% to spare, \
the better one too
lanes, p99 over mean: 1.5 (at most 2, better 1.4): reached, 25% to spare, \
the better one missed by 7%
"""


def test_goals_are_said_with_what_came_of_them() -> None:
    assert [said(goal) for goal in judged("dense", row())] == SAID.splitlines()


def test_another_size_has_no_goals() -> None:
    assert list(judged("dense", row(999))) == []
    assert list(judged("begen", row())) == []
    assert "--scale 1" in closing([{**row(), "goals": []}])


def test_the_closing_lines_count_and_name_what_was_missed() -> None:
    rows = [{**row(), "goals": list(judged("dense", row()))}]
    lines = closing(rows).strip().splitlines()
    assert lines[0] == "4 of 6 goals reached; 0 of 1,234 answers wrong"
    assert [line.split(":")[0] for line in lines[1:]] == ["dense", "dense"]


def test_goals_are_of_workloads_and_methods_that_there_are() -> None:
    assert {name for goal in GOALS for name in goal.workloads} <= set(WORKLOADS)
    assert {name for goal in GOALS for name in goal.methods} <= {*INDEXES, PORTABLE}
    for goal in GOALS:
        if goal.target is not None:
            assert (goal.target > goal.must) is goal.more


@pytest.mark.parametrize("figure", [{}, {"after": {}}, {"after": {"of_before": None}}])
def test_what_was_not_measured_is_not_judged(figure: dict[str, Any]) -> None:
    bare = {"subscriptions": 1_000_000, "methods": {"lanes": figure}}
    assert list(judged("dense", bare)) == []
