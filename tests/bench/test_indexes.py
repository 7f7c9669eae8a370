"""The bench of indexes compares every answer, takes turns, and says what it leaves out."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest

from tamis.index import AttributeIndex
from tamis.index.buckets.bits import has_vectors
from tamis.index.counting import CountingIndex
from tamis.index.scan import Scan
from tamis.plugins.loader import installed
from tamis.testing import FakeClock
from tamis_bench import index, mixed, scans, timing
from tamis_bench.boxes import SHAPES, Boxes
from tamis_bench.goals import LANES, PORTABLE, judged
from tamis_bench.report import Row, tables
from tamis_bench.timing import Method

SCANS = ["naive", "column", "numpy"]
X_SCANS = [f"x_{name}" for name in SCANS]


def measured(name: str, chosen: list[str], scans: list[str] | None = None) -> list[Row]:
    """A named workload at a thousandth of its size."""
    return list(
        index.measured(
            workloads=[name], index=chosen, scans=scans, events=10, passes=2, scale=0.001
        )
    )


def by_method(rows: list[Row], column: str) -> dict[str, Row]:
    return {row["method"]: row for row in rows if column in row}


IN_MEMORY = sorted({*installed().indexes} - {"dbms", "pbtree"})


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "indexes"),
    [
        ("continuous", IN_MEMORY),
        (mixed.NAME, IN_MEMORY),
        pytest.param("dense", sorted(installed().indexes), marks=pytest.mark.slow),
    ],
)
def test_indexes_and_scans_side_by_side(name: str, indexes: list[str]) -> None:
    rows = measured(name, indexes, SCANS)
    times, costs, later = (by_method(rows, each) for each in ("mean_us", "build_us", "of_before"))
    expected = {"compiled scan", "naive scan", "column scan", "numpy scan", *indexes}
    assert set(times) == expected | ({PORTABLE} if has_vectors() else set())
    assert set(costs) == set(indexes)
    assert set(later) == {"compiled scan", *costs}
    for each in times.values():
        assert each["events"] == 10
        assert each["median_us"] > 0
        assert each["p99_over_mean"] >= 0.99
        assert {key for key in each if key.startswith("x_")} == {"x_compiled", *X_SCANS}
        naive = times["naive scan"]["mean_us"]
        assert each["x_naive"] == pytest.approx(naive / each["mean_us"])
    for method, each in costs.items():
        assert min(each[key] for key in ("build_us", "insert_us", "delete_us", "bytes")) > 0
        assert ("build_over_quarter" in each) is (name == "continuous")
        assert later[method]["of_before"] > 0
        assert later[method]["while_us"] > 0
    assert costs[LANES]["candidates"] > 0
    assert costs["scan"]["candidates"] is None
    about = rows[0]["about"]
    assert about["answers_compared"] > 10 * len(times)
    assert judged("index", rows) == []
    shown = "\n".join(text for _, text in tables(rows))
    assert f"{about['match_ratio']:.3%} match" in shown
    assert "after 10% of the subscriptions were replaced" in shown


@pytest.mark.slow
def test_what_programs_see_is_measured_and_every_answer_compared() -> None:
    rows = list(
        index.measured(workloads=["dicts", "filled"], events=10, passes=2, scale=0.01, index=None)
    )
    whole, filled = (by_method(rows, each) for each in ("whole_x_compiled", "match_p99_over_mean"))
    assert set(whole) == {"compiled scan", "lanes", "pstbloom"}
    assert set(filled) == {"lanes", "pstbloom", "psthash"}
    assert whole["compiled scan"]["whole_x_compiled"] == 1
    for name, row in filled.items():
        assert row["match_p99_over_mean"] >= 0.99
        assert min(row["insert_us"], row["insert_most_ms"], row["match_us"]) > 0
        assert row["match_most_us"] >= row["match_us"], name
    assert "2,000 subscriptions whose ids are strings" in rows[0]["part"]
    assert judged("index", rows) == []


@pytest.mark.slow
def test_conditions_of_many_clauses_are_compared_and_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    def clauses(chosen: list[str]) -> list[Row]:
        return list(
            index.measured(workloads=["clauses"], index=chosen, events=5, passes=2, scale=0.004)
        )

    rows = clauses(["scan", "counting"])
    assert [(row["method"], row["clauses"]) for row in rows] == [
        (name, count) for count in (10, 50) for name in ("scan", "counting")
    ]
    assert all(row["mean_us"] > 0 and row["subscribe_us"] > 0 for row in rows)
    assert "20 conditions of 50 clauses" in rows[-1]["part"]
    right = Scan.match
    monkeypatch.setattr(CountingIndex, "match", lambda self, event: right(self, event)[1:])
    with pytest.raises(AssertionError, match=r"counting and scan differ on event \d of clauses"):
        clauses(["counting"])


def test_a_wrong_id_from_a_dict_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    right = AttributeIndex.match
    monkeypatch.setattr(AttributeIndex, "match", lambda self, event: right(self, event)[1:])
    with pytest.raises(AssertionError, match=r"lanes is wrong on event \d of dicts at 0\.01"):
        list(index.measured(workloads=["dicts"], events=5, passes=1, scale=0.01))
    with pytest.raises(AssertionError, match="while it was filled"):
        list(index.measured(workloads=["filled"], events=5, passes=1, scale=0.002))


def _less(found: Any) -> Any:
    return found[:-1]


def _another(found: Any) -> Any:
    return np.append(found, 5)


@pytest.mark.parametrize(
    ("method", "wrong"),
    [
        pytest.param("kernel", _less, marks=pytest.mark.slow),
        pytest.param("kernel", _another, marks=pytest.mark.slow),
        pytest.param("match", _less, marks=pytest.mark.slow),
        ("match", _another),
    ],
)
def test_a_wrong_answer_ends_it_with_its_circumstances(
    monkeypatch: pytest.MonkeyPatch, method: str, wrong: Callable[[Any], Any]
) -> None:
    right = getattr(AttributeIndex, method)

    def kernel(self: AttributeIndex, events: Any) -> Any:
        matching = right(self, events)
        return lambda at: wrong(matching(at))

    def match(self: AttributeIndex, event: Any) -> Any:
        return wrong(right(self, event))

    monkeypatch.setattr(AttributeIndex, method, kernel if method == "kernel" else match)
    with pytest.raises(
        AssertionError, match=r"scan is wrong on event \d+ of matching at 0.001, seed 1"
    ):
        measured("matching", ["scan"], [])


@pytest.mark.slow
def test_an_index_that_goes_wrong_while_subscriptions_are_replaced_is_noticed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    forget = AttributeIndex.delete_many
    monkeypatch.setattr(
        AttributeIndex,
        "delete_many",
        lambda self, ids: forget(self, ids if len(self) > 1_100 else ids[1:]),
    )
    with pytest.raises(AssertionError, match=r"scan is wrong .* while replacing"):
        measured("matching", ["scan"], [])


def test_a_compiled_scan_that_plain_python_contradicts_is_noticed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(index, "satisfies", lambda event, clauses: True)
    with pytest.raises(
        AssertionError, match=r"the compiled scan is wrong on event 0 of mixed at 0\.001"
    ):
        measured(mixed.NAME, [], [])


def _boxes(count: int) -> Boxes:
    boxes = Boxes("dense", replace(SHAPES["dense"], subscriptions=20), 1, 1)
    boxes.count = count
    return boxes


def test_what_takes_long_is_left_out_unless_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    every = sorted(installed().indexes)
    names, why = index.chosen_indexes(_boxes(2_000_000), None)
    assert names == [name for name in every if name not in ("counting", "dbms", "pbtree", "scan")]
    assert "--index scan" in why["scan"]
    assert index.chosen_indexes(_boxes(2_000_000), ["scan"]) == (["scan"], {})
    assert index.chosen_indexes(_boxes(2_000), None) == (every, {})
    pytest.importorskip("duckdb")
    assert scans.chosen_scans(_boxes(20), None) == (list(scans.SCANS), {})
    monkeypatch.setattr(scans, "_MOST_CELLS", 10)
    monkeypatch.setattr(scans, "_MOST_WRITTEN_OUT", 10)
    names, why = scans.chosen_scans(_boxes(20), None)
    assert names == [name for name in scans.SCANS if name not in ("duckdb", "k-index")]
    assert "--scans duckdb" in why["duckdb"]
    assert "--scans k-index" in why["k-index"]
    assert scans.chosen_scans(_boxes(20), ["duckdb"]) == (["compiled", "duckdb"], {})


def test_without_duckdb_its_row_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scans, "find_spec", lambda name: None)
    assert scans.chosen_scans(_boxes(20), ["numpy"])[1] == {}
    names, why = scans.chosen_scans(_boxes(20), ["duckdb"])
    assert names == ["compiled"]
    assert "pip install 'tamis[bench]'" in why["duckdb"]
    noted = by_method(measured("dense", [], ["duckdb"]), "note")
    assert noted["duckdb scan"]["note"] == why["duckdb"]


def test_slow_methods_take_fewer_events_and_are_compared_on_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(timing, "_BUDGET_SECONDS", 0.02)
    clock = FakeClock()
    monkeypatch.setattr(time, "perf_counter", clock)
    answer = np.arange(3)
    asked: list[int] = []

    def quick_one(at: int) -> Any:
        clock.advance(1e-6)
        return answer

    def slow(at: int) -> Any:
        asked.append(at)
        clock.advance(0.002)
        return answer

    methods = {
        "quick": Method(quick_one),
        "slow": Method(slow),
        "scan": Method(slow, always=False),
    }
    assert (
        timing.check(methods, [answer] * 50, passes=2, words="w")
        == 50 + 50 + methods["scan"].events + 1
    )
    assert methods["quick"].events == 50
    assert 3 <= methods["slow"].events < 20
    assert len(asked) == 50 + methods["scan"].events + 1
    assert methods["quick"].repeats > methods["slow"].repeats
    timing.time_all(methods, passes=2)
    assert all((each.seconds < np.inf).all() for each in methods.values())
    quick, slow_one = methods["quick"], methods["slow"]
    both = slow_one.events
    expected = slow_one.seconds.mean() / quick.seconds[:both].mean()
    assert quick.times(slow_one) == pytest.approx(expected)


def test_a_time_is_the_fastest_run_of_an_event(monkeypatch: pytest.MonkeyPatch) -> None:
    runs = iter([5.0, 1.0, 3.0, 2.0, 4.0, 6.0])
    now = [0.0]

    def match(at: int) -> Any:
        now[0] += next(runs)
        return np.zeros(0, np.int64)

    monkeypatch.setattr(time, "perf_counter", lambda: now[0])
    method = Method(match, events=2)
    timing.time_all({"it": method}, passes=3)
    assert method.seconds.tolist() == [3.0, 1.0] or method.seconds.tolist() == [2.0, 1.0]
    figures = method.figures()
    assert figures["mean_us"] == pytest.approx(1e6 * method.seconds.mean())
    assert figures["median_us"] == pytest.approx(1e6 * np.median(method.seconds))


def test_what_a_dict_costs_is_what_match_takes_beyond_the_kernel(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = FakeClock()
    monkeypatch.setattr(time, "perf_counter", clock)
    nothing = np.zeros(0, np.int64)

    def sleeping(seconds: float) -> Method:
        def match(at: int) -> Any:
            clock.advance(seconds)
            return nothing

        return Method(match, events=3)

    assert timing.beyond(sleeping(0.001), sleeping(0.004), passes=3) == pytest.approx(0.003)


@pytest.mark.slow
def test_works_take_turns_after_a_pass_that_does_not_count() -> None:
    asked: list[str] = []

    def work(name: str) -> int:
        asked.append(name)
        return len(asked)

    timed = timing.alternating({name: partial(work, name) for name in "ab"}, 2)
    assert asked == ["a", "b"] * 3
    assert [len(each.seconds) for each in timed.values()] == [2, 2]
    assert (timed["a"].result, timed["b"].result) == (5, 6)
    timing.alternating({"c": partial(work, "c")}, 1, warm=True)
    assert asked.count("c") == 1
