"""Names of colors against hues of colorsys, against people, and against counting one by one."""

from __future__ import annotations

import colorsys
from collections import Counter

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tamis_operators.image.color_names import NAMES, names_of
from tamis_operators.image.dominant_color import shares_of
from tests.operators.image.asking import solutions


def plain(blue: int, green: int, red: int) -> numpy.ndarray:
    return numpy.full((5, 7, 3), (blue, green, red), numpy.uint8)


@pytest.mark.parametrize(
    ("degrees", "value", "name"),
    [
        (0, 0.9, "red"), (30, 1.0, "orange"), (25, 0.45, "brown"), (60, 1.0, "yellow"),
        (120, 0.7, "green"), (140, 0.4, "green"), (220, 0.9, "blue"), (240, 0.5, "blue"),
        (280, 0.6, "purple"), (330, 1.0, "pink"),
    ],
)  # fmt: skip
def test_hues_have_their_names(degrees: float, value: float, name: str) -> None:
    red, green, blue = (
        round(255 * each) for each in colorsys.hsv_to_rgb(degrees / 360, 0.95, value)
    )
    assert solutions("dominantColor(?name)", plain(blue, green, red)) == [name]


@pytest.mark.parametrize(
    ("value", "name"), [(0, "black"), (20, "black"), (90, "gray"), (160, "gray"), (255, "white")]
)
def test_grays_have_none(value: int, name: str) -> None:
    assert solutions("dominantColor(?name)", plain(value, value, value)) == [name]


def test_people_give_the_same_names() -> None:
    colors = pytest.importorskip("matplotlib.colors", reason="pip install 'tamis[bench]'")
    asked = agreed = 0
    for key, code in colors.XKCD_COLORS.items():
        words = key.removeprefix("xkcd:").replace("grey", "gray")
        if words.split()[-1] not in NAMES or sum(name in words for name in NAMES) != 1:
            continue
        color = numpy.array([[int(code[at : at + 2], 16) for at in (1, 3, 5)]], float)
        asked += 1
        agreed += NAMES[names_of(color)[0]] == words.split()[-1]
    assert asked > 400
    assert agreed / asked > 0.92


@given(arrays(numpy.uint8, st.tuples(st.integers(1, 5), st.integers(1, 5), st.just(3))))
@settings(max_examples=100, deadline=None)
def test_shares_are_counts(frame: numpy.ndarray) -> None:
    counted: Counter[str] = Counter()
    for pixel in frame.reshape(-1, 3):
        middle = [
            0 if each < 8 else 255 if each > 247 else int(each) // 8 * 8 + 3.5 for each in pixel
        ]
        counted[NAMES[names_of(numpy.array([middle[::-1]], float))[0]]] += 1
    total = sum(counted.values())
    assert shares_of(frame) == {name: counted[name] / total for name in NAMES}


def test_a_tie_goes_to_the_first_in_the_alphabet() -> None:
    frame = plain(0, 160, 0)[:4]
    frame[:2] = (0, 0, 200)
    assert solutions("dominantColor(?name)", frame) == ["green"]
    assert solutions("dominantColor(red)", frame) is False
    assert solutions("dominantColor(mauve)", frame) is False
