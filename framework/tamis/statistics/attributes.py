"""What attributes events have: how many events, of which kinds, where their values lie.

A row for an attribute and a kind: `events` that have it, `distinct` values, and `quantiles`
(`strings` for strings), evenly spaced among its values in their order; those of booleans are 0 and
1, arrays have none.
Cost: O(values), which are all kept until the last event was seen.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from itertools import accumulate
from typing import Any

from tamis.event import Event
from tamis.event.clock import TIME_ATTRIBUTES
from tamis.language.values import KIND_NAMES, as_scalar, kind_of

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


def merged_rows(
    one: Iterable[Mapping[str, Any]], other: Iterable[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """The rows of both: events add up, quantiles are those of both together."""
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    for row in (*one, *other):
        key = (row["attribute"], row["kind"])
        rows[key] = _merged(rows[key], row) if key in rows else dict(row)
    return [rows[key] for key in sorted(rows)]


def _merged(one: dict[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    merged = {**one, "events": one["events"] + other["events"]}
    if one.get("distinct") is not None and other.get("distinct") is not None:
        merged["distinct"] = max(one["distinct"], other["distinct"])
    for name in ("quantiles", "strings"):
        if one.get(name) and other.get(name):
            weighted = sorted(
                (value, row["events"] / len(row[name]))
                for row in (one, other)
                for value in row[name]
            )
            merged[name] = _weighted_quantiles(weighted)
        else:
            merged[name] = one.get(name) or other.get(name)
    return merged


def _weighted_quantiles(weighted: list[tuple[Any, float]]) -> list[Any]:
    """Evenly spaced ones of values that stand for so many events each."""
    ends = list(accumulate(weight for _, weight in weighted))
    places = min(len(ends), _QUANTILES)
    last = len(ends) - 1
    step = ends[-1] / places
    found = (bisect_left(ends, (place + 0.5) * step) for place in range(places))
    values = [weighted[min(at, last)][0] for at in found]
    return [weighted[0][0], *values[1:-1], weighted[-1][0]] if places > 1 else values
