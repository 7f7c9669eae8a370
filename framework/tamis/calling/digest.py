"""Digests inputs of events: digests are equal exactly where the values are.

Scalars are equal by kind and value, at any depth: `1` is `1.0`, and neither `True` nor `"1"`.
Objects are equal whatever the order of their keys, arrays of NumPy by dtype, shape and content.
What a file holds is known by the file: its path, identity, size and times of change. Values of any
other type have no digest.
Invariant: what is hashed could be read back (tag, length, content), so that values that differ
differ there; SHA-256 does the rest, for nobody can make two contents of one hash.
Cost: some microseconds for scalars, memory speed for bytes and arrays (half a millisecond a MB
where processors compute SHA-256, and then no hash of the standard library is faster); once an event
and input, whatever the number of operators.
"""

from __future__ import annotations

import math
import os
import stat
import struct
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis.event import Event
from tamis.event.paths import ADDRESS, FILE, form_of

_ABSENT = b""
_DEEPEST = 64
_LARGE = 4_096
_HASH_BYTES = 32
_PLAIN_KINDS = "biufcSUmM"
_SECOND_NS = 1_000_000_000
_SETTLED_NS, _SETTLED_COARSE_NS = _SECOND_NS // 10, 2 * _SECOND_NS


class EventDigests:
    """The digests of one event's inputs, each computed when it is first asked for.

    The id of the event is no input: equal inputs are equal whatever event they are in."""

    __slots__ = ("_event", "_known", "_together")

    def __init__(self, event: Event) -> None:
        self._event = event
        self._known: dict[str, bytes | None] = {}
        self._together: dict[tuple[str, ...], bytes | None] = {}

    def of(self, name: str) -> bytes | None:
        """Returns the digest of an input, also of an absent one; `None` where it has none."""
        try:
            return self._known[name]
        except KeyError:
            found = self._known[name] = _input_digest(self._event, name)
            return found

    def together(self, names: tuple[str, ...]) -> bytes | None:
        """Returns the digest of several inputs in this order; `None` where one of them has none."""
        try:
            return self._together[names]
        except KeyError:
            parts = [_sized(b"", part) for part in self._digests(names)]
            known = len(parts) == len(names)
            found = self._together[names] = _hashed(b"".join(parts)) if known else None
            return found

    def _digests(self, names: tuple[str, ...]) -> Iterator[bytes]:
        """Yields the digests up to the first input that has none."""
        for name in names:
            digest = self.of(name)
            if digest is None:
                return
            yield digest


def value_digest(value: object) -> bytes | None:
    """Returns the digest of a value; `None` where it has none."""
    try:
        return _hashed(_encoded(value, 0))
    except _NoDigestError:
        return None


class _NoDigestError(Exception):
    """A value whose equality is not ours to tell."""


def _hashed(encoded: bytes) -> bytes:
    """Hashes an encoding; a short one stays, for it is never equal to a hash."""
    return encoded if len(encoded) < _HASH_BYTES else sha256(encoded).digest()


# inputs


def _input_digest(event: Event, name: str) -> bytes | None:
    value = event.value(name)
    if value is None:
        return _ABSENT
    form = form_of(name, value)
    if form == ADDRESS:
        return None
    if form == FILE:
        try:
            return _file_digest(event.view((name,))[name])
        except (OSError, ValueError):
            return None
    return value_digest(value)


def _file_digest(path: str) -> bytes | None:
    """Identifies the content of a file without reading it; an error where there is none.

    `None` for what is no plain file, and for one that was changed a moment ago: it could change
    again within one tick of its file system's clock (whole seconds on some) and look the same."""
    found = os.stat(path)
    if not stat.S_ISREG(found.st_mode):
        return None
    changed = max(found.st_mtime_ns, found.st_ctime_ns)
    coarse = found.st_mtime_ns % _SECOND_NS == 0
    if time.time_ns() - changed < (_SETTLED_COARSE_NS if coarse else _SETTLED_NS):
        return None
    times = found.st_size, found.st_mtime_ns, found.st_ctime_ns
    identity = ("file", path, os.path.abspath(path), found.st_dev, found.st_ino, *times)
    return _hashed(b"F" + _encoded(identity, 0))


# values


def _encoded(value: object, depth: int) -> bytes:
    encoder = _ENCODERS.get(type(value))
    return _unusual(value, depth) if encoder is None else encoder(value, depth)


def _sized(tag: bytes, content: bytes) -> bytes:
    """Digests a large content by its hash; its length says that it is large."""
    size = len(content)
    body = content if size <= _LARGE else sha256(content).digest()
    return b"%b%d:%b" % (tag, size, body)


def _boolean(value: object, depth: int) -> bytes:
    return b"T" if value else b"f"


def _integer(value: int, depth: int) -> bytes:
    if -(1 << 63) <= value < (1 << 63):
        return b"i%d;" % value
    return _sized(b"I", value.to_bytes(value.bit_length() // 8 + 1, "big", signed=True))


def _float(value: float, depth: int) -> bytes:
    if value.is_integer():
        return _integer(int(value), depth)
    return b"n" if math.isnan(value) else b"d" + struct.pack(">d", value)


def _text(value: str, depth: int) -> bytes:
    return _sized(b"s", value.encode("utf-8", "surrogatepass"))


def _bytes(value: bytes | bytearray, depth: int) -> bytes:
    return _sized(b"b", bytes(value))


def _all(tag: bytes, parts: Iterable[bytes]) -> bytes:
    """Parts end by themselves, so that their number is known from the length of all."""
    return _sized(tag, b"".join(parts))


def _inside(depth: int) -> int:
    if depth == _DEEPEST:
        raise _NoDigestError
    return depth + 1


def _members(tag: bytes, value: Iterable[object], depth: int) -> bytes:
    depth = _inside(depth)
    parts = [_encoded(each, depth) for each in value]
    return _all(tag, sorted(parts) if tag == b"e" else parts)


_list, _tuple, _set = (partial(_members, tag) for tag in (b"l", b"t", b"e"))


def _object(value: Mapping[object, object], depth: int) -> bytes:
    depth = _inside(depth)
    pairs = sorted((_encoded(key, depth), _encoded(each, depth)) for key, each in value.items())
    return _all(b"o", [part for pair in pairs for part in pair])


def _array(value: NDArray[Any] | np.generic, depth: int) -> bytes:
    """Digests content in C order; NumPy's scalars are arrays without dimensions, which overflow."""
    if value.dtype.kind not in _PLAIN_KINDS:
        raise _NoDigestError
    if value.nbytes <= _LARGE:
        content = value.tobytes()
    else:
        content = sha256(np.ascontiguousarray(value).reshape(-1).view(np.uint8).data).digest()
    shape = b",".join(b"%d" % each for each in value.shape)
    return b"a%b:%b:%b" % (value.dtype.str.encode(), shape, content)


_ENCODERS: dict[type, Callable[..., bytes]] = {
    type(None): lambda value, depth: b"0",
    bool: _boolean,
    int: _integer,
    float: _float,
    str: _text,
    bytes: _bytes,
    bytearray: _bytes,
    list: _list,
    tuple: _tuple,
    set: _set,
    frozenset: _set,
    dict: _object,
    np.ndarray: _array,
    np.memmap: _array,
}


def _unusual(value: object, depth: int) -> bytes:
    """Digests NumPy's scalars, and what operators see as a dict, a list or a set all the same.

    Other subclasses may hold more than they show."""
    if isinstance(value, Mapping):
        return _object(value, depth)
    if isinstance(value, list):
        return _list(value, depth)
    if isinstance(value, (set, frozenset)):
        return _set(value, depth)
    if isinstance(value, np.generic):
        return _array(value, depth)
    raise _NoDigestError
