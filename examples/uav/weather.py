"""Puts between a scene and its frame: the hour's light, rain, a camera's faults."""

from __future__ import annotations

import math
from typing import NamedTuple

from examples.uav.chance import stream


class Weather(NamedTuple):
    """How a frame comes out."""

    name: str
    brightness: float
    """By which daylight is multiplied."""
    warmth: float
    """How much more red than green there is, and less blue."""
    noise: float
    """Its standard deviation, in levels of 256."""
    blur: float
    """Pixels."""
    quality: int
    """Of the JPEG file."""
    rain: float
    """How many streaks there are, from 0 to 1."""
    sun: tuple[float, float] | None
    """Meters of shadow a meter of height, to the east and to the south; none without a sun."""


_DARKEST = 0.46
"""What a camera that exposes by itself makes of the least light."""


def light_of(hour: float) -> tuple[str, float, float]:
    """The name, brightness and warmth of an hour's light."""
    if 7.0 <= hour < 18.5:
        return "day", 1.0 - 0.12 * abs(hour - 12.75) / 5.75, 0.02 * abs(hour - 12.75) / 5.75
    if 5.0 <= hour < 7.0 or 18.5 <= hour < 21.0:
        depth = (7.0 - hour) / 2 if hour < 12 else (hour - 18.5) / 2.5
        return "dusk", 0.88 - 0.4 * depth, 0.03 + 0.035 * math.sin(math.pi * depth)
    return "night", 0.5, -0.03  # cameras gain, and noise with it


def weather_of(seed: int, camera: int, seconds: float, hour: float) -> Weather:
    """The weather of a run, as one of its cameras has it at a time."""
    run, lens = stream(seed, 63), stream(seed, 61, camera)
    name, brightness, warmth = light_of(hour)
    rainy = bool(run.random() < 0.2)
    clouds = float(run.uniform(0.86, 1.06))
    if rainy:
        brightness, warmth = brightness * 0.85, warmth - 0.015
    brightness *= clouds * float(lens.uniform(0.93, 1.07)) * (1 + 0.03 * math.sin(seconds / 37))
    warmth += float(lens.uniform(-0.025, 0.025))
    dark = max(0.0, 1.0 - brightness)
    noise = float(lens.uniform(1.0, 3.0)) + 3.5 * dark + (1.0 if rainy else 0.0)
    blur = float(lens.uniform(0.35, 0.75)) + (0.15 if rainy else 0.0)
    quality = int(lens.integers(84, 96))
    angle = math.radians(15 * (hour - 12) + 90)  # in the south at noon, shadows go north
    shines = name != "night" and not rainy
    sun = -0.35 * math.cos(angle), -0.35 * math.sin(angle)
    return Weather(
        f"{name}, rain" if rainy else name, max(_DARKEST, min(1.15, brightness)),
        max(-0.06, min(0.075, warmth)), noise, blur, quality,
        float(run.uniform(0.4, 1.0)) if rainy else 0.0, sun if shines else None,
    )  # fmt: skip
