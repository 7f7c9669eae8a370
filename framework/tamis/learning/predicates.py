"""Counts how many events satisfy each of very many attribute predicates, from spaces.

Where the cuts of a predicate stand is found once; then all predicates that are sums over spaces are
answered together, as arrays. What is left (booleans, arrays, needles, patterns, sets of several
kinds) is answered one by one.
Cost: one to five microseconds a predicate to prepare, a tenth of that to answer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from tamis.language.comparison import ORDERINGS, RANGES, Comparison
from tamis.language.predicate import AttributePredicate
from tamis.language.values import BOOLEAN, NUMBER, STRING, kind_of
from tamis.numeric.types import Floats, Ints
from tamis.spaces.attribute import (
    LEAST_LARGE,
    AttributeSpaces,
    Marks,
    MarksMaker,
    line_of,
)
from tamis.spaces.cuts import stretch_of, stretches_of
from tamis.spaces.line import NUMBERS

_OF_NUMBERS = frozenset({"=", "!=", *ORDERINGS, *RANGES})


class Questions:
    """Holds attribute predicates, each once, and the marks that answer them."""

    def __init__(self, predicates: Sequence[AttributePredicate]) -> None:
        self._predicates = predicates
        groups: dict[tuple[str, str], tuple[list[int], list[Any]]] = {}
        others: list[int] = []
        for at, predicate in enumerate(predicates):
            op, value = predicate.comparison.op, predicate.comparison.value
            if op not in _OF_NUMBERS or not _is_plain(value):
                others.append(at)
                continue
            group = groups.get((predicate.attribute, op))
            if group is None:
                group = groups[predicate.attribute, op] = ([], [])
            group[0].append(at)
            group[1].append(value)
        sums: dict[str, _Sums] = {}
        for (attribute, op), (owners, values) in groups.items():
            _of(sums, attribute).add_numbers(owners, op, np.array(values, np.float64))
        left = [at for at in others if not self._add(sums, at)]
        self.marks = self._marks(groups, others)
        for attribute, each in sums.items():
            each.settle(self.marks[attribute])
        self._sums = sums
        self._single = _distinct(predicates, left)

    def __len__(self) -> int:
        return len(self._predicates)

    def _add(self, sums: dict[str, _Sums], at: int) -> bool:
        """Tells whether a predicate is a sum over spaces of one kind, and takes it if so."""
        comparison = self._predicates[at].comparison
        kinds = {kind_of(constant) for constant in comparison.constants}
        if len(kinds) != 1 or BOOLEAN in kinds or stretches_of(comparison) is None:
            return False
        _of(sums, self._predicates[at].attribute).add(at, comparison, kinds.pop())
        return True

    def _marks(
        self, groups: Mapping[tuple[str, str], tuple[list[int], list[Any]]], others: list[int]
    ) -> dict[str, Marks]:
        makers: dict[str, MarksMaker] = {}
        for at in others:
            predicate = self._predicates[at]
            maker = makers.get(predicate.attribute)
            if maker is None:
                maker = makers[predicate.attribute] = MarksMaker()
            maker.add(predicate.comparison)
        marks = {attribute: maker.marks() for attribute, maker in makers.items()}
        numbers: dict[str, list[Floats]] = {}
        for (attribute, _), (_, values) in groups.items():
            numbers.setdefault(attribute, []).append(np.array(values, np.float64).ravel())
        for attribute, parts in numbers.items():
            marks.setdefault(attribute, Marks()).add_numbers(np.concatenate(parts))
        return marks

    def answers(self, counted: Mapping[str, AttributeSpaces], events: int) -> Ints:
        """Returns how many of so many events satisfy each."""
        found = np.zeros(len(self._predicates), np.int64)
        for attribute, each in self._sums.items():
            each.add_to(found, counted[attribute])
        for predicate, places in self._single:
            exactly = counted[predicate.attribute].exactly(predicate.comparison, events)
            assert exactly is not None, predicate.text()
            found[places] = exactly
        return found


class _Addend(NamedTuple):
    """Counts what lies before some cuts of a line, with a sign, for the predicates of them."""

    owners: Ints
    marks: Any
    is_after: bool
    sign: int


class _Sums:
    """Answers predicates of one attribute, each a sum of counts before cuts."""

    def __init__(self) -> None:
        self._whole: dict[int, list[int]] = {NUMBER: [], STRING: []}
        """The predicates that count all values of a kind, by it."""
        self._ranges: list[int] = []
        self._some: dict[tuple[str, bool, int], tuple[list[int], list[Any]]] = {}
        self._addends: dict[str, list[_Addend]] = {}
        self._places: dict[str, tuple[Ints, Ints, Ints]] = {}

    def add_numbers(self, owners: list[int], op: str, values: Floats) -> None:
        """Takes predicates with one operator and constants that are plain numbers."""
        columns = values.T if op in RANGES else (values,)
        first, end = stretch_of("=" if op == "!=" else op, *columns)
        sign = -1 if op == "!=" else 1
        if (end is None) == (sign > 0):
            self._whole[NUMBER] += owners
        if op in RANGES:
            self._ranges += owners
        for cut, its in ((first, -sign), (end, sign)):
            if cut is not None:
                addend = _Addend(np.array(owners, np.int64), cut.value, cut.is_after, its)
                self._addends.setdefault(NUMBERS, []).append(addend)

    def add(self, owner: int, comparison: Comparison, kind: int) -> None:
        """Takes any other predicate on values of a kind."""
        stretches = stretches_of(comparison)
        assert stretches is not None
        sign = 1 if stretches.is_inside else -1
        wholes = sum(part.end is None for part in stretches.parts) if sign > 0 else 1
        if sign < 0:
            wholes -= sum(part.end is None for part in stretches.parts)
        self._whole[kind] += [owner] * wholes
        if comparison.op in RANGES:
            self._ranges.append(owner)
        for first, end in stretches.parts:
            for cut, its in ((first, -sign), (end, sign)):
                if cut is not None:
                    line = line_of(cut.value, stretches.is_reversed)
                    some = self._some.setdefault((line, cut.is_after, its), ([], []))
                    some[0].append(owner)
                    some[1].append(cut.value)

    def settle(self, marks: Marks) -> None:
        """Finds where the cuts stand."""
        for (name, is_after, sign), (owners, values) in self._some.items():
            addend = _Addend(np.array(owners, np.int64), values, is_after, sign)
            self._addends.setdefault(name, []).append(addend)
        for name, addends in self._addends.items():
            line = marks.line(name)
            self._places[name] = (
                np.concatenate([each.owners for each in addends]),
                np.concatenate([line.places(each.marks, each.is_after) for each in addends]),
                np.concatenate([np.full(len(each.owners), each.sign) for each in addends]),
            )
        self._some, self._addends = {}, {}

    def add_to(self, found: Ints, spaces: AttributeSpaces) -> None:
        """Answers the predicates."""
        for name, (owners, places, sign) in self._places.items():
            np.add.at(found, owners, sign * spaces.lines[name].sums[places])
        for kind, whole in self._whole.items():
            np.add.at(found, np.array(whole, np.int64), spaces.kinds.total(kind))
        ranges = np.array(self._ranges, np.int64)
        found[ranges] = np.maximum(found[ranges], 0)


def _of(sums: dict[str, _Sums], attribute: str) -> _Sums:
    """Returns the sums of an attribute."""
    found = sums.get(attribute)
    if found is None:
        found = sums[attribute] = _Sums()
    return found


def _distinct(
    predicates: Sequence[AttributePredicate], places: list[int]
) -> list[tuple[AttributePredicate, Ints]]:
    """Returns predicates at some places once each, with all places where they stand."""
    found: dict[tuple[str, Comparison], list[int]] = {}
    for at in places:
        found.setdefault((predicates[at].attribute, predicates[at].comparison), []).append(at)
    return [(predicates[at[0]], np.array(at, np.int64)) for at in found.values()]


def _is_plain(value: object) -> bool:
    """Tells whether a constant, or each of a pair, is a number that equals a double."""
    kind = type(value)
    if kind is tuple:
        return all(map(_is_plain, value))  # type: ignore[call-overload]
    return (kind is int or kind is float) and -LEAST_LARGE < value < LEAST_LARGE  # type: ignore[operator]
