"""A frame as a camera that looks straight down has it: ground, shadows, things, light, lens.

Invariant: what is drawn depends on the world and the frame's number alone. Cost: tens of
milliseconds a frame on one core.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from examples.uav.chance import stream
from examples.uav.city import City
from examples.uav.flights import Camera
from examples.uav.ground import Canvas, Image, Sun, draw_ground
from examples.uav.palette import PALETTE, WHITE, Color
from examples.uav.plane import Points, turned
from examples.uav.thing import KINDS, Thing, light_squares
from examples.uav.weather import Weather

_TILE = 1500
_HEIGHTS = {"person": 1.2, "car": 1.3, "taxi": 1.3, "policeCar": 1.4, "bus": 2.4, "truck": 2.6}
_TALL = 3.0
_SPOTS = ((40.0, 0.035), (9.0, 0.03), (2.2, 0.028), (0.4, 0.022))
"""Texture of the ground: how large its spots are in meters, and how strong."""
_TEXTURE_PIXEL_M = 0.12


def rendered(
    city: City, things: list[Thing], camera: Camera, weather: Weather, number: int
) -> Image:
    """The frame, blue first."""
    canvas = Canvas(camera)
    draw_ground(canvas, city, weather.sun)
    _draw_wakes(canvas, things)
    draw_things(canvas, things, weather.sun)
    size = camera.width, camera.height
    small = cv2.resize(canvas.pixels, size, interpolation=cv2.INTER_AREA)
    frame = _as_image(cv2.multiply(small, _texture(camera), scale=1 / 128))
    random = stream(number, 70)
    if weather.rain:
        _rain(frame, weather.rain, random)
    lit = cv2.LUT(frame, _lighting(weather))
    return _noisy(cv2.GaussianBlur(lit, (0, 0), weather.blur), weather.noise, random)


def _as_image(pixels: Any) -> Image:
    return np.asarray(pixels, np.uint8)


def encoded(frame: Image, weather: Weather) -> bytes:
    """The frame as a JPEG file."""
    done, data = cv2.imencode(".jpg", frame, [cv2.IMWRITE_JPEG_QUALITY, weather.quality])
    if not done:
        raise ValueError("the frame cannot be encoded")
    return bytes(data)


@functools.lru_cache(maxsize=256)
def _parts(label: str, body: int, marks: frozenset[str]) -> tuple[Points, list[int], list[Color]]:
    """All corners of a thing's parts, where each part ends, and its paint."""
    kind = KINDS[label]
    drawn = list(kind.drawn(kind.bodies[body], marks))
    ends = np.cumsum([len(outline) for _, outline in drawn]).tolist()
    corners = np.array([point for _, outline in drawn for point in outline])
    return corners, ends, [paint for paint, _ in drawn]


def draw_things(canvas: Canvas, things: list[Thing], sun: Sun) -> None:
    """Shadows of things, then the things; people last."""
    alike: dict[tuple[str, int, frozenset[str]], list[Thing]] = {}
    for each in things:
        alike.setdefault((each.label, each.body, each.marks), []).append(each)
    drawn = []
    shadows: list[NDArray[np.int32]] = []
    for (label, body, marks), group in sorted(
        alike.items(), key=lambda item: (item[0][0] == "person", item[0][0], item[0][1])
    ):
        corners, ends, paints = _parts(label, body, marks)
        turns = np.radians([each.heading for each in group])
        cos, sin = np.cos(turns)[:, None], np.sin(turns)[:, None]
        x = corners[:, 0] * cos - corners[:, 1] * sin + np.array([[each.x] for each in group])
        y = corners[:, 0] * sin + corners[:, 1] * cos + np.array([[each.y] for each in group])
        places = np.stack([x, y], axis=-1)
        if sun is not None:
            far = np.array(sun) * _HEIGHTS.get(label, _TALL)
            shadows += list(canvas.corners(places[:, : ends[0]] + far))
        drawn.append((canvas.corners(places), ends, paints))
    canvas.darken(shadows, PALETTE.shadow)
    for fixed, ends, paints in drawn:
        for one in fixed:
            begin = 0
            for end, paint in zip(ends, paints, strict=True):
                canvas.convex(one[begin:end], (paint[2], paint[1], paint[0]))
                begin = end
    for each in things:
        if each.roof >= 0:
            for square in light_squares(each.roof):
                outline = turned(square, each.heading) + np.array([each.x, each.y])
                canvas.convex(canvas.corners(outline), WHITE[::-1])


def _draw_wakes(canvas: Canvas, things: list[Thing]) -> None:
    """Behind boats under way the water is lighter."""
    for each in things:
        if each.part == "sailing":
            kind = KINDS[each.label]
            long, broad = kind.length_m, kind.breadth_m
            shape = np.array(
                [(-long * 0.5, -broad * 0.3), (-long * 1.5, -broad * 0.7),
                 (-long * 1.5, broad * 0.7), (-long * 0.5, broad * 0.3)]
            )  # fmt: skip
            outline = turned(shape, each.heading) + np.array([each.x, each.y])
            canvas.fill(outline, PALETTE.water["wake"])


@functools.lru_cache(maxsize=1)
def _tile() -> NDArray[np.uint8]:
    """Spots of several sizes, 128 for none, that continue at the edges."""
    random = stream(0, 71)
    total = np.zeros((_TILE, _TILE), np.float32)
    for size_m, strength in _SPOTS:
        cells = max(4, round(_TILE * _TEXTURE_PIXEL_M / size_m))
        spots = random.normal(0, strength, (cells, cells)).astype(np.float32)
        wrapped = np.pad(spots, 2, mode="wrap")
        scale = _TILE / cells
        large = cv2.resize(wrapped, None, fx=scale, fy=scale, interpolation=cv2.INTER_CUBIC)
        edge = round(2 * scale)
        total += large[edge : edge + _TILE, edge : edge + _TILE]
    tile: NDArray[np.uint8] = np.clip(128 * (1 + total), 0, 255).astype(np.uint8)
    return tile


def _texture(camera: Camera) -> NDArray[np.uint8]:
    """The tile as the camera sees it, fixed to the ground."""
    zoom = camera.meters_per_pixel / _TEXTURE_PIXEL_M
    turn = math.radians(-camera.turn)
    cos, sin = math.cos(turn) * zoom, math.sin(turn) * zoom
    x, y = (each / _TEXTURE_PIXEL_M % _TILE for each in (camera.x, camera.y))
    wide, high = camera.width / 2, camera.height / 2
    matrix = np.array(
        [[cos, -sin, x - cos * wide + sin * high], [sin, cos, y - sin * wide - cos * high]]
    )
    flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
    size = camera.width, camera.height
    seen = cv2.warpAffine(_tile(), matrix, size, flags=flags, borderMode=cv2.BORDER_WRAP)
    return _as_image(cv2.cvtColor(seen, cv2.COLOR_GRAY2BGR))


def _lighting(weather: Weather) -> Image:
    """What becomes of each level of blue, green and red."""
    levels = np.arange(256)[:, None] * weather.brightness
    gains = np.array([1 - weather.warmth, 1.0, 1 + weather.warmth])
    table: Image = np.clip(levels * gains, 0, 255).round().astype(np.uint8).reshape(1, 256, 3)
    return table


@functools.lru_cache(maxsize=1)
def _grain() -> NDArray[np.int16]:
    """Noise of deviation 1, in 64ths."""
    drawn = stream(0, 72).normal(0, 64, (1100, 1400, 3))
    grain: NDArray[np.int16] = drawn.round().astype(np.int16)
    return grain


def _noisy(frame: Any, strength: float, random: np.random.Generator) -> Image:
    height, width = frame.shape[:2]
    grain = _grain()
    y, x = (int(random.integers(n)) for n in (grain.shape[0] - height, grain.shape[1] - width))
    piece = grain[y : y + height, x : x + width]
    return _as_image(cv2.addWeighted(frame, 1.0, piece, strength / 64, 0.0, dtype=cv2.CV_8U))


def _rain(frame: Image, much: float, random: np.random.Generator) -> None:
    """Streaks that are a little lighter than what is behind."""
    count = int(260 * much)
    starts = random.uniform(0, 1, (count, 2)) * (frame.shape[1], frame.shape[0])
    slant, long = float(random.uniform(-4, 4)), float(random.uniform(8, 16))
    over = frame.copy()
    for x, y in starts.round().astype(int).tolist():
        cv2.line(over, (x, y), (round(x + slant), round(y + long)), (190, 188, 184), 1, cv2.LINE_AA)
    cv2.addWeighted(over, 0.14, frame, 0.86, 0.0, dst=frame)
