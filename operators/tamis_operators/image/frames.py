"""Decodes the pixels of an event's image: once an event, and never changed.

Invariant: nothing is fetched, nothing but plain files is read, sizes are checked before anything is
decoded, and a frame is whole or refused with a reason (a `FrameError`, of which the gateway makes
*unknown*). Cost: a decoding an event; an array of colors is taken as it is.
"""

from __future__ import annotations

import base64
import binascii
import functools
import os
import re
import stat
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote_to_bytes

from tamis import Preparation
from tamis.kit import is_address
from tamis_operators.image.headers import FORMATS, FrameError, Header, header_of
from tamis_operators.image.vision import opencv

if TYPE_CHECKING:
    from tamis.kit import Bytes

    Frame = Bytes

__all__ = ["FRAME", "FrameError", "FrameLimits", "content_of", "frame_of", "is_array"]

_SPACE = re.compile(rb"\s+")
_MILLION = 1_000_000


@dataclass(frozen=True)
class FrameLimits:
    """Limits frames: formats by name, pixels, bytes of a file or a URI."""

    formats: tuple[str, ...] = FORMATS
    pixels: int = 40 * _MILLION
    file_bytes: int = 128 * 1024 * 1024

    def __post_init__(self) -> None:
        for format in self.formats:
            if format not in FORMATS:
                raise ValueError(f"{format!r} is not a known image format ({', '.join(FORMATS)})")
        if not self.formats or self.pixels < 1 or self.file_bytes < 1:
            raise ValueError("limits of frames are formats, and numbers above 0")

    @classmethod
    def from_environment(cls) -> FrameLimits:
        """Reads TAMIS_IMAGE_FORMATS, TAMIS_IMAGE_MEGAPIXELS and TAMIS_IMAGE_BYTES."""
        return _limits(*(os.environ.get(name, "").strip() for name in _SETTINGS))


_SETTINGS = ("TAMIS_IMAGE_FORMATS", "TAMIS_IMAGE_MEGAPIXELS", "TAMIS_IMAGE_BYTES")


@functools.lru_cache(maxsize=8)
def _limits(formats: str, megapixels: str, file_bytes: str) -> FrameLimits:
    given: dict[str, Any] = {}
    if formats:
        names = formats.lower().replace(",", " ").split()
        given["formats"] = tuple("jpeg" if name == "jpg" else name for name in names)
    if megapixels:
        given["pixels"] = round(float(megapixels) * _MILLION)
    if file_bytes:
        given["file_bytes"] = int(file_bytes)
    return FrameLimits(**given)


def frame_of(image: object, limits: FrameLimits | None = None) -> Frame:
    """Reads a frame from a path, bytes, a `data:` URI or an array: H×W×3, blue first."""
    limits = limits or FrameLimits.from_environment()
    if is_array(image):
        return _of_array(image, limits)
    return _decoded(content_of(image, limits), limits)


def is_array(image: object) -> bool:
    """Returns whether an image is an array of pixels, and not the bytes or the place of a file."""
    return hasattr(image, "__array_interface__") and not isinstance(image, (str, bytes))


def content_of(image: object, limits: FrameLimits) -> bytes:
    """Returns the bytes of a path, of bytes or of a `data:` URI, not yet decoded."""
    if isinstance(image, (str, os.PathLike)):
        text = os.fspath(image)
        if isinstance(text, str) and text[:5].lower() == "data:":
            return _of_uri(text, limits)
        return _of_file(text, limits)
    if isinstance(image, (bytes, bytearray, memoryview)):
        content = bytes(image)
        _check_bytes(len(content), limits)
        return content
    raise FrameError(
        f"an image is a path, bytes, a data: URI or an array, not a {type(image).__name__}"
    )


def _prepared(event: Any) -> Frame:
    return frame_of(event["image"])


FRAME = Preparation("frame", _prepared, inputs=("image",), cost_seconds=0.01)
"""The frame of the event, for all operators and detectors that look at it."""


def _of_file(path: str | bytes, limits: FrameLimits) -> bytes:
    """Returns the content of a plain file, known to be one before it is opened and after."""
    if isinstance(path, str) and is_address(path):
        scheme = path.partition(":")[0]
        raise FrameError(f"an image is a path or a data: URI: nothing is fetched by {scheme}:")
    shown = _shown(path)
    try:
        _check_plain(os.stat(path), shown, limits)
        # a FIFO put there meanwhile must not block the opening
        descriptor = os.open(path, os.O_RDONLY | _OPENING)
        with open(descriptor, "rb") as file:
            _check_plain(os.fstat(descriptor), shown, limits)
            content = file.read(limits.file_bytes + 1)
    except (OSError, ValueError) as problem:
        if isinstance(problem, FrameError):
            raise
        reason = getattr(problem, "strerror", None) or str(problem)
        if isinstance(problem, FileNotFoundError) and isinstance(path, str):
            reason += f" at {os.path.abspath(path)}; a path begins at the folder of the events"
        raise FrameError(f"the image {shown} cannot be read: {reason}") from None
    _check_bytes(len(content), limits)
    return content


_OPENING = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


def _check_plain(found: os.stat_result, shown: str, limits: FrameLimits) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise FrameError(f"the image {shown} is not a plain file")
    if found.st_size == 0:
        raise FrameError(f"the image {shown} is an empty file")
    _check_bytes(found.st_size, limits)


def _check_bytes(count: int, limits: FrameLimits) -> None:
    if count > limits.file_bytes:
        raise FrameError(f"the image has {count:,} bytes: {limits.file_bytes:,} are allowed")


def _of_uri(uri: str, limits: FrameLimits) -> bytes:
    """Returns the data of a `data:` URI, in base64 or with percent signs."""
    kind, comma, data = uri[5:].partition(",")
    if not comma:
        raise FrameError("the data: URI of the image has no comma before its data")
    if len(data) > 4 * limits.file_bytes:  # spaces and escapes take the more
        raise FrameError(f"the data: URI of the image has {len(data):,} letters: too many")
    content = unquote_to_bytes(data)
    if kind.lower().rstrip().endswith(";base64"):
        content = _SPACE.sub(b"", content)
        try:
            content = base64.b64decode(content + b"=" * (-len(content) % 4), validate=True)
        except binascii.Error as problem:
            raise FrameError(f"the data: URI of the image is not base64: {problem}") from None
    _check_bytes(len(content), limits)
    return content


def _decoded(content: bytes, limits: FrameLimits) -> Frame:
    """Returns the pixels, turned as EXIF says; transparency is left out."""
    import numpy as np

    header = header_of(content)
    if header.format not in limits.formats:
        allowed = ", ".join(limits.formats)
        raise FrameError(f"images of the format {header.format} are not allowed ({allowed} are)")
    _check_pixels(header.width, header.height, limits)
    cv2 = opencv()
    try:
        frame = cv2.imdecode(np.frombuffer(content, np.uint8), cv2.IMREAD_COLOR)
    except cv2.error as problem:
        raise FrameError(f"the {header.format} image cannot be decoded: {problem.err}") from None
    if frame is None:
        raise FrameError(f"the {header.format} image cannot be decoded: it is damaged")
    _check_decoded(frame, header)
    frame.setflags(write=False)
    return frame  # type: ignore[no-any-return]


def _check_pixels(width: int, height: int, limits: FrameLimits) -> None:
    if width * height > limits.pixels:
        raise FrameError(
            f"the image has {width:,} by {height:,} pixels: "
            f"{limits.pixels / _MILLION:g} megapixels are allowed"
        )


def _check_decoded(frame: Frame, header: Header) -> None:
    """Checks that a decoded frame is as large as its header said."""
    if sorted(frame.shape[:2]) != sorted((header.width, header.height)):
        raise FrameError(
            f"the {header.format} image says {header.width} by {header.height} pixels "
            f"and holds {frame.shape[1]} by {frame.shape[0]}"
        )


def _of_array(array: object, limits: FrameLimits) -> Frame:
    """Reads an array of bytes: gray, blue-green-red, or that with transparency, left out."""
    import numpy as np

    pixels = np.asarray(array)
    if pixels.dtype != np.uint8:
        raise FrameError(f"the array of the image holds {pixels.dtype}: it is of uint8")
    if pixels.ndim not in (2, 3) or (pixels.ndim == 3 and pixels.shape[2] not in (1, 3, 4)):
        shape = "×".join(map(str, pixels.shape))
        raise FrameError(
            f"the array of the image has the shape {shape or 'of one number'}: "
            "it is height × width (gray), or that × 3 (blue, green, red), or × 4"
        )
    height, width = pixels.shape[:2]
    if not height or not width:
        raise FrameError(f"the array of the image has {width} by {height} pixels")
    _check_pixels(width, height, limits)
    if pixels.ndim == 2 or pixels.shape[2] == 1:
        frame = np.repeat(pixels.reshape(height, width, 1), 3, axis=2)
    else:
        frame = np.ascontiguousarray(pixels[:, :, :3]).view()
    frame.setflags(write=False)
    return frame


def _shown(path: str | bytes) -> str:
    shown = repr(os.fsdecode(path))
    return shown if len(shown) <= 120 else f"{shown[:60]}…{shown[-59:]}"
