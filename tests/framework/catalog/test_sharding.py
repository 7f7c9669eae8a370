"""Shards: everything in one of them, balanced, fewer copies of calls than by a hash."""

from __future__ import annotations

import random
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

import tamis
from tamis.catalog.sharding import copies, cut_of, placed


@tamis.operator(inputs=("place",))
def near(event: Any, place: Any) -> bool:
    return bool(event["place"] == place)


@settings(max_examples=80, deadline=None)
@given(
    st.lists(st.lists(st.integers(0, 12), max_size=4, unique=True), min_size=1, max_size=40),
    st.integers(1, 6),
)
@example([*[[]] * 12, *[[0]] * 8], 3)  # 20 / 3 * 1.05 is above 7, as doubles have it
def test_every_one_has_a_place_and_places_are_balanced(held: list[list[int]], shards: int) -> None:
    place = placed(held, shards)
    assert len(place) == len(held)
    sizes = [int((place == at).sum()) for at in range(shards)]
    assert sum(sizes) == len(held)
    assert max(sizes) <= -(-len(held) * 105 // (100 * shards))
    calls = len({call for mine in held for call in mine})
    assert calls <= copies(held, place) <= calls * shards


def test_what_belongs_together_stays_together() -> None:
    chance = random.Random(1)
    matcher = tamis.Matcher([near])
    towns = [(town, [f"p{town}_{at}" for at in range(12)]) for town in range(8)]
    entries = [
        {"id": f"s{at}", "where": " and ".join(f"near({p})" for p in chance.sample(places, 3))}
        for at in range(800)
        for _, places in [towns[at % 8]]
    ]
    matcher.subscribe_many(entries)
    cut = cut_of(matcher._catalog, 4)
    assert sorted(id for ids in cut.ids for id in ids) == sorted(matcher)
    assert cut.calls == 96
    assert cut.hashed == 4 * cut.calls
    assert cut.copies <= 1.3 * cut.calls
    assert "each of 96 calls is in" in str(cut)
