"""Makes of an event's picture and text what stands in a request: once an event, for all questions.

A picture is sent as it is: as the bytes of its file, which are looked at but not decoded. An array
of pixels becomes a PNG.
"""

from __future__ import annotations

import base64
import json
import struct
import zlib
from typing import Any

from tamis_operators.image.frames import FrameError, FrameLimits, content_of, frame_of, is_array
from tamis_operators.image.headers import header_of
from tamis_operators.model.endpoint import Endpoint

_FORMATS = ("jpeg", "png", "webp")


def prepared_content(endpoint: Endpoint, attribute: str, event: Any) -> list[Any]:
    """Returns the parts of a message that show an event."""
    parts: list[Any] = []
    text, image = event.get(attribute), event.get("image")
    if text is not None:
        if not isinstance(text, str):
            raise TypeError(f"{attribute} is a text, not {text!r:.40}")
        most = endpoint.most_letters
        if len(text) > most:
            raise ValueError(f"{attribute} has {len(text):,} letters: {most:,} are allowed")
        shown = json.dumps(text, ensure_ascii=False)
        parts.append({"type": "text", "text": f"The text of the event: {shown}"})
    if image is not None:
        url = {"url": _uri(image, endpoint.most_image_bytes)}
        parts.append({"type": "image_url", "image_url": url})
    if not parts:
        raise ValueError(f"the event has neither image nor {attribute}")
    return parts


def _uri(image: object, most_bytes: int) -> str:
    """Returns the picture as a `data:` URI."""
    limits = FrameLimits(_FORMATS, file_bytes=most_bytes)
    if is_array(image):
        content = _png(frame_of(image, limits))
        if len(content) > most_bytes:
            raise FrameError(f"the image has {len(content):,} bytes: {most_bytes:,} are allowed")
    else:
        content = content_of(image, limits)
    format = header_of(content).format
    if format not in _FORMATS:
        raise FrameError(f"models take {', '.join(_FORMATS)}, and the image is {format}")
    return f"data:image/{format};base64,{base64.b64encode(content).decode()}"


def _png(frame: Any) -> bytes:
    """Returns a frame as a PNG, its colors in that order."""
    height, width = frame.shape[:2]
    lines = b"".join(b"\0" + line.tobytes() for line in frame[:, :, ::-1])
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(lines, 1)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in chunks
    )
