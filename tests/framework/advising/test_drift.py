"""Checks that drift is found where it was made, and seldom where it was not."""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tamis import Statistics
from tamis.advising.drift import Drift, drift
from tamis.errors import StatisticsError
from tamis.learning.learner import Learner
from tamis.learning.lesson import Lesson
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
    return [(moved.predicate or moved.name, moved.what) for moved in found.moved]


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
    assert (moved.name, moved.what, moved.significance) == ("a", "cost", None)
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
    assert (found.new_predicates, found.vanished_predicates, found.uncounted) == (
        ["c(1)"],
        ["a(1)"],
        1,
    )
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
                statistics.predicates[f"p{at}(1)"] = counted(events, satisfied)
        alarms = [int(moved.name[1:]) for moved in drift(old, new, 0.1).moved]
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


MONTH = Lesson(
    [
        *(f"altitude < {at * 5}" for at in range(1, 100)),
        *(f"speed > {at / 3} and camera = c{at % 7}" for at in range(60)),
        *(f'day = "2026-01-{day:02}"' for day in range(1, 31)),
        "time.hour > 12 and time.weekday < 6 and frame > 1000 and epoch > 1767500000",
        'id starts with "event-1" and serial starts with "a" and tags has fire and exists(rare)',
    ],
    [],
)


def month(chance: random.Random, **changes: Any) -> Iterator[dict[str, Any]]:
    """Events of thirty days, of one kind but for the clock, the calendar and the counters."""
    for at in range(2_000):
        time = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(minutes=at * 21.6)
        yield {
            "id": f"event-{at}",
            "time": time.isoformat(),
            "day": time.date().isoformat(),
            "epoch": time.timestamp(),
            "frame": at * 40,
            "serial": f"{chance.getrandbits(64):x}",
            "camera": f"c{chance.randrange(7)}",
            "altitude": chance.uniform(0, 500),
            "speed": round(chance.expovariate(0.1)),
            "tags": ["fire"] if chance.random() < 0.02 else [],
            "rare": True if chance.random() < 0.004 else None,
            "unread": at // 100,
        } | {name: change(chance) for name, change in changes.items() if at >= 1_000}


def halves(events: Iterator[dict[str, Any]]) -> tuple[Statistics, Statistics]:
    """What the first half and the second half of some events say."""
    learned = []
    known = list(events)
    for half in (known[: len(known) // 2], known[len(known) // 2 :]):
        learner = Learner(MONTH.task)
        for event in half:
            learner.document(event)
        learned.append(MONTH.statistics(learner.finish()))
        learned[-1].about["reads"] = MONTH.reads
    return learned[0], learned[1]


@pytest.mark.slow
@pytest.mark.long
def test_halves_of_stationary_months_raise_no_alarm() -> None:
    alarms = [drift(*halves(month(random.Random(seed)))).moved for seed in range(100)]
    assert sum(map(bool, alarms)) <= 5, [moved for moved in alarms if moved]


@pytest.mark.parametrize(
    ("changes", "moved"),
    [
        ({"altitude": lambda chance: chance.uniform(60, 560)}, "altitude"),
        ({"speed": lambda chance: chance.expovariate(0.08)}, "speed"),
        ({"camera": lambda chance: chance.choice(["c0", "c1"])}, "camera"),
        ({"tags": lambda chance: ["fire"] if chance.random() < 0.2 else []}, "tags"),
        ({"rare": lambda chance: chance.random() < 0.05 or None}, "rare"),
        ({"time": lambda chance: None}, "time.hour"),
        ({"altitude": lambda chance: str(chance.uniform(0, 500))}, "altitude"),
    ],
)
def test_real_changes_are_named_once(changes: dict[str, Any], moved: str) -> None:
    names = [each.name for each in drift(*halves(month(random.Random(3), **changes))).moved]
    assert moved in names
    assert len(names) == len(set(names))
    assert set(names) <= {moved, "time.hour", "time.weekday"}


def test_what_is_ignored_and_what_nobody_reads_may_move() -> None:
    changes = {"altitude": lambda chance: 900, "unread": lambda chance: chance.random()}
    old, new = halves(month(random.Random(5), **changes))
    [altitude] = drift(old, new).moved
    assert altitude.predicates > 50
    assert drift(old, new, ignored=["altitude"]).moved == []
