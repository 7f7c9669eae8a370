"""Draws the mixed workload: strings, prefixes, sets and `!=` among the numbers of the dense one.

Some attributes are strings, with a vocabulary each; sorted, a word is its number, a prefix a
range of numbers, and so the scans need to know nothing of strings. Sets and `!=` are on attributes
of both kinds. Subscriptions are independent of events.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np

from tamis_bench.boxes import Boxes, BoxShape, Clause
from tamis_bench.kernels import DIFFERENT, RANGE, Extra, Ints, Sets

NAME = "mixed"
SHAPE = BoxShape(1_000_000)
_SETS, _DIFFERENT = 0.10, 0.05
_STRINGS = 0.15 / (1 - _SETS - _DIFFERENT)
"""The share of string attributes, so that 15% of the predicates are `=` or `starts with`."""
_PREFIXES = 0.5
_LONGEST_PREFIX = 3
_SMALLEST_SET, _MEAN_SET, _LARGEST_SET = 2, 8, 40
_CHUNK = 100_000


class MixedWorkload(Boxes):
    """Subscriptions of several kinds of predicates, all of them numbers to the scans."""

    def __init__(self, shape: BoxShape, seed: int, events: int) -> None:
        super().__init__(NAME, replace(shape, equality=0.0), seed, events)
        assert shape.values is not None
        chance = np.random.default_rng([seed, 1])
        strings = max(1, round(_STRINGS * shape.attributes))
        self.words = [_vocabulary(chance, shape.values) for _ in range(strings)]
        total = len(self.attribute)
        is_string = self.attribute < strings
        kind = chance.random(total)
        is_set = kind < _SETS
        is_different = (kind >= _SETS) & (kind < _SETS + _DIFFERENT)
        plain = ~(is_set | is_different)
        value = chance.integers(0, shape.values, total).astype(np.float64)
        point = is_different | (plain & ~is_string & (chance.random(total) < shape.equality))
        self.low[point] = self.high[point] = value[point]
        self.letters = np.zeros(total, np.int8)
        self._draw_strings(chance, np.flatnonzero(plain & is_string), value)
        self.extra: Extra = np.where(is_different, DIFFERENT, RANGE).astype(np.int32)
        self._draw_sets(chance, np.flatnonzero(is_set))

    def _draw_strings(self, chance: np.random.Generator, at: Ints, value: Any) -> None:
        """Draws words and prefixes, as ranges of the numbers of words."""
        letters = chance.integers(1, _LONGEST_PREFIX + 1, len(at))
        letters[chance.random(len(at)) >= _PREFIXES] = 0
        ranges = np.array([_ranges(words) for words in self.words], np.float64)
        found = ranges[self.attribute[at], value[at].astype(np.int64), letters]
        self.letters[at] = letters
        self.low[at], self.high[at] = found[:, 0], found[:, 1]

    def _draw_sets(self, chance: np.random.Generator, at: Ints) -> None:
        """Draws sets of values, as bits."""
        values = self.shape.values or 0
        sizes = chance.geometric(1 / (_MEAN_SET - _SMALLEST_SET + 1), len(at)) - 1 + _SMALLEST_SET
        sizes = np.minimum(sizes, min(_LARGEST_SET, values))
        self.sets: Sets = np.empty((len(at), 2), np.uint64)
        for first in range(0, len(at), _CHUNK):
            part = slice(first, first + _CHUNK)
            keys = chance.random((len(at[part]), values))
            limit = np.sort(keys, axis=1)[np.arange(len(keys)), sizes[part] - 1]
            member = keys <= limit[:, None]
            bits = np.zeros((len(keys), 128), np.bool_)
            bits[:, :values] = member
            self.sets[part] = np.packbits(bits, axis=1, bitorder="little").view(np.uint64)
            self.low[at[part]] = member.argmax(axis=1)
            self.high[at[part]] = values - 1 - member[:, ::-1].argmax(axis=1)
        self.extra[at] = np.arange(len(at))

    def members(self, number: int) -> list[int]:
        """Returns the values in a set."""
        bits = np.unpackbits(self.sets[number].view(np.uint8), bitorder="little")
        return [int(value) for value in np.flatnonzero(bits)]

    def _clause(self, at: int) -> Clause:
        attribute, low = int(self.attribute[at]), int(self.low[at])
        name, kind = self.names[attribute], int(self.extra[at])
        if kind == DIFFERENT:
            return name, "!=", self._constant(attribute, low)
        if kind >= 0:
            return name, "in", [self._constant(attribute, each) for each in self.members(kind)]
        if attribute >= len(self.words):
            return super()._clause(at)
        word, letters = self.words[attribute][low], int(self.letters[at])
        return (name, "starts with", word[:letters]) if letters else (name, "=", word)

    def _constant(self, attribute: int, value: int) -> str | float:
        return self.words[attribute][value] if attribute < len(self.words) else float(value)

    def event_dicts(self) -> list[dict[str, Any]]:
        """Returns the events as they come to a user."""
        return [
            {
                self.names[at]: self._constant(at, int(row[at]))
                for at in np.flatnonzero(~np.isnan(row)).tolist()
            }
            for row in self.events
        ]


def _vocabulary(chance: np.random.Generator, count: int) -> list[str]:
    """Returns words of syllables, few enough at the beginning for prefixes to mean something."""
    syllables = ["".join(each) for each in product("bdklm", "aio")]
    words: set[str] = set()
    while len(words) < count:
        words.add("".join(chance.choice(syllables, 3)))
    return sorted(words)


def _ranges(words: list[str]) -> list[list[tuple[int, int]]]:
    """Returns for each word and each number of its first letters what begins so; for 0 itself."""
    found = []
    for number, word in enumerate(words):
        spans = [(number, number)]
        for letters in range(1, _LONGEST_PREFIX + 1):
            alike = [at for at, each in enumerate(words) if each.startswith(word[:letters])]
            spans.append((alike[0], alike[-1]))
        found.append(spans)
    return found
