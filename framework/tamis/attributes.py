"""What attributes events have: how many events, of which kinds, where their values lie.

A row for an attribute and a kind: `events` that have it, `distinct` values, and `quantiles`
(`strings` for strings), evenly spaced among its values in their order; those of booleans are 0 and
1, arrays have none.
Cost: O(values), which are all kept until the last event was seen.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from tamis.clock import TIME_ATTRIBUTES
from tamis.event import Event
from tamis.values import KIND_NAMES, as_scalar, kind_of

_QUANTILES = 257
_DEEPEST = 8
_DERIVED = {derived.name: derived for derived in TIME_ATTRIBUTES}


def attribute_rows(events: Iterable[Mapping[str, Any]]) -> tuple[list[dict[str, Any]], int]:
    """The rows, sorted by attribute and kind, and how many events there were."""
    values: dict[tuple[str, str], list[Any]] = {}
    count = 0
    for document in events:
        count += 1
        for name, kind, value in _attributes(Event.of(document, str, _DERIVED)):
            values.setdefault((name, kind), []).append(value)
    return [_row(name, kind, values[name, kind]) for name, kind in sorted(values)], count


def _attributes(event: Event) -> Iterator[tuple[str, str, Any]]:
    """Name, kind and value of everything that a predicate may ask for."""
    yield from _walked(event, event.content, "", 0)
    if "time" in event.content:
        for name in _DERIVED:
            value = event.scalar(name)
            if value is not None and name not in event.content:
                yield name, KIND_NAMES[kind_of(value)], value


def _walked(
    event: Event, content: Mapping[str, Any], path: str, depth: int
) -> Iterator[tuple[str, str, Any]]:
    for key, value in content.items():
        if not isinstance(key, str):
            continue
        scalar = as_scalar(value)
        if scalar is not None:
            yield path + key, KIND_NAMES[kind_of(scalar)], scalar
        elif isinstance(value, Mapping):
            yield path + key, "other", None
            if depth < _DEEPEST:
                yield from _walked(event, value, f"{path}{key}.", depth + 1)
        elif value is not None and value == value:
            array = isinstance(value, (list, tuple)) and event.array(path + key) is not None
            yield path + key, "array" if array else "other", None


def _row(name: str, kind: str, values: list[Any]) -> dict[str, Any]:
    row: dict[str, Any] = {"attribute": name, "events": len(values), "kind": kind}
    row |= {"distinct": None, "quantiles": None, "strings": None}
    if kind not in KIND_NAMES:
        return row
    ordered = sorted(values)
    last = len(ordered) - 1
    places = range(min(len(ordered), _QUANTILES))
    step = last / max(1, len(places) - 1)
    quantiles = [ordered[round(place * step)] for place in places]
    row["distinct"] = len(set(ordered))
    if kind == "string":
        row["strings"] = quantiles
    else:
        row["quantiles"] = [_number(each) for each in quantiles]
    return row


def _number(value: bool | int | float) -> float:
    try:
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")
