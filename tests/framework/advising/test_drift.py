"""What moved between statistics: found where it did, and seldom where it did not."""

from __future__ import annotations

import random

import pytest

from tamis import Statistics
from tamis.advising.drift import Drift, drift
from tamis.errors import StatisticsError
from tamis.statistics import PredicateStatistics


def known(**predicates: PredicateStatistics) -> Statistics:
    statistics = Statistics()
    statistics.predicates = {f"{name}(1)": found for name, found in predicates.items()}
    return statistics


def counted(
    tested: int, satisfied: int, failed: int = 0, cost: float | None = None, measured: int = 0
) -> PredicateStatistics:
    return PredicateStatistics("operator", tested, satisfied, failed, None, cost, measured)


def seen(found: Drift) -> list[tuple[str, str]]:
    return [(moved.name, moved.what) for moved in found.moved]


def test_the_dearest_come_first() -> None:
    old = known(a=counted(1000, 100, cost=0.001), b=counted(1000, 100, cost=0.5))
    new = known(a=counted(1000, 900, cost=0.001), b=counted(1000, 200, cost=0.5))
    found = drift(old, new)
    assert seen(found) == [("b(1)", "selectivity"), ("a(1)", "selectivity")]
    assert found.moved[0].effect_seconds == pytest.approx(0.05)
    assert found.compared == 2


def test_few_counts_have_to_move_far() -> None:
    assert seen(drift(known(a=counted(5, 0)), known(a=counted(5, 3)))) == []
    assert seen(drift(known(a=counted(5, 0)), known(a=counted(5000, 4900)))) != []


def test_failures() -> None:
    old, new = known(a=counted(1000, 500)), known(a=counted(1000, 400, failed=200))
    assert seen(drift(old, new)) == [("a(1)", "failures")]
    assert drift(old, new).moved[0].new == 0.2


def test_what_always_fails_now_has_failures_alone() -> None:
    assert seen(drift(known(a=counted(90, 50)), known(a=counted(90, 0, failed=90)))) == [
        ("a(1)", "failures")
    ]


def test_costs_move_by_a_factor_and_are_never_significant() -> None:
    old = known(a=counted(100, 50, cost=0.1, measured=50), b=counted(9, 3, cost=0.1, measured=4))
    new = known(a=counted(100, 50, cost=0.3, measured=50), b=counted(9, 3, cost=0.9, measured=4))
    [moved] = drift(old, new).moved
    assert (moved.name, moved.what, moved.significance) == ("a(1)", "cost", None)
    assert moved.effect_seconds == pytest.approx(0.2)
    assert seen(drift(old, known(a=counted(100, 50, cost=0.15, measured=50)))) == []


def test_the_cost_of_a_call_is_named_once() -> None:
    old, new = Statistics(), Statistics()
    for statistics, cost in ((old, 0.1), (new, 0.4)):
        for text in ("people(?1)", "people(?1), ?1 > 5", "people(?1), ?1 > 9"):
            statistics.predicates[text] = counted(100, 50, cost=cost, measured=100)
    assert seen(drift(old, new)) == [("people(?1)", "cost")]


def test_prices_of_preparations() -> None:
    old, new = Statistics(), Statistics()
    old.prepared, new.prepared = {"decode": (10, 1.0)}, {"decode": (20, 8.0)}
    [moved] = drift(old, new).moved
    assert (moved.of, moved.old, moved.new) == ("preparation", 0.1, 0.4)


def test_new_gone_and_uncounted() -> None:
    old = Statistics(selectivity={"a(1)": 0.1, "b(1)": 0.2})
    new = Statistics(selectivity={"b(1)": 0.9, "c(1)": 0.3})
    old.about, new.about = {"operators": {"a": "1", "b": "1"}}, {"operators": {"b": "2"}}
    found = drift(old, new)
    assert (found.new, found.vanished, found.uncounted) == (["c(1)"], ["a(1)"], 1)
    assert found.moved == []
    assert found.versions == {"b": ("1", "2")}


def test_attributes() -> None:
    old = Statistics.from_events(
        [{"a": at % 50, "s": "x", "k": at, "gone": 1} for at in range(400)]
    )
    new = Statistics.from_events(
        [
            {"a": 25 + at % 50, "k": at if at % 2 else "k", "new": True}
            | ({"s": "x"} if at % 4 else {})
            for at in range(400)
        ]
    )
    found = drift(old, new)
    assert set(seen(found)) == {
        ("a", "values"), ("s", "frequency"), ("k", "kinds"),
        ("gone", "frequency"), ("new", "frequency"),
    }  # fmt: skip
    assert (found.new_attributes, found.vanished_attributes) == (["new"], ["gone"])
    assert [each.effect_seconds for each in found.moved] == [None] * 5
    middles = next((each.old, each.new) for each in found.moved if each.name == "a")
    assert middles == (25.0, 50.0)


def test_strings_that_moved() -> None:
    old = Statistics.from_events([{"s": f"a{at % 9}"} for at in range(300)])
    new = Statistics.from_events([{"s": f"b{at % 9}"} for at in range(300)])
    assert seen(drift(old, new)) == [("s", "values")]


def test_the_same_statistics_never_moved() -> None:
    statistics = Statistics.from_events([{"a": at, "s": str(at)} for at in range(50)])
    statistics.predicates["p(1)"] = counted(50, 20, 3, 0.2, 40)
    assert drift(statistics, statistics).moved == []


def test_the_share_of_false_alarms_is_held() -> None:
    """Of 200 predicates a tenth has moved, in 60 comparisons with chance of their own."""
    chance = random.Random(7)
    shares, false_alarms, found_moved = [], 0, 0
    for _ in range(60):
        old, new = Statistics(), Statistics()
        for at in range(200):
            share = chance.uniform(0.05, 0.5)
            later = share + (0.15 if at < 20 else 0.0)
            events = 400
            for statistics, mean in ((old, share), (new, later)):
                satisfied = sum(chance.random() < mean for _ in range(events))
                statistics.predicates[f"p({at})"] = counted(events, satisfied)
        alarms = [int(moved.name[2:-1]) for moved in drift(old, new, 0.1).moved]
        wrong = sum(at >= 20 for at in alarms)
        shares.append(wrong / len(alarms) if alarms else 0.0)
        false_alarms += wrong
        found_moved += len(alarms) - wrong
    # 0.1 * 180 / 200 is expected; the mean over 60 has a standard error of about 0.01
    assert 0.05 < sum(shares) / len(shares) < 0.12
    assert found_moved > 0.9 * 60 * 20


def test_where_nothing_moved_hardly_anything_is_reported() -> None:
    chance = random.Random(11)
    alarmed = 0
    for _ in range(100):
        samples = [
            [{"a": chance.gauss(0, 1), "b": chance.randrange(5), "s": chance.choice("xyz")}
             for _ in range(300)]
            for _ in range(2)
        ]  # fmt: skip
        old, new = map(Statistics.from_events, samples)
        alarmed += bool(drift(old, new, 0.05).moved)
    assert alarmed <= 12


@pytest.mark.parametrize("significance", [0, 1, -1, 2])
def test_a_significance_is_a_share(significance: float) -> None:
    with pytest.raises(StatisticsError, match="between 0 and 1"):
        drift(Statistics(), Statistics(), significance)
