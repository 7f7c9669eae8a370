"""Names colors by the eleven basic color terms of English (Berlin and Kay 1969).

Colors are compared in Oklab, where equal steps look equal: by lightness, chroma (0 is gray) and hue
in degrees. The bounds were set by hand and held against the names that people gave in the survey of
xkcd, of which the README says how many agree. Cost: a table of 32,768 colors, made once, in 10 ms.
"""

from __future__ import annotations

import functools

import numpy

from tamis.kit import Bytes, Flags, Floats

NAMES = (
    "black", "blue", "brown", "gray", "green", "orange", "pink", "purple", "red", "white", "yellow",
)  # fmt: skip
"""In the order in which a tie is decided."""
BITS = 5
"""Of each channel that are looked at: colors are told apart in steps of 8."""

_TO_CONES = (
    (0.4122214708, 0.5363325363, 0.0514459929),
    (0.2119034982, 0.6806995451, 0.1073969566),
    (0.0883024619, 0.2817188376, 0.6299787005),
)
_TO_LAB = (
    (0.2104542553, 0.7936177850, -0.0040720468),
    (1.9779984951, -2.4285922050, 0.4505937099),
    (0.0259040371, 0.7827717662, -0.8086757660),
)


def lightness_chroma_hue(red_green_blue: Floats) -> tuple[Floats, Floats, Floats]:
    """Returns Oklab of sRGB values from 0 to 255, with colors along the last axis."""
    value = red_green_blue / 255
    linear = numpy.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)
    lab = numpy.cbrt(linear @ numpy.array(_TO_CONES).T) @ numpy.array(_TO_LAB).T
    hue = numpy.degrees(numpy.arctan2(lab[..., 2], lab[..., 1])) % 360
    return lab[..., 0], numpy.hypot(lab[..., 1], lab[..., 2]), hue


def names_of(red_green_blue: Floats) -> Bytes:
    """Returns the place in `NAMES` of each color."""
    light, chroma, hue = lightness_chroma_hue(red_green_blue)
    place = {name: NAMES.index(name) for name in NAMES}
    rules = (
        ("black", (light < 0.14) | ((light < 0.30) & (chroma < 0.05))),
        ("white", (light > 0.95) & (chroma < 0.03)),
        ("gray", chroma < 0.03),
        ("red", _between(hue, 10, 40) & (light < 0.69) & (chroma > 0.13)),
        ("brown", _between(hue, 10, 100) & (light < 0.65) & ((hue >= 40) | (light < 0.55))),
        ("orange", _between(hue, 37, 83) & (chroma > 0.10)),
        ("brown", _between(hue, 45, 85) & (light < 0.87)),
        ("yellow", _between(hue, 75, 114)),
        ("green", _between(hue, 100, 191)),
        ("blue", _between(hue, 191, 289)),
        ("purple", _between(hue, 289, 323) | (_between(hue, 323, 360) & (light < 0.54))),
        ("purple", _between(hue, 323, 330) & (light < 0.66)),
        ("red", _between(hue, 0, 10) & (light < 0.55)),
        ("pink", numpy.ones(light.shape, bool)),
    )
    chosen = numpy.select(
        [rule for _, rule in rules], [numpy.full(light.shape, place[name]) for name, _ in rules]
    )
    return chosen.astype(numpy.uint8)


def _between(hue: Floats, low: float, high: float) -> Flags:
    return (hue >= low) & (hue < high)


@functools.cache
def table() -> Bytes:
    """Returns the name of every color, by the first bits of blue, green and red."""
    step = 1 << (8 - BITS)
    middles = numpy.arange(1 << BITS) * step + step / 2 - 0.5
    middles[0], middles[-1] = 0, 255  # black and white are what they are
    red, green, blue = numpy.meshgrid(middles, middles, middles, indexing="ij")
    return names_of(numpy.stack([red, green, blue], axis=-1).reshape(-1, 3))
