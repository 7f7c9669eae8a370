"""Statistics: by hand, and through a folder that anybody's tools read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest

import tamis
from tamis import Statistics, StatisticsError
from tamis.statistics import PredicateStatistics
from tamis.testing import TableOperator, truth_table


def test_by_hand() -> None:
    known = Statistics(selectivity={"p(1)": 0.2, "q(?1), ?1 > 5": 0}, cost={"p(1)": 0.004})
    assert known.selectivity("p(1)") == 0.2
    assert known.selectivity("q(?1), ?1 > 5") == 0
    assert known.selectivity("q(?1)") is None
    assert known.cost("p(1)") == 0.004
    assert known.cost("q(?1), ?1 > 5") is None
    assert known
    assert not Statistics()


@pytest.mark.parametrize(
    "arguments",
    [
        *({"selectivity": {"p(1)": share}} for share in (-0.1, 1.1, float("nan"))),
        *({"cost": {"p(1)": seconds}} for seconds in (-1, float("nan"))),
    ],
)
def test_what_cannot_be_is_refused(arguments: dict[str, dict[str, float]]) -> None:
    with pytest.raises(StatisticsError, match=r"p\(1\)"):
        Statistics(**arguments)


def test_failed_evaluations_do_not_count() -> None:
    assert PredicateStatistics(tested=10, satisfied=2, failed=6).share == 0.5
    assert PredicateStatistics(tested=3, satisfied=0, failed=3).share is None
    assert PredicateStatistics(tested=4, satisfied=1, selectivity=0.9).share == 0.25
    assert PredicateStatistics(selectivity=0.9).share == 0.9


def test_a_folder_and_back(tmp_path: Path) -> None:
    known = Statistics(selectivity={"p(1)": 0.2, 'q("é")': 1.0}, cost={"p(1)": 0.004})
    known.predicates["a < 3"] = PredicateStatistics("attribute", 10, 4, 0, 0.4)
    known.events, known.rejects = 10, 1
    known.save(tmp_path / "learned")
    again = Statistics.load(tmp_path / "learned")
    assert again.predicates == known.predicates
    assert (again.events, again.rejects) == (10, 1)


def test_the_folder_is_parquet_with_a_manifest(tmp_path: Path) -> None:
    Statistics(selectivity={"p(1)": 0.2}, cost={"q(2)": 1.0}).save(tmp_path)
    table = pyarrow.parquet.read_table(tmp_path / "predicates")
    assert set(table.column_names) >= {
        *("predicate", "kind", "tested", "satisfied", "failed", "selectivity", "cost_seconds"),
    }
    assert table.column("predicate").to_pylist() == ["p(1)", "q(2)"]
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    assert manifest["format_version"] == 2
    assert {"events", "rejects"} <= set(manifest)


def test_an_older_folder_is_replaced(tmp_path: Path) -> None:
    Statistics(selectivity={f"p({number})": 0.5 for number in range(100)}).save(tmp_path)
    Statistics(selectivity={"q(1)": 0.5}).save(tmp_path)
    assert list(Statistics.load(tmp_path).predicates) == ["q(1)"]


def test_a_folder_of_an_older_format_is_read(tmp_path: Path) -> None:
    Statistics(selectivity={"p(1)": 0.2}).save(tmp_path)
    manifest = tmp_path / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"format_version": 2', '"format_version": 1'))
    assert Statistics.load(tmp_path).selectivity("p(1)") == 0.2


def test_a_folder_that_cannot_be_used(tmp_path: Path) -> None:
    with pytest.raises(StatisticsError, match="holds no statistics"):
        Statistics.load(tmp_path / "nowhere")
    (tmp_path / "a.file").write_text("{}")
    with pytest.raises(StatisticsError, match=r"a\.file holds no statistics: it is a file"):
        Statistics.load(tmp_path / "a.file")
    Statistics(selectivity={"p(1)": 0.2}).save(tmp_path)
    manifest = tmp_path / "manifest.json"
    text = manifest.read_text()
    for damage, says in (
        ("{", "damaged"),
        ("[]", "damaged"),
        ("{}", "damaged"),
        (text.replace('"format_version": 2', '"format_version": 99'), "format 99"),
    ):
        manifest.write_text(damage)
        with pytest.raises(StatisticsError, match=says):
            Statistics.load(tmp_path)
    manifest.write_text(text)
    (part,) = (tmp_path / "predicates").glob("*.parquet")
    part.write_bytes(b"PAR1 no")
    with pytest.raises(StatisticsError):
        Statistics.load(tmp_path)


def test_a_test_has_its_own_selectivity_else_that_of_its_predicate() -> None:
    matcher = tamis.Matcher(
        operators=[truth_table("seen"), TableOperator("count", outputs=("n",), cost_seconds=0.25)],
        statistics=Statistics(
            selectivity={"count(a, ?1)": 0.75, "count(a, ?1), ?1 > 5": 0.25, "seen(b)": 0.1},
            cost={"seen(b)": 2.0},
        ),
    )
    where = (
        "count(a, ?n) and seen(b) and seen(c) or count(a, ?m) and ?m > 5 or count(a, ?k), ?k > 9"
    )
    matcher.subscribe(where.replace(" or count(a, ?k), ?k > 9", " or (count(a, ?k), ?k > 9)"))
    problem = seen_problem(matcher)
    assert sorted(problem.test_selectivity.tolist()) == [0.1, 0.25, 0.5, 0.75, 0.75]
    assert sorted(problem.call_cost.tolist()) == [0.001, 0.25, 2.0]


class Listening:
    """A planner that keeps its problems and asks for nothing."""

    def __init__(self) -> None:
        self.problems: list[tamis.Problem] = []

    def begin(self, problem: tamis.Problem) -> tamis.Run:
        self.problems.append(problem)
        return _Silent()


class _Silent:
    def next(self, limit: int) -> list[int]:
        return []

    def observe(self, tests: object, outcomes: object, decided: object) -> None:
        pass


def seen_problem(matcher: tamis.Matcher) -> tamis.Problem:
    matcher.planner = Listening()
    matcher.match({"seen": {}, "count": {}})
    return matcher.planner.problems[0]


def test_statistics_change_no_answer() -> None:
    for selectivity in ({}, {"seen(a)": 0.0}, {"seen(a)": 1.0, "seen(b)": 0.0}):
        matcher = tamis.Matcher(
            operators=[truth_table("seen")], statistics=Statistics(selectivity=selectivity)
        )
        matcher.subscribe("seen(a) and seen(b)", id="s1")
        assert len(matcher.match({"seen": {"a": True, "b": True}}).matches) == 1


def test_statistics_may_be_replaced_at_any_time() -> None:
    matcher = tamis.Matcher(operators=[truth_table("seen")])
    matcher.subscribe("seen(a)")
    assert seen_problem(matcher).test_selectivity.tolist() == [0.5]
    matcher.statistics = Statistics(selectivity={"seen(a)": 0.125})
    assert seen_problem(matcher).test_selectivity.tolist() == [0.125]


def test_what_is_no_statistics_leaves_those_that_are_there() -> None:
    matcher = tamis.Matcher([])
    wrong: Any = {}
    with pytest.raises(StatisticsError, match="statistics are a"):
        matcher.statistics = wrong
    assert isinstance(matcher.statistics, Statistics)
