"""Writes counts of spaces and cells as rows of tables, and reads them, so that they add up later.

`cells/` has a row an attribute and kind, `spaces/` a row an attribute and sort of mark: how many
events lie below each mark, and not above it. Numbers beyond 2**53 and elements are written as JSON.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from tamis.numeric.keys import keys_of
from tamis.spaces.attribute import ELEMENT, SET_ALL, SET_ANY, AttributeSpaces, Marks, element_key
from tamis.spaces.cells import ElementCounts, NumberCells, StringCells
from tamis.spaces.line import LARGE, LINES, NUMBERS

CELL_COLUMNS = {
    "attribute": "string",
    "kind": "string",
    "events": "int64",
    "coarseness": "int64",
    "whole": "bool",
    "first": "list<double>",
    "last": "list<double>",
    "strings": "list<string>",
    "counts": "list<int64>",
    "hashes": "list<uint64>",
}
SPACE_COLUMNS = {
    "attribute": "string",
    "sort": "string",
    "marks": "list<double>",
    "strings": "list<string>",
    "below": "list<int64>",
    "upto": "list<int64>",
}
_KINDS = ("number", "string", "true", "false", "array", "other")
_SETS = (SET_ANY, SET_ALL)


def cell_rows(counted: Mapping[str, AttributeSpaces]) -> Iterable[dict[str, Any]]:
    """Yields the cells of each attribute."""
    for name, spaces in counted.items():
        for kind in _KINDS:
            events = getattr(spaces.kinds, kind)
            if not events:
                continue
            row: dict[str, Any] = dict.fromkeys(CELL_COLUMNS)
            row |= {"attribute": name, "kind": kind, "events": events, "whole": True}
            if kind == "number":
                cells = spaces.number_cells
                row |= {"coarseness": cells.level, "whole": cells.is_whole, "first": cells.first}
                row |= {"last": cells.last, "counts": cells.events, "hashes": cells.hashes}
            elif kind == "string":
                strings = spaces.string_cells
                row |= {"coarseness": strings.letters, "whole": strings.is_whole}
                row |= {"strings": list(strings.events), "counts": list(strings.events.values())}
                row |= {"hashes": strings.hashes}
            elif kind == "array":
                elements = spaces.elements
                row |= {"strings": [json.dumps(value) for _, value in elements.events]}
                row |= {"counts": list(elements.events.values()), "whole": elements.is_whole}
            yield row


def space_rows(counted: Mapping[str, AttributeSpaces]) -> Iterable[dict[str, Any]]:
    """Yields the counts at the marks of each attribute."""
    for name, spaces in counted.items():
        marks = spaces.marks
        for sort in LINES:
            values, line = marks.lines.get(sort, ()), spaces.lines[sort]
            if not len(values):
                continue
            row: dict[str, Any] = dict.fromkeys(SPACE_COLUMNS)
            row |= {"attribute": name, "sort": sort}
            row |= {"below": line.before_all(values), "upto": line.before_all(values, True)}
            if sort == NUMBERS:
                row["marks"] = values
            else:
                row["strings"] = list(map(json.dumps, values)) if sort == LARGE else values
            yield row
        by_sort: dict[str, list[Any]] = {}
        for thing, at in marks.things.items():
            by_sort.setdefault(thing[0], []).append((thing[1], int(spaces.things[at])))
        for sort, things in by_sort.items():
            row = dict.fromkeys(SPACE_COLUMNS)
            row |= {"attribute": name, "sort": sort, "upto": [count for _, count in things]}
            row["strings"] = [json.dumps(_plain(sort, thing)) for thing, _ in things]
            yield row


def _plain(sort: str, thing: Any) -> Any:
    if sort in _SETS:
        return [value for _, value in thing]
    return thing[1] if sort == ELEMENT else thing


def _thing(sort: str, value: Any) -> Any:
    if sort in _SETS:
        return tuple(element_key(each) for each in value)
    return element_key(value) if sort == ELEMENT else value


def spaces_from(
    space_rows: Iterable[Mapping[str, Any]], cell_rows: Iterable[Mapping[str, Any]]
) -> dict[str, AttributeSpaces]:
    """Returns the spaces of each attribute from the rows of both tables."""
    by_attribute: dict[str, list[Mapping[str, Any]]] = {}
    for row in space_rows:
        by_attribute.setdefault(row["attribute"], []).append(row)
    counted = {name: _counted_at_marks(rows) for name, rows in by_attribute.items()}
    _take_cells(counted, cell_rows)
    for spaces in counted.values():
        for name, line in spaces.lines.items():
            kinds = spaces.kinds
            total = kinds.number if name in (NUMBERS, LARGE) else kinds.string
            line.count_last(total)
    return counted


def _counted_at_marks(rows: Iterable[Mapping[str, Any]]) -> AttributeSpaces:
    marks, things, at_marks = Marks(), list[int](), {}
    for row in rows:
        sort = row["sort"]
        if sort not in LINES:
            for text, count in zip(row["strings"], row["upto"], strict=True):
                marks.things[sort, _thing(sort, json.loads(text))] = len(things)
                things.append(count)
            continue
        if sort == NUMBERS:
            marks.lines[sort] = np.array(row["marks"], np.float64)
        else:
            strings = row["strings"]
            marks.lines[sort] = list(map(json.loads, strings)) if sort == LARGE else strings
        at_marks[sort] = [np.array(row[side], np.int64) for side in ("below", "upto")]
    spaces = AttributeSpaces(marks)
    spaces.things = np.array(things, np.int64)
    for name, (below, upto) in at_marks.items():
        spaces.lines[name].take_sums(marks.lines[name], below, upto)
    return spaces


def _take_cells(counted: dict[str, AttributeSpaces], rows: Iterable[Mapping[str, Any]]) -> None:
    """Takes what `cell_rows` gave, beside the marks that are known."""
    for row in rows:
        spaces = counted.setdefault(row["attribute"], AttributeSpaces())
        kind = row["kind"]
        setattr(spaces.kinds, kind, row["events"])
        counts = row["counts"] or []
        if kind == "number":
            first, level = np.array(row["first"], np.float64), row["coarseness"]
            spaces.number_cells = NumberCells(
                level,
                keys_of(first) >> level,
                np.array(counts, np.int64),
                first,
                np.array(row["last"], np.float64),
                np.array(row["hashes"], np.uint64),
            )
        elif kind == "string":
            strings = dict(zip(row["strings"], counts, strict=True))
            hashes = np.array(row["hashes"], np.uint64)
            spaces.string_cells = StringCells(strings, row["coarseness"], row["whole"], hashes)
        elif kind == "array":
            values = [element_key(json.loads(each)) for each in row["strings"]]
            found = dict(zip(values, counts, strict=True))
            spaces.elements = ElementCounts(found, row["whole"])
