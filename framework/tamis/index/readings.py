"""Packs what events have on the dimensions of an index into one array for kernels.

Making seven arrays for an event, and handing them over one by one, takes longer than many a match.
Cost: O(lines, bags and members).
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tamis.numeric.keys import double_of
from tamis.numeric.types import Floats, Ints

HEAD = 4
"""The integers before the columns."""


class Readings(NamedTuple):
    """Readings as kernels see them, in no particular order within an event.

    Lines of event `e` are those from `line_start[e]` to `line_start[e + 1]`; a NaN counts as
    absent. Its bags likewise, the members of bag `b` from `member_start[b]` on, sorted."""

    line_start: Ints
    line: Ints
    value: Floats
    bag_start: Ints
    bag: Ints
    member_start: Ints
    members: Floats


def packed(
    line_start: Sequence[int],
    line: Sequence[int],
    value: Sequence[float],
    bag_start: Sequence[int],
    bag: Sequence[int],
    member_start: Sequence[int],
    members: Sequence[float],
) -> Ints:
    """Returns one array: how many events, lines, bags and members, then the columns, integers
    first.

    Values may be integers of any size: each becomes the double nearest to it."""
    counts = len(line_start) - 1, len(line), len(bag), len(members)
    integers = 2 * (counts[0] + 1) + len(line) + 2 * len(bag) + 1
    form = f"{HEAD + integers}q{len(value) + len(members)}d"
    try:
        content = struct.pack(
            form, *counts, *line_start, *bag_start, *line, *bag, *member_start, *value, *members
        )
    except struct.error:  # an integer beyond all doubles
        value = [double_of(each) for each in value]
        return packed(line_start, line, value, bag_start, bag, member_start, members)
    return np.frombuffer(bytearray(content), np.int64)  # which can be written, as all are


def event_count(readings: Ints) -> int:
    """Counts the events in an array of readings."""
    return int(readings[0])


def most_at_once(readings: Ints) -> tuple[int, int]:
    """Returns at most how many lines and bags an event has, and how many members all events
    have."""
    places = event_count(readings) + 1
    lines = readings[HEAD : HEAD + places]
    bags = readings[HEAD + places : HEAD + 2 * places]
    return int(np.diff(lines).max() + np.diff(bags).max()), int(readings[3])
