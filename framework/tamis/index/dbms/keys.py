"""Writes values as bytes that compare as the values do, and comparisons as ranges of such keys.

Databases differ in how they compare: integers as doubles, strings by a language, a double that is
infinite not at all. Bytes compare alike in all of them, so that a key is all that a query looks at.
Invariant: the keys of two values of one kind are in the order of the values, exactly; kinds lie one
after the other. Cost: a microsecond or two a value.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from tamis.language.comparison import ORDERINGS, PRESENT, RANGES, Comparison
from tamis.language.values import BOOLEAN, NUMBER, STRING, Scalar, after_prefix, kind_of

SCALAR, REVERSED, ELEMENT = "scalar", "reversed", "element"
PRESENCE, ABSENCE, CHECKED = "present", "absent", "checked"
"""What is read of an attribute: its value, the letters of it from the last to the first, an element
of its array, that it is there or is not, or what was checked without the database."""

_FIRST = {BOOLEAN: b"\x10", NUMBER: b"\x20", STRING: b"\x30"}
_LAST = {BOOLEAN: b"\x11", NUMBER: b"\x21", STRING: b"\x31"}
_WHOLE = b"", b"\xff"
_INFINITE = 0xFFFF
_BIAS = 0x4000
_DIGIT = 7


class Ranges(NamedTuple):
    """The keys that satisfy a comparison, as ranges without their ends, and what it reads."""

    reads: str
    stretches: list[tuple[bytes, bytes]]


def key_of(value: Scalar) -> bytes:
    """Returns the key of a value."""
    if type(value) is str:
        return b"\x30" + value.encode("utf-8", "surrogatepass")
    if type(value) is bool:
        return b"\x10\x01" if value else b"\x10\x00"
    return b"\x20" + _number_key(value)


def _number_key(value: Any) -> bytes:
    """Returns a sign, an exponent of two, and the digits behind it, seven bits a byte."""
    if value == 0:
        return b"\x01"
    size, parts = abs(value), b""
    if size == float("inf"):
        exponent = _INFINITE
    else:
        digits, divisor = size.as_integer_ratio()  # the divisor is a power of two
        exponent = digits.bit_length() - divisor.bit_length() + _BIAS
        length = -(-digits.bit_length() // _DIGIT)
        digits <<= length * _DIGIT - digits.bit_length()
        places = range((length - 1) * _DIGIT, -1, -_DIGIT)
        parts = bytes((digits >> place) & 0x7F for place in places).rstrip(b"\0")
    if value > 0:
        return b"\x02" + exponent.to_bytes(2, "big") + parts
    # the end of a negative number is greater than all that could follow
    parts = bytes(254 - each for each in parts)
    return b"\x00" + (0xFFFF - exponent).to_bytes(2, "big") + parts + b"\xff"


def reversed_key_of(value: str) -> bytes:
    """Returns the key of the letters of a string from the last to the first."""
    return key_of(value[::-1])


def checked_key_of(comparison: Comparison) -> bytes:
    """Returns the key of a comparison that is decided without the database."""
    return comparison.text("").encode("utf-8", "surrogatepass")


def ranges_of(comparison: Comparison) -> Ranges:
    """Returns a comparison as ranges of keys; a `CHECKED` one where no ranges say it."""
    op, constants = comparison.op, comparison.constants
    plain = op.removeprefix("not ")
    if op in PRESENT:
        return Ranges(PRESENCE if op == "exists" else ABSENCE, [_WHOLE])
    if op in ("=", "in"):
        return Ranges(SCALAR, [_only(key_of(value)) for value in constants])
    if op in ("has", "has any"):
        return Ranges(ELEMENT, [_only(key_of(value)) for value in constants])
    if op in ("!=", "not in"):
        kinds = dict.fromkeys(map(kind_of, constants))
        return Ranges(SCALAR, [each for kind in kinds for each in _others(kind, constants)])
    if op in ORDERINGS or op in RANGES:
        return Ranges(SCALAR, [_between(op, constants)])
    if plain in ("starts with", "ends with"):
        (affix,) = constants
        assert isinstance(affix, str)
        reads, affix = (SCALAR, affix) if plain == "starts with" else (REVERSED, affix[::-1])
        above = after_prefix(affix)
        within = key_of(affix), _LAST[STRING] if above is None else key_of(above)
        return Ranges(reads, [within] if op == plain else list(_outside(STRING, [within])))
    return Ranges(CHECKED, [_only(checked_key_of(comparison))])


def _only(key: bytes) -> tuple[bytes, bytes]:
    return key, _after(key)


def _after(key: bytes) -> bytes:
    """Returns the first bytes after a key."""
    return key + b"\0"


def _between(op: str, constants: tuple[Scalar, ...]) -> tuple[bytes, bytes]:
    low, high = _FIRST[kind_of(constants[0])], _LAST[kind_of(constants[0])]
    if op in RANGES:
        (low_closed, high_closed), (low, high) = RANGES[op], map(key_of, constants)
        return low if low_closed else _after(low), _after(high) if high_closed else high
    key = key_of(constants[0])
    if op in ("<", "<="):
        return low, key if op == "<" else _after(key)
    return key if op == ">=" else _after(key), high


def _others(kind: int, constants: Iterable[Scalar]) -> Iterator[tuple[bytes, bytes]]:
    """Returns the ranges of a kind without some values."""
    keys = sorted(key_of(value) for value in constants if kind_of(value) == kind)
    return _outside(kind, [_only(key) for key in keys])


def _outside(kind: int, gone: list[tuple[bytes, bytes]]) -> Iterator[tuple[bytes, bytes]]:
    """Yields the ranges of a kind without some ranges of it, which ascend."""
    low = _FIRST[kind]
    for first, end in gone:
        if low < first:
            yield low, first
        low = end
    if low < _LAST[kind]:
        yield low, _LAST[kind]
