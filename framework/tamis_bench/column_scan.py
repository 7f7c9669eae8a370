"""The SIMD column scan: columns of bytes, 64 subscriptions tested at once, no index.

A place of a subscription is three bytes: slot, low, width. The event is a table of 128 codes in two
registers, so that one instruction (`vpermi2b`) looks up 64 slots; a predicate is
`(unsigned)(code - low) <= width`, and the code of an absent attribute is in no range. A block of 64
is left when none of it is alive. Where bytes cannot say it all (more attributes than slots, more
spaces than codes, other predicates than ranges, more places than columns), they let too much
through, and what is left is checked exactly. Without that instruction the blocks are tested one
subscription at a time.
Cost: O(subscriptions), about three bytes read for each predicate looked at.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numpy.typing import NDArray

from tamis.index.buckets.bits import has_vectors
from tamis.numeric.kernels import kernel
from tamis_bench.boxes import RANGE, Extra, Sets
from tamis_bench.coded import Coded, Codes
from tamis_bench.draws import Ints
from tamis_bench.scans import Scan, Starts, holds

Bytes = NDArray[np.uint8]

_LANES = 64
_FEWEST_PLACES, _MOST_PLACES = 2, 8
_SLOTS, _FREE, _ABSENT = 127, 127, 255
_SLOT, _LOW, _WIDTH = range(3)
_ONE = np.uint64(1)

_BYTES = ir.VectorType(ir.IntType(8), _LANES)


def _instructions(function: Any) -> Any:
    """Makes a function that generates code one that kernels call."""
    return intrinsic(function)


def _generate_mask(builder: Any, table: Any, wild: Any, block: Any) -> Any:
    """The code of a block's test: addresses in, a bit for each subscription out."""
    if not has_vectors():
        return ir.Constant(ir.IntType(64), 0)

    def load(address: Any, place: int) -> Any:
        moved = builder.add(address, ir.Constant(address.type, _LANES * place))
        loaded = builder.load(builder.inttoptr(moved, ir.PointerType(_BYTES)))
        loaded.align = 1
        return loaded

    kind = ir.FunctionType(_BYTES, [_BYTES] * 3)
    name = "llvm.x86.avx512.vpermi2var.qi.512"
    functions: Any = cgutils
    look_up = functions.get_or_insert_function(builder.module, kind, name)
    slots = load(block, _SLOT)
    codes = builder.call(look_up, [load(table, 0), slots, load(table, 1)])
    above = builder.sub(codes, load(block, _LOW))
    if wild is not None:
        above = builder.and_(above, builder.call(look_up, [load(wild, 0), slots, load(wild, 1)]))
    true = builder.icmp_unsigned("<=", above, load(block, _WIDTH))
    return builder.bitcast(true, ir.IntType(64))


@_instructions
def _exact_mask(typing: Any, table: Any, block: Any) -> Any:
    """A bit for each of 64 subscriptions whose predicate holds; takes addresses."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return _generate_mask(builder, arguments[0], None, arguments[1])

    return types.uint64(types.uintp, types.uintp), generate


@_instructions
def _wild_mask(typing: Any, table: Any, wild: Any, block: Any) -> Any:
    """The same, where `wild` is 0 for a slot whose predicates all hold and 255 for others."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return _generate_mask(builder, *arguments)

    return types.uint64(types.uintp, types.uintp, types.uintp), generate


@_instructions
def _lowest_bit(typing: Any, mask: Any) -> Any:
    """The place of the lowest bit of a mask, which has one."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.IntType(1)(1))

    return types.int64(types.uint64), generate


@kernel
def _vector_scan(columns: Bytes, table: Bytes, wild: Bytes | None, found: Ints) -> int:
    """The subscriptions that the bytes let through; two places of a block are tested at least."""
    count = 0
    places, blocks = columns.shape[0], columns.shape[1]
    codes, stride = table.ctypes.data, 3 * _LANES * blocks
    for block in range(blocks):
        address = columns.ctypes.data + 3 * _LANES * block
        if wild is None:
            mask = _exact_mask(codes, address) & _exact_mask(codes, address + stride)
        else:
            shared = wild.ctypes.data
            mask = _wild_mask(codes, shared, address) & _wild_mask(codes, shared, address + stride)
        place = 2
        while mask and place < places:
            at = address + place * stride
            if wild is None:
                mask &= _exact_mask(codes, at)
            else:
                mask &= _wild_mask(codes, wild.ctypes.data, at)
            place += 1
        while mask:
            found[count] = _LANES * block + _lowest_bit(mask)
            mask &= mask - _ONE
            count += 1
    return count


@kernel
def _portable_scan(columns: Bytes, table: Bytes, wild: Bytes | None, found: Ints) -> int:
    """The same on any processor."""
    count = 0
    for block in range(columns.shape[1]):
        mask = ~np.uint64(0)
        place = 0
        while mask and place < columns.shape[0]:
            mask &= _portable_mask(table, wild, columns[place, block])
            place += 1
        while mask:
            found[count] = _LANES * block + _lowest_bit(mask)
            mask &= mask - _ONE
            count += 1
    return count


@kernel
def _portable_mask(table: Bytes, wild: Bytes | None, block: Bytes) -> np.uint64:
    mask = np.uint64(0)
    for lane in range(_LANES):
        slot = block[_SLOT, lane]
        above = np.uint8(table[slot] - block[_LOW, lane])
        if wild is not None:
            above &= wild[slot]
        mask |= np.uint64(above <= block[_WIDTH, lane]) << np.uint64(lane)
    return mask


@kernel
def _keep_exact(
    found: Ints,
    count: int,
    start: Starts,
    attribute: Codes,
    low: Codes,
    high: Codes,
    extra: Extra | None,
    sets: Sets,
    event: Codes,
    absent: int,
) -> int:
    """Moves those that match to the front; how many they are."""
    kept = 0
    for each in range(count):
        row = found[each]
        true = True
        for at in range(start[row], start[row + 1]):
            value = event[attribute[at]]
            if extra is None:
                true = low[at] <= value <= high[at]
            else:
                true = holds(low[at], high[at], extra[at], sets, value, absent)
            if not true:
                break
        found[kept] = row
        kept += true
    return kept


@kernel
def _fill(
    columns: Bytes,
    start: Starts,
    attribute: Codes,
    low: Codes,
    high: Codes,
    extra: Extra | None,
    spaces: Ints,
) -> None:
    places, rows = columns.shape[0], len(start) - 1
    for row in range(rows):
        block, lane = row // _LANES, row % _LANES
        for at in range(start[row], min(start[row + 1], start[row] + places)):
            place = at - start[row]
            each = attribute[at]
            begin, end = _byte(low[at], spaces[each]), _byte(high[at], spaces[each])
            if extra is not None and extra[at] < RANGE:
                begin, end = 0, _ABSENT - 1
            columns[place, block, _SLOT, lane] = each % _SLOTS
            columns[place, block, _LOW, lane] = begin
            columns[place, block, _WIDTH, lane] = end - begin
    for row in range(rows, columns.shape[1] * _LANES):
        columns[0, row // _LANES, _LOW, row % _LANES] = 1
        columns[0, row // _LANES, _WIDTH, row % _LANES] = 0


@kernel
def _byte(code: int, spaces: int) -> int:
    """The code itself, or where there are too many of them one that several share."""
    return code if spaces <= _ABSENT else code * _ABSENT // spaces


def _table(codes: Coded, event: Codes) -> tuple[Bytes, Bytes]:
    """The event as a table of codes by slot, and which slots several of its attributes share."""
    table, wild = np.full(_SLOTS + 1, _ABSENT, np.uint8), np.full(_SLOTS + 1, 255, np.uint8)
    table[_FREE] = 0
    seen: set[int] = set()
    for attribute in np.flatnonzero(event != codes.absent).tolist():
        slot = attribute % _SLOTS
        table[slot] = _byte(int(event[attribute]), int(codes.spaces[attribute]))
        wild[slot] = 0 if slot in seen else 255
        seen.add(slot)
    return table, wild


def column_scan(codes: Coded, *, vectors: bool | None = None) -> Scan:
    """The scan of byte columns, with vectors where the processor has them."""
    vectors = has_vectors() if vectors is None else vectors
    search = _vector_scan if vectors else _portable_scan
    longest = int(np.diff(codes.start).max(initial=1))
    places, blocks = min(max(longest, _FEWEST_PLACES), _MOST_PLACES), -(-len(codes) // _LANES)
    columns = np.zeros((places, blocks, 3, _LANES), np.uint8)
    columns[:, :, _SLOT], columns[:, :, _WIDTH] = _FREE, 255
    flat = (codes.start, codes.attribute, codes.low, codes.high, codes.extra)
    _fill(columns, *flat, codes.spaces)
    shared = len(codes.spaces) > _SLOTS
    coarse = int(codes.spaces.max(initial=0)) > _ABSENT
    exact = not (shared or coarse or longest > places or codes.extra is not None)
    tables = [_table(codes, event) for event in codes.events]
    found = np.empty(_LANES * blocks + 1, np.int64)

    def scan(at: int) -> Ints:
        table, wild = tables[at]
        count = search(columns, table, wild if shared else None, found)
        if not exact:
            event = codes.events[at]
            count = _keep_exact(found, count, *flat, codes.sets, event, codes.absent)
        return found[:count].copy()

    return scan
