"""Renders names, numbers, quantities, strings and sets of them, in equivalent spellings."""

from __future__ import annotations

import math
import random
import re
from collections.abc import Sequence

from .values import kind

RESERVED = frozenset(
    {"and", "or", "not", "in", "between", "starts", "ends", "with", "contains", "matches"}
    | {"has", "any", "all", "none", "exists", "true", "false", "null"}
)
_NAME = re.compile(r"[^\W\d][\w.]*")
_ESCAPES = {"\\": "\\\\", "\n": "\\n", "\t": "\\t"}


def is_name(text: str) -> bool:
    """Whether letters can stand bare."""
    return bool(_NAME.fullmatch(text)) and text.lower() not in RESERVED


def name_text(rng: random.Random, name: str, ticks: float) -> str:
    """A name, in backticks where it has to be and now and then where it has not."""
    return name if is_name(name) and rng.random() >= ticks else f"`{name}`"


def string_text(rng: random.Random, value: str, plain: bool) -> str:
    """A string in either quotes."""
    quote = '"' if plain or rng.random() < 0.7 else "'"
    spare = not plain and rng.random() < 0.2
    found = ""
    for letter in value:
        if letter == quote or (letter in "'\"" and spare):
            found += "\\" + letter
        else:
            found += _ESCAPES.get(letter, letter)
    return f"{quote}{found}{quote}"


def value_text(
    rng: random.Random, value: object, plain: bool, dimension: str | None, bare: bool
) -> str:
    """A constant; `bare` where a bare name means the string of its letters."""
    if isinstance(value, bool):
        word = "true" if value else "false"
        return word if plain or rng.random() < 0.9 else word.upper()
    if isinstance(value, (int, float)):
        return number_text(rng, value, plain, dimension)
    assert isinstance(value, str)
    if bare and is_name(value) and (plain or rng.random() < 0.5):
        return value
    return string_text(rng, value, plain)


def number_text(
    rng: random.Random,
    value: int | float,
    plain: bool,
    dimension: str | None = None,
    signed: bool = True,
) -> str:
    """A number or, in a dimension, a quantity."""
    if dimension is not None:
        return rng.choice(_quantities(value, dimension))
    if isinstance(value, float):
        assert math.isfinite(value)
        if value.is_integer() and abs(value) < 2**53 and rng.random() < 0.5:
            value = int(value)
        else:
            return _float_text(rng, value, plain)
    found = str(value)
    if plain or rng.random() < 0.6:
        return found
    sign, digits = ("-", found[1:]) if value < 0 else ("", found)
    spellings = [f"{value:_}"]
    if abs(value) < 2**53:
        spellings += [f"{found}.0", f"{found}e0", f"{found}.00E+0"]
    bare = digits.rstrip("0")
    if bare and bare != digits and len(digits) < 16:
        spellings += [f"{sign}{bare}e{len(digits) - len(bare)}"]
    if value >= 0 and signed:
        spellings += [f"+{found}"]
    return rng.choice(spellings)


def _float_text(rng: random.Random, value: float, plain: bool) -> str:
    found = repr(value)
    if plain or "e" in found or rng.random() < 0.7:
        return found
    return rng.choice([f"{found}0", f"{found}e0", f"{found}E-0"])


def _quantities(value: int | float, dimension: str) -> list[str]:
    whole = isinstance(value, int) or value.is_integer()
    small = int(value) if whole else value
    sizes: dict[str, list[tuple[int, str]]] = {
        "length": [(1, "m"), (1000, "km"), (1852, "nmi")],
        "time": [(1, "s"), (60, "min"), (3600, "h"), (86400, "d")],
        "speed": [(1, "m/s")],
        "angle": [(1, "deg")],
    }
    found = []
    for size, unit in sizes[dimension]:
        if size == 1:
            found.append(f"{small}{unit}")
        elif whole and small % size == 0:
            found.append(f"{int(small) // size}{unit}")
    if whole and small % 500 == 0 and dimension == "length":
        found.append(f"{int(small) // 500 / 2}km")
    if dimension == "speed" and whole and small % 10 == 0:
        found.append(f"{int(small) // 10 * 36}km/h")
    if dimension == "length" and whole:
        found.append(f"{int(small) * 100}cm")
    if dimension == "time" and (small * 2) % 1 == 0:
        found.append(f"{int(small * 1000)}ms")
    return found


def set_dimension(
    rng: random.Random,
    values: Sequence[object],
    dimensions: Sequence[str] = ("length", "time", "speed", "angle"),
) -> str | None:
    """A dimension to write all these constants in, if they are ordinary numbers all."""
    for value in values:
        if kind(value) != "number":
            return None
        assert isinstance(value, (int, float))
        if abs(value) > 1e6 or (value * 2) % 1 != 0:
            return None
    return rng.choice(list(dimensions))
