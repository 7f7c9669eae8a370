"""Shows attributes of events as rows of a table: how many have them, their kinds and values.

A row for an attribute and a kind: `events` that have it, `distinct` values, and `quantiles`
(`strings` for strings), evenly spaced among its values in their order, `approximate` where there
were too many values to keep; those of booleans are 0 and 1, arrays have none.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping
from itertools import accumulate
from typing import Any

import numpy as np

from tamis.spaces.attribute import AttributeSpaces
from tamis.spaces.cells import NumberCells, StringCells

QUANTILES = 257


def rows_of(counted: Mapping[str, AttributeSpaces]) -> list[dict[str, Any]]:
    """Returns a row for an attribute and a kind: events, distinct values, and where these lie."""
    rows = []
    for name in sorted(counted):
        spaces = counted[name]
        kinds, numbers, strings = spaces.kinds, spaces.number_cells, spaces.string_cells
        booleans = kinds.true + kinds.false
        if kinds.array:
            rows.append(_row(name, "array", kinds.array))
        if booleans:
            flags = [float(at >= kinds.false) for at in _ranks(booleans)]
            distinct = bool(kinds.true) + bool(kinds.false)
            rows.append(_row(name, "boolean", booleans, distinct, quantiles=flags))
        if kinds.number:
            quantiles = numbers.quantiles(QUANTILES)
            found = _row(name, "number", kinds.number, numbers.distinct, quantiles=quantiles)
            rows.append({**found, "approximate": not numbers.is_whole})
        if kinds.other:
            rows.append(_row(name, "other", kinds.other))
        if kinds.string:
            places = strings.quantiles(QUANTILES)
            found = _row(name, "string", kinds.string, strings.distinct, strings=places)
            rows.append({**found, "approximate": not strings.is_whole})
    return rows


def _row(
    name: str,
    kind: str,
    events: int,
    distinct: int | None = None,
    quantiles: list[float] | None = None,
    strings: list[str] | None = None,
) -> dict[str, Any]:
    return {
        "attribute": name,
        "events": events,
        "kind": kind,
        "distinct": None if distinct is None else min(distinct, events),  # it may be an estimate
        "approximate": False,
        "quantiles": quantiles,
        "strings": strings,
    }


def _ranks(count: int) -> list[int]:
    places = min(count, QUANTILES)
    step = (count - 1) / max(1, places - 1)
    return [round(place * step) for place in range(places)]


def spaces_of(rows: Iterable[Mapping[str, Any]]) -> dict[str, AttributeSpaces]:
    """Makes cells of rows of attributes: their quantiles, each with its share of the events."""
    counted: dict[str, AttributeSpaces] = {}
    for row in rows:
        spaces = counted.setdefault(row["attribute"], AttributeSpaces())
        events, kinds = row["events"], spaces.kinds
        values = row.get("quantiles") or row.get("strings") or []
        shares = _shared(values, events)
        match row["kind"]:
            case "number":
                kinds.number = events
                numbers = np.array(list(shares), np.float64) + 0.0
                held = np.array(list(shares.values()), np.int64)
                spaces.number_cells = NumberCells.of(numbers, held)
            case "string":
                kinds.string = events
                spaces.string_cells = StringCells(shares)
            case "boolean":
                true = sum(held for value, held in shares.items() if value)
                kinds.true, kinds.false = true, events - true
            case "array":
                kinds.array = events
                spaces.elements.is_whole = False
            case _:
                kinds.other = events
    return counted


def _shared(values: list[Any], events: int) -> dict[Any, int]:
    """Returns each distinct value in order, with its share of so many events."""
    shares: dict[Any, int] = {}
    before = 0
    for at, value in enumerate(values, 1):
        upto = events * at // len(values)
        shares[value] = shares.get(value, 0) + upto - before
        before = upto
    return shares


def merged_rows(
    one: Iterable[Mapping[str, Any]], other: Iterable[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Returns the rows of both: events add up, quantiles are those of both together."""
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    for row in (*one, *other):
        key = (row["attribute"], row["kind"])
        rows[key] = _merged(rows[key], row) if key in rows else dict(row)
    return [rows[key] for key in sorted(rows)]


def _merged(one: dict[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    merged = {**one, "events": one["events"] + other["events"]}
    if one.get("distinct") is not None and other.get("distinct") is not None:
        merged["distinct"] = max(one["distinct"], other["distinct"])
    if other.get("approximate"):
        merged["approximate"] = True
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
    """Returns evenly spaced ones of values that stand for so many events each."""
    ends = list(accumulate(weight for _, weight in weighted))
    places = min(len(ends), QUANTILES)
    last = len(ends) - 1
    step = ends[-1] / places
    found = (bisect_left(ends, (place + 0.5) * step) for place in range(places))
    values = [weighted[min(at, last)][0] for at in found]
    return [weighted[0][0], *values[1:-1], weighted[-1][0]] if places > 1 else values
