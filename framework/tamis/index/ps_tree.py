"""Which predicate space a value lies in: PS-Trees over lines of doubles (Ji and Jacobsen, §4).

The boundaries of the predicates of a dimension divide it into disjoint spaces, each with a leaf: a
number that others may hang lists on, kept while the first value of its space stays a boundary.
A predicate is a closed range of doubles, or everything outside of one.
Invariant: a boundary is there exactly while a predicate uses it; spaces whose predicates are
merely equally many stay two.
Cost: O(log n) for a value, a predicate or a deletion; about 30 bytes a boundary.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from tamis.index import ps_tree_bulk as bulk
from tamis.index import ps_tree_kernels as kernels
from tamis.index.ps_tree_arrays import (
    BEGINNING,
    BLOCK,
    BLOCKS_END,
    DIRECTORY_ROOM,
    ENDING,
    EVENTS,
    HEADS,
    INFINITY,
    KEYS_END,
    LEAVES_END,
    SMALLEST,
    SPACES,
    Arrays,
)
from tamis.numeric.keys import keys_of, values_of
from tamis.numeric.types import Flags, Floats, Ints, SmallInts

_MERGING = 16
"""Merging many boundaries at once passes over those that are there; from this share on it wins."""
_SIZED = {
    KEYS_END: ("keys", "leaves"),
    BLOCKS_END: ("first", "blocks", "held"),
    LEAVES_END: ("uses", "history"),
}


class Space(NamedTuple):
    """A predicate space: its leaf, its first and last value, how many predicates cover it, and
    how many historical events it has."""

    leaf: int
    low: float
    high: float
    predicates: int
    events: float


class Change(NamedTuple):
    """A leaf that stays, and the one that was split from it or merged into it."""

    stays: int
    other: int


class PSTrees:
    """The PS-Trees of many dimensions, in arrays that they share."""

    def __init__(self, dimensions: int = 0) -> None:
        self.arrays = Arrays(
            keys=np.zeros(0, np.int64),
            leaves=np.zeros(0, np.int32),
            first=np.zeros(0, np.int64),
            blocks=np.zeros((0, 3), np.int32),
            held=np.zeros(0),
            dimensions=np.zeros((0, 5), np.int32),
            uses=np.zeros((0, 2), np.int32),
            history=np.zeros((0, 3)),
            heads=np.full(HEADS, -1, np.int64),
        )
        self.arrays.heads[[KEYS_END, BLOCKS_END, LEAVES_END]] = 0
        self.open(dimensions)

    def __len__(self) -> int:
        """How many dimensions there are."""
        return len(self.arrays.dimensions)

    def __getitem__(self, dimension: int) -> PSTree:
        """The tree of a dimension."""
        if not 0 <= dimension < len(self):
            raise IndexError(f"there are {len(self)} dimensions, and no {dimension}")
        return PSTree(self, dimension)

    def open(self, dimensions: int) -> None:
        """Sees to it that there are so many dimensions at least."""
        before, more = len(self), dimensions - len(self)
        if more > 0:
            self._reserve(SMALLEST * more, SMALLEST * more, more)
            opened = np.zeros((dimensions, self.arrays.dimensions.shape[1]), np.int32)
            opened[:before] = self.arrays.dimensions
            self.arrays = self.arrays._replace(dimensions=opened)
            kernels.open_dimensions(self.arrays, before, dimensions)

    def make_room(self, dimension: int, predicates: int = 1) -> None:
        """Makes room for so many predicates of a dimension to come, or to go."""
        if not kernels.has_room(self.arrays, dimension, predicates):
            directory = int(self.arrays.dimensions[dimension, DIRECTORY_ROOM])
            boundaries = 2 * predicates
            self._reserve(boundaries * BLOCK, 2 * (directory + boundaries), boundaries)

    def _reserve(self, keys: int, blocks: int, leaves: int, *, exactly: bool = False) -> None:
        """Makes room for more at the ends of the arrays."""
        arrays = self.arrays
        grown = {}
        for end, more in ((KEYS_END, keys), (BLOCKS_END, blocks), (LEAVES_END, leaves)):
            needed = int(arrays.heads[end]) + more
            for name in _SIZED[end]:
                array = getattr(arrays, name)
                if len(array) < needed and (name != "history" or len(array)):
                    wider = needed if exactly else max(needed, len(array) + len(array) // 2)
                    grown[name] = np.zeros((wider, *array.shape[1:]), array.dtype)
                    grown[name][: len(array)] = array
        self.arrays = arrays._replace(**grown)

    def build(
        self, dimension: ArrayLike, low: ArrayLike, high: ArrayLike, outside: ArrayLike = False
    ) -> None:
        """Inserts many predicates at once, each in its dimension.

        Leaves are split untold: what hangs on those of these dimensions has to be made anew."""
        columns = _ranges(dimension, low, high, outside)
        self.open(int(columns[0].max(initial=-1)) + 1)
        if len(columns[0]) * _MERGING < int(self.arrays.dimensions[:, SPACES].sum()):
            self._insert(*columns)
        else:
            self._merge(*columns)

    def insert(
        self, dimension: ArrayLike, low: ArrayLike, high: ArrayLike, outside: ArrayLike = False
    ) -> None:
        """The same, one after the other."""
        columns = _ranges(dimension, low, high, outside)
        self.open(int(columns[0].max(initial=-1)) + 1)
        self._insert(*columns)

    def delete(
        self, dimension: ArrayLike, low: ArrayLike, high: ArrayLike, outside: ArrayLike = False
    ) -> None:
        """Deletes predicates that were inserted; `KeyError` at the first that has no such bounds.

        Leaves are merged untold."""
        dimensions, begin, end, outsides = _ranges(dimension, low, high, outside)
        done = 0
        while done < len(begin):
            self.make_room(int(dimensions[done]))
            before = done
            done = bulk.delete_ranges(self.arrays, dimensions, begin, end, outsides, done)
            if done == before:
                raise KeyError((dimensions[done], begin[done], end[done]))

    def _insert(self, dimension: SmallInts, begin: Ints, end: Ints, outside: Flags) -> None:
        done = 0
        while done < len(begin):
            self.make_room(int(dimension[done]))
            done = bulk.insert_ranges(self.arrays, dimension, begin, end, outside, done)

    def _merge(self, dimension: SmallInts, begin: Ints, end: Ints, outside: Flags) -> None:
        everywhere = dimension[outside]
        begun, beginning = _sorted(
            np.concatenate([dimension, everywhere]),
            np.concatenate([np.where(outside, end, begin), np.full(len(everywhere), -INFINITY)]),
            len(self),
        )
        ended, ending = _sorted(dimension, np.where(outside, begin, end), len(self))
        room = bulk.room_to_merge(self.arrays, begun, beginning, ended, ending)
        self._reserve(*room, exactly=True)
        bulk.merge_all(self.arrays, begun, beginning, ended, ending)

    def locate(self, dimension: ArrayLike, value: ArrayLike) -> SmallInts:
        """The leaves of values, each in its dimension; -1 for NaN."""
        values = _column(value)
        return kernels.leaves_of(self.arrays, _beside(values, dimension, np.int32), values)

    def count(self, dimension: ArrayLike, value: ArrayLike, times: ArrayLike = 1.0) -> None:
        """Counts historical events on the leaves, each so often."""
        values = _column(value)
        if not len(self.arrays.history):
            self.arrays = self.arrays._replace(history=np.zeros((len(self.arrays.uses), 3)))
        dimensions, weights = _beside(values, dimension, np.int32), _beside(values, times, float)
        bulk.count_events(self.arrays, dimensions, values, weights)

    def events_in(
        self, dimension: ArrayLike, low: ArrayLike, high: ArrayLike, outside: ArrayLike = False
    ) -> Floats:
        """How many historical events satisfy predicates, whether these are there or not (§3.3).

        Exact when their bounds were boundaries before the events came. A part of a space gets its
        share of the space's events, taken to lie evenly between the least and the greatest."""
        lows, highs = _column(low), _column(high)
        begin, end = keys_of(lows), keys_of(highs) + 1
        return bulk.events_of(
            self.arrays,
            _beside(lows, dimension, np.int32),
            np.where(lows <= highs, begin, end),
            end,
            _beside(lows, outside, np.bool_),
        )

    @property
    def nbytes(self) -> int:
        """The memory of the arrays."""
        return sum(array.nbytes for array in self.arrays)

    def used(self) -> dict[str, NDArray[Any]]:
        """What is in use of the arrays, by their names: what `adopt` takes."""
        arrays = self.arrays
        ends = {name: int(arrays.heads[end]) for end, names in _SIZED.items() for name in names}
        return {
            name: array[: ends.get(name, len(array))] for name, array in arrays._asdict().items()
        }

    def adopt(self, used: Mapping[str, NDArray[Any]]) -> None:
        """Goes on with arrays that `used` gave, of these or of saved trees."""
        self.arrays = Arrays(**{name: used[name] for name in Arrays._fields})


class PSTree:
    """The PS-Tree of one dimension, alone or one of many.

    >>> tree = PSTree()
    >>> _ = tree.insert(20, 60), tree.insert(30, 80)
    >>> [(space.low, space.high, space.predicates) for space in tree.spaces()][1:3]
    [(20.0, 29.999999999999996, 1), (30.0, 60.0, 2)]
    """

    def __init__(self, trees: PSTrees | None = None, dimension: int = 0) -> None:
        self.trees = PSTrees(1) if trees is None else trees
        self.dimension = dimension

    def __len__(self) -> int:
        """How many spaces there are."""
        return int(self.trees.arrays.dimensions[self.dimension, SPACES])

    def build(self, low: ArrayLike, high: ArrayLike, outside: ArrayLike = False) -> None:
        """Inserts many predicates at once; leaves are split untold."""
        self.trees.build(self.dimension, low, high, outside)

    def insert(self, low: float, high: float, *, outside: bool = False) -> list[Change]:
        """Inserts a predicate; which leaves were split, one after the other."""
        begin, end = _keys(low, high)
        self.trees.make_room(self.dimension)
        changes = np.empty((2, 2), np.int32)
        arguments = self.trees.arrays, self.dimension, begin, end, outside, changes
        return _told(changes, kernels.insert_range(*arguments))

    def delete(self, low: float, high: float, *, outside: bool = False) -> list[Change]:
        """Deletes a predicate that was inserted; which leaves were merged, one after the other.

        `KeyError` when no predicate has such bounds."""
        begin, end = _keys(low, high)
        self.trees.make_room(self.dimension)
        changes = np.empty((2, 2), np.int32)
        arguments = self.trees.arrays, self.dimension, begin, end, outside, changes
        count = kernels.delete_range(*arguments)
        if count == kernels.NOWHERE:
            raise KeyError((low, high))
        return _told(changes, count)

    def locate(self, value: float) -> int:
        """The leaf whose space a value lies in; -1 for NaN."""
        return int(self.locate_many([value])[0])

    def locate_many(self, values: ArrayLike) -> SmallInts:
        """The same for many."""
        return self.trees.locate(self.dimension, values)

    def leaves(self, low: float, high: float, *, outside: bool = False) -> SmallInts:
        """The leaves whose spaces have a value in common with a predicate, in order (Alg. 1)."""
        begin, end = _keys(low, high)
        stretches = [(-INFINITY, begin), (end, INFINITY + 1)] if outside else [(begin, end)]
        found = []
        for first, beyond in stretches:
            room = np.empty(len(self), np.int32)
            count = kernels.walk(self.trees.arrays, self.dimension, first, beyond, room)
            found.append(room[:count])
        return np.concatenate(found)

    def spaces(self) -> list[Space]:
        """The predicate spaces in order."""
        arrays, count = self.trees.arrays, len(self)
        keys, leaves = np.empty(count, np.int64), np.empty(count, np.int32)
        kernels.listed(arrays, self.dimension, keys, leaves)
        ends = np.append(keys[1:], INFINITY + 1) - 1
        predicates = np.cumsum(arrays.uses[leaves, BEGINNING] - arrays.uses[leaves, ENDING])
        counted = len(arrays.history) > 0
        events = arrays.history[leaves, EVENTS] if counted else np.zeros(count)
        columns = (leaves, values_of(keys), values_of(ends), predicates, events)
        return [Space(*row) for row in zip(*(each.tolist() for each in columns), strict=True)]

    def count(self, values: ArrayLike, times: ArrayLike = 1.0) -> None:
        """Counts historical events on the leaves, each so often."""
        self.trees.count(self.dimension, values, times)

    def events_in(self, low: float, high: float, *, outside: bool = False) -> float:
        """About how many historical events satisfy a predicate, whether it is there or not."""
        return float(self.trees.events_in(self.dimension, [low], [high], [outside])[0])

    def selectivity(self, low: float, high: float, *, outside: bool = False) -> float | None:
        """Which share of the historical events satisfies a predicate; `None` without any.

        §3.3 calls the rest of 1 so: this is the word as statistics have it."""
        total = self.events_in(-np.inf, np.inf)
        return self.events_in(low, high, outside=outside) / total if total else None

    @property
    def nbytes(self) -> int:
        """The memory of the arrays."""
        return self.trees.nbytes


def _column(values: ArrayLike) -> Floats:
    return np.ascontiguousarray(values, np.float64)


def _beside(column: Floats, values: ArrayLike, dtype: DTypeLike) -> NDArray[Any]:
    """One for each of a column, in memory of its own: kernels are compiled for nothing else."""
    return np.ascontiguousarray(np.broadcast_to(np.asarray(values, dtype), column.shape))


def _ranges(
    dimension: ArrayLike, low: ArrayLike, high: ArrayLike, outside: ArrayLike
) -> tuple[SmallInts, Ints, Ints, Flags]:
    """Predicates as columns for kernels: first keys, and those behind the last."""
    lows, highs = _column(low), _column(high)
    if not np.all(lows <= highs):
        raise ValueError("a range has a first value, and a last one that is not below it")
    dimensions = _beside(lows, dimension, np.int32)
    return dimensions, keys_of(lows), keys_of(highs) + 1, _beside(lows, outside, np.bool_)


def _sorted(dimension: SmallInts, keys: Ints, dimensions: int) -> tuple[Ints, Ints]:
    """The keys of each dimension in order, and where each dimension begins."""
    start, grouped = bulk.grouped(dimension, keys, dimensions)
    for begin, end in zip(start[:-1].tolist(), start[1:].tolist(), strict=True):
        grouped[begin:end].sort()
    return start, grouped


def _keys(low: float, high: float) -> tuple[int, int]:
    """The first key of a range, and the one behind its last."""
    if not low <= high:
        raise ValueError(f"a range has a first value, and a last one not below it: {low}, {high}")
    begin, end = keys_of(np.array([low, high], np.float64)).tolist()
    return begin, end + 1


def _told(changes: SmallInts, count: int) -> list[Change]:
    return [Change(*row) for row in changes[:count].tolist()]
