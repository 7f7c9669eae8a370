"""The bench of indexes compares every answer, takes turns, and says what it leaves out."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tamis.index import AttributeIndex
from tamis.index.buckets.bits import has_vectors
from tamis.plugins.loader import installed
from tamis_bench import index, mixed, rivals, timing
from tamis_bench.boxes import SHAPES, Boxes
from tamis_bench.goals import LANES, PORTABLE
from tamis_bench.tables import table
from tamis_bench.timing import Method

SCANS = ["naive", "column", "numpy"]


def measured(name: str, chosen: list[str], scans: list[str] | None = None) -> dict[str, Any]:
    """A named workload at a thousandth of its size."""
    return index.measure(
        index.plan(name, 0.001), seed=1, events=10, passes=2, indexes=chosen, scans=scans
    )


@pytest.mark.parametrize("name", ["dense", "sparse", "continuous", mixed.NAME])
def test_indexes_and_scans_side_by_side(name: str) -> None:
    row = measured(name, sorted(installed().indexes), SCANS)
    expected = {"compiled scan", "naive scan", "column scan", "numpy scan", *installed().indexes}
    assert set(row["methods"]) == expected | ({PORTABLE} if has_vectors() else set())
    for method, each in row["methods"].items():
        assert each["events"] == 10
        assert each["us"] > 0
        assert each["p99_over_mean"] >= 0.99
        assert set(each["times"]) == {"compiled", *SCANS}
        assert each["times"]["naive"] == pytest.approx(
            row["methods"]["naive scan"]["mean_us"] / each["mean_us"]
        )
        if method in installed().indexes:
            assert min(each[key] for key in ("build_us", "insert_us", "delete_us", "bytes")) > 0
            assert each["after"]["of_before"] > 0
            assert each["while_us"] > 0
    assert ("build_growth" in row["methods"]["scan"]) is (name == "continuous")
    assert row["methods"][LANES]["candidates"] > 0
    assert row["methods"]["scan"]["candidates"] is None
    assert row["answers_compared"] > 10 * len(row["methods"])
    assert row["goals"] == []
    shown = table(row)
    assert f"{row['match_ratio']:.3%} match" in shown
    assert "10% replaced" in shown
    assert all(len(line) <= 120 for line in shown.splitlines())


def _less(found: Any) -> Any:
    return found[:-1]


def _another(found: Any) -> Any:
    return np.append(found, 5)


@pytest.mark.parametrize("wrong", [_less, _another])
@pytest.mark.parametrize("method", ["kernel", "match"])
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
    with pytest.raises(AssertionError, match=r"scan is wrong on event \d+ of matching, seed 1"):
        measured("matching", ["scan"], [])


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
    monkeypatch.setattr(mixed, "satisfies", lambda clauses, event: True)
    with pytest.raises(AssertionError, match="the compiled scan is wrong on event 0 of mixed"):
        measured(mixed.NAME, [], [])


def _boxes(count: int) -> Boxes:
    boxes = Boxes("dense", replace(SHAPES["dense"], subscriptions=20), 1, 1)
    boxes.count = count
    return boxes


def test_what_takes_long_is_left_out_unless_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    every = sorted(installed().indexes)
    names, why = rivals.chosen_indexes(_boxes(2_000_000), None, every)
    assert names == [name for name in every if name != "scan"]
    assert "--index scan" in why["scan"]
    assert rivals.chosen_indexes(_boxes(2_000_000), ["scan"], every) == (["scan"], {})
    assert rivals.chosen_indexes(_boxes(2_000), None, every) == (every, {})
    pytest.importorskip("duckdb")
    assert rivals.chosen_scans(_boxes(20), None) == (list(rivals.SCANS), {})
    monkeypatch.setattr(rivals, "_MOST_CELLS", 10)
    names, why = rivals.chosen_scans(_boxes(20), None)
    assert names == [name for name in rivals.SCANS if name != "duckdb"]
    assert "--scans duckdb" in why["duckdb scan"]
    assert rivals.chosen_scans(_boxes(20), ["duckdb"]) == (["compiled", "duckdb"], {})


def test_without_duckdb_its_row_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rivals, "find_spec", lambda name: None)
    names, why = rivals.chosen_scans(_boxes(20), ["duckdb"])
    assert names == ["compiled"]
    assert "pip install 'tamis[bench]'" in why["duckdb scan"]
    row = measured("dense", [], ["duckdb"])
    assert "duckdb scan      DuckDB is not installed: pip install 'tamis[bench]'" in table(row)


def test_slow_methods_take_fewer_events_and_are_compared_on_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(timing, "_BUDGET_SECONDS", 0.02)
    answer = np.arange(3)
    asked: list[int] = []

    def slow(at: int) -> Any:
        asked.append(at)
        time.sleep(0.002)
        return answer

    methods = {
        "quick": Method(lambda at: answer),
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
    assert timing.times(slow_one, quick) == pytest.approx(expected)


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
    figures = timing.figures(method)
    assert figures["mean_us"] == pytest.approx(1e6 * method.seconds.mean())
    assert figures["us"] == pytest.approx(1e6 * np.median(method.seconds))


def test_what_a_dict_costs_is_what_match_takes_beyond_the_kernel(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    nothing, now = np.zeros(0, np.int64), [0.0]

    def taking(seconds: float) -> Method:
        def match(at: int) -> Any:
            now[0] += seconds
            return nothing

        return Method(match, events=3)

    monkeypatch.setattr(time, "perf_counter", lambda: now[0])
    assert timing.beyond(taking(0.001), taking(0.004), passes=3) == pytest.approx(0.003)
