"""QR codes made by OpenCV's encoder, in photographs: small, turned, several, in any script."""

from __future__ import annotations

import cv2
import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.operators.image.asking import solutions
from tests.operators.image.photographs import Picture, photograph, seen

TEXTS = ("stop 17", "Grüße aus 東京 ☕", "0123456789")


def code(text: str, pixels: int) -> Picture:
    small = cv2.copyMakeBorder(
        cv2.QRCodeEncoder.create().encode(text), 4, 4, 4, 4, cv2.BORDER_CONSTANT, value=255
    )
    large = cv2.resize(small, (pixels, pixels), interpolation=cv2.INTER_NEAREST)
    return numpy.asarray(cv2.cvtColor(large, cv2.COLOR_GRAY2BGR), numpy.uint8)


@given(
    st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), min_size=1, max_size=30)
)
@settings(max_examples=25, deadline=None)
def test_any_text_is_read(text: str) -> None:
    assert solutions("qrCode(?text)", code(text, 300)) == [text]


@pytest.mark.parametrize(
    ("pixels", "degrees", "light"), [(260, 0, 1.0), (260, 33, 1.0), (260, 90, 0.3), (120, 10, 1.0)]
)
def test_a_code_in_a_photograph(pixels: int, degrees: float, light: float) -> None:
    street = photograph("scikit-image", "coffee.png")
    shown = seen(code(TEXTS[0], pixels), street, degrees=degrees) * light
    assert solutions("qrCode(?text)", shown.astype(numpy.uint8)) == [TEXTS[0]]


def test_each_code_is_a_solution() -> None:
    frame = numpy.full((400, 1000, 3), 140, numpy.uint8)
    for at, text in enumerate(TEXTS):
        frame = seen(code(text, 240), frame, degrees=15 * at, center=(170 + 330 * at, 200))
    assert solutions("qrCode(?text)", frame) == sorted(TEXTS)
    assert solutions('qrCode(?text), ?text starts with "stop"', frame) == ["stop 17"]
    assert solutions('qrCode("stop 17")', frame)


def test_the_same_text_twice_is_one_solution() -> None:
    one = code("twice", 200)
    assert solutions("qrCode(?text)", numpy.concatenate([one, one], axis=1)) == ["twice"]


def test_no_code_is_no_solution() -> None:
    assert solutions("qrCode(?text)", photograph("scikit-image", "astronaut.png")) == []
