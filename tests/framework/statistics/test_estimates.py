"""Checks estimates of uncounted attribute predicates: exact at marks, close between."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis import Statistics, WrongOption
from tamis.index.clauses import Clause, predicate_of
from tamis.learning.learner import Learner
from tamis.learning.lesson import Lesson
from tamis.testing import clauses, events, satisfies

Document = dict[str, Any]


def learned(documents: list[Document], asked: list[str]) -> Statistics:
    lesson = Lesson(asked, [])
    learner = Learner(lesson.task)
    for document in documents:
        learner.document(document)
    return lesson.statistics(learner.finish())


@given(
    st.lists(events(operators=False), min_size=1, max_size=10),
    clauses(most=3).filter(lambda some: all("." not in name for name, _, _ in some)),
)
def test_where_few_values_are_estimates_are_exact(
    documents: list[Document], asked: list[Clause]
) -> None:
    known = learned(documents, [])
    for clause in asked:
        if any(abs(each) >= 2**53 for each in _numbers(clause[2])):
            continue  # cells hold doubles
        exact = sum(satisfies(each, [clause]) for each in documents) / len(documents)
        several = clause[1] in ("has any", "has all", "has none", "not has all")
        close = pytest.approx(exact, abs=0.7 if several and len(clause[2]) > 1 else 1e-9)
        assert known.estimate(predicate_of(clause)) == close, clause


def _numbers(value: Any) -> list[float]:
    several = value if isinstance(value, (list, tuple)) else [value]
    return [each for each in several if isinstance(each, (int, float))]


def history() -> list[Document]:
    chance = random.Random(4)
    return [
        {
            "altitude": chance.expovariate(1 / 200),
            "camera": f"uav-{chance.getrandbits(32):08x}",
            "tags": chance.sample(["fire", "smoke", "police", "boat"], chance.randrange(4)),
        }
        for _ in range(20_000)
    ]


HISTORY = history()
TO_COME = [
    *("altitude < 17", "altitude in [100, 150)", "altitude > 700", "altitude != 3"),
    *('camera < "uav-3"', 'camera starts with "uav-1"', 'camera >= "uav-c"'),
    *('camera between "uav-2" and "uav-9"', "tags has fire", "tags has none {boat}"),
    *("exists(camera)", "not exists(speed)", "speed > 3", 'camera contains "uav"'),
]


@pytest.mark.parametrize("text", TO_COME)
@pytest.mark.parametrize(
    "asked", [[], ["altitude < 120 or altitude >= 300 or camera < \"uav-5\" or tags has fire"]]
)  # fmt: skip
def test_where_many_values_are_estimates_are_close(
    text: str, asked: list[str], tmp_path: Path
) -> None:
    known = learned(HISTORY, asked)
    exact = learned(HISTORY, [text]).selectivity(text)
    assert known.estimate(text) == pytest.approx(exact, abs=0.01)
    known.save(tmp_path)
    again = Statistics.load(tmp_path)
    assert again.estimate(text) == known.estimate(text)


def test_at_marks_estimates_are_exact() -> None:
    known = learned(HISTORY, ["altitude < 120 and altitude >= 90", 'camera starts with "uav-7"'])
    for text in ("altitude in [90, 120)", "altitude in (90, 120]", 'camera >= "uav-7"'):
        assert known.estimate(text) == learned(HISTORY, [text]).selectivity(text)


def test_counts_add_up_where_marks_are_the_same_and_where_they_are_not() -> None:
    one = learned(HISTORY[:5_000], ["altitude < 120"])
    two = learned(HISTORY[5_000:], ["altitude < 120", "altitude < 300"])
    both, whole = one.merged(two), learned(HISTORY, ["altitude < 120"])
    assert both.predicates["altitude < 120"] == whole.predicates["altitude < 120"]
    assert both.predicates["altitude < 300"].tested == 15_000
    assert both.estimate("altitude >= 120") == whole.estimate("altitude >= 120")
    assert both.attributes == whole.attributes
    assert both.estimate("altitude < 50") == pytest.approx(whole.estimate("altitude < 50"))


def test_statistics_of_attributes_alone_give_estimates() -> None:
    known = Statistics.from_events(HISTORY)
    assert known.estimate("altitude < 100") == pytest.approx(0.393, abs=0.01)
    assert known.estimate("speed > 100") == 0.0
    assert Statistics().estimate("altitude < 100") == 0.5


def test_what_a_matcher_has_seen_keeps_what_history_knows() -> None:
    from tamis import Matcher

    known = learned(HISTORY, ["altitude < 120"])
    matcher = Matcher(operators=[], statistics=known)
    again = matcher.learned()
    assert again.estimate("altitude < 50") == known.estimate("altitude < 50")


def test_old_counts_fade_and_new_ones_join_them() -> None:
    old, new = learned(HISTORY[:9_000], ["altitude < 120"]), learned(HISTORY[9_000:], [])
    both = old.decayed(0.5).merged(new)
    assert both.events == 4_500 + 11_000
    assert both.estimate("altitude >= 300") == pytest.approx(0.223, abs=0.02)
    assert {row["attribute"] for row in both.attributes} == {"altitude", "camera", "tags"}


def test_hours_go_by_the_clock_of_a_zone() -> None:
    evening = [{"time": "2026-06-01T22:10:00Z"}]
    for zone, hour in ((None, 22.0), ("America/New_York", 18.0), ("Asia/Kolkata", 3.0)):
        known = Statistics.from_events(evening, time_zone=zone)
        [hours] = [row for row in known.attributes if row["attribute"] == "time.hour"]
        assert hours["quantiles"] == [hour]
        assert known.estimate("time.hour >= 22") == (zone is None)
    with pytest.raises(WrongOption, match="did you mean America/New_York"):
        Statistics.from_events(evening, time_zone="America/NewYork")
