"""Checks the deliveries of each policy by readable cases, and the policies that are refused."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

import tamis
from tamis.testing import FakeClock

Lines = list[tuple[str, tuple[Any, ...], tuple[str, ...]]]


@tamis.operator(inputs=("plates",))
def plates(event: Mapping[str, Any], plate: object) -> list[str]:
    return list(event["plates"])


@tamis.operator(inputs=("level",))
def above(event: Mapping[str, Any], least: float) -> bool:
    if event["level"] == "broken":
        raise RuntimeError("broken")
    return bool(event["level"] > least)


def matcher_of(deliver: object, where: str = "above(3)") -> tamis.Matcher:
    matcher = tamis.Matcher([plates, above], clock=FakeClock(1_000))
    matcher.subscribe(where, id="s", deliver=deliver)
    return matcher


def events_of(
    levels: Iterable[object], *, every: float = 10, **more: object
) -> list[dict[str, Any]]:
    """Events of which every one comes so many seconds after the one before."""
    return [
        {"id": f"e{at}", "time": 1_700_000_000 + at * every, "level": level, **more}
        for at, level in enumerate(levels)
    ]


def delivered(deliver: object, events: Iterable[dict[str, Any]], where: str = "above(3)") -> Lines:
    """What is delivered, kind, key and events, and at the end what was open."""
    matcher = matcher_of(deliver, where)
    deliveries = tamis.Deliveries(matcher)
    found = [each for event in events for each in deliveries.take(matcher.match(event))]
    return [(each.kind, each.key, each.events) for each in [*found, *deliveries.finish()]]


def ids(lines: Lines) -> list[str]:
    return [id for _, _, events in lines for id in events]


HIGH, LOW = 5, 1


def test_every_match_is_delivered_without_a_policy_and_by_every() -> None:
    events = events_of([HIGH, LOW, HIGH])
    expected = [("match", (), ("e0",)), ("match", (), ("e2",))]
    assert delivered(None, events) == delivered({"every": True}, events) == expected


@pytest.mark.parametrize("long", ["20s", "PT20S", 20, 20.0, "0.02h", "PT0M20S"])
def test_a_cooldown_ends_inclusively(long: object) -> None:
    expected = ["e0", "e8"] if long == "0.02h" else ["e0", "e2", "e4", "e6", "e8"]
    assert ids(delivered({"cooldown": long}, events_of([HIGH] * 9))) == expected


def test_limits_are_exact_to_the_microsecond() -> None:
    times = [1_700_000_000.1, 1_700_000_010.1, 1_700_000_020.099999]
    events = [{"id": f"e{at}", "time": time, "level": HIGH} for at, time in enumerate(times)]
    assert ids(delivered({"cooldown": "10s"}, events)) == ["e0", "e1"]


def test_once_is_once_for_each_key() -> None:
    events = [{**each, "camera": name} for each in events_of([HIGH] * 4) for name in ("a", None)]
    for number, each in enumerate(events):
        each["id"] = f"e{number}"
    found = delivered({"once": True, "per": ["camera"]}, events)
    assert found == [("match", ("a",), ("e0",)), ("match", (None,), ("e1",))]


def test_three_of_five_begin_anew() -> None:
    levels = [HIGH, LOW, LOW, HIGH, LOW, HIGH, HIGH, HIGH, LOW, HIGH]
    # e3 and e5 and e6 are three of e2 to e6; then e7, e9 are two
    assert ids(delivered({"of": [3, 5]}, events_of(levels))) == ["e6"]


def test_for_holds_until_an_event_does_not_match() -> None:
    levels = [HIGH] * 6 + [LOW] + [HIGH] * 3
    assert ids(delivered({"for": "30s"}, events_of(levels))) == ["e3"]
    assert ids(delivered({"for": "20s"}, events_of(levels))) == ["e2", "e9"]


@pytest.mark.parametrize(
    ("edge", "expected"),
    [
        ("enter", [("enter", "e1"), ("enter", "e4")]),
        ("exit", [("exit", "e3")]),
        ("both", [("enter", "e1"), ("exit", "e3"), ("enter", "e4")]),
    ],
)
def test_edges(edge: str, expected: list[tuple[str, str]]) -> None:
    levels = [LOW, HIGH, HIGH, LOW, HIGH]
    found = delivered({"on": edge}, events_of(levels))
    assert [(kind, *events) for kind, _, events in found] == expected


def test_a_digest_counts_hours_from_the_first_event() -> None:
    events = events_of([LOW, HIGH, HIGH, LOW, HIGH, LOW], every=1_000)
    found = delivered({"digest": "1h"}, events)
    assert found == [("digest", (), ("e1", "e2")), ("digest", (), ("e4",))]


def test_plates_have_keys_of_their_own_and_end_by_a_gap() -> None:
    shown = [["x"], ["x", "y"], ["y"], [], ["x"]]
    events = [{**each, "plates": shown[at]} for at, each in enumerate(events_of([HIGH] * 5))]
    policy = {"on": "both", "per": ["?plate"], "gap": "20s"}
    assert delivered(policy, events, "plates(?plate)") == [
        ("enter", ("x",), ("e0",)),
        ("enter", ("y",), ("e1",)),
        ("exit", ("x",), ("e4",)),
        ("enter", ("x",), ("e4",)),
    ]


def test_a_gap_is_told_by_whatever_event_comes_after_it() -> None:
    [first] = events_of([HIGH], camera="a")
    later = {"id": "later", "time": 1_700_000_021, "level": LOW, "camera": "b"}
    policy = {"on": "exit", "per": ["camera"], "gap": "20s"}
    assert delivered(policy, [first, later]) == [("exit", ("a",), ("later",))]
    assert delivered(policy, [first, {**later, "time": 1_700_000_020}]) == []


def test_matches_are_counted_among_events_where_only_matches_have_a_key() -> None:
    shown = [["x"], [], [], ["x"], [], ["x"]]
    events = [{**each, "plates": shown[at]} for at, each in enumerate(events_of([HIGH] * 6))]
    assert ids(delivered({"of": [2, 3], "per": ["?plate"]}, events, "plates(?plate)")) == ["e5"]


def test_a_list_applies_one_after_the_other_and_keeps_the_kind() -> None:
    levels = [HIGH, LOW, HIGH, LOW, HIGH]
    policies = [{"on": "enter"}, {"cooldown": "30s"}]
    found = delivered(policies, events_of(levels))
    assert found == [("enter", (), ("e0",)), ("enter", (), ("e4",))]


@pytest.mark.parametrize("first", [{"cooldown": "1s"}, {"every": True}, {"on": "enter", "gap": 5}])
def test_policies_behind_others_count_events_that_are_determined_and_in_time(
    first: dict[str, Any],
) -> None:
    policies = [first, {"of": [2, 3]}]
    events = events_of([HIGH, LOW, LOW, HIGH, LOW, HIGH])
    assert ids(delivered(policies, events)) == ["e5"]
    assert ids(delivered(policies, [*events[:4], *events[5:]])) == ["e5"]
    broken = [{**each, "level": "broken"} for each in events[1:3]]
    assert ids(delivered(policies, [events[0], *broken, *events[3:]])) == ["e3"]
    if "every" not in first:  # which has no key, so that nothing is late for it
        late = [{**each, "time": each["time"] - 100} for each in events[1:3]]
        assert ids(delivered(policies, [events[0], *late, *events[3:]])) == ["e3"]


def test_an_event_without_time_that_was_undetermined_counts_when_it_comes_again() -> None:
    for policy in ({"of": [2, 3]}, [{"every": True}, {"of": [2, 3]}]):
        levels = {"a": HIGH, "b": "broken", "c": LOW}
        events = [{"id": id, "level": level} for id, level in levels.items()]
        again, last = {"id": "b", "level": LOW}, {"id": "d", "level": HIGH}
        assert ids(delivered(policy, [*events, last])) == ["d"]
        assert ids(delivered(policy, [*events, events[2], last])) == ["d"]
        assert ids(delivered(policy, [*events, again, last])) == []
        assert ids(delivered(policy, [*events, {**again, "level": HIGH}])) == ["b"]


def test_late_and_repeated_events_are_delivered_by_every_alone() -> None:
    events = events_of([HIGH, LOW, HIGH])
    late = {"id": "late", "time": 1_700_000_005, "level": HIGH}
    again = [*events, late, events[2]]
    assert ids(delivered({"every": True}, again)) == ["e0", "e2", "late", "e2"]
    assert ids(delivered({"on": "enter"}, again)) == ids(delivered({"on": "enter"}, events))
    assert ids(delivered({"of": [2, 4]}, again)) == ["e2"]


def test_a_late_match_is_not_the_first() -> None:
    events = [*events_of([LOW, LOW]), {"id": "late", "time": 1_700_000_005, "level": HIGH}]
    assert delivered({"once": True}, events) == []
    assert ids(delivered({"once": True}, [*events, *events_of([HIGH] * 3)[2:]])) == ["e2"]


@pytest.mark.parametrize("policy", [{"for": "20s"}, {"on": "both"}, {"of": [3, 3]}])
def test_an_undetermined_event_is_as_if_it_had_not_been(policy: dict[str, Any]) -> None:
    levels = [HIGH, HIGH, "broken", HIGH, LOW, "broken", HIGH]
    events = events_of(levels)
    known = [each for each in events if each["level"] != "broken"]
    assert delivered(policy, events) == delivered(policy, known) != []
    once_more = [*events[:3], {**events[2], "level": LOW}, *events[3:]]
    assert delivered(policy, once_more) != delivered(policy, events)


def test_without_time_it_is_when_they_arrive_and_ids_tell_repetitions() -> None:
    clock = FakeClock(1_000)
    matcher = tamis.Matcher([above], clock=clock)
    matcher.subscribe("above(3)", id="s", deliver={"cooldown": "10s"})
    deliveries = tamis.Deliveries(matcher)
    found = []
    for id, seconds in (("a", 0), ("b", 5), ("a", 5), ("c", 0), ("c", 20)):
        clock.advance(seconds)
        found += deliveries.take(matcher.match({"id": id, "level": HIGH}))
    assert [(each.events, each.time) for each in found] == [(("a",), 1_000), (("c",), 1_010)]


def test_without_time_a_new_subscription_has_not_seen_what_is_repeated() -> None:
    clock = FakeClock(1_000)
    matcher = tamis.Matcher([above], clock=clock)
    matcher.subscribe("above(3)", id="old", deliver={"digest": "1h"})
    deliveries = tamis.Deliveries(matcher)
    due = []
    for id, level, seconds in (
        ("a", LOW, 0), ("a", LOW, 1_800), ("b", HIGH, 1_800), ("c", LOW, 1_799), ("d", LOW, 1)
    ):  # fmt: skip
        clock.advance(seconds)
        due.append(
            [
                each.subscription
                for each in deliveries.take(matcher.match({"id": id, "level": level}))
            ]
        )
        if len(due) == 1:
            matcher.subscribe("above(3)", id="new", deliver={"digest": "1h"})
    assert due == [[], [], [], [], ["new"]]


def test_what_was_seen_once_stays_seen() -> None:
    events = [{"id": "a", "level": level} for level in (HIGH, "broken", HIGH)]
    assert delivered({"of": [2, 2]}, events) == []


def test_of_one_instant_an_event_that_was_undetermined_may_come_again() -> None:
    a, b, c = events_of([LOW, LOW, "broken"], every=0)
    assert ids(delivered({"once": True}, [a, b, c, {**c, "level": HIGH}])) == ["e2"]
    assert ids(delivered({"once": True}, [a, b, c, {**b, "level": HIGH}])) == []


def test_what_one_saw_otherwise_is_forgotten_when_it_is_the_same_again() -> None:
    matcher = matcher_of({"once": True, "per": ["camera"]})
    deliveries = tamis.Deliveries(matcher)
    [sightings] = deliveries._sightings.values()
    first, second = events_of(["broken", LOW], camera="a")
    deliveries.take(matcher.match(first))
    assert len(sightings.own) == 1
    deliveries.take(matcher.match(second))
    assert len(sightings.own) == 0


def test_a_boolean_is_no_number_in_a_key() -> None:
    events = [
        {**each, "camera": camera, "id": str(at)}
        for at, (each, camera) in enumerate(
            zip(events_of([HIGH] * 4), [1, True, 1.0, "1"], strict=True)
        )
    ]
    found = delivered({"once": True, "per": ["camera"]}, events)
    assert [key for _, key, _ in found] == [(1,), (True,), ("1",)]
    assert [type(key[0]) for _, key, _ in found] == [int, bool, str]


def test_replacing_with_an_equal_policy_keeps_its_state() -> None:
    matcher = matcher_of({"cooldown": "1h", "per": ["camera"]})
    deliveries = tamis.Deliveries(matcher)
    first, second, third, fourth = events_of([HIGH] * 4, camera="a")
    assert deliveries.take(matcher.match(first))
    matcher.subscribe(
        "above(2)", id="s", replace=True, deliver=[{"cooldown": 3600, "per": ["camera"]}]
    )
    assert not deliveries.take(matcher.match(second))
    matcher.subscribe("above(3)", id="s", replace=True, deliver={"cooldown": 7200})
    assert deliveries.take(matcher.match(third))
    matcher.subscribe("above(3)", id="s", replace=True)
    assert deliveries.take(matcher.match(fourth))[0].key == ()


def test_unsubscribing_forgets() -> None:
    matcher = matcher_of({"once": True})
    deliveries = tamis.Deliveries(matcher)
    first, second = events_of([HIGH] * 2)
    assert deliveries.take(matcher.match(first))
    matcher.unsubscribe("s")
    matcher.subscribe("above(3)", id="s", deliver={"once": True})
    assert deliveries.take(matcher.match(second))


def test_events_in_flight_are_delivered_as_one_by_one() -> None:
    events = events_of([HIGH, HIGH, "broken", LOW, HIGH] * 40, camera="a")
    policy = [{"on": "both", "per": ["camera"]}, {"of": [2, 3], "per": ["camera"]}]
    matcher = matcher_of(policy)
    deliveries = tamis.Deliveries(matcher)
    found = [each for one in matcher.match_many(events) for each in deliveries.take(one)]
    assert [(each.kind, each.key, each.events) for each in found] == delivered(policy, events)


def test_results_that_were_begun_before_a_subscription_do_not_concern_it() -> None:
    matcher = matcher_of({"on": "both"})
    deliveries = tamis.Deliveries(matcher)
    results = list(matcher.match_many(events_of([HIGH, LOW])))
    matcher.subscribe("above(3)", id="new", deliver={"once": True})
    matcher.unsubscribe("s")
    found = [each for result in results for each in deliveries.take(result)]
    assert [(each.subscription, each.kind) for each in found] == [("s", "enter"), ("s", "exit")]


def test_saved_and_opened_with_other_subscriptions(tmp_path: Path) -> None:
    matcher = matcher_of({"once": True})
    matcher.subscribe("above(3)", id="other", deliver={"once": True})
    deliveries = tamis.Deliveries(matcher)
    first, second = events_of([HIGH] * 2)
    assert len(deliveries.take(matcher.match(first))) == 2
    for _ in range(2):
        deliveries.save(tmp_path / "state")
    assert len(list((tmp_path / "state").iterdir())) == 2
    matcher.subscribe("above(3)", id="s", replace=True, deliver={"cooldown": "1h"})
    opened = tamis.Deliveries.open(tmp_path / "state", matcher)
    assert [each.subscription for each in opened.take(matcher.match(second))] == ["s"]


def test_a_damaged_state_is_refused(tmp_path: Path) -> None:
    matcher = matcher_of({"once": True})
    with pytest.raises(tamis.PolicyStateError, match=r"has no manifest\.json"):
        tamis.Deliveries.open(tmp_path, matcher)
    tamis.Deliveries(matcher).save(tmp_path)
    [file] = tmp_path.glob("*.jsonl")
    file.write_bytes(file.read_bytes()[:-1])
    with pytest.raises(tamis.PolicyStateError, match="is damaged"):
        tamis.Deliveries.open(tmp_path, matcher)
    file.unlink()
    with pytest.raises(tamis.PolicyStateError, match="cannot read"):
        tamis.Deliveries.open(tmp_path, matcher)


def test_a_saved_matcher_has_the_policies(tmp_path: Path) -> None:
    matcher = matcher_of({"once": True, "per": ["?plate"]}, "plates(?plate)")
    matcher.save(tmp_path / "matcher")
    opened = tamis.Matcher.open(tmp_path / "matcher", [plates, above])
    deliveries = tamis.Deliveries(opened)
    events = [{**each, "plates": ["x"]} for each in events_of([HIGH] * 2)]
    assert [len(deliveries.take(opened.match(event))) for event in events] == [1, 0]
    assert opened.subscription("s").deliver == {"once": True, "per": ["?plate"]}


def test_deliver_is_no_data_of_a_match() -> None:
    matcher = tamis.Matcher([above])
    matcher.subscribe_many(
        [{"id": "s", "where": "above(3)", "deliver": {"once": True}, "team": "harbor"}]
    )
    assert matcher.match({"level": HIGH}).matches[0].data == {"team": "harbor"}
    with pytest.raises(tamis.SubscriptionError, match="not id, where and deliver"):
        matcher.subscribe("a = 1", deliver={"once": True}, data={"deliver": {"every": True}})
    assert repr(tamis.Deliveries(matcher)) == "<deliveries of 1 subscription with policies>"


def test_one_that_nothing_concerns_is_not_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    matcher = tamis.Matcher([])
    matcher.subscribe_many(
        {"id": f"s{at}", "where": f"level = {at}", "deliver": {"on": "both", "per": ["camera"]}}
        for at in range(1_000)
    )
    deliveries = tamis.Deliveries(matcher)
    looked: list[str] = []
    seen = tamis.policy.course.PolicyCourse.seen

    def counting(course: Any, *arguments: Any, **options: Any) -> Any:
        looked.append(course.id)
        return seen(course, *arguments, **options)

    monkeypatch.setattr(tamis.policy.course.PolicyCourse, "seen", counting)
    for event in events_of([7, 7, 8, 5_000, 5_000], camera="a"):
        deliveries.take(matcher.match(event))
    assert sorted(looked) == ["s7", "s7", "s7", "s8", "s8"]


@pytest.mark.parametrize(
    ("deliver", "problem"),
    [
        ("every", "deliver: a policy is an object as {'cooldown': '10min'}, or a list of them"),
        ([], "deliver: a policy is an object"),
        ([3], "deliver[0]: a policy is an object"),
        ({"cooldwn": "10s"}, "deliver: unknown policy 'cooldwn'; did you mean cooldown?"),
        ([{"once": True}, {"gab": 1}], "deliver[1]: unknown policy 'gab'; did you mean gap?"),
        ({"per": ["a"]}, "and this has none"),
        ({"once": True, "every": True}, "and this has every and once; a list of policies"),
        ({"once": False}, "deliver.once: is true, not False"),
        ({"cooldown": "10mni"}, "deliver.cooldown: unknown unit mni in '10mni'; did you mean min?"),
        ({"cooldown": "10km"}, "km is not a unit of time in '10km' (there are s,"),
        ({"cooldown": "10 min"}, "did you mean 10min?"),
        ({"cooldown": "soon"}, "a duration is text as 10min or PT10M, or a number of seconds"),
        ({"cooldown": True}, "a duration is text as 10min or PT10M"),
        ({"cooldown": float("nan")}, "not nan"),
        ({"cooldown": 0}, "a duration is finite and above 0, not 0"),
        ({"cooldown": "1e9"}, "a duration is text as"),
        ({"cooldown": 1e-9}, "is a microsecond or more"),
        ({"cooldown": "P1Y"}, "years and months have no fixed length"),
        ({"cooldown": "PT"}, "is not a duration of ISO 8601"),
        ({"of": [3]}, "deliver.of: is two whole numbers as [3, 5]"),
        ({"of": [True, 5]}, "deliver.of: is two whole numbers"),
        ({"of": [6, 5]}, "no more matches than events"),
        ({"of": [1, 10_001]}, "at most 10,000 events"),
        ({"on": "entr"}, "deliver.on: is enter, exit or both, not 'entr'; did you mean enter?"),
        ({"once": True, "per": "camera"}, "deliver.per: is a list of attributes and ?variables"),
        ({"once": True, "per": ["a", "a"]}, "deliver.per[1]: 'a' is there twice"),
        ({"once": True, "per": [""]}, "deliver.per[0]: is the name of an attribute"),
        (
            {"once": True, "per": ["?plte"]},
            "deliver.per[0]: unknown variable ?plte; did you mean ?plate?",
        ),
        ({"for": "3s", "per": ["?plate"]}, "deliver: 'for' needs a 'gap' as '20s', for its key"),
        ([{"once": True}, {"on": "both"}], "deliver[1]: 'on both' needs a 'gap'"),
        ({"once": True, "gap": "3s"}, "deliver.gap: goes with 'for' and 'on', not with 'once'"),
    ],
)
def test_what_is_refused(deliver: object, problem: str) -> None:
    matcher = tamis.Matcher([plates, above])
    with pytest.raises(tamis.SubscriptionError) as refused:
        matcher.subscribe_many([{"id": "s", "where": "plates(?plate)", "deliver": deliver}])
    assert problem in str(refused.value)
    assert str(refused.value).startswith("subscription 's': deliver")
    assert len(matcher) == 0


def test_a_variable_of_a_condition_without_any_is_unknown() -> None:
    with pytest.raises(tamis.SubscriptionError, match=r"unknown variable \?x: the condition"):
        matcher_of({"once": True, "per": ["?x"]})
