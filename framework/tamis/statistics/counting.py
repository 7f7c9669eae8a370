"""Counts the values of an attribute: gathered, sorted, and looked up at once.

Sorted values are looked up for each mark, or marks for each value, whichever are fewer: what a
value costs hardly depends on how many predicates there are.
Cost: O(values · log values + marks) each time that many were gathered.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from tamis.language.values import Scalar
from tamis.numeric.keys import double_of
from tamis.numeric.types import Floats
from tamis.spaces.attribute import (
    ELEMENT,
    SET_ALL,
    SET_ANY,
    AttributeSpaces,
    Marks,
    element_key,
)
from tamis.spaces.cells import Element, NumberCells, StringCells
from tamis.spaces.line import ENDINGS, LARGE, NUMBERS, STRINGS, CountedLine, in_order
from tamis.statistics.values import Values

GATHERED = 1 << 18
"""Numbers that are sorted together."""
_STRINGS = 1 << 15


class ElementFinder(Protocol):
    """Many needles or patterns, looked for at once."""

    def find(self, value: str) -> list[int]:
        """Returns the numbers of those found in a value, each once."""


class AttributeCounter:
    """Counts one attribute; finders give the places of needles and patterns among its things."""

    def __init__(self, marks: Marks, finders: Sequence[ElementFinder]) -> None:
        self._spaces = AttributeSpaces(marks)
        self._numbers: list[Floats] = []
        self._gathered = 0
        self._large: list[Any] = []
        self._strings: Counter[str] = Counter()
        self._things = _Things(self._spaces, finders)

    def take(self, values: Values) -> None:
        """Counts some values."""
        kinds = self._spaces.kinds
        if len(values.numbers):
            self._numbers.append(values.numbers)
            self._gathered += len(values.numbers)
            kinds.number += len(values.numbers)
            if self._gathered >= GATHERED:
                self._count_numbers()
        if values.large:
            self._large.extend(values.large)
            kinds.number += len(values.large)
        if values.strings:
            self._strings.update(values.strings)
            kinds.string += sum(values.strings.values())
            if len(self._strings) >= _STRINGS:
                self._count_strings()
        kinds.true += values.true
        kinds.false += values.false
        if values.arrays:
            kinds.array += len(values.arrays)
            self._things.count_arrays(values.arrays)
        kinds.other += values.other

    def finish(self) -> AttributeSpaces:
        """Returns all that was counted."""
        self._count_numbers()
        self._count_large()
        self._count_strings()
        self._spaces.elements.settle()
        return self._spaces

    def _count_numbers(self) -> None:
        if not self._numbers:
            return
        gathered = np.concatenate(self._numbers)
        self._numbers, self._gathered = [], 0
        gathered += 0.0  # -0.0 is 0.0
        gathered.sort()
        start = np.flatnonzero(np.diff(gathered, prepend=np.nan) != 0)
        values = gathered[start]
        times = np.diff(start, append=len(gathered))
        spaces = self._spaces
        spaces.lines[NUMBERS].count(values, times)
        # no bound of the others lies among numbers that are not large
        spaces.lines[LARGE].count_at(0, len(gathered))
        cells = NumberCells.of(values, times, spaces.number_cells.level)
        spaces.number_cells = spaces.number_cells.merged(cells)

    def _count_large(self) -> None:
        if not self._large:
            return
        spaces, values = self._spaces, Counter(self._large)
        self._large = []
        ordered = sorted(values)
        times = np.array([values[each] for each in ordered], np.int64)
        spaces.lines[LARGE].count(in_order(LARGE, ordered), times)
        given = np.array([double_of(each) for each in values.elements()])
        doubles, events = np.unique(given, return_counts=True)
        spaces.lines[NUMBERS].count(doubles, events)
        spaces.number_cells = spaces.number_cells.merged(
            NumberCells.of(doubles, events, spaces.number_cells.level)
        )

    def _count_strings(self) -> None:
        if not self._strings:
            return
        spaces, strings = self._spaces, self._strings
        self._strings = Counter()
        _count_in_order(spaces.lines[STRINGS], strings)
        if len(spaces.lines[ENDINGS].bounds):
            backwards = {string[::-1]: times for string, times in strings.items()}
            _count_in_order(spaces.lines[ENDINGS], backwards)
        else:
            spaces.lines[ENDINGS].count_at("", strings.total())
        self._things.count_strings(strings)
        spaces.string_cells = spaces.string_cells.merged(StringCells(strings))


def _count_in_order(line: CountedLine, strings: Mapping[str, int]) -> None:
    """Counts strings on a line."""
    ordered = sorted(strings)
    times = np.array([strings[each] for each in ordered], np.int64)
    line.count(in_order(line.name, ordered), times)


class _Things:
    """Counts what has no order: elements of arrays, sets of them, needles and patterns."""

    def __init__(self, spaces: AttributeSpaces, finders: Sequence[ElementFinder]) -> None:
        self._spaces = spaces
        self._finders = finders
        self._elements: dict[Element, int] = {}
        self._sets: dict[Element, list[int]] = {}
        self._whole: dict[int, int] = {}
        for (what, thing), at in spaces.marks.things.items():
            if what == ELEMENT:
                self._elements[thing] = at
            elif what in (SET_ALL, SET_ANY):
                for each in thing:
                    self._sets.setdefault(each, []).append(at)
                self._whole[at] = len(thing) if what == SET_ALL else 1

    def count_strings(self, strings: Counter[str]) -> None:
        """Counts the needles and patterns in strings."""
        if not self._finders:
            return
        counts = self._spaces.things
        for string, times in strings.items():
            for finder in self._finders:
                for at in finder.find(string):
                    counts[at] += times

    def count_arrays(self, arrays: Sequence[tuple[Scalar, ...]]) -> None:
        """Counts the elements of arrays, and the sets of which they hold enough."""
        counts, seen = self._spaces.things, self._spaces.elements
        for array, times in Counter(map(_array_key, arrays)).items():
            found = set(array)
            seen.add(found, times)
            hits: Counter[int] = Counter()
            for element in found:
                at = self._elements.get(element)
                if at is not None:
                    counts[at] += times
                hits.update(self._sets.get(element, ()))
            for at, count in hits.items():
                if count >= self._whole[at]:
                    counts[at] += times


def _array_key(array: tuple[Scalar, ...]) -> tuple[Element, ...]:
    return tuple(map(element_key, array))
