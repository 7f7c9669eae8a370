"""Frames: whole, read-only, turned as EXIF says, within limits, or refused with a reason."""

from __future__ import annotations

import base64
import os
import struct
import zlib
from pathlib import Path
from typing import Any
from urllib.parse import quote

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import tamis
from tamis_operators.image.frames import FRAME, FrameError, FrameLimits, frame_of
from tamis_operators.image.vision import opencv

ENDINGS = {"jpeg": ".jpg", "png": ".png", "webp": ".webp", "bmp": ".bmp"}


def picture(width: int = 64, height: int = 48) -> NDArray[np.uint8]:
    random = np.random.default_rng(0)
    noise = random.integers(0, 255, (height, width, 3), dtype=np.uint8)
    return np.asarray(cv2.GaussianBlur(noise, (0, 0), 3), np.uint8)


def coded(format: str, image: NDArray[np.uint8] | None = None) -> bytes:
    return cv2.imencode(ENDINGS[format], picture() if image is None else image)[1].tobytes()


CODED = {format: coded(format) for format in ENDINGS}


def check(frame: NDArray[np.uint8], least: float = 2.0) -> None:
    assert frame.shape == (48, 64, 3)
    assert frame.dtype == np.uint8
    assert frame.flags.c_contiguous
    assert not frame.flags.writeable
    assert abs(frame.astype(int) - picture()).mean() < least


@pytest.mark.parametrize("format", ENDINGS)
def test_every_form_of_every_format_gives_the_same(format: str, tmp_path: Path) -> None:
    content = CODED[format]
    path = tmp_path / "image"
    path.write_bytes(content)
    base = base64.b64encode(content).decode()
    for image in (
        content,
        bytearray(content),
        memoryview(content),
        path,
        str(path),
        f"data:image/{format};base64,{base}",
        f"DATA:;base64,{base.rstrip('=')}",
        f"data:image/{format};base64,{base[:40]}%0A {quote(base[40:])}",
        f"data:image/{format},{quote(content)}",
    ):
        check(frame_of(image))


def test_arrays_are_taken_as_they_are() -> None:
    colors = picture()
    frame = frame_of(colors)
    check(frame)
    assert np.shares_memory(frame, colors)
    assert colors.flags.writeable
    gray = colors[..., 0].copy()
    assert np.array_equal(frame_of(gray)[..., 2], gray)
    assert np.array_equal(frame_of(gray[..., None])[..., 1], gray)
    check(frame_of(np.dstack([colors, gray])))
    check(frame_of(np.asfortranarray(colors)))


@pytest.mark.parametrize(
    ("image", "reason"),
    [
        (np.zeros((4, 4), np.float32), "float32"),
        (np.zeros((4, 4, 2), np.uint8), "shape 4×4×2"),
        (np.zeros((0, 4, 3), np.uint8), "4 by 0 pixels"),
        (np.zeros((7000, 7000), np.uint8), "40 megapixels"),
        (7, "not a int"),
        ([[1]], "not a list"),
        (b"", "begins with nothing"),
        (b"GIF89a......", "no image of a known format"),
        ("http://localhost/a.png", "nothing is fetched by http:"),
        ("file:///a.png", "nothing is fetched by file:"),
        ("data:image/png;base64", "no comma"),
        ("data:image/png;base64,@@@@", "not base64"),
        ("/dev/zero", "not a plain file"),
        ("/nowhere/at/all.png", "No such file"),
        ("a\0b", "null"),
    ],
)
def test_others_are_refused_with_a_reason(image: object, reason: str) -> None:
    with pytest.raises(FrameError, match=reason) as caught:
        frame_of(image)
    assert "\n" not in str(caught.value)


def test_special_and_empty_files_do_not_block(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "empty").touch()
    for name, reason in (("fifo", "not a plain file"), ("empty", "empty"), ("", "not a plain")):
        with pytest.raises(FrameError, match=reason):
            frame_of(tmp_path / name)


@given(data=st.data(), format=st.sampled_from(sorted(ENDINGS)))
@settings(max_examples=150, deadline=None)
def test_a_truncated_file_is_refused(data: Any, format: str) -> None:
    content = CODED[format]
    end = data.draw(st.integers(0, len(content) - 1))
    with pytest.raises(FrameError):
        frame_of(content[:end])


@given(data=st.data(), format=st.sampled_from(sorted(ENDINGS)))
@settings(max_examples=100, deadline=None)
def test_damage_gives_a_frame_or_a_reason(data: Any, format: str) -> None:
    content = bytearray(CODED[format])
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    try:
        frame = frame_of(bytes(content))
    except FrameError:
        return
    assert frame.ndim == 3


def png_of(width: int, height: int) -> bytes:
    def chunk(kind: bytes, content: bytes) -> bytes:
        sum = zlib.crc32(kind + content)
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", sum)

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    data = zlib.compress(bytes(1000))
    parts = chunk(b"IHDR", header), chunk(b"IDAT", data), chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


def test_sizes_are_checked_before_decoding(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*arguments: object) -> None:
        raise AssertionError("decoded")

    with monkeypatch.context() as patched:
        patched.setattr(opencv(), "imdecode", never)
        with pytest.raises(FrameError, match="60,000 by 60,000 pixels: 40 megapixels"):
            frame_of(png_of(60_000, 60_000))
        with pytest.raises(FrameError, match="are allowed"):
            frame_of(CODED["png"], FrameLimits(file_bytes=100))
        with pytest.raises(FrameError, match="format png are not allowed"):
            frame_of(CODED["png"], FrameLimits(formats=("jpeg",)))


def test_limits_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TAMIS_IMAGE_FORMATS", "jpg, webp")
    check(frame_of(CODED["jpeg"]))
    with pytest.raises(FrameError, match="not allowed"):
        frame_of(CODED["bmp"])
    monkeypatch.setenv("TAMIS_IMAGE_MEGAPIXELS", "0.001")
    with pytest.raises(FrameError, match=r"0\.001 megapixels"):
        frame_of(CODED["jpeg"])
    monkeypatch.setenv("TAMIS_IMAGE_FORMATS", "gif")
    with pytest.raises(ValueError, match="not a known image format"):
        frame_of(CODED["jpeg"])


@pytest.mark.parametrize("turned", [1, 3, 6, 8])
def test_exif_turns_the_frame(turned: int) -> None:
    exif = b"MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01" + struct.pack(">HHI", turned, 0, 0)
    segment = b"Exif\0\0" + exif
    content = CODED["jpeg"]
    length = struct.pack(">H", len(segment) + 2)
    frame = frame_of(content[:2] + b"\xff\xe1" + length + segment + content[2:])
    back = {1: 0, 3: 2, 6: 1, 8: 3}[turned]
    assert np.array_equal(np.rot90(frame, back), frame_of(content))


@tamis.operator(inputs=("image",), preparation=FRAME, outputs=("width",))
def frameWidth(event: Any, width: object) -> list[int]:
    return [event.prepared.shape[1]]


@tamis.operator(inputs=("image",), preparation=FRAME)
def isTall(event: Any) -> bool:
    return bool(event.prepared.shape[0] > event.prepared.shape[1])


def test_a_broken_image_is_unknown_with_the_reason() -> None:
    matcher = tamis.Matcher([frameWidth, isTall])
    matcher.subscribe("frameWidth(?w), ?w > 60", id="wide")
    matcher.subscribe("isTall()", id="tall")
    result = matcher.match({"image": CODED["png"]})
    assert [each.bindings for each in result.matches] == [[{"w": 64}]]
    result = matcher.match({"image": CODED["png"][:500]})
    assert {each.subscription for each in result.undetermined} == {"wide", "tall"}
    assert all("ends early" in each.reason for each in result.undetermined)
