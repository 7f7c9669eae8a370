"""Holds everything about rows in plain arrays, which kernels share and folders keep.

A *space* is what an event can be in: one value of a dimension (a point), a stretch of its cells, or
the whole of it (a root). A *node* is a sequence of spaces of different dimensions: node 0 is the
empty one, and an event is in a node when it is in all of its spaces. A node has a chain of
*segments*, in which its rows lie in chunks of 64 entries, a chunk in columns of bytes, three for
each of its *lanes*: the slots, the low codes and the widths. A chunk with all its lanes lies in one
piece, so that a segment is read from its first byte to its last; the last chunk is as wide as the
capacity leaves. The code of an event in a dimension is the number of the cell that holds its value,
`NOWHERE` if it has none; a lane holds when `code - low <= width`, in bytes without sign. A lane
with `EVERYTHING` as its width holds always.

A slot names a dimension: it is its number while there are at most `SLOTS`, else a place in the
dictionary of the segment. What codes cannot decide is in the *record* of a row, where a segment is
recorded: how many terms, how many of them (the first) to be checked, then each term.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tamis.numeric.types import Bytes, Floats, Ints, SmallInts

SLOTS = 128
NOWHERE, EVERYTHING = 255, 255
MOST_CELLS = 254
MOST_LANES = 63
CHUNK = 64
MOST_ACCESSES = 8
MOST_PAIRED = 256
"""Up to how many dimensions there is a place for each pair of them."""


def integers(*fields: str) -> np.dtype[np.void]:
    """Returns the type of records with these fields."""
    return np.dtype([(field, np.int64) for field in fields])


DIMENSION = integers("cuts", "cells", "coarse", "points", "levels", "root", "alone", "bag")
SEGMENT = np.dtype(
    [
        *((field, np.int64) for field in ("lanes_at", "rows_at", "capacity", "count")),
        *((field, np.int32) for field in ("lanes", "recorded", "next", "node")),
        *((f"dictionary_{field}", np.int32) for field in ("at", "count", "capacity")),
    ],
    align=True,
)
"""It fills a line of the caches."""
LADDER = integers("low", "count", "at")
TOPS = integers(
    *("spaces", "nodes", "segments", "lanes", "rows", "records", "dictionary", "more"),
    *("dead_lanes", "dead_records", "live", "wide", "ordered", "improvable", "known", "signed"),
    "dimensions",
)
"""How much of each array is in use, what is worth nothing any more, and what holds for all."""

WORDS = 4
"""The words of 32 bits in the signature of a block or an event."""
UNSIGNED, OF_ROWS, OF_BLOCKS = 0, 2 * CHUNK, WORDS
"""The values of `tops.signed`: the words of a chunk's signatures."""
SIGNATURES = {"none": UNSIGNED, "row": OF_ROWS, "block": OF_BLOCKS}

GONE = -1
"""The place of a row that is not there."""
NEVER = np.iinfo(np.int32).min
"""The place of a row that nothing can match."""


class Store(NamedTuple):
    """The arrays; what is in use of them is in `tops`."""

    dimensions: Any
    """A `DIMENSION` each: where its cuts begin, how many cells, and so on."""
    presence: Floats
    """The share of events (or else of rows) that have each dimension."""
    cuts: Floats
    """Ascending; a cell begins at a cut and ends before the next. One more place than cuts."""
    ladders: Any
    """A `LADDER` each: the first integer whose cell is in `rungs`, how many are, and where."""
    rungs: Bytes
    """The cells of integers, where a dimension is cut among few of them."""
    spaces: Ints
    """A dimension times two, plus one for a point; the bits of the point, or the stretch."""
    space_table: SmallInts
    space_node: SmallInts
    """The node of that space alone, -1 if there is none."""
    space_deep: Bytes
    """True if a node has it as its second space or a later one."""
    nodes: Ints
    """The node without its last space times 2**32, and that space."""
    node_table: SmallInts
    chains: SmallInts
    """The first segment of each node, -1 if it has none."""
    pairs: SmallInts
    """By pair of dimensions the first segment of the node of their roots, -1 if there is none;
    empty with more than `MOST_PAIRED`, or where dimensions are in no order in nodes."""
    children: SmallInts
    node_rows: SmallInts
    """The number of rows ever put into each node."""
    segments: Any
    lanes: Bytes
    rows: SmallInts
    records: Floats
    dictionary: SmallInts
    places: SmallInts
    """The segment of each row, `GONE`, `NEVER`, or `-2 -` a place in `more`."""
    more: SmallInts
    """The number of segments of a row, and the segments, for rows in several."""
    tops: Any
    """A single record of `TOPS`."""
    known_start: Ints
    """The starts of each dimension's known places, and the end of the last."""
    known_at: Floats
    known_before: Floats
    """Beside each place, the share of events before it, of those that have the dimension."""
