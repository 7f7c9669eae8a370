"""Brightness against CIE lightness written out pixel by pixel."""

from __future__ import annotations

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tamis_operators.image.brightness import brightness_of
from tests.operators.image.asking import solutions


def lightness(blue: int, green: int, red: int) -> float:
    linear = [
        each / 255 / 12.92 if each / 255 <= 0.04045 else ((each / 255 + 0.055) / 1.055) ** 2.4
        for each in (red, green, blue)
    ]
    y = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return (116 * y ** (1 / 3) - 16) / 100 if y > 216 / 24389 else y * 24389 / 27 / 100


@given(arrays(numpy.uint8, st.tuples(st.integers(1, 6), st.integers(1, 6), st.just(3))))
@settings(max_examples=150, deadline=None)
def test_it_is_the_mean_lightness(frame: numpy.ndarray) -> None:
    pixels = [tuple(map(int, pixel)) for pixel in frame.reshape(-1, 3)]
    expected = sum(lightness(*pixel) for pixel in pixels) / len(pixels)
    assert brightness_of(frame) == pytest.approx(expected, abs=0.001)


def test_every_pixel_of_a_large_frame_counts() -> None:
    frame = numpy.zeros((1500, 1400, 3), numpy.uint8)
    frame[::2] = 255
    assert brightness_of(frame) == 0.5
    frame[750:] = 0
    assert brightness_of(frame) == 0.25


def test_lamps_do_not_make_a_night_bright() -> None:
    night = numpy.full((100, 100, 3), 10, numpy.uint8)
    night[40:50, 40:50] = 255
    assert brightness_of(night) < 0.05


@pytest.mark.parametrize("value", [0, 7, 119, 255])
def test_one_pixel_has_a_brightness(value: int) -> None:
    image = numpy.full((1, 1), value, numpy.uint8)
    assert solutions("brightness(?value)", image) == [
        pytest.approx(lightness(*[value] * 3), abs=1e-3)
    ]
    assert solutions("brightness(?value), ?value > 1", image) == []
