"""The yardstick of the index law, checked by hand."""

from __future__ import annotations

import math
from typing import Any

import pytest

from tamis.testing import satisfies

TIME = "2024-03-03T22:15:00.5-05:00"


@pytest.mark.parametrize(
    ("event", "clause", "truth"),
    [
        ({"a": 1}, ("a", "=", 1.0), True),
        ({"a": True}, ("a", "=", 1), False),
        ({"a": 2**53 + 1}, ("a", ">", float(2**53)), True),
        ({"a": 10**1000}, ("a", "=", math.inf), True),
        ({"a": math.nan}, ("a", "!=", 1), False),
        ({"a": "b"}, ("a", "!=", 1), False),
        ({}, ("a", "not in", [1]), False),
        ({"a": "b"}, ("a", "not in", [1, "c"]), True),
        ({"a": True}, ("a", "not in", [1, "c"]), False),
        ({"a": 3}, ("a", "between", (1, 3)), True),
        ({"a": 3}, ("a", "in [)", (1, 3)), False),
        ({"a": 1}, ("a", "in (]", (1, 3)), False),
        ({"a": 2}, ("a", "in ()", (1, 3)), True),
        ({"a": "b"}, ("a", "between", ("a", "c")), True),
        ({"a": "abc"}, ("a", "starts with", "ab"), True),
        ({"a": "abc"}, ("a", "not ends with", "bc"), False),
        ({"a": 3}, ("a", "not contains", "b"), False),
        ({"a": "abc"}, ("a", "matches", "b"), True),
        ({"a": [1, None]}, ("a", "has", 1), True),
        ({"a": [1, [2]]}, ("a", "has", 1), False),
        ({"a": [True]}, ("a", "has any", [1]), False),
        ({"a": [1, 2]}, ("a", "has all", [2, 1.0]), True),
        ({"a": [1]}, ("a", "not has all", [2, 1]), True),
        ({"a": []}, ("a", "has none", [1]), True),
        ({"a": "x"}, ("a", "has none", [1]), False),
        ({"a": {}}, ("a", "exists", None), True),
        ({"a": None}, ("a", "not exists", None), True),
        ({"a": {"b": 3}}, ("a.b", "=", 3), True),
        ({"a.b": 4, "a": {"b": 3}}, ("a.b", "=", 3), False),
        ({"time": TIME}, ("time.hour", "=", 22), True),
        ({"time": TIME}, ("time.weekday", "=", 7), True),
        ({"time": TIME}, ("time.epoch", "=", 1709522100.5), True),
        ({"time": TIME, "time.hour": 3}, ("time.hour", "=", 3), True),
        ({"time": "2024-03-03"}, ("time.epoch", "=", 1709424000), True),
        ({"time": "2024:03:03 22:15:00"}, ("time.hour", "=", 22), True),
        ({"time": 1709522100}, ("time.hour", "=", 3), True),
        ({"time": 1709522100500}, ("time.epoch", "=", 1709522100.5), True),
        ({"time": 1709522100500000}, ("time.hour", "exists", None), False),
        ({"time": True}, ("time.hour", "exists", None), False),
        ({"time": "2024-02-30T00:00:00Z"}, ("time.hour", "exists", None), False),
        ({"time": "2016-12-31T23:59:60Z"}, ("time.epoch", "=", 1483228800), True),
    ],
)
def test_clauses(event: dict[str, Any], clause: tuple[str, str, Any], truth: bool) -> None:
    assert satisfies(event, [clause]) is truth


def test_all_clauses_hold() -> None:
    assert satisfies({"a": 1}, [])
    assert satisfies({"a": 1, "b": 2}, [("a", "=", 1), ("b", "=", 2)])
    assert not satisfies({"a": 1, "b": 3}, [("a", "=", 1), ("b", "=", 2)])
