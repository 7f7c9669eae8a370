"""Codes subscriptions for scans: in the smallest type, their most selective predicates first.

A code is a number of a predicate space: the value itself where values are few integers, else how
many of the attribute's bounds lie at or below the value. So a closed range of values is a closed
range of codes, and the code of an absent attribute is in no range.
Cost: O(predicates), sorting where values are floats.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tamis_bench.boxes import Boxes
from tamis_bench.kernels import Codes, Extra, Floats, Ints, Sets, Starts


@dataclass(frozen=True)
class CodedWorkload:
    """Some of the subscriptions of a workload, and its events, in codes."""

    ids: Ints
    start: Starts
    attribute: Codes
    low: Codes
    high: Codes
    extra: Extra | None
    sets: Sets
    events: Codes
    """A row an event, a column an attribute; `absent` where there is none."""
    spaces: Ints
    """The number of codes of each attribute."""

    @property
    def absent(self) -> int:
        """Returns the code of an attribute that is not there."""
        return int(np.iinfo(self.low.dtype).max)

    def __len__(self) -> int:
        return len(self.ids)


def coded(boxes: Boxes, rows: Ints) -> CodedWorkload:
    """Returns the codes of some subscriptions."""
    start, places = selected(boxes, rows)
    attribute, low, high = boxes.attribute[places], boxes.low[places], boxes.high[places]
    extra = None if boxes.extra is None else boxes.extra[places]
    wide = (high - low + 1) / (boxes.shape.values or 1)
    if extra is not None:
        sizes = np.bitwise_count(boxes.sets).sum(axis=1)
        wide[extra >= 0] = sizes[extra[extra >= 0]] / (boxes.shape.values or 1)
        wide[extra < -1] = 1.0
    popular = np.bincount(attribute, minlength=len(boxes.names)) / max(1, len(attribute))
    owner = np.repeat(np.arange(len(rows)), np.diff(start))
    order = np.lexsort((wide * popular[attribute], owner))
    attribute, low, high = attribute[order], low[order], high[order]
    extra = None if extra is None else extra[order]
    low, high, events, spaces = _codes(boxes, attribute, low, high)
    small = np.min_scalar_type(max(0, len(boxes.names) - 1))
    return CodedWorkload(
        rows, start, attribute.astype(small), low, high, extra, boxes.sets, events, spaces
    )


def selected(boxes: Boxes, rows: Ints) -> tuple[Starts, slice | Ints]:
    """Returns where rows begin when they alone are there, and the places of their predicates."""
    lengths = np.diff(boxes.start)[rows]
    start = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    if len(rows) and rows[-1] - rows[0] + 1 == len(rows):
        return start, slice(int(boxes.start[rows[0]]), int(boxes.start[rows[-1] + 1]))
    shift = np.repeat(boxes.start[rows] - start[:-1], lengths)
    return start, shift + np.arange(start[-1])


def _codes(
    boxes: Boxes, attribute: Codes, low: Floats, high: Floats
) -> tuple[Codes, Codes, Codes, Ints]:
    values, count = boxes.shape.values, len(boxes.names)
    if values is not None:
        kind = np.min_scalar_type(values)
        events = np.where(np.isnan(boxes.events), np.iinfo(kind).max, boxes.events)
        spaces = np.full(count, values)
        return low.astype(kind), high.astype(kind), events.astype(kind), spaces
    low_code, high_code = np.empty(len(low), np.int32), np.empty(len(low), np.int32)
    events = np.full(boxes.events.shape, np.iinfo(np.int32).max, np.int32)
    spaces = np.ones(count, np.int64)
    for each in range(count):
        mine = np.flatnonzero(attribute == each)
        above = np.nextafter(high[mine], np.inf)
        cuts = np.unique(np.concatenate([low[mine], above]))
        low_code[mine] = np.searchsorted(cuts, low[mine], side="right")
        high_code[mine] = np.searchsorted(cuts, high[mine], side="right")
        there = np.flatnonzero(~np.isnan(boxes.events[:, each]))
        events[there, each] = np.searchsorted(cuts, boxes.events[there, each], side="right")
        spaces[each] = len(cuts) + 1
    return low_code, high_code, events, spaces
