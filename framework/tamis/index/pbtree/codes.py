"""Turns predicates into terms over keys of 64 bits, and what events have into keys.

Keys have the order of the values: a double as its bits; a string in the order of code points by
its first seven bytes of UTF-8 and its length up to there; a string to be equal to as itself, up
to seven bytes, else as a hash. A term is a closed range of keys of a *line*, an attribute read in
one way, or all but such a range. A predicate that its term does not say exactly is *vague*: what
may hold is then verified against the predicate itself, and so is what no term says anything of.
Invariant: where a predicate holds, its term does; where it is not vague, the other way round too.
Cost: O(constants) a predicate; O(bytes) a string of an event.
"""

from __future__ import annotations

import hashlib
import math
import struct
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from tamis.event import Event
from tamis.language.comparison import ARRAY as ARRAYS
from tamis.language.comparison import PRESENCE, Comparison
from tamis.language.predicate import AttributePredicate
from tamis.language.values import NUMBER, STRING, Scalar, kind_of
from tamis.numeric.types import Floats, Words
from tamis.spaces.attribute import is_large
from tamis.spaces.cuts import Cut, Stretch, stretch_of, stretches_of

ALWAYS, NUMBERS, STRINGS, NAMES, REVERSED, BOOLEANS, ARRAY, PRESENT, ABSENT = range(9)
"""The ways to read an attribute: strings by their order, by equality, or from their end."""
LEAST, MOST = 0, (1 << 64) - 1
NEVER = 1
"""The key, of the line that all events have, at which none of them is."""
_LETTERS = 7
_LONG = _LETTERS + 1
_DOUBLE, _WORD = struct.Struct(">d"), struct.Struct(">Q")
_TOP = 1 << 63
_POINTS = ("=", "!=", "in", "not in")
_KIND_LINES = {NUMBER: NUMBERS, STRING: NAMES}


class Line(NamedTuple):
    """An attribute, and how it is read."""

    attribute: str
    holds: int


class Term(NamedTuple):
    """A closed range of keys on a line, or what is outside of it; several keys are a set."""

    line: Line
    low: int
    high: int
    is_outside: bool = False
    members: tuple[int, ...] = ()
    """The keys of a set; the range has all of them."""


class LineKeys(NamedTuple):
    """The keys of an event on a line: one, or two neighbors of a large integer between them."""

    holds: int
    low: int
    high: int


def double_key(value: float) -> int:
    """Returns the key of a double."""
    word: int = _WORD.unpack(_DOUBLE.pack(value + 0.0))[0]
    return word ^ MOST if word & _TOP else word | _TOP


def double_keys(values: Floats) -> Words:
    """Returns the keys of doubles."""
    words = (values + 0.0).view(np.uint64)
    return np.where(words >> np.uint64(63), ~words, words | np.uint64(_TOP))


def doubles_of(keys: Words) -> Floats:
    """Returns the doubles of keys."""
    is_positive = (keys >> np.uint64(63)).astype(np.bool_)
    return np.where(is_positive, keys ^ np.uint64(_TOP), ~keys).view(np.float64)


def number_keys(value: int | float) -> tuple[int, int]:
    """Returns the key of a number twice, or those of the doubles that it lies between."""
    try:
        double = float(value)
    except OverflowError:
        double = math.inf if value > 0 else -math.inf
    key = double_key(double)
    if double == value:
        return key, key
    return (key, key + 1) if double < value else (key - 1, key)


def order_key(text: str) -> int:
    """Returns the key of a string in the order of strings."""
    letters = text[:_LONG].encode("utf-8", "surrogatepass")
    length = min(len(letters), _LONG)
    return int.from_bytes(letters[:_LETTERS].ljust(_LETTERS, b"\0"), "big") << 8 | length


def name_key(text: str) -> int:
    """Returns the key of a string that is looked for as a whole."""
    key = order_key(text)
    if key & 0xFF < _LONG:
        return key
    whole = text.encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(whole, digest_size=8).digest(), "big") & ~0xFF | _LONG


def is_short(key: int) -> bool:
    """Returns whether the key of a string says all of it."""
    return key & 0xFF < _LONG


def element_key(value: Scalar) -> int:
    """Returns the key of an element of an array."""
    kind = kind_of(value)
    key = name_key(value) if isinstance(value, str) else number_keys(value)[0]
    whole = bytes([kind]) + key.to_bytes(8, "big")
    return int.from_bytes(hashlib.blake2b(whole, digest_size=8).digest(), "big")


# predicates


def terms_of(predicate: AttributePredicate) -> tuple[list[Term], bool]:
    """Returns the terms of a predicate, all of which hold where it does, and if it is vague."""
    name, asked = predicate.attribute, predicate.comparison
    if asked.reads == PRESENCE:
        line = Line(name, PRESENT if asked.op == "exists" else ABSENT)
        return [Term(line, 1, 1)], False
    if asked.reads == ARRAYS:
        return _array_terms(name, asked), True
    kinds = {kind_of(constant) for constant in asked.constants}
    if len(kinds) > 1:
        return [], True
    kind = kinds.pop()
    if asked.op.endswith(("contains", "matches")):
        return [Term(Line(name, STRINGS), LEAST, MOST)], True
    if asked.op in _POINTS:
        return _point_terms(name, asked, kind)
    return _range_terms(name, asked, kind)


def _array_terms(name: str, asked: Comparison) -> list[Term]:
    line, keys = Line(name, ARRAY), sorted({element_key(each) for each in asked.constants})
    if asked.op in ("has", "has all"):
        return [Term(line, keys[0], keys[0])]
    if asked.op == "has any":
        return [Term(line, keys[0], keys[-1], members=tuple(keys))]
    return []


def _point_terms(name: str, asked: Comparison, kind: int) -> tuple[list[Term], bool]:
    """Returns the term of a comparison with single values of one kind."""
    line = Line(name, _KIND_LINES.get(kind, BOOLEANS))
    keys: set[int] = set()
    is_vague = False
    for constant in asked.constants:
        if isinstance(constant, str):
            both = name_key(constant), name_key(constant)
            is_vague |= not is_short(both[0])
        else:
            both = number_keys(constant)
            is_vague |= is_large(constant)
        keys.update(both)
    least, most = min(keys), max(keys)
    if asked.op in ("=", "in"):
        members = tuple(sorted(keys)) if len(keys) > 1 else ()
        return [Term(line, least, most, members=members)], is_vague
    if len(keys) > 1 or is_vague:
        return [Term(line, LEAST, MOST)], True
    return [Term(line, least, most, is_outside=True)], False


def _range_terms(name: str, asked: Comparison, kind: int) -> tuple[list[Term], bool]:
    """Returns the term of a comparison that is a stretch of numbers or strings, or all but one."""
    if kind == NUMBER:
        low, high = _number_range(stretch_of(asked.op, *asked.constants))
        numbers = [each for each in asked.constants if not isinstance(each, str)]
        return [Term(Line(name, NUMBERS), low, high)], any(map(is_large, numbers))
    stretches = stretches_of(asked)
    assert stretches is not None
    line = Line(name, REVERSED if stretches.is_reversed else STRINGS)
    low, high, is_vague = _string_range(stretches.parts[0])
    if stretches.is_inside:
        return [Term(line, low, high)], is_vague
    if is_vague or low > high:
        return [Term(line, LEAST, MOST)], True
    return [Term(line, low, high, is_outside=True)], False


def _number_range(stretch: Stretch) -> tuple[int, int]:
    """Returns the keys of a stretch of numbers; both neighbors of a large bound are among them."""
    low, high = LEAST, MOST
    if stretch.first is not None:
        below, _ = number_keys(stretch.first.value)
        low = below if is_large(stretch.first.value) else below + stretch.first.is_after
    if stretch.end is not None:
        _, above = number_keys(stretch.end.value)
        high = above if is_large(stretch.end.value) else above - (not stretch.end.is_after)
    return low, high


def _string_range(stretch: Stretch) -> tuple[int, int, bool]:
    """Returns the keys of a stretch of strings, and whether there are others at its ends."""
    low, high, is_vague = LEAST, MOST, False

    def key_of(cut: Cut) -> tuple[int, bool]:
        key = order_key(cut.value)
        return key, is_short(key)

    if stretch.first is not None:
        low, is_exact = key_of(stretch.first)
        low += is_exact and stretch.first.is_after
        is_vague |= not is_exact
    if stretch.end is not None:
        high, is_exact = key_of(stretch.end)
        high -= is_exact and not stretch.end.is_after
        is_vague |= not is_exact
    return low, high, is_vague


# events


def readings_of(event: Event, name: str, holds: Iterable[int]) -> Iterator[LineKeys]:
    """Yields what an event has on the lines of an attribute."""
    value = event.scalar(name)
    for each in holds:
        if each in (PRESENT, ABSENT):
            if event.present(name) is (each == PRESENT):
                yield LineKeys(each, 1, 1)
        elif each == ARRAY:
            keys = {element_key(element) for element in event.array(name) or ()}
            yield from (LineKeys(each, key, key) for key in keys)
        elif value is not None and (found := _scalar_keys(value, each)) is not None:
            yield LineKeys(each, *found)


def _scalar_keys(value: Scalar, holds: int) -> tuple[int, int] | None:
    """Returns the keys of a value on a line, if it is of its kind."""
    if isinstance(value, str):
        if holds == NAMES:
            key = name_key(value)
        elif holds in (STRINGS, REVERSED):
            key = order_key(value[::-1] if holds == REVERSED else value)
        else:
            return None
        return key, key
    if holds == (BOOLEANS if isinstance(value, bool) else NUMBERS):
        return number_keys(value)
    return None
