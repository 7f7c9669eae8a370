"""Tells what is ground on a frame from what is not, under whatever light the frame has.

Colors are compared as logarithms (lightness, and red and blue against green), in daylight: a frame
is first divided by its light, so that one table from colors to grounds serves all. The light is the
one in which most pixels are ground of the palette. Cost: some 15 ms a frame.
"""

from __future__ import annotations

import functools
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from examples.uav.palette import PALETTE
from tamis_operators.image.vision import opencv

cv2 = opencv()

Array = NDArray[np.float32]
Pixels = NDArray[np.uint8]

_OFFSET = 20.0
"""Added to colors before the logarithm: noise counts less in the dark."""
_WEIGHTS = np.array([[0.25, 0.5, 0.25], [0.0, -1.4, 1.4], [1.4, -1.4, 0.0]])
_BITS = 6
_SHADOWED, _PRIOR, _FAR = 6, 3.0, 60
_GROUND, _FOREIGN = 21, 27
"""Hundredths that ground may differ from its palette, and from what grounds are near."""
_DARKER = 2.0
_CELL_M, _NEAR_M, _LEAST_SHARE = 0.5, 7.0, 0.12
_SAMPLE = 24


def logs(pixels: Pixels) -> Array:
    """Pixels of daylight, blue first, as lightness, red and blue against green."""
    levels = np.log(np.arange(256, dtype=np.float32) + np.float32(_OFFSET))
    shades: Array = cv2.transform(cv2.LUT(pixels, levels), _WEIGHTS)
    return shades


class Grounds(NamedTuple):
    """How far every color is from every ground of a palette, in hundredths: lit, in the shadow,
    and where two of them meet."""

    distances: Pixels
    """Grounds × colors."""
    nearest: Pixels
    """For each color the number of the nearest ground; that of no ground where it is none."""
    price: Pixels
    """How little each color is like ground."""
    needed: NDArray[np.uint32]
    """Of each ground, a bit for each plain ground that has to be near."""
    plain: int
    water: int
    """The bits of plain grounds that are water."""


@functools.cache
def grounds() -> Grounds:
    """The tables of the palette."""
    colors = [*PALETTE.ground.values(), *PALETTE.water.values()]
    plain = np.array(colors, float)[:, ::-1]
    land, count = len(PALETTE.ground), len(plain)
    pairs = [(a, b) for a, b in combinations(range(count), 2) if (a < land) == (b < land)]
    met = [(plain[a] + plain[b]) / 2 for a, b in pairs]
    points = logs(np.array([[*plain, *(plain * PALETTE.shadow), *met]]).astype(np.uint8))[0]
    lit = [1 << at for at in range(count)]
    side = 1 << _BITS
    middle = ((np.arange(side) + 0.5) * (256 / side)).astype(np.uint8)
    cube = np.stack(np.meshgrid(middle, middle, middle, indexing="ij"), axis=-1)
    shades = logs(cube.reshape(1, -1, 3))[0]
    distances = np.empty((len(points), len(shades)), np.uint8)
    for at, point in enumerate(points):
        apart = shades - point
        if count <= at < 2 * count:  # nothing is darker than a shadow
            apart[:, 0] *= np.where(apart[:, 0] < 0, _DARKER, 1.0)
        distances[at] = np.minimum(np.sqrt((apart**2).sum(axis=1)) * 100, 255)
    nearest = distances.argmin(axis=0).astype(np.uint8)
    nearest[distances.min(axis=0) > _GROUND] = len(points)
    priced = np.minimum(distances, 255 - _SHADOWED)
    priced[count:] += _SHADOWED  # a frame is rather lit than in the shadow
    price = np.minimum(priced.min(axis=0), _FAR)
    needed = [*lit, *lit, *(1 << a | 1 << b for a, b in pairs), 0]
    return Grounds(
        distances, nearest, price, np.array(needed, np.uint32), count, sum(lit[land:])
    )  # fmt: skip


def codes_of(pixels: Pixels) -> NDArray[np.int32]:
    """The places of colors in the tables."""
    parts = pixels.astype(np.int32) >> (8 - _BITS)
    codes: NDArray[np.int32] = (parts[..., 0] << 2 * _BITS) | (parts[..., 1] << _BITS)
    return codes | parts[..., 2]


def _table(lightness: float, warmth: float) -> Pixels:
    """What each level of blue, green and red would be in daylight, of which a light is so many
    logarithms of gain, and of red against blue."""
    gains = np.exp([lightness - warmth, lightness, lightness + warmth])
    table: Pixels = np.clip(np.arange(256)[:, None] / gains, 0, 255).round().astype(np.uint8)
    return table.reshape(1, 256, 3)


def in_daylight(frame: Pixels) -> Pixels:
    """The frame as plain daylight would show it, under the light that makes most of it ground."""
    step = _SAMPLE
    sample = cv2.blur(frame, (5, 5))[step // 2 :: step, step // 2 :: step].reshape(1, -1, 3)
    price = grounds().price

    def priced(light: tuple[float, float]) -> float:
        far = price[codes_of(cv2.LUT(sample, _table(*light)))]
        return float(far.mean()) + _PRIOR * (abs(light[0]) + abs(light[1]))

    best = min(
        ((lightness, warmth) for lightness in np.arange(-1.2, 0.41, 0.1).tolist()
         for warmth in np.arange(-0.12, 0.121, 0.04).tolist()),
        key=priced,
    )  # fmt: skip
    near = [(best[0] + a * 0.05, best[1] + b * 0.02) for a in (-1, 0, 1) for b in (-1, 0, 1)]
    lit: Pixels = cv2.LUT(frame, _table(*min(near, key=priced)))
    return lit


class ShadedPixels(NamedTuple):
    """What is no ground, and what of it is water: 1 a pixel."""

    things: Pixels
    foreign: Pixels
    """What has a color of ground that is nowhere near: a shirt, or a strip of lawn of which the
    frame shows the edge."""
    water: Pixels


def seen(lit: Pixels, meters_per_pixel: float) -> ShadedPixels:
    """What a frame in daylight shows."""
    table = grounds()
    codes = codes_of(lit)
    ground = np.take(table.nearest, codes)
    near = _near(ground, table.plain, meters_per_pixel)
    combinations_, which = np.unique(near, return_inverse=True)
    tables = np.stack([_foreign(int(bits)) for bits in combinations_])
    size = ground.shape[::-1]
    rows = cv2.resize(
        which.reshape(near.shape).astype(np.uint8), size, interpolation=cv2.INTER_NEAREST
    )
    foreign = np.take(tables, (rows.astype(np.int32) << 3 * _BITS) + codes)
    is_ground = ground < len(table.distances)
    water = np.take((table.needed & table.water) != 0, ground)
    masks = ~is_ground, foreign & is_ground, water
    return ShadedPixels(*(each.astype(np.uint8) for each in masks))


def _near(ground: Pixels, plain: int, meters_per_pixel: float) -> NDArray[np.uint32]:
    """Which plain grounds take a good part of what is around, as bits, in cells."""
    zoom = meters_per_pixel / _CELL_M
    small = cv2.resize(ground, None, fx=zoom, fy=zoom, interpolation=cv2.INTER_NEAREST)
    reach = 2 * round(_NEAR_M / _CELL_M / 2) + 1
    shares: list[Any] = []
    for at in range(plain):
        mine = ((small == at) | (small == at + plain)).astype(np.float32)
        shares.append(cv2.blur(mine, (reach, reach), borderType=cv2.BORDER_REFLECT))
    least = _LEAST_SHARE * np.maximum(sum(shares), 0.05)
    bits = np.zeros(small.shape, np.uint32)
    for at, share in enumerate(shares):
        bits |= np.where(share > least, 1 << at, 0).astype(np.uint32)
    return bits


@functools.lru_cache(maxsize=128)
def _foreign(bits: int) -> NDArray[np.bool_]:
    """Which colors are far from all grounds that are near."""
    table = grounds()
    allowed = (table.needed[:-1] & ~np.uint32(bits)) == 0
    if not allowed.any():
        return np.zeros(table.distances.shape[1], np.bool_)
    foreign: NDArray[np.bool_] = table.distances[allowed].min(axis=0) > _FOREIGN
    return foreign
