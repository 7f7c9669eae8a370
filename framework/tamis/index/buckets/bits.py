"""Does what NumPy has no instruction for: the lowest bit, and 64 lanes tested at once.

The event is a table of 128 codes in two registers; `vpermi2b` looks up 64 slots at once. It takes a
processor with AVX-512 VBMI; `has_vectors` says whether this one, as numba compiles for it, has it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import binding, ir
from numba import config, types
from numba.core import cgutils
from numba.extending import intrinsic

from tamis.numeric.kernels import inlined
from tamis.numeric.types import Bytes, Words

_BYTE, _WORD, _BIT = ir.IntType(8), ir.IntType(64), ir.IntType(1)
_BYTES, _NUMBERS = ir.VectorType(_BYTE, 64), ir.VectorType(ir.IntType(32), 16)
_LOOK_UP = "llvm.x86.avx512.vpermi2var.qi.512"
_COMPRESS = "llvm.x86.avx512.mask.compress.v16i32"


def has_vectors() -> bool:
    """Returns whether numba compiles for a processor with byte look-ups in registers.

    That is this machine's, unless numba's settings name another one."""
    if config.CPU_FEATURES is not None:
        return "+avx512vbmi" in config.CPU_FEATURES.split(",")
    is_host = config.CPU_NAME in (None, "", "host") and bool(config.ENABLE_AVX)
    return is_host and bool(binding.get_host_cpu_features().get("avx512vbmi"))


@intrinsic
def lowest_bit(typing: Any, mask: Any) -> Any:
    """Returns the place of the lowest bit that is set; 64 if there is none."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], _BIT(0))

    return types.int64(types.uint64), generate


@intrinsic
def count_bits(typing: Any, mask: Any) -> Any:
    """Counts the bits that are set."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.int64(types.uint64), generate


@intrinsic
def fetch_ahead(typing: Any, address: Any) -> Any:
    """Asks for what lies at an address, which will be needed soon."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer = builder.inttoptr(arguments[0], ir.PointerType(_BYTE))
        word = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [pointer.type, word, word, word])
        name = "llvm.prefetch.p0" if pointer.type.is_opaque else "llvm.prefetch.p0i8"
        prefetch = cgutils.get_or_insert_function(builder.module, kind, name)
        builder.call(prefetch, [pointer, word(0), word(3), word(1)])
        return context.get_dummy_value()

    return types.void(types.intp), generate


@intrinsic
def _vector_masks(
    typing: Any, table: Any, lanes: Any, room: Any, chunks: Any, count: Any, masks: Any
) -> Any:
    """Tests chunks of 64 entries, all lanes of each; addresses in, masks out."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        if not has_vectors():
            return context.get_dummy_value()
        table, lanes, room, chunks, count, masks = arguments

        def load(address: Any) -> Any:
            loaded = builder.load(builder.inttoptr(address, ir.PointerType(_BYTES)))
            loaded.align = 1
            return loaded

        first, second = load(table), load(builder.add(table, _WORD(64)))
        look_up = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(_BYTES, [_BYTES] * 3), _LOOK_UP
        )
        held, here = cgutils.alloca_once(builder, _WORD), cgutils.alloca_once(builder, _WORD)
        builder.store(lanes, here)
        with cgutils.for_range(builder, chunks) as chunk:
            left = builder.sub(room, builder.mul(chunk.index, _WORD(64)))
            full = builder.icmp_signed(">=", left, _WORD(64))
            stride = builder.select(full, _WORD(64), left)
            builder.store(_WORD(-1), held)
            with cgutils.for_range(builder, count):
                slots = builder.load(here)
                lows = builder.add(slots, stride)
                widths = builder.add(lows, stride)
                codes = builder.call(look_up, [first, load(slots), second], attrs=("convergent",))
                above = builder.sub(codes, load(lows))
                holds = builder.bitcast(builder.icmp_unsigned("<=", above, load(widths)), _WORD)
                builder.store(builder.and_(builder.load(held), holds), held)
                builder.store(builder.add(widths, stride), here)
            target = builder.add(masks, builder.mul(chunk.index, _WORD(8)))
            builder.store(builder.load(held), builder.inttoptr(target, ir.PointerType(_WORD)))
        return context.get_dummy_value()

    return types.void(*[types.intp] * 6), generate


@intrinsic
def write_chosen(typing: Any, rows: Any, mask: Any, out: Any) -> Any:
    """Writes those of 64 numbers that a mask has, without gaps; addresses in, how many out.

    What lies behind them, up to 16 numbers, is overwritten."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        if not has_vectors():
            return _WORD(0)
        rows, mask, out = arguments
        module, written = builder.module, _WORD(0)
        chosen = ir.VectorType(_BIT, 16)
        kinds = [_NUMBERS.as_pointer(), ir.IntType(32), chosen, _NUMBERS]
        load = cgutils.get_or_insert_function(
            module, ir.FunctionType(_NUMBERS, kinds), "llvm.masked.load.v16i32.p0"
        )
        compress = cgutils.get_or_insert_function(
            module, ir.FunctionType(_NUMBERS, [_NUMBERS, _NUMBERS, chosen]), _COMPRESS
        )
        nothing = ir.Constant(_NUMBERS, [0] * 16)
        for part in range(4):
            bits = builder.trunc(builder.lshr(mask, _WORD(16 * part)), ir.IntType(16))
            these = builder.bitcast(bits, chosen)
            source = builder.inttoptr(builder.add(rows, _WORD(64 * part)), _NUMBERS.as_pointer())
            found = builder.call(load, [source, ir.IntType(32)(4), these, nothing])
            target = builder.add(out, builder.shl(written, _WORD(2)))
            stored = builder.store(
                builder.call(compress, [found, nothing, these]),
                builder.inttoptr(target, _NUMBERS.as_pointer()),
            )
            stored.align = 4
            written = builder.add(written, builder.zext(builder.ctpop(bits), _WORD))
        return written

    return types.int64(types.intp, types.uint64, types.intp), generate


@intrinsic
def _copy_bytes(typing: Any, to: Any, source: Any, count: Any) -> Any:
    """Copies bytes from one address to another."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        target, source = (builder.inttoptr(each, ir.PointerType(_BYTE)) for each in arguments[:2])
        cgutils.raw_memcpy(builder, target, source, arguments[2], 1)
        return context.get_dummy_value()

    return types.void(types.intp, types.intp, types.intp), generate


@inlined
def copy(target: Any, to: int, source: Any, begin: int, count: int) -> None:
    """Copies a stretch of an array to one of the same type, where it does not overlap."""
    size = target.itemsize
    _copy_bytes(target.ctypes.data + size * to, source.ctypes.data + size * begin, size * count)


@inlined
def vector_masks(
    table: Bytes, lanes: Bytes, at: int, room: int, entries: int, count: int, masks: Words,
    first: int,
) -> None:  # fmt: skip
    """Masks each 64 entries of those whose first lane begins at `at`: who holds in all.

    There is room for `room` entries. Bits beyond the last entry mean nothing."""
    _vector_masks(
        table.ctypes.data,
        lanes.ctypes.data + at,
        room,
        (entries + 63) >> 6,
        count,
        masks.ctypes.data + 8 * first,
    )


@inlined
def portable_masks(
    table: Bytes, lanes: Bytes, at: int, room: int, entries: int, count: int, masks: Words,
    first: int,
) -> None:  # fmt: skip
    """Masks on any processor: the first lane of all entries, then others of those that held."""
    for chunk in range((entries + 63) >> 6):
        here = at + 3 * count * 64 * chunk
        stride = min(64, room - 64 * chunk)
        mask = np.uint64(0)
        if count == 0:
            mask = ~mask
        else:
            slots = lanes[here : here + 64]
            lows = lanes[here + stride : here + stride + 64]
            widths = lanes[here + 2 * stride : here + 2 * stride + 64]
            for entry in range(min(64, entries - 64 * chunk)):
                above = np.uint8(table[slots[entry] & 127] - lows[entry])
                mask |= np.uint64(above <= widths[entry]) << np.uint64(entry)
        left = mask if count > 1 else np.uint64(0)
        while left:
            entry = lowest_bit(left)
            left &= left - np.uint64(1)
            for lane in range(1, count):
                place = here + 3 * stride * lane + entry
                above = np.uint8(table[lanes[place] & 127] - lanes[place + stride])
                if above > lanes[place + 2 * stride]:
                    mask &= ~(np.uint64(1) << np.uint64(entry))
                    break
        masks[first + chunk] = mask
