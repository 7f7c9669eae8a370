"""Reads the first bytes of an image file: its format, its size, and whether it is all there.

Nothing is decoded, so that a few bytes never become gigabytes, and a file that ends early is
refused before a decoder fills the rest with gray. Cost: memory speed, a walk over its segments.
"""

from __future__ import annotations

import re
import struct
import zlib
from collections.abc import Callable
from typing import NamedTuple

from tamis import TamisError

_JPEG_FRAMES = frozenset({*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC})
_JPEG_ALONE = frozenset({0x01, *range(0xD0, 0xD8)})
_JPEG_MARKER = re.compile(rb"\xff+[^\x00\xd0-\xd7\xff]", re.DOTALL)
_SOI, _EOI, _SOS = 0xD8, 0xD9, 0xDA
_PNG = b"\x89PNG\r\n\x1a\n"
_BMP_PLAIN = frozenset({0, 3, 6})


class FrameError(TamisError, ValueError):
    """An image that is no frame, with the reason in one line."""


class Header(NamedTuple):
    """The facts in a file's header, before it is decoded."""

    format: str
    width: int
    height: int


def header_of(content: bytes) -> Header:
    """Reads the header of a whole image file; `FrameError` for others and truncated ones."""
    for format, (is_it, read) in _READERS.items():
        if is_it(content):
            try:
                width, height = read(content)
            except (IndexError, struct.error):
                raise _ends_early(format) from None
            if width < 1 or height < 1:
                raise FrameError(f"the {format} image says it is {width} by {height} pixels")
            return Header(format, width, height)
    shown = content[:8].hex(" ") or "nothing"
    raise FrameError(f"no image of a known format ({', '.join(_READERS)}): it begins with {shown}")


def _ends_early(format: str) -> FrameError:
    return FrameError(f"the {format} image ends early: the file is truncated")


def _jpeg(content: bytes) -> tuple[int, int]:
    """Walks segments and scans up to the end marker."""
    size: tuple[int, int] | None = None
    place = 2
    while True:
        found = _JPEG_MARKER.search(content, place)
        if found is None:
            raise _ends_early("jpeg")
        place, marker = found.end(), content[found.end() - 1]
        if marker == _EOI:
            break
        if marker in _JPEG_ALONE or marker == _SOI:
            continue
        (length,) = struct.unpack_from(">H", content, place)
        if marker in _JPEG_FRAMES and size is None:
            height, width = struct.unpack_from(">HH", content, place + 3)
            size = width, height
        place += max(length, 2)
    if size is None:
        raise FrameError("the jpeg image has no frame in it")
    return size


def _png(content: bytes) -> tuple[int, int]:
    """Walks the chunks up to the last one; each is as long and as it was written."""
    place, size = len(_PNG), (0, 0)
    while True:
        length, kind = struct.unpack_from(">I4s", content, place)
        end = place + 12 + length
        if end > len(content):
            raise _ends_early("png")
        (wanted,) = struct.unpack_from(">I", content, end - 4)
        if zlib.crc32(memoryview(content)[place + 4 : end - 4]) != wanted:
            raise FrameError(f"the png image is damaged: its {kind!r:.8} does not match its sum")
        if place == len(_PNG):
            if kind != b"IHDR":
                raise FrameError("the png image does not begin with its size")
            size = struct.unpack_from(">II", content, place + 8)
        if kind == b"IEND":
            return size
        place = end


def _webp(content: bytes) -> tuple[int, int]:
    (riff,) = struct.unpack_from("<I", content, 4)
    if riff + 8 > len(content):
        raise _ends_early("webp")
    kind = content[12:16]
    if kind == b"VP8X":
        wide, high = content[24:27], content[27:30]
        return int.from_bytes(wide, "little") + 1, int.from_bytes(high, "little") + 1
    if kind == b"VP8L":
        (bits,) = struct.unpack_from("<I", content, 21)
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    if kind == b"VP8 ":
        width, height = struct.unpack_from("<HH", content, 26)
        return width & 0x3FFF, height & 0x3FFF
    raise FrameError(f"the webp image holds {kind!r}")


def _bmp(content: bytes) -> tuple[int, int]:
    start, header = struct.unpack_from("<II", content, 10)
    if header == 12:
        width, height, _, depth = struct.unpack_from("<HHHH", content, 18)
    else:
        width, height, _, depth, packing = struct.unpack_from("<iiHHI", content, 18)
        if packing not in _BMP_PLAIN:
            raise FrameError("the bmp image is packed: only plain ones are read")
    height = abs(height)
    if start + (width * depth + 31) // 32 * 4 * height > len(content):
        raise _ends_early("bmp")
    return width, height


_READERS: dict[str, tuple[Callable[[bytes], bool], Callable[[bytes], tuple[int, int]]]] = {
    "jpeg": (lambda content: content.startswith(b"\xff\xd8\xff"), _jpeg),
    "png": (lambda content: content.startswith(_PNG), _png),
    "webp": (lambda content: content[:4] == b"RIFF" and content[8:12] == b"WEBP", _webp),
    "bmp": (lambda content: content.startswith(b"BM"), _bmp),
}
FORMATS = tuple(_READERS)
"""The formats that can be allowed."""
