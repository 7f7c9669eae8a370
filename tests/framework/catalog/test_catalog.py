"""Checks the rows and edges of subscriptions: shared calls, rows used again, holes closed."""

from __future__ import annotations

import gc
import random
from typing import Any

import tamis
from tamis.testing import TableOperator, truth_table


def matcher() -> tamis.Matcher:
    return tamis.Matcher(operators=[truth_table("seen"), TableOperator("count", outputs=("n",))])


def catalog_of(one: tamis.Matcher) -> Any:
    return one._catalog


def test_calls_and_tests_are_shared_and_counted() -> None:
    one = matcher()
    one.subscribe("seen(a) and count(k, ?n) and ?n > 3", id="s1")
    one.subscribe("not seen(a) or count(k, 5)", id="s2")
    one.subscribe("count(k, ?m) and ?m > 3", id="s3")
    catalog = catalog_of(one)
    assert len(catalog.calls) == 2
    assert len(catalog.tests) == 3
    one.unsubscribe("s1")
    assert (len(catalog.calls), len(catalog.tests)) == (2, 3)
    one.unsubscribe("s3")
    assert (len(catalog.calls), len(catalog.tests)) == (2, 2)
    one.unsubscribe("s2")
    assert (len(catalog.calls), len(catalog.tests)) == (0, 0)


def test_rows_are_used_again_only_after_results_are_gone() -> None:
    one = matcher()
    one.subscribe("a = 1", id="s1", data={"note": "first"})
    held = one.match({"a": 1})
    one.unsubscribe("s1")
    for number in range(50):
        one.subscribe("a = 2", id=f"t{number}", data={"note": "later"})
    assert [(each.subscription, each.data) for each in held.matches] == [("s1", {"note": "first"})]
    rows = len(catalog_of(one)._ids)
    del held
    gc.collect()
    for number in range(50):
        one.unsubscribe(f"t{number}")
        one.subscribe("a = 3", id=f"u{number}")
    assert len(catalog_of(one)._ids) <= rows + 1


def test_memory_does_not_grow_with_turnover() -> None:
    one = matcher()
    catalog = catalog_of(one)
    for number in range(3_000):
        one.subscribe(f"seen(k{number % 7}) and a = {number} or not seen(b)", id=f"s{number}")
        if number >= 20:
            one.unsubscribe(f"s{number - 20}")
        if number == 200:
            early = catalog.nbytes
    assert len(one) == 20
    assert catalog.nbytes < early + 200_000
    assert len(catalog.tests) == 8


def test_answers_stay_right_through_any_turnover() -> None:
    chance = random.Random(1)
    one = matcher()
    live: dict[str, tuple[int, str]] = {}
    for step in range(1_500):
        id = f"s{chance.randrange(30)}"
        if id in live and chance.random() < 0.5:
            one.unsubscribe(id)
            del live[id]
        else:
            level, key = chance.randrange(4), chance.choice("abc")
            one.subscribe(f"a > {level} and seen({key}) or b = {level}", id=id, replace=True)
            live[id] = (level, key)
        if step % 10 == 0:
            truths = {key: chance.random() < 0.5 for key in "abc"}
            a, b = chance.randrange(5), chance.randrange(5)
            found = one.match({"a": a, "b": b, "seen": truths})
            assert [each.subscription for each in found.matches] == sorted(
                id for id, (level, key) in live.items() if (a > level and truths[key]) or b == level
            )
    assert len(one) == len(live)


def test_a_subscription_is_handed_back_as_it_came() -> None:
    one = matcher()
    one.subscribe_many([{"id": "s1", "where": "a = 1  -- "[:7], "owner": {"name": "é", "n": [1]}}])
    found = one.subscription("s1")
    assert (found.id, found.text, found.data) == (
        *("s1", "a = 1  "),
        {"owner": {"name": "é", "n": [1]}},
    )
