"""Lays out pages: nonleaf nodes, leaves, nodes of the lists under them (section 4.2).

A place is a key (64 bits) and a row (32 bits), so that predicates of equal constants have an order.
A leaf has an item for each node of a list: the place at which the node begins, and by list the
pointer to it. A node of a list is a page of entries in the order of their places; an entry is a
place, a mark and a payload. Invariant: the places of a node lie between its item's and the next
one's of its list. Cost: arrays are views of the page until it is changed.
"""

from __future__ import annotations

import itertools
import struct
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tamis.numeric.types import Bytes, Ints, Words

PAGE_BYTES = 8_192
CONTENT_BYTES = PAGE_BYTES - 8
EQUAL, GREATER, LESS, UNEQUAL = range(4)
"""The lists: SidSets, GreaterThan, LessThan, Inequality."""
LISTS = 4
LAST_ROW = (1 << 32) - 1
LENGTH = (1 << 14) - 1
"""The bits of a mark that are the payload's length; the rest is the writer's."""

Marks = NDArray[np.uint16]
Numbers = NDArray[np.uint32]
_FREE, _INNER, _LEAF, _RUN = range(4)
_LINKS = struct.Struct("<BxHIIQI")
"""Kind, count, the neighbors before and after, and the place of the item of a list's node."""
_INNER_HEAD = struct.Struct("<4H4H4H")
"""By list, how many pointers have its bit, and the first and the last that has it."""
INNER_ITEMS = (CONTENT_BYTES - _LINKS.size - _INNER_HEAD.size) // 17
LEAF_ITEMS = (CONTENT_BYTES - _LINKS.size) // (12 + 4 * LISTS)
RUN_BYTES = CONTENT_BYTES - _LINKS.size
ENTRY_BYTES = 14
"""The bytes of an entry besides its payload."""


class ListPlace(NamedTuple):
    """The place of an entry."""

    key: int
    row: int


class Node:
    """A page."""

    kind = _FREE

    def __init__(self, number: int = 0) -> None:
        self.number = number
        self.before = self.after = 0
        self.item = ListPlace(0, 0)

    def __len__(self) -> int:
        return 0

    def encoded(self) -> bytes:
        """Returns the content of the page."""
        return _LINKS.pack(self.kind, len(self), self.before, self.after, *self.item) + self._body()

    def _body(self) -> bytes:
        return b""


class _SortedPage(Node):
    """A page whose items or entries are in the order of their places."""

    keys: Words
    rows: Numbers

    def __len__(self) -> int:
        return len(self.keys)

    def floor(self, key: int, row: int) -> int:
        """Returns the last that is not above a place, -1 if there is none."""
        keys, wanted = self.keys, np.uint64(key)
        end = int(keys.searchsorted(wanted, "right"))
        if row == LAST_ROW:
            return end - 1
        start = int(keys.searchsorted(wanted))
        return start + int(self.rows[start:end].searchsorted(np.uint32(row), "right")) - 1

    def place(self, at: int) -> ListPlace:
        """Returns the place of one of them."""
        return ListPlace(int(self.keys[at]), int(self.rows[at]))

    def has(self, at: int, key: int, row: int) -> bool:
        """Returns whether one of them has that very place."""
        return at >= 0 and int(self.keys[at]) == key and int(self.rows[at]) == row


class Inner(_SortedPage):
    """A nonleaf node: pointers with flags, and the head."""

    kind = _INNER

    def __init__(self, keys: Words, rows: Numbers, children: Numbers, flags: Bytes) -> None:
        super().__init__()
        self.keys, self.rows, self.children, self.flags = keys, rows, children, flags
        self.counters: tuple[int, ...] = ()
        self.first: tuple[int, ...] = ()
        self.last: tuple[int, ...] = ()

    def with_head(self) -> Inner:
        """Counts the pointers of each list, and finds the first and the last of them."""
        has = (self.flags[:, None] >> np.arange(LISTS, dtype=np.uint8)) & 1
        self.counters = tuple(has.sum(0).tolist())
        if not len(has):
            return self
        self.first = tuple(has.argmax(0).tolist())
        self.last = tuple((len(has) - 1 - has[::-1].argmax(0)).tolist())
        return self

    @property
    def mask(self) -> int:
        """The flag of a pointer to this node."""
        return sum(1 << each for each, count in enumerate(self.counters) if count)

    def child_of(self, key: int, row: int) -> int:
        """Returns which child a place is in."""
        return max(0, self.floor(key, row))

    def flagged(self, kind: int, key: int, row: int) -> int:
        """Returns the last pointer not above a place that has a bit, else the first one."""
        if not self.counters[kind]:
            return -1
        at = self.child_of(key, row)
        if at >= self.last[kind]:
            return self.last[kind]
        there = np.flatnonzero(self.flags[: at + 1] >> kind & 1)
        return int(there[-1]) if len(there) else self.first[kind]

    def _body(self) -> bytes:
        head = _INNER_HEAD.pack(*self.counters, *self.first, *self.last)
        arrays = self.keys, self.rows, self.children, self.flags
        return head + b"".join(array.tobytes() for array in arrays)


class LeafPage(_SortedPage):
    """A leaf: an item for each node of a list."""

    kind = _LEAF

    def __init__(self, keys: Words, rows: Numbers, pointers: Numbers) -> None:
        super().__init__()
        self.keys, self.rows, self.pointers = keys, rows, pointers
        """By list and item, 0 where there is none."""

    @property
    def mask(self) -> int:
        """The flag of a pointer to this leaf."""
        has: list[bool] = np.any(self.pointers, axis=1).tolist()
        return sum(1 << each for each in range(LISTS) if has[each])

    def entry(self, kind: int, key: int) -> tuple[int, bool]:
        """Returns the entry item of a list that is there, and whether it is above the key."""
        items = np.flatnonzero(self.pointers[kind])
        below = int(self.keys[items].searchsorted(np.uint64(key), "right"))
        return (int(items[below - 1]), False) if below else (int(items[0]), True)

    def entry_at(self, kind: int, place: ListPlace) -> tuple[int, bool]:
        """Returns the same for a place."""
        items = np.flatnonzero(self.pointers[kind][: self.floor(*place) + 1])
        if len(items):
            return int(items[-1]), False
        return int(np.flatnonzero(self.pointers[kind])[0]), True

    def _body(self) -> bytes:
        arrays = self.keys, self.rows, self.pointers
        return b"".join(array.tobytes() for array in arrays)


class PlaceRun(_SortedPage):
    """A node of a list: entries in the order of their places."""

    kind = _RUN

    def __init__(self, keys: Words, rows: Numbers, marks: Marks, payload: bytes) -> None:
        super().__init__()
        self.keys, self.rows, self.marks, self.payload = keys, rows, marks, payload
        self._ends: Ints | None = None

    @property
    def ends(self) -> Ints:
        """The place in the payload where each entry begins, and where the last one ends."""
        if self._ends is None:
            self._ends = np.zeros(len(self.marks) + 1, np.int64)
            np.cumsum(self.marks & LENGTH, out=self._ends[1:])
        return self._ends

    @property
    def used(self) -> int:
        """The bytes of the entries."""
        return len(self.keys) * ENTRY_BYTES + len(self.payload)

    def of(self, start: int, end: int) -> PlaceRun:
        """Returns some of the entries."""
        first, last = self.ends[start], self.ends[end]
        return PlaceRun(
            self.keys[start:end], self.rows[start:end], self.marks[start:end],
            self.payload[first:last],
        )  # fmt: skip

    def without(self, at: int) -> PlaceRun:
        """Returns all entries but one."""
        return joined([self.of(0, at), self.of(at + 1, len(self))])

    def content(self, at: int) -> bytes:
        """Returns the payload of an entry."""
        return self.payload[self.ends[at] : self.ends[at + 1]]

    def take(self, other: PlaceRun) -> None:
        """Takes the entries of another one in the place of its own."""
        self.keys, self.rows, self.marks = other.keys, other.rows, other.marks
        self.payload, self._ends = other.payload, None

    def merged(self, other: PlaceRun) -> PlaceRun:
        """Returns the entries of both in order."""
        if not len(self) or not len(other):
            return self if len(self) else other
        if self.place(len(self) - 1) < other.place(0):
            return joined([self, other])
        both = joined([self, other])
        return both.ordered(np.lexsort((both.rows, both.keys)))

    def ordered(self, order: Ints) -> PlaceRun:
        """Returns the entries in another order."""
        lengths = np.diff(self.ends)[order]
        starts = np.cumsum(lengths) - lengths
        source = np.repeat(self.ends[order] - starts, lengths) + np.arange(int(lengths.sum()))
        payload = np.frombuffer(self.payload, np.uint8)[source].tobytes()
        return PlaceRun(self.keys[order], self.rows[order], self.marks[order], payload)

    def cut(self, most: int, *, filled: bool) -> list[PlaceRun]:
        """Returns the entries in parts of at most so many bytes, filled or of one size."""
        ends = np.cumsum(ENTRY_BYTES + np.diff(self.ends))
        parts = -(-int(ends[-1]) // most)
        goal = most if filled else min(most, int(ends[-1]) // parts + 1)
        cuts, start, done = [0], 0, 0
        while start < len(self):
            end = max(start + 1, int(ends.searchsorted(done + goal, "right")))
            cuts.append(end)
            start, done = end, int(ends[end - 1])
        return [self.of(start, end) for start, end in itertools.pairwise(cuts)]

    def _body(self) -> bytes:
        arrays = self.keys, self.rows, self.marks
        return b"".join(array.tobytes() for array in arrays) + self.payload


def joined(runs: list[PlaceRun]) -> PlaceRun:
    """Returns the entries of several, one after the other."""
    return PlaceRun(
        np.concatenate([run.keys for run in runs]),
        np.concatenate([run.rows for run in runs]),
        np.concatenate([run.marks for run in runs]),
        b"".join(run.payload for run in runs),
    )


def run_of(keys: list[int], rows: list[int], marks: list[int], payloads: list[bytes]) -> PlaceRun:
    """Returns entries that are in order; the marks get the lengths."""
    lengths = np.fromiter(map(len, payloads), np.uint16, len(payloads))
    return PlaceRun(
        np.array(keys, np.uint64),
        np.array(rows, np.uint32),
        np.array(marks, np.uint16) | lengths,
        b"".join(payloads),
    )


def node_of(number: int, content: bytes) -> Node:
    """Reads a page."""
    kind, count, before, after, key, row = _LINKS.unpack_from(content)
    at = _LINKS.size
    node: Node
    if kind == _FREE:
        node = Node()
    else:
        at += _INNER_HEAD.size if kind == _INNER else 0
        keys = np.frombuffer(content, np.uint64, count, at)
        rows = np.frombuffer(content, np.uint32, count, at + 8 * count)
        at += 12 * count
        if kind == _INNER:
            children = np.frombuffer(content, np.uint32, count, at)
            flags = np.frombuffer(content, np.uint8, count, at + 4 * count)
            node = Inner(keys, rows, children, flags)
            head = _INNER_HEAD.unpack_from(content, _LINKS.size)
            node.counters, node.first, node.last = head[:4], head[4:8], head[8:]
        elif kind == _LEAF:
            pointers = np.frombuffer(content, np.uint32, LISTS * count, at)
            node = LeafPage(keys, rows, pointers.reshape(LISTS, count))
        else:
            marks = np.frombuffer(content, np.uint16, count, at)
            start = at + 2 * count
            node = PlaceRun(keys, rows, marks, b"")
            node.payload = content[start : start + int(node.ends[-1])]
    node.number, node.before, node.after, node.item = number, before, after, ListPlace(key, row)
    return node
