"""Reads numbers with units, exactly, in the base unit."""

from __future__ import annotations

import math
from fractions import Fraction

LENGTH, TIME, SPEED, ANGLE = "length", "time", "speed", "angle"

UNITS: dict[str, tuple[str, Fraction | float]] = {
    "m": (LENGTH, Fraction(1)),
    "km": (LENGTH, Fraction(1000)),
    "cm": (LENGTH, Fraction(1, 100)),
    "ft": (LENGTH, Fraction(3048, 10000)),
    "mi": (LENGTH, Fraction(1609344, 1000)),
    "nmi": (LENGTH, Fraction(1852)),
    "s": (TIME, Fraction(1)),
    "ms": (TIME, Fraction(1, 1000)),
    "min": (TIME, Fraction(60)),
    "h": (TIME, Fraction(3600)),
    "d": (TIME, Fraction(86400)),
    "m/s": (SPEED, Fraction(1)),
    "km/h": (SPEED, Fraction(1000, 3600)),
    "mph": (SPEED, Fraction(1609344, 3600000)),
    "kn": (SPEED, Fraction(1852, 3600)),
    "deg": (ANGLE, Fraction(1)),
    "rad": (ANGLE, 180 / math.pi),
}


_EXACT_EXPONENT = 400
_EXACT_LETTERS = 1_500


def in_base_unit(number: str, unit: str) -> int | float:
    """Returns `number` as written, times its unit; correctly rounded, an integral result as
    `int`."""
    _, factor = UNITS[unit]
    _, _, exponent = number.lower().partition("e")
    exact = len(number) <= _EXACT_LETTERS and (
        not exponent or abs(int(exponent)) <= _EXACT_EXPONENT
    )
    product = (Fraction(number) if exact else Fraction(float(number))) * Fraction(factor)
    return product.numerator if product.denominator == 1 else float(product)
