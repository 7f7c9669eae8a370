"""Reads durations: quantities as `10min`, ISO 8601 as `PT10M`, or seconds; exactly.

Years and months have no length of their own and are refused.
"""

from __future__ import annotations

import re
from fractions import Fraction

from tamis.language.units import TIME, UNITS
from tamis.nearest import did_you_mean

_NUMBER = r"[0-9]+(?:[.,][0-9]+)?"
_QUANTITY = re.compile(rf"({_NUMBER})(\s*)([^\W\d]*)")
_ISO = re.compile(
    rf"P(?:({_NUMBER})W)?(?:({_NUMBER})D)?(?:T(?:({_NUMBER})H)?(?:({_NUMBER})M)?(?:({_NUMBER})S)?)?"
)
_ISO_SECONDS = (604_800, 86_400, 3_600, 60, 1)
_LONGEST_SECONDS = 10**12
_TIMES = {name: Fraction(factor) for name, (of, factor) in UNITS.items() if of == TIME}
_FORMS = "a duration is text as 10min or PT10M, or a number of seconds"


def duration_seconds(value: object) -> Fraction:
    """Returns the seconds of a duration above 0; `ValueError` says what is wrong with it."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise ValueError(f"{_FORMS}, not {value!r:.80}")
    seconds = _of_text(value.strip()) if isinstance(value, str) else _of_number(value)
    if not 0 < seconds <= _LONGEST_SECONDS:
        raise ValueError(f"a duration is finite and above 0, not {value!r:.80}")
    return seconds


def _of_number(value: int | float) -> Fraction:
    try:
        return Fraction(str(value))
    except ValueError:
        raise ValueError(f"{_FORMS}, not {value!r:.80}") from None


def _of_text(text: str) -> Fraction:
    if text[:1] in ("P", "p"):
        return _of_iso(text)
    read = _QUANTITY.fullmatch(text)
    if read is None:
        raise ValueError(f"{_FORMS}, not {text!r:.80}")
    number, space, unit = read.groups()
    if unit and unit not in _TIMES:
        if unit in UNITS:
            raise ValueError(
                f"{unit} is not a unit of time in {text!r:.80} (there are {', '.join(_TIMES)})"
            )
        hint = did_you_mean(unit, _TIMES) or f" (there are {', '.join(_TIMES)})"
        raise ValueError(f"unknown unit {unit} in {text!r:.80}{hint}")
    if space:
        raise ValueError(f"unexpected space in {text!r:.80}; did you mean {number}{unit}?")
    return _fraction(number) * _TIMES.get(unit, 1)


def _of_iso(text: str) -> Fraction:
    read = _ISO.fullmatch(text.upper())
    if read is None or not any(read.groups()) or text[-1] in "Tt":
        years = re.match(rf"[Pp](?:{_NUMBER}[Yy])?(?:{_NUMBER}[Mm])?", text)
        if years is not None and len(years.group()) > 1:
            raise ValueError(f"years and months have no fixed length: write days, not {text!r:.80}")
        raise ValueError(f"{text!r:.80} is not a duration of ISO 8601, as PT10M or P1DT12H")
    parts = zip(read.groups(), _ISO_SECONDS, strict=True)
    return sum((_fraction(part) * seconds for part, seconds in parts if part), Fraction(0))


def _fraction(number: str) -> Fraction:
    return Fraction(number.replace(",", "."))
