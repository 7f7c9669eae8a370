"""A stream that changes: what has become costly, broken or useless is asked later, and soon.

Time is counted, not measured: operators advance the clock by what they take.
"""

from __future__ import annotations

import pytest

from tamis import Statistics

from .streams import Behavior, Stream

RARE, FREQUENT = 0.02, 0.98
KNOWN = Statistics(
    selectivity={"one(1)": RARE, "two(1)": RARE}, cost={"one(1)": 0.001, "two(1)": 0.002}
)


def stream(statistics: Statistics | None, seed: int = 0) -> Stream:
    behaviors = {"one": Behavior(RARE, 0.001), "two": Behavior(RARE, 0.002)}
    return Stream(behaviors, "one(1) and two(1)", statistics=statistics, seed=seed)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("statistics", [None, KNOWN], ids=["no history", "history"])
@pytest.mark.parametrize("before", [20, 400])
@pytest.mark.parametrize(
    ("change", "within"),
    [
        (Behavior(RARE, 0.001, fails=True), 10),
        (Behavior(RARE, 0.1), 2),
        (Behavior(RARE, 0.004), 100),
        (Behavior(FREQUENT, 0.001), 80),
    ],
    ids=["fails", "a hundred times slower", "four times slower", "frequent"],
)
def test_what_changes_is_asked_later(
    change: Behavior, within: int, before: int, statistics: Statistics | None, seed: int
) -> None:
    changing = stream(statistics, seed)
    changing.run(before)
    assert set(changing.first[-10:]) == {"one(1)"}
    changing.operators["one"].behavior = change
    changing.run(within)
    changing.first.clear()
    asked = changing.operators["one"].calls
    changing.run(200)
    assert set(changing.first) == {"two(1)"}
    assert changing.operators["one"].calls - asked <= 200 * 3 * RARE


def test_without_learning_nothing_changes() -> None:
    changing = Stream(
        {"one": Behavior(RARE, 0.001), "two": Behavior(RARE, 0.002)},
        "one(1) and two(1)",
        statistics=KNOWN,
        learning=False,
    )
    changing.run(20)
    changing.operators["one"].behavior = Behavior(FREQUENT, 0.1, fails=True)
    changing.run(100)
    assert set(changing.first) == {"one(1)"}
    assert changing.matcher.learned() is KNOWN


def test_what_was_broken_is_tried_again() -> None:
    changing = stream(KNOWN)
    changing.operators["one"].behavior = Behavior(RARE, 0.001, fails=True)
    changing.run(100)
    assert set(changing.first[50:]) == {"two(1)"}
    changing.operators["one"].behavior = Behavior(RARE, 0.001)
    changing.run(3000)
    assert set(changing.first[-100:]) == {"one(1)"}


def test_the_first_event_is_as_history_has_it() -> None:
    reverse = Statistics(
        selectivity={"one(1)": FREQUENT, "two(1)": RARE}, cost={"one(1)": 0.001, "two(1)": 0.001}
    )
    for statistics, first in ((KNOWN, "one(1)"), (reverse, "two(1)"), (None, "one(1)")):
        changing = stream(statistics)
        changing.run(1)
        assert changing.first == [first]


def test_a_wrong_history_is_corrected() -> None:
    wrong = Statistics(
        selectivity={"one(1)": FREQUENT, "two(1)": RARE}, cost={"one(1)": 0.001, "two(1)": 0.001}
    )
    changing = Stream(
        {"one": Behavior(RARE, 0.001), "two": Behavior(FREQUENT, 0.001)},
        "one(1) and two(1)",
        statistics=wrong,
    )
    changing.run(40)
    changing.first.clear()
    changing.run(100)
    assert set(changing.first) == {"one(1)"}


def test_one_pause_of_the_machine_changes_nothing() -> None:
    changing = stream(None)
    changing.run(100)
    changing.operators["one"].behavior = Behavior(RARE, 5.0)
    changing.run(1)
    changing.operators["one"].behavior = Behavior(RARE, 0.001)
    changing.run(20)
    changing.first.clear()
    changing.run(100)
    assert set(changing.first) == {"one(1)"}
