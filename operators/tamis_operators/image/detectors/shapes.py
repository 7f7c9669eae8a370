"""Reads from an ONNX file which size of picture its model wants, without a library for it.

A model is a protocol buffer: the graph (field 7) names its inputs (11), whose type (2) is a tensor
(1) with a shape (2) of dimensions (1), each a number (1) where it is fixed. Weights are skipped.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from pathlib import Path

_VARINT, _EIGHT, _SIZED, _FOUR = 0, 1, 2, 5


def input_size(model: Path) -> tuple[int, int] | None:
    """Returns width and height of the first input of four dimensions; `None` where they are not
    fixed."""
    with (
        model.open("rb") as file,
        mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content,
    ):
        try:
            for start, end in _inside(content, 0, len(content), 7, 11):
                dimensions = [
                    next(_numbers(content, *place, 1), 0)
                    for place in _inside(content, start, end, 2, 1, 2, 1)
                ]
                if len(dimensions) == 4:
                    height, width = dimensions[2:]
                    return (width, height) if width > 0 and height > 0 else None
        except (IndexError, ValueError):
            return None
    return None


def _fields(content: mmap.mmap, place: int, end: int) -> Iterator[tuple[int, int, int, int]]:
    """Yields the fields of a message: number, kind, and where its content is."""
    while place < end:
        key, place = _varint(content, place)
        kind = key & 7
        if kind == _VARINT:
            after = _varint(content, place)[1]
        elif kind in (_EIGHT, _FOUR):
            after = place + (8 if kind == _EIGHT else 4)
        elif kind == _SIZED:
            size, place = _varint(content, place)
            after = place + size
        else:
            raise ValueError("no protocol buffer")
        yield key >> 3, kind, place, after
        place = after


def _inside(
    content: mmap.mmap, start: int, end: int, number: int, *numbers: int
) -> Iterator[tuple[int, int]]:
    """Yields the places of the messages to which a path of field numbers leads."""
    for found, kind, first, after in _fields(content, start, end):
        if found == number and kind == _SIZED:
            if numbers:
                yield from _inside(content, first, after, *numbers)
            else:
                yield first, after


def _numbers(content: mmap.mmap, start: int, end: int, number: int) -> Iterator[int]:
    for found, kind, first, _ in _fields(content, start, end):
        if found == number and kind == _VARINT:
            yield _varint(content, first)[0]


def _varint(content: mmap.mmap, place: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = content[place]
        value |= (byte & 0x7F) << shift
        place, shift = place + 1, shift + 7
        if byte < 0x80:
            return value, place
        if shift > 63:
            raise ValueError("no protocol buffer")
