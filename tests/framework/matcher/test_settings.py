"""Checks that a wrong setting of a matcher is refused with what it should be."""

from __future__ import annotations

from typing import Any

import pytest

import tamis


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"memo_bytes": 1e6}, "memo_bytes is a whole number"),
        ({"memo_seconds": "5"}, "memo_seconds is a number above 0"),
        ({"memo_seconds": True}, "memo_seconds is a number above 0"),
        ({"learning": "no"}, "learning is True or False"),
    ],
)
def test_a_wrong_setting_is_told_what_it_should_be(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(tamis.TamisError, match=words):
        tamis.Matcher([], **settings)


def test_operators_are_a_list() -> None:
    lone = tamis.operator(lambda event: True)
    with pytest.raises(tamis.OperatorError, match=r"operators are a list: pass \[myOperator"):
        tamis.Matcher(lone)  # type: ignore[arg-type]


@pytest.mark.parametrize("workers", [0, -1, 1.5, "2", None, True])
def test_workers_are_a_number(workers: Any) -> None:
    with pytest.raises(tamis.TamisError, match="workers are a whole number"):
        tamis.Matcher([], workers=workers)
