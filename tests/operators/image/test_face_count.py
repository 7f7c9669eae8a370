"""Faces on real photographs."""

from __future__ import annotations

import numpy
import pytest

from tamis_operators.image.face_count import faces_of
from tamis_operators.image.gray import gray_of
from tests.operators.image.asking import solutions
from tests.operators.image.photographs import photograph


@pytest.mark.parametrize(
    ("source", "name", "count"),
    [
        ("scikit-image", "astronaut.png", 1),
        ("scikit-image", "coffee.png", 0),
        ("scikit-image", "chelsea.png", 0),
        ("scikit-image", "rocket.jpg", 0),
        ("ultralytics", "zidane.jpg", 2),
    ],
)
def test_faces_are_counted(source: str, name: str, count: int) -> None:
    assert solutions("faceCount(?n)", photograph(source, name, 1280)) == [count]


def test_a_face_in_the_mirror_and_twice() -> None:
    astronaut = photograph("scikit-image", "astronaut.png")
    assert solutions("faceCount(?n)", numpy.ascontiguousarray(astronaut[:, ::-1])) == [1]
    assert solutions("faceCount(2)", numpy.concatenate([astronaut, astronaut], axis=1))


def test_the_face_is_where_it_is() -> None:
    (face,) = faces_of(gray_of(photograph("scikit-image", "astronaut.png")))
    middle = face.left + face.side / 2, face.top + face.side / 2
    assert 190 < middle[0] < 250
    assert 80 < middle[1] < 150
