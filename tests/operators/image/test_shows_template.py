"""Templates cut from one photograph and pasted into another."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy
import pytest

import tamis
from tamis_operators.image.gray import gray_of
from tamis_operators.image.pixel_records import pixel_operators
from tamis_operators.image.templates import shows, template_of
from tests.operators.image.photographs import Picture, photograph, seen


def cut() -> Picture:
    return photograph("scikit-image", "astronaut.png")[60:170, 170:280].copy()


def room() -> Picture:
    return numpy.asarray(
        cv2.resize(photograph("scikit-image", "coffee.png"), (800, 600)), numpy.uint8
    )


@pytest.mark.parametrize(
    ("scale", "degrees"),
    [(1, 0), (0.5, 0), (0.7, 10), (1.3, -7), (2, 0), (1, 15), (1, -15), (0.84, 4)],
)
def test_it_is_found_from_half_to_twice_its_size_and_turned_by_15_degrees(
    scale: float, degrees: float
) -> None:
    frame = seen(cut(), room(), scale=scale, degrees=degrees, center=(300, 260))
    assert shows(gray_of(frame), template_of(gray_of(cut())))


@pytest.mark.parametrize(("scale", "degrees"), [(0.25, 0), (3.5, 0), (1, 60), (1, 180)])
def test_it_is_not_found_beyond(scale: float, degrees: float) -> None:
    frame = seen(cut(), room(), scale=scale, degrees=degrees, center=(300, 260))
    assert not shows(gray_of(frame), template_of(gray_of(cut())))


def test_light_contrast_and_noise_do_not_count() -> None:
    frame = seen(cut(), room(), center=(300, 260)).astype(float)
    random = numpy.random.default_rng(1)
    for changed in (frame * 0.4, frame * 0.5 + 120, frame + random.normal(0, 12, frame.shape)):
        picture = numpy.clip(changed, 0, 255).astype(numpy.uint8)
        assert shows(gray_of(picture), template_of(gray_of(cut())))


@pytest.mark.parametrize("name", ["coffee.png", "chelsea.png", "rocket.jpg", "page.png"])
def test_it_is_not_found_where_it_is_not(name: str) -> None:
    assert not shows(gray_of(photograph("scikit-image", name)), template_of(gray_of(cut())))


@pytest.mark.parametrize(
    ("picture", "reason"),
    [
        (numpy.full((40, 40, 3), 90, numpy.uint8), "too plain"),
        (
            numpy.repeat(numpy.arange(0, 240, 4).astype(numpy.uint8), 3)
            .reshape(1, 60, 3)
            .repeat(60, 0),
            "edge",
        ),
        (numpy.zeros((5, 50, 3), numpy.uint8), "50 by 5 pixels"),
    ],
)
def test_what_is_everywhere_is_refused(picture: Picture, reason: str, tmp_path: Path) -> None:
    cv2.imwrite(str(tmp_path / "sign.png"), picture)
    matcher = tamis.Matcher(operators=pixel_operators(tmp_path))
    with pytest.raises(tamis.SubscriptionError, match=reason):
        matcher.subscribe("showsTemplate(sign)")
