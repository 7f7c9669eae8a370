"""Scans columns of bytes, 64 subscriptions at once, without an index.

A place of a subscription is three bytes: slot, low, width. The event is a table of 128 codes, so
that one instruction looks up 64 slots; a predicate is `(unsigned)(code - low) <= width`, and the
code of an absent attribute is in no range. A block of 64 is left when none of it is alive. Where
bytes cannot say it all (more attributes than slots, more spaces than codes, other predicates than
ranges, more places than columns), they let too much through, and what is left is checked exactly.
Without the instruction blocks are tested one subscription at a time.
Cost: O(subscriptions), about three bytes read for each predicate looked at.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, register_jitable
from numpy.typing import NDArray

from tamis.index.buckets.bits import has_vectors, lowest_bit
from tamis_bench.coded import CodedWorkload
from tamis_bench.kernels import RANGE, Codes, Ints, kernel, scanned
from tamis_bench.scans import Scan

Bytes = NDArray[np.uint8]

_LANES = 64
_FEWEST_PLACES, _MOST_PLACES = 2, 8
_SLOTS, _FREE, _ABSENT = 127, 127, 255
_SLOT, _LOW, _WIDTH = range(3)
_ONE = np.uint64(1)
_BYTES = ir.VectorType(ir.IntType(8), _LANES)


@intrinsic
def _held(typing: Any, table: Any, wild: Any, block: Any) -> Any:
    """Returns a bit for each of 64 subscriptions whose predicate holds; takes addresses."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        if not has_vectors():
            return ir.Constant(ir.IntType(64), 0)

        def load(address: Any, place: int) -> Any:
            moved = builder.add(address, ir.Constant(address.type, _LANES * place))
            loaded = builder.load(builder.inttoptr(moved, ir.PointerType(_BYTES)))
            loaded.align = 1
            return loaded

        def found_in(table: Any) -> Any:
            return builder.call(look_up, [load(table, 0), slots, load(table, 1)])

        name, kind = "llvm.x86.avx512.vpermi2var.qi.512", ir.FunctionType(_BYTES, [_BYTES] * 3)
        look_up = cgutils.get_or_insert_function(builder.module, kind, name)
        slots = load(arguments[2], _SLOT)
        above = builder.sub(found_in(arguments[0]), load(arguments[2], _LOW))
        if has_wild:
            above = builder.and_(above, found_in(arguments[1]))
        true = builder.icmp_unsigned("<=", above, load(arguments[2], _WIDTH))
        return builder.bitcast(true, ir.IntType(64))

    has_wild = wild is not types.none
    return types.uint64(types.uintp, types.uintp if has_wild else wild, types.uintp), generate


@register_jitable(forceinline=True)
def _alive(columns: Bytes, table: Bytes, wild: Bytes | None, slow: int | None, at: Any) -> Any:
    """Returns a mask of who holds at a place of a block; what is `None` is not compiled."""
    place, block = at
    if slow is None:
        address = columns.ctypes.data + 3 * _LANES * (place * columns.shape[1] + block)
        if wild is None:
            return _held(table.ctypes.data, None, address)
        return _held(table.ctypes.data, wild.ctypes.data, address)
    mask = np.uint64(0)
    lanes = columns[place, block]
    for lane in range(_LANES):
        slot = lanes[_SLOT, lane]
        above = np.uint8(table[slot] - lanes[_LOW, lane])
        if wild is not None:
            above &= wild[slot]
        mask |= np.uint64(above <= lanes[_WIDTH, lane]) << np.uint64(lane)
    return mask


@kernel
def _let_through(
    columns: Bytes, table: Bytes, wild: Bytes | None, slow: int | None, found: Ints
) -> int:
    """Writes the subscriptions that the bytes let through, and returns how many; two places of a
    block are tested at least."""
    count = 0
    for block in range(columns.shape[1]):
        alive = _alive(columns, table, wild, slow, (0, block))
        alive &= _alive(columns, table, wild, slow, (1, block))
        place = 2
        while alive and place < columns.shape[0]:
            alive &= _alive(columns, table, wild, slow, (place, block))
            place += 1
        while alive:
            found[count] = _LANES * block + lowest_bit(alive)
            alive &= alive - _ONE
            count += 1
    return count


def _columns(codes: CodedWorkload) -> Bytes:
    """Lays out the first places of all subscriptions."""
    length, rows = np.diff(codes.start), len(codes)
    places = min(max(int(length.max(initial=1)), _FEWEST_PLACES), _MOST_PLACES)
    blocks = -(-rows // _LANES)
    columns = np.zeros((places, blocks, 3, _LANES), np.uint8)
    columns[:, :, _SLOT], columns[:, :, _WIDTH] = _FREE, 255
    for place in range(places):
        some = np.flatnonzero(length > place)
        at = codes.start[some] + place
        low = _bytes(codes.low[at], codes.spaces[codes.attribute[at]])
        high = _bytes(codes.high[at], codes.spaces[codes.attribute[at]])
        if codes.extra is not None:
            other = codes.extra[at] < RANGE
            low[other], high[other] = 0, _ABSENT - 1
        block, lane = some // _LANES, some % _LANES
        columns[place, block, _SLOT, lane] = codes.attribute[at] % _SLOTS
        columns[place, block, _LOW, lane] = low
        columns[place, block, _WIDTH, lane] = high - low
    columns[0, -1, _LOW, rows - _LANES * blocks or _LANES :] = 1
    columns[0, -1, _WIDTH, rows - _LANES * blocks or _LANES :] = 0
    return columns


def _bytes(code: Codes, spaces: Ints) -> Ints:
    """Returns codes, or where there are too many of them those that several share."""
    wide = code.astype(np.int64)
    return np.where(spaces <= _ABSENT, wide, wide * _ABSENT // spaces)


def _tables(codes: CodedWorkload, event: Codes) -> tuple[Bytes, Bytes | None]:
    """Returns the event as a table of codes by slot, and where several of its attributes share a
    slot a table that is 0 for those and 255 for others."""
    there = np.flatnonzero(event != codes.absent)
    slots = there % _SLOTS
    table = np.full(_SLOTS + 1, _ABSENT, np.uint8)
    table[_FREE] = 0
    table[slots] = _bytes(event[there], codes.spaces[there])
    times = np.bincount(slots, minlength=_SLOTS + 1)
    wild = np.where(times > 1, 0, 255).astype(np.uint8)
    return table, wild if times.max(initial=0) > 1 else None


def column_scan(codes: CodedWorkload, *, vectors: bool | None = None) -> Scan:
    """Returns the scan of byte columns, with vectors where the processor has them."""
    vectors = has_vectors() if vectors is None else vectors
    columns = _columns(codes)
    flat = (codes.start, codes.attribute, codes.low, codes.high, codes.extra, codes.sets)
    longest, coarse = np.diff(codes.start).max(initial=1), codes.spaces.max(initial=0) > _ABSENT
    exact = not (
        coarse or len(codes.spaces) > _SLOTS or longest > len(columns) or codes.extra is not None
    )
    tables = [_tables(codes, event) for event in codes.events]
    found = np.empty(columns.shape[1] * _LANES + 1, np.int64)
    slow = None if vectors else 1

    def scan(at: int) -> Ints:
        rows = found[: _let_through(columns, *tables[at], slow, found)].copy()
        if exact:
            return rows
        return rows[: scanned(*flat, codes.events[at], codes.absent, rows, rows)]

    return scan
