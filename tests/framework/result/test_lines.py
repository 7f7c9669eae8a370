"""Checks that lines of results equal their dictionaries, whatever was formatted before."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import tamis
from tamis.files.writing import json_bytes
from tamis.result.lines import ResultTexts, kept_of

NASTY = ('a"b\\c', "é\n", "\ud800", "plain", "data", "")
DATA = st.dictionaries(st.sampled_from(NASTY), st.sampled_from((1, None, "x", [1e999], {"k": "é"})))
PARTS = ("a > 1", "count(?n), ?n > 2", "count(?n) or a > 0", "broken(1)", "broken(?x) or a > 0")
WHERE = st.sampled_from(PARTS)
ENTRIES = st.lists(st.tuples(WHERE, DATA), max_size=6)
EVENTS = st.fixed_dictionaries(
    {"a": st.integers(0, 3)},
    optional={
        "counts": st.lists(st.sampled_from((1, 3, 4.5, "\ud800", float("inf"))), max_size=3),
        "b": st.sampled_from(("é", [1, None, "x"], [[1]], {"c": 3}, b"bytes", None, 10**400)),
        "id": st.sampled_from(NASTY[:4]),
    },
)
KEPT = ("b", "b.c", "time.hour", "a", "none")


@tamis.operator(inputs=("counts",), outputs=("n",))
def count(event: Any, n: object) -> list[object]:
    return list(event["counts"])


@tamis.operator(outputs=("x",))
def broken(event: Any, x: object) -> list[object]:
    raise ValueError("\ud800 broken")


@settings(max_examples=60)
@given(st.lists(st.tuples(ENTRIES, st.lists(EVENTS, max_size=3)), max_size=3))
def test_a_line_is_that_of_the_dictionary(rounds: list[Any]) -> None:
    with tamis.Matcher([count, broken], limits=tamis.Limits(assignments=2)) as matcher:
        texts, round_ = ResultTexts(), 0
        for entries, events in rounds:
            for at, (where, data) in enumerate(entries):
                more = {key: value for key, value in data.items() if key}
                matcher.subscribe(where, id=f"s{(at + round_) % 7}", replace=True, data=more)
            round_ += 3
            for event in events:
                result = matcher.match(event)
                kept = kept_of(result._seen.event, KEPT)
                plain = result.as_dict() | ({"kept": kept} if kept else {})
                assert texts.of(result, KEPT).line() == json_bytes(plain)
                assert texts.of(result).line({"v": 1}) == json_bytes(result.as_dict() | {"v": 1})


def test_what_is_kept_are_attributes() -> None:
    event = {"a": 1, "m": {"x": [1, None, "y"]}, "time": "2026-01-01T05:00:00Z", "raw": b"x"}
    result = tamis.Matcher([]).match(event | {"position": [1.5, 2], "number": np.int64(3)})
    names = ("a", "m", "m.x", "time.hour", "raw", "position", "none", "number")
    assert json.loads(json.dumps(kept_of(result._seen.event, names))) == {
        "a": 1, "m.x": [1, "y"], "time.hour": 5, "position": [1.5, 2], "number": 3,
    }  # fmt: skip


def test_shards_are_put_together_in_order() -> None:
    one, other = tamis.Matcher([broken]), tamis.Matcher([broken])
    both = tamis.Matcher([broken])
    for id, where in (("a", "x = 1"), ("b", "broken(1)"), ("c", "x = 1"), ("d", "broken(1)")):
        (one if id in "ad" else other).subscribe(where, id=id)
        both.subscribe(where, id=id)
    event = {"id": "e", "x": 1}
    text = ResultTexts().of(one.match(event))
    text.add(ResultTexts().of(other.match(event)))
    assert text.line() == ResultTexts().of(both.match(event)).line()
