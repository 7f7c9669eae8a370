"""A forecast says what a text adds: what it would have added to the events that it is made from."""

from __future__ import annotations

import json
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from itertools import count, pairwise
from pathlib import Path
from threading import Event as Signal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tamis
from tamis.engine.forecasting import Outlook
from tamis.engine.recent import Recent
from tamis.event import Event
from tamis.learning.learner import Learner
from tamis.learning.lesson import Lesson


@tamis.operator(inputs=("loudness",), cost_seconds=2.0, cost=0.5)
def louderThan(event: Any, level: float) -> bool:
    return bool(event["loudness"] > level)


@tamis.operator(inputs=("people",), outputs=("count",), cost_seconds=3.0)
def peopleCount(event: Any, count: Any) -> list[int]:
    return [event["people"]]


OPERATORS = [louderThan, peopleCount]
ASKED = "louderThan(3) or louderThan(6) or (peopleCount(?n) and ?n > 4)"

events = st.lists(
    st.fixed_dictionaries(
        {"altitude": st.integers(0, 9)},
        optional={"loudness": st.integers(0, 9), "people": st.integers(0, 9)},
    ),
    min_size=1,
    max_size=12,
)
bounds = st.integers(0, 9)


@st.composite
def texts(draw: st.DrawFn) -> str:
    """Conditions over calls that are known of each event."""
    loud = draw(st.sampled_from(["louderThan(3)", "louderThan(6)", "not louderThan(3)"]))
    parts = [loud, f"altitude < {draw(bounds)}"]
    if draw(st.booleans()):
        parts.append(f"peopleCount(?n) and ?n > {draw(bounds)}")
    return " and ".join(draw(st.permutations(parts)))


def matcher_that_knows(documents: list[dict[str, Any]]) -> tamis.Matcher:
    """A matcher that was told all answers about these events, with nothing subscribed any more."""
    matcher = tamis.Matcher(OPERATORS, planner="naive")
    for at, text in enumerate(("louderThan(3)", "louderThan(6)", "peopleCount(?n)")):
        matcher.subscribe(text, id=f"{at}")
    for document in documents:
        matcher.match(document)
    for at in range(3):
        matcher.unsubscribe(f"{at}")
    return matcher


@settings(deadline=None)
@given(events, texts(), st.lists(texts(), max_size=3))
def test_of_known_events_it_is_what_a_match_calls(
    documents: list[dict[str, Any]], text: str, others: list[str]
) -> None:
    matcher = matcher_that_knows(documents)
    alone = tamis.Matcher(OPERATORS, planner="naive", learning=False)
    together = tamis.Matcher(OPERATORS, planner="naive", learning=False)
    for each in others:
        matcher.subscribe(each)
        alone.subscribe(each)
        together.subscribe(each)
    together.subscribe(text, id="text")
    forecast = matcher.forecast(text)
    before = sum(len(alone.match(each).calls) for each in documents)
    results = [together.match(each) for each in documents]
    after = sum(len(each.calls) for each in results)
    matched = sum("text" in [m.subscription for m in each.matches] for each in results)
    assert forecast.calls_per_event == pytest.approx((after - before) / len(documents))
    assert forecast.matches_per_event == pytest.approx(matched / len(documents))
    assert forecast.events == len(documents)


def test_what_is_subscribed_already_adds_nothing() -> None:
    matcher = matcher_that_knows([{"altitude": 3, "loudness": 5}] * 4)
    assert matcher.forecast("louderThan(3)", events_per_day=10).calls_per_event == 1
    matcher.subscribe_many([{"where": "louderThan(3)"}] * 2)
    forecast = matcher.forecast("louderThan(3)", events_per_day=10)
    assert forecast.calls_per_event == forecast.seconds_per_day == forecast.cost_per_day == 0
    assert forecast.shared == {"louderThan(3)": 2}
    matcher.unsubscribe("subscription-1")
    assert matcher.forecast("louderThan(3)").shared == {"louderThan(3)": 1}


def test_seconds_and_cost_are_the_calls_at_their_prices() -> None:
    matcher = tamis.Matcher(OPERATORS, learning=False)
    for each in ("louderThan(3)", "louderThan(3) and louderThan(6)"):
        forecast = matcher.forecast(each, events_per_day=100)
        made = forecast.calls_per_event
        assert 0.5 < made < 2
        assert forecast.seconds_per_event == pytest.approx(2.0 * made)
        assert forecast.seconds_per_day == pytest.approx(200.0 * made)
        assert forecast.cost_per_day == pytest.approx(50.0 * made)


def test_without_events_attributes_hold_as_often_as_is_expected() -> None:
    known = tamis.Statistics(selectivity={"altitude < 4": 0.25, "louderThan(3)": 0.1})
    matcher = tamis.Matcher(OPERATORS, statistics=known)
    forecast = matcher.forecast("altitude < 4 and louderThan(3)")
    assert forecast.basis == "events without values"
    assert 0.2 < forecast.calls_per_event < 0.3
    assert forecast.matches_per_event < 0.06
    assert forecast.events_per_day is forecast.seconds_per_day is forecast.cost_per_day is None


def test_history_tells_events_and_how_many_come_a_day(tmp_path: Path) -> None:
    lesson = Lesson([ASKED], OPERATORS)
    ticks = count()
    learner = Learner(lesson.task, timer=lambda: float(next(ticks)))
    for at in range(48):
        learner.document(
            {
                "id": f"{at}",
                "time": f"2026-03-{1 + at // 24:02}T{at % 24:02}:00:00Z",
                "altitude": at % 4,
                "loudness": 5 if at % 4 else 0,
                "people": at,
                "image": b"a picture" * 9,
            }
        )
    lesson.statistics(learner.finish()).save(tmp_path)
    known = tamis.Statistics.load(tmp_path)
    assert known.sample is not None
    contents = [json.loads(each.content) for each in known.sample.kept]
    assert sorted(int(each["id"]) for each in contents) == list(range(48))
    assert {each["image"] for each in contents} == {"…"}
    matcher = tamis.Matcher(OPERATORS, statistics=known)
    forecast = matcher.forecast("altitude < 1 and louderThan(3) and peopleCount(?n), ?n > 4")
    assert forecast.basis == "events of history"
    assert forecast.calls == {"louderThan(3)": 0.25, "peopleCount(?1)": 0}
    assert forecast.events_per_day == pytest.approx(48 * 24 / 47)
    assert "louderThan(3): 0.25 an event" in str(forecast)
    assert json.loads(json.dumps(forecast.as_dict()))["calls_per_event"] == 0.25


def test_a_text_that_cannot_be_subscribed_is_an_error() -> None:
    matcher = tamis.Matcher(OPERATORS)
    with pytest.raises(tamis.SubscriptionError, match="louderThn"):
        matcher.forecast("louderThn(3)")
    for rate in (-1, float("nan"), "many", True):
        with pytest.raises(tamis.TamisError, match="events_per_day is a number from 0"):
            matcher.forecast("louderThan(3)", events_per_day=rate)  # type: ignore[arg-type]
    assert len(matcher) == 0


def test_a_matcher_is_left_as_it_was() -> None:
    matcher = tamis.Matcher(OPERATORS)
    matcher.subscribe("louderThan(6)", id="a")
    version, tests = matcher._catalog.version, [each.number for each in matcher._catalog.tests]
    matcher.forecast("louderThan(6) and louderThan(3)")
    assert matcher._catalog.version == version
    assert [each.number for each in matcher._catalog.tests] == tests
    assert [m.subscription for m in matcher.match({"loudness": 7}).matches] == ["a"]


def test_an_event_is_kept_whatever_it_holds() -> None:
    moment = datetime(2026, 3, 1, 22, tzinfo=UTC)
    endless: list[Any] = []
    endless.append(endless)
    event: dict[Any, Any] = {
        "time": moment,
        7: 1,
        ("a", "b"): 2,
        "image": b"x",
        "endless": endless,
        "long": "x" * 999,
    }
    matcher = tamis.Matcher(OPERATORS)
    matcher.match(event)
    [kept] = matcher._forecaster.recent.kept
    content = json.loads(kept.content)
    assert content["time"] == "2026-03-01T22:00:00+00:00"
    assert content["image"] == content["endless"] == content["long"] == "…"
    assert matcher.forecast("time.hour = 22 and louderThan(3)").matches_per_event == 0
    assert matcher.forecast("time.hour = 22").matches_per_event == 1


@given(st.integers(0, 300), st.integers(1, 20))
def test_recent_events_are_spread_over_all(count: int, most: int) -> None:
    recent = Recent(most)
    for at in range(count):
        recent.add(Event.of({"at": at}, str), None)
    numbers = [each.number for each in recent.kept]
    assert len(numbers) <= most
    assert len(numbers) >= min(count, most) // 2
    assert len({b - a for a, b in pairwise(numbers)}) <= 1
    assert [json.loads(each.content)["at"] for each in recent.kept] == numbers


def test_threads_that_forecast_at_once_decide_the_known_events_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    matcher = tamis.Matcher(OPERATORS)
    matcher.subscribe(ASKED)
    for people in range(8):
        matcher.match({"altitude": 1, "loudness": people, "people": people})
    expected = matcher.forecast("louderThan(6)")
    looks: list[None] = []
    look, first_looks, goes_on = Outlook.look, Signal(), Signal()

    def slow_look(self: Outlook, *given: Any) -> None:
        looks.append(None)
        first_looks.set()
        assert goes_on.wait(30)
        look(self, *given)

    monkeypatch.setattr(Outlook, "look", slow_look)
    matcher.subscribe("altitude = 17")
    with ThreadPoolExecutor(4) as threads:
        found = [threads.submit(matcher.forecast, "louderThan(6)") for _ in range(4)]
        assert first_looks.wait(30)
        time.sleep(0.1)  # for the others to come
        goes_on.set()
        assert [each.result() for each in found] == [expected] * 4
    assert len(looks) == 1


def test_a_forecast_during_which_the_planner_is_replaced_and_more_is_subscribed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    matcher = tamis.Matcher(OPERATORS, planner="suborder")
    matcher.subscribe("louderThan(1)", id="s1")
    matcher.match({"loudness": 2})
    look = Outlook.look

    def look_later(self: Outlook, *given: Any) -> None:
        matcher.planner = "savings"
        matcher.subscribe_many([{"where": f"louderThan({level})"} for level in range(2, 200)])
        look(self, *given)

    monkeypatch.setattr(Outlook, "look", look_later)
    assert matcher.forecast("louderThan(1)").calls_per_event == 0
