"""Asking an operator about a frame the way users do, through a matcher."""

from __future__ import annotations

import functools
from typing import Any

import tamis
from tamis_operators.image.pixel_records import pixel_operators


@functools.cache
def _records() -> list[tamis.OperatorRecord]:
    return pixel_operators([])


def solutions(predicate: str, image: object, *references: object) -> Any:
    """Whether a predicate holds, or the values of its variable."""
    records = pixel_operators([str(each) for each in references]) if references else _records()
    matcher = tamis.Matcher(operators=records)
    matcher.subscribe(predicate, id="s")
    result = matcher.match({"id": "e", "image": image})
    assert not result.undetermined, list(result.undetermined)
    if "?" not in predicate:
        return bool(result.matches)
    return [value for match in result.matches for each in match.bindings for value in each.values()]
