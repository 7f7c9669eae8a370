"""Checks that each predicate and test is counted as matches have it."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tamis
from tamis import Matcher, Statistics
from tamis.learning.counts import Counts, merged
from tamis.learning.learner import Learner, TimeStretch
from tamis.learning.lesson import Lesson
from tamis.operators import record_of
from tamis.operators.asking import Operators
from tamis.testing import events, pool_operators, subscriptions

pytestmark = pytest.mark.filterwarnings("ignore::tamis.SubscriptionWarning")
Document = dict[str, Any]


def counts_of(lesson: Lesson, documents: Sequence[Document], first: int = 0) -> Counts:
    learner = Learner(lesson.task)
    for at, document in enumerate(documents, first):
        learner.document(document, default_id=f"e{at}")
    return learner.finish()


def learned(
    documents: Sequence[Document], asked: Sequence[str], *operators: object, **settings: Any
) -> Statistics:
    lesson = Lesson(asked, operators, **settings)
    return lesson.statistics(counts_of(lesson, documents))


@given(st.lists(events(), max_size=6), subscriptions(most=4))
def test_tests_are_what_a_match_makes_them(
    documents: list[Document], asked: list[Document]
) -> None:
    lesson = Lesson(asked, pool_operators())
    counts = counts_of(lesson, documents)
    marks = lesson.task.marks
    known = lesson.statistics(Counts.unpacked(counts.packed(marks), marks))
    for text in (test.text for test in lesson.tests):
        matcher = Matcher(operators=pool_operators(), learning=False)
        matcher.subscribe(text)
        results = [matcher.match(document) for document in documents]
        found = known.predicates[text]
        assert found.kind == "operator"
        assert found.tested == len(documents)
        assert found.satisfied == sum(bool(result.matches) for result in results), text
        assert found.failed == sum(bool(result.undetermined) for result in results), text
    for text in lesson.texts:
        matcher = Matcher(operators=[], learning=False)
        matcher.subscribe(text)
        matched = sum(len(matcher.match(document).matches) for document in documents)
        assert known.predicates[text].satisfied == matched, text


@given(st.lists(events(), max_size=6), subscriptions(most=3), st.integers(0, 6))
def test_parts_of_history_add_up(
    documents: list[Document], asked: list[Document], cut: int
) -> None:
    lesson = Lesson(asked, pool_operators())
    whole = lesson.statistics(counts_of(lesson, documents))
    parts = [counts_of(lesson, documents[cut:], cut), counts_of(lesson, documents[:cut])]
    added = lesson.statistics(merged(parts))
    assert_same(added, whole)
    one, other = (lesson.statistics(part) for part in parts)
    assert_same(one.merged(other), whole)


def assert_same(one: Statistics, other: Statistics) -> None:
    """Equal in all but what things cost."""
    assert (one.events, one.rejects) == (other.events, other.rejects)
    assert one.attributes == other.attributes
    assert {text: each.counts for text, each in one.predicates.items()} == {
        text: each.counts for text, each in other.predicates.items()
    }
    assert {text: sorted(each) for text, each in one.answers.items()} == {
        text: sorted(each) for text, each in other.answers.items()
    }
    samples = [each.sample for each in (one, other)]
    assert [each and each.predicates for each in samples[:1]] == [
        each and each.predicates for each in samples[1:]
    ]
    truths = [
        sorted(map(tuple, (each.truths() + 2 * each.knowns()).tolist())) if each else None
        for each in samples
    ]
    assert truths[0] == truths[1]


@tamis.operator(inputs=("people",), outputs=("count",), deterministic=True)
def peopleCount(event: Any, count: Any) -> list[Any]:
    return [event["people"]]


@tamis.operator(inputs=("loudness",))
def louderThan(event: Any, level: float) -> bool:
    if event["loudness"] < 0:
        raise ValueError("the microphone is broken")
    return bool(event["loudness"] > level)


def test_calls_are_measured_and_failures_counted() -> None:
    documents = [{"loudness": loudness} for loudness in (-1, 2, 5, 9)] + [{"other": 1}]
    known = learned(documents, ["louderThan(3) and not louderThan(7)"], louderThan)
    found = known.predicates["louderThan(3)"]
    assert (found.tested, found.satisfied, found.failed, found.measured) == (5, 2, 1, 4)
    assert found.selectivity == 0.5
    assert found.cost_seconds is not None
    assert found.cost_seconds > 0
    assert known.selectivity("louderThan(7)") == 0.25


def test_what_is_remembered_is_counted_but_not_measured_again() -> None:
    documents = [{"id": str(at), "people": at % 2} for at in range(10)]
    found = learned(documents, ["peopleCount(?n), ?n > 0"], peopleCount).predicates
    assert (found["peopleCount(?1)"].satisfied, found["peopleCount(?1)"].measured) == (10, 2)
    assert found["peopleCount(?1), ?1 > 0"].satisfied == 5


def test_tests_to_come_are_tried_on_the_answers() -> None:
    documents = [{"people": people} for people in range(100)]
    known = learned(documents, ["peopleCount(?n), ?n > 50"], peopleCount)
    assert known.estimate("peopleCount(?1), ?1 >= 90") == pytest.approx(0.1, abs=0.01)
    assert known.estimate("peopleCount(?1), ?1 > 10, ?1 < 31") == pytest.approx(0.2, abs=0.01)
    assert known.estimate("peopleCount(?1), ?1 > $limit") == pytest.approx(1.0, abs=0.05)
    matcher = Matcher(operators=[peopleCount], statistics=known)
    matcher.subscribe("peopleCount(?n), ?n >= 90", id="new")
    assert matcher.learned().estimate("peopleCount(?1), ?1 >= 90") == pytest.approx(0.1, abs=0.01)


def test_many_answers_are_a_sample() -> None:
    chance = random.Random(3)
    documents = [{"id": str(at), "people": chance.random()} for at in range(3_000)]
    known = learned(documents, ["peopleCount(?n)"], peopleCount)
    assert known.answers["peopleCount(?1)"].counts is None
    assert known.estimate("peopleCount(?1), ?1 > 0.75") == pytest.approx(0.25, abs=0.08)


def test_a_sample_of_the_events_is_the_same_whoever_takes_it() -> None:
    documents = [{"id": str(at), "people": at} for at in range(1_000)]
    asked = ["peopleCount(?n), ?n > 500 and speed > 3"]
    some = learned(documents, asked, peopleCount, sample=0.1)
    again = learned(documents[::-1], asked, peopleCount, sample=0.1)
    assert_same(some, again)
    found = some.predicates["peopleCount(?1), ?1 > 500"]
    assert 60 < (found.tested or 0) < 150
    assert some.predicates["speed > 3"].tested == 1_000
    assert learned(documents, asked, peopleCount, sample=0).predicates[
        "peopleCount(?1)"
    ].tested == 0  # fmt: skip


def test_a_window_of_time() -> None:
    documents = [{"time": f"2026-01-0{day}T12:00:00Z", "a": day} for day in range(1, 6)]
    midnight = 1767312000.0  # 2026-01-02
    window = TimeStretch(midnight, midnight + 2 * 86_400)
    lesson = Lesson(["a > 2"], [], window=window)
    counts = counts_of(lesson, [*documents, {"a": 9}])
    assert (counts.events, counts.passed_over) == (2, 4)
    assert lesson.statistics(counts).selectivity("a > 2") == 0.5


def test_predicates_are_those_of_the_text() -> None:
    known = learned(
        [{"a": value, "tags": ["x"]} for value in range(10)],
        ["a > 3 and a < 9", "a < 1 and a > 5 or tags has x", "not (a in [2, 4])"],
    )
    shares = {text: known.selectivity(text) for text in known.predicates}
    assert shares == {
        "a > 3": 0.6,
        "a < 9": 0.9,
        "a < 1": 0.1,
        "a > 5": 0.4,
        "tags has x": 1.0,
        "a < 2": 0.2,
        "a > 4": 0.5,
    }
    assert all(each.kind == "attribute" for each in known.predicates.values())


def test_operators_travel_by_their_names() -> None:
    lesson = Lesson(["louderThan(3)"], [louderThan, peopleCount])
    assert list(lesson.versions.items()) == [("louderThan", "1")]
    assert list(Operators(lesson.operators).records) == ["louderThan"]


def test_what_preparations_cost_is_known() -> None:
    decoded = tamis.Preparation("decoded", lambda event: event["people"] * 2, cost_seconds=3.0)

    @tamis.operator(inputs=("people",), preparation=decoded)
    def doubled(event: Any, number: int) -> bool:
        return bool(event.prepared == number)

    known = learned([{"people": 2}, {"people": 3}], ["doubled(4) or doubled(6)"], doubled)
    assert known.selectivity("doubled(4)") == 0.5
    assert known.prepared["decoded"][0] == 2
    assert 0 < known.prices([decoded])[0] < 1


def early(event: Any, hour: int) -> bool:
    return int(event["time"][11:13]) < hour


def hours() -> list[Document]:
    times = [f"2026-05-02T{hour:02}:00:00Z" for hour in range(24)]
    return [{"time": time} for time in (*times, "noon", None)]


def test_a_test_is_counted_where_its_declarations_hold() -> None:
    asked: list[object] = []

    def declared(arguments: Sequence[Any]) -> list[tuple[str, str, object]]:
        return [("time.hour", "<", arguments[0] + 1)]

    @tamis.operator(inputs=("time",), necessary=declared)
    def before(event: Any, hour: int) -> bool:
        asked.append(event["time"])
        return early(event, hour)

    lesson = Lesson(["before(5) and a = 1 or not before(20)", "before(9)"], [before])
    learner = Learner(lesson.task, operators=Operators([record_of(before)]))
    for at, document in enumerate(hours()):
        learner.document(document, default_id=f"e{at}")
    known = lesson.statistics(learner.finish())
    counted = {text: each.counts for text, each in known.predicates.items() if "before" in text}
    # those up to the hour, of which one is not before it, and the time that cannot be read
    assert counted == {
        "before(5)": (7, 5, 1),
        "before(9)": (11, 9, 1),
        "before(20)": (22, 20, 1),
    }
    assert len(asked) == 7 + 11 + 22
    assert known.selectivity("before(5)") == 5 / 6
    assert known.sample is not None
    assert known.sample.knowns().sum() == 6 + 10 + 21


def test_a_call_is_counted_where_a_test_of_it_is() -> None:
    @tamis.operator(
        inputs=("n",),
        outputs=("m",),
        necessary=lambda arguments: (
            [("n", "=", arguments[0])] if isinstance(arguments[0], int) else []
        ),
    )
    def number(event: Any, m: Any) -> list[int]:
        return [event["n"]]

    documents = [{"n": n} for n in (1, 1, 2, 3)]
    known = learned(documents, ["number(1)", "number(2)"], number)
    assert known.predicates["number(?1)"].counts == (3, 3, 0)
    assert known.predicates["number(1)"].counts == (2, 2, 0)
    assert known.predicates["number(2)"].counts == (1, 1, 0)
    known = learned(documents, ["number(1)", "number(?n), ?n > 2"], number)
    assert known.predicates["number(?1)"].counts == (4, 4, 0)
    assert known.predicates["number(?1), ?1 > 2"].counts == (4, 1, 0)


def test_what_declarations_read_is_counted() -> None:
    @tamis.operator(inputs=("time",), necessary=lambda arguments: [("time.hour", "<", 9)])
    def before(event: Any) -> bool:
        return early(event, 9)

    known = learned(hours(), ["before()"], before)
    assert known.estimate("time.hour < 9") == pytest.approx(9 / 26)
