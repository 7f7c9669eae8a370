"""Counts of spaces, cells and answers as rows of tables, so that they add up later.

`cells/` has a row an attribute and kind, `spaces/` a row an attribute and sort of mark, `answers/`
a row an answer of a call. Numbers beyond 2**53 and elements are written as JSON.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from tamis.numeric.keys import keys_of
from tamis.statistics.answers import CallAnswers
from tamis.statistics.cells import ElementCounts, NumberCells, StringCells
from tamis.statistics.spaces import ELEMENT, SET_ALL, SET_ANY, Line, Marks, Spaces, element_key

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
ANSWER_COLUMNS = {
    "predicate": "string",
    "solutions": "string",
    "events": "int64",
    "event": "uint64",
}
_KINDS = ("number", "string", "true", "false", "array", "other")
_SORTS = ("number", "large", "string", "ending")
_LINES = {"number": "numbers", "large": "large", "string": "strings", "ending": "endings"}
_SETS = (SET_ANY, SET_ALL)


def cell_rows(counted: Mapping[str, Spaces]) -> Iterable[dict[str, Any]]:
    """The cells of each attribute."""
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


def take_cells(counted: dict[str, Spaces], rows: Iterable[Mapping[str, Any]]) -> None:
    """Takes what `cell_rows` gave, beside the marks that are known."""
    for row in rows:
        spaces = counted.get(row["attribute"])
        if spaces is None:
            spaces = counted[row["attribute"]] = Spaces(Marks())
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


def space_rows(counted: Mapping[str, Spaces]) -> Iterable[dict[str, Any]]:
    """The counts at the marks of each attribute."""
    for name, spaces in counted.items():
        marks = spaces.marks
        for sort in _SORTS:
            values, line = getattr(marks, _LINES[sort]), getattr(spaces, _LINES[sort])
            if not len(values):
                continue
            row: dict[str, Any] = dict.fromkeys(SPACE_COLUMNS)
            row |= {"attribute": name, "sort": sort, "below": line.below, "upto": line.upto}
            if sort == "number":
                row["marks"] = values
            else:
                row["strings"] = list(map(json.dumps, values)) if sort == "large" else values
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


def spaces_from(rows: Iterable[Mapping[str, Any]]) -> dict[str, Spaces]:
    """What `space_rows` gave: marks with their counts, without cells."""
    by_attribute: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        by_attribute.setdefault(row["attribute"], []).append(row)
    counted = {}
    for name, several in by_attribute.items():
        marks, lines, things = Marks(), {}, list[int]()
        for row in several:
            sort = row["sort"]
            if sort not in _SORTS:
                for text, count in zip(row["strings"], row["upto"], strict=True):
                    marks.things[sort, _thing(sort, json.loads(text))] = len(things)
                    things.append(count)
                continue
            if sort == "number":
                values: Any = np.array(row["marks"], np.float64)
            else:
                values = (
                    list(map(json.loads, row["strings"])) if sort == "large" else row["strings"]
                )
            setattr(marks, _LINES[sort], values)
            both = (np.array(row[side], np.int64) for side in ("below", "upto"))
            lines[_LINES[sort]] = Line(*both)
        spaces = counted[name] = Spaces(marks)
        spaces.things = np.array(things, np.int64)
        for attribute, line in lines.items():
            setattr(spaces, attribute, line)
    return counted


def answer_rows(answers: Mapping[str, CallAnswers]) -> Iterable[dict[str, Any]]:
    """The answers of each call: counted ones without an event, kept ones with its hash."""
    for predicate, mine in answers.items():
        for solutions, events in (mine.counts or {}).items():
            yield {"predicate": predicate, "solutions": solutions, "events": events, "event": None}
        for event, solutions in mine.kept:
            yield {"predicate": predicate, "solutions": solutions, "events": 0, "event": event}


def answers_from(rows: Iterable[Mapping[str, Any]]) -> dict[str, CallAnswers]:
    """What `answer_rows` gave."""
    found: dict[str, tuple[dict[str, int], list[tuple[int, str]]]] = {}
    for row in rows:
        counts, kept = found.setdefault(row["predicate"], ({}, []))
        if row["event"] is None:
            counts[row["solutions"]] = row["events"]
        else:
            kept.append((row["event"], row["solutions"]))
    return {
        predicate: CallAnswers(counts or None, sorted(kept))
        for predicate, (counts, kept) in found.items()
    }
