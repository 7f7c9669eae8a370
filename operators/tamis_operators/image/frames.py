"""Decodes the pixels of an event's image: once an event, and never changed.

Invariant: nothing is fetched, nothing but plain files is read, sizes are checked before anything is
decoded, and a frame is whole or refused with a reason (a `FrameError`, of which the gateway makes
*unknown*). Cost: a decoding an event; an array of colors is taken as it is.
"""

from __future__ import annotations

import functools
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tamis import Preparation
from tamis_operators.content import read_content
from tamis_operators.image.headers import FORMATS, FrameError, Header, header_of
from tamis_operators.image.vision import opencv

if TYPE_CHECKING:
    from tamis.kit import Bytes

    Frame = Bytes

__all__ = ["FRAME", "FrameError", "FrameLimits", "content_of", "frame_of", "is_array"]

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
    return read_content(image, "image", limits.file_bytes, FrameError)


def _prepared(event: Any) -> Frame:
    return frame_of(event["image"])


FRAME = Preparation("frame", _prepared, inputs=("image",), cost_seconds=0.01)
"""The frame of the event, for all operators and detectors that look at it."""


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
