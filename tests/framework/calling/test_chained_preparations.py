"""A preparation may build on another: each is made once an event, fails for all that need it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import tamis
from tamis import Matcher, Preparation, Statistics

MADE: Counter[str] = Counter()


def decode(event: Any) -> list[int]:
    MADE["decode"] += 1
    if event["shot"] == "broken":
        raise ValueError("no image")
    return [int(each) for each in event["shot"].split()]


def detect(event: Any) -> list[int]:
    MADE["detect"] += 1
    return [each for each in event.prepared if each > event["least"]]


FRAME = Preparation("frame", decode, inputs=("shot",), cost_seconds=0.01)
FOUND = Preparation("found", detect, inputs=("least",), cost_seconds=0.1, after=FRAME)


@tamis.operator(preparation=FOUND, inputs=(), outputs=("n",), deterministic=True)
def found(event: Any, n: Any) -> list[int]:
    return [len(event.prepared)]


@tamis.operator(preparation=FRAME, inputs=())
def pixels(event: Any, n: int) -> bool:
    return len(event.prepared) == n


def matcher_of(*texts: str) -> Matcher:
    matcher = Matcher([found, pixels])
    for at, text in enumerate(texts):
        matcher.subscribe(text, id=f"s{at}")
    return matcher


def matched(matcher: Matcher, **event: Any) -> list[str]:
    return [each.subscription for each in matcher.match(event).matches]


def test_each_is_made_once_an_event() -> None:
    matcher = matcher_of("found(?n), ?n > 1", "pixels(3)", "pixels(4)")
    MADE.clear()
    assert matched(matcher, shot="1 5 6", least=2) == ["s0", "s1"]
    assert MADE == {"decode": 1, "detect": 1}


def test_a_failure_is_that_of_all_that_build_on_it() -> None:
    result = matcher_of("found(?n)", "pixels(3)").match({"shot": "broken", "least": 2})
    assert [each.reason for each in result.undetermined] == [
        "found(?1): raised: ValueError: no image",
        "pixels(3): raised: ValueError: no image",
    ]


def test_inputs_of_the_first_are_required_and_part_of_what_is_remembered() -> None:
    matcher = matcher_of("found(?n), ?n > 1")
    assert matched(matcher, least=2) == []
    assert matched(matcher, shot="3 4", least=2) == ["s0"]
    assert matched(matcher, shot="1 4", least=2) == []
    MADE.clear()
    assert matched(matcher, shot="3 4", least=2) == ["s0"]
    assert not MADE


def test_planners_are_told_the_price_of_the_whole_chain() -> None:
    assert Statistics().prices([FOUND, FRAME]).tolist() == [0.11, 0.01]


def zoom(event: Any) -> int:
    MADE["zoom"] += 1
    return int(event.get("zoom", 1)) * len(event.prepared)


ZOOMED = Preparation("zoomed", zoom, inputs=(), optional_inputs=("zoom",), after=FRAME)


@tamis.operator(preparation=ZOOMED, inputs=(), outputs=("n",), deterministic=True)
def zoomed(event: Any, n: Any) -> list[int]:
    return [event.prepared]


def test_what_is_optional_is_read_where_it_is_and_remembered_apart() -> None:
    matcher = Matcher([zoomed])
    matcher.subscribe("zoomed(?n), ?n > 3", id="s0")
    MADE.clear()
    assert matched(matcher, shot="1 5") == []
    assert matched(matcher, shot="1 5", zoom=2) == ["s0"]
    assert matched(matcher, shot="1 5") == []
    assert matched(matcher, shot="1 5", zoom=2) == ["s0"]
    assert MADE["zoom"] == 2


def test_one_for_several_events_may_build_on_one_for_each() -> None:
    sizes: list[int] = []

    def sums(events: Sequence[Any]) -> list[int]:
        sizes.append(len(events))
        return [sum(event.prepared) for event in events]

    summed = Preparation(
        "summed", lambda event: sum(event.prepared), inputs=(), after=FRAME, prepare_events=sums
    )

    @tamis.operator(preparation=summed, inputs=(), outputs=("n",))
    def total(event: Any, n: Any) -> list[int]:
        return [event.prepared]

    matcher = Matcher([total], in_flight=4)
    matcher.subscribe("total(?n), ?n > 5", id="s")
    MADE.clear()
    results = matcher.match_many([{"shot": "1 2"}, {"shot": "1 5"}, {"shot": "9"}])
    assert [len(each.matches) for each in results] == [0, 1, 1]
    assert (sizes, MADE["decode"]) == ([3], 3)
