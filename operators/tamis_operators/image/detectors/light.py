"""What is ground and what is not, under the light of a frame.

Colors are compared as logarithms (lightness, and red and blue against green). The light of a frame
is the one in which most of its pixels are ground of the palette, lit or in the shadow. Invariant:
only some lights are tried, so that the table from colors to grounds is made once a light.
Cost: a tenth of a second for a new light, a look-up a pixel otherwise.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tamis_operators.image.palette import Color, Palette
from tamis_operators.image.vision import opencv

Array = NDArray[np.float32]
_OFFSET = 20.0
"""Added to colors before the logarithm: noise counts less in the dark."""
_SAMPLE = 900
_DARKEST, _BRIGHTEST, _COLDEST, _WARMEST = -1.2, 0.4, -0.12, 0.12
_COARSE, _FINE = (0.1, 0.04), (0.05, 0.02)
_FAR = 0.6
_BITS = 6
_PRIOR = 0.03
_SHADOWED = 0.06
"""A frame is rather lit than in the shadow."""
_GROUND, _FOREIGN = 21, 27
"""Hundredths that ground may differ from its palette, and from what grounds are near."""
_DARKER = 2.0
_STRIP_M = 2.0
_CELL_M, _NEAR_M, _LEAST_SHARE = 0.5, 7.0, 0.12
_WEIGHTS = np.array([1.0, 1.4, 1.4], np.float32)


class Light(NamedTuple):
    """How a frame differs from plain daylight: logarithms of its gain, and of red against blue."""

    lightness: float = 0.0
    warmth: float = 0.0

    @property
    def gains(self) -> Array:
        """By which daylight's colors are multiplied, blue first."""
        cold, warm = self.lightness - self.warmth, self.lightness + self.warmth
        return np.exp(np.array([cold, self.lightness, warm], np.float32))


def logs(pixels: NDArray[Any], light: Light | None = None) -> Array:
    """Pixels, blue first, as lightness, red and blue against green, as in daylight."""
    daylight = pixels.astype(np.float32)
    if light is not None:
        daylight /= light.gains
    scaled = np.log(daylight + np.float32(_OFFSET))
    blue, green, red = scaled[..., 0], scaled[..., 1], scaled[..., 2]
    lightness = (blue + 2 * green + red) / 4
    together: Array = np.stack([lightness, red - green, blue - green], axis=-1) * _WEIGHTS
    return together


def logs_of(colors: Iterable[Color]) -> Array:
    """Colors of the palette in the same space."""
    return logs(np.array([color[::-1] for color in colors]))


class Grounds(NamedTuple):
    """The grounds of a palette, lit and in the shadow, and where two of them meet."""

    points: Array
    prices: Array
    needed: NDArray[np.uint32]
    """Of each, a bit for each plain ground that has to be near."""
    plain: int
    water: int
    """The bits of plain grounds that are water."""


@functools.lru_cache(maxsize=8)
def _grounds(palette: Palette) -> Grounds:
    colors = [*palette.ground.values(), *palette.water.values()]
    plain = [np.array(color[::-1], float) for color in colors]
    land, count = len(palette.ground), len(plain)
    pairs = [(a, b) for a, b in combinations(range(count), 2) if (a < land) == (b < land)]
    lit = [1 << at for at in range(count)]
    points = [
        *plain,
        *(color * palette.shadow for color in plain),
        *((plain[a] + plain[b]) / 2 for a, b in pairs),
    ]
    prices = [0.0] * count + [_SHADOWED] * (len(points) - count)
    needed = [*lit, *lit, *(1 << a | 1 << b for a, b in pairs)]
    return Grounds(
        logs(np.array(points)),
        np.array(prices, np.float32),
        np.array(needed, np.uint32),
        count,
        sum(lit[land:]),
    )


def light_of(frame: NDArray[np.uint8], palette: Palette) -> Light:
    """The light under which most of the frame is ground; plain daylight is preferred a little."""
    cv2 = opencv()
    step = max(1, round((frame.shape[0] * frame.shape[1] / _SAMPLE) ** 0.5))
    smooth = cv2.blur(frame, (5, 5))[step // 2 :: step, step // 2 :: step]
    sample = smooth.reshape(-1, 3)
    grounds = _grounds(palette)
    (light, warm), (light_fine, warm_fine) = _COARSE, _FINE
    coarse = [
        Light(round(lightness, 2), round(warmth, 2))
        for lightness in np.arange(_DARKEST, _BRIGHTEST + 0.01, light).tolist()
        for warmth in np.arange(_COLDEST, _WARMEST + 0.01, warm).tolist()
    ]
    best = min(coarse, key=lambda each: _price(sample, each, grounds))
    near = [
        Light(round(best.lightness + a * light_fine, 2), round(best.warmth + b * warm_fine, 2))
        for a in (-1, 0, 1)
        for b in (-1, 0, 1)
    ]
    return min(near, key=lambda each: _price(sample, each, grounds))


def _price(sample: NDArray[np.uint8], light: Light, grounds: Grounds) -> float:
    """How far the sample is from being ground in that light."""
    apart = logs(sample, light)[:, None, :] - grounds.points
    far = (np.sqrt((apart**2).sum(axis=2)) + grounds.prices).min(axis=1)
    prior = _PRIOR * (abs(light.lightness) + abs(light.warmth))
    return float(np.minimum(far, _FAR).mean()) + prior


class Seen(NamedTuple):
    """What is no ground, and what water and land are: 1 a pixel."""

    things: NDArray[np.uint8]
    water: NDArray[np.uint8]
    land: NDArray[np.uint8]
    strips: NDArray[np.uint8]
    """Of the things what has a color of ground and is no person: a lawn between two houses, or of
    which the frame shows the edge. It may be a white car."""


def seen(frame: NDArray[np.uint8], palette: Palette, light: Light, meters_per_pixel: float) -> Seen:
    """What the frame shows beside ground.

    A color of ground that is nowhere else around is that of a thing: a white shirt is like
    pavement, on a road without any."""
    grounds = _grounds(palette)
    nearest = _nearest(palette, light)
    codes = frame.astype(np.int32) >> (8 - _BITS)
    codes = (codes[..., 0] << 2 * _BITS) | (codes[..., 1] << _BITS) | codes[..., 2]
    ground = nearest[codes]
    is_ground = ground < len(grounds.points)
    things = ~is_ground
    near = _near(ground, grounds, meters_per_pixel)
    for bits in np.unique(near).tolist():
        here = near == bits
        things[here] |= _foreign(palette, light, bits)[codes[here]]
    needed = grounds.needed[np.where(is_ground, ground, 0)]
    water = is_ground & ((needed & grounds.water) != 0)
    land = is_ground & ~water
    strips = _strips(things & is_ground, meters_per_pixel)
    return Seen(things.astype(np.uint8), water.astype(np.uint8), land.astype(np.uint8), strips)


def _strips(foreign: NDArray[np.bool_], meters_per_pixel: float) -> NDArray[np.uint8]:
    """The pieces that are larger than people, or cut by the edge of the frame."""
    cv2 = opencv()
    height, width = foreign.shape
    _, pieces, stats, _ = cv2.connectedComponentsWithStats(foreign.astype(np.uint8))
    left, upper, wide, high = stats[:, :4].T
    cut = (left <= 1) | (upper <= 1) | (left + wide >= width - 1) | (upper + high >= height - 1)
    cut |= np.hypot(wide, high) * meters_per_pixel > _STRIP_M
    cut[0] = False
    strips: NDArray[np.uint8] = cut[pieces].astype(np.uint8)
    return strips


def _near(
    ground: NDArray[np.uint8], grounds: Grounds, meters_per_pixel: float
) -> NDArray[np.uint32]:
    """Which plain grounds take a good part of what is around each pixel, as bits."""
    cv2 = opencv()
    height, width = ground.shape
    zoom = meters_per_pixel / _CELL_M
    size = max(1, round(width * zoom)), max(1, round(height * zoom))
    reach = 2 * round(_NEAR_M / _CELL_M / 2) + 1
    bits = np.zeros(size[::-1], np.uint32)
    total = np.zeros(size[::-1], np.float32)
    shares = []
    for at in range(grounds.plain):
        mine = ((ground == at) | (ground == at + grounds.plain)).astype(np.float32)
        small = cv2.resize(mine, size, interpolation=cv2.INTER_AREA)
        shares.append(cv2.blur(small, (reach, reach), borderType=cv2.BORDER_REFLECT))
        total += shares[-1]
    for at, share in enumerate(shares):
        bits |= np.where(share > _LEAST_SHARE * np.maximum(total, 0.05), 1 << at, 0).astype(
            np.uint32
        )
    rows = np.minimum((np.arange(height) * size[1]) // height, size[1] - 1)
    columns = np.minimum((np.arange(width) * size[0]) // width, size[0] - 1)
    found: NDArray[np.uint32] = bits[rows[:, None], columns]
    return found


@functools.lru_cache(maxsize=4)
def _distances(palette: Palette, light: Light) -> NDArray[np.uint8]:
    """How far each color is from each ground, in hundredths."""
    grounds = _grounds(palette)
    count = 1 << _BITS
    middle = (np.arange(count) + 0.5) * (256 / count)
    colors = np.stack(np.meshgrid(middle, middle, middle, indexing="ij"), axis=-1).reshape(-1, 3)
    points = logs(colors, light)
    rows = np.empty((len(grounds.points), len(points)), np.uint8)
    for at, ground in enumerate(grounds.points):
        apart = points - ground
        if grounds.plain <= at < 2 * grounds.plain:  # nothing is darker than a shadow
            apart[:, 0] = np.where(apart[:, 0] < 0, apart[:, 0] * _DARKER, apart[:, 0])
        rows[at] = np.minimum(np.sqrt((apart**2).sum(axis=1)) * 100, 255)
    return rows


@functools.lru_cache(maxsize=64)
def _nearest(palette: Palette, light: Light) -> NDArray[np.uint8]:
    """For each color the nearest ground, and their number where it is none."""
    distances = _distances(palette, light)
    nearest: NDArray[np.uint8] = distances.argmin(axis=0).astype(np.uint8)
    nearest[distances.min(axis=0) > _GROUND] = len(distances)
    return nearest


@functools.lru_cache(maxsize=256)
def _foreign(palette: Palette, light: Light, bits: int) -> NDArray[np.bool_]:
    """Which colors are far from all grounds that are near."""
    needed = _grounds(palette).needed
    allowed = (needed & ~np.uint32(bits)) == 0
    if not allowed.any():
        return np.zeros(1 << 3 * _BITS, np.bool_)
    foreign: NDArray[np.bool_] = _distances(palette, light)[allowed].min(axis=0) > _FOREIGN
    return foreign
