"""Finds the pictures that a subscription can name: those of folders and files, by their stems.

A picture of the name `stop` may be asked for with `looksLike(stop)` and `showsTemplate(stop)`:
there is one place for both. Listing names and digests of what the files hold imports nothing heavy;
pictures are read when the first subscription needs them, all of them, so that one that cannot be
read is an error then, not at some later event. `testCard` is always there.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from tamis import ArgumentError, OperatorError
from tamis_operators.image.frames import FrameError, frame_of
from tamis_operators.image.gray import gray_of

if TYPE_CHECKING:
    from tamis_operators.image.frames import Frame

References = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]
ENVIRONMENT = "TAMIS_REFERENCES"
TEST_CARD = "testCard"
SUFFIXES = (".bmp", ".jpeg", ".jpg", ".png", ".webp")


class NamedPicture(NamedTuple):
    """A picture to be: its name, where it is, and the digest of what was there."""

    name: str
    path: str
    digest: str


def listed(references: References | None = None) -> tuple[NamedPicture, ...]:
    """Returns the pictures of folders and files, those of the environment when none are given.

    A place that is wrong stays in the list as it is: reading it says what is wrong."""
    if references is None:
        given = os.environ.get(ENVIRONMENT, "")
        references = [place for place in given.split(os.pathsep) if place.strip()]
    if isinstance(references, (str, os.PathLike)):
        references = [references]
    found: list[NamedPicture] = []
    for place in references:
        path = Path(place).expanduser().absolute()
        files = [path]
        if path.is_dir():
            files = sorted(
                each
                for each in path.iterdir()
                if each.suffix.lower() in SUFFIXES and each.is_file()
            )
        found += [NamedPicture(each.stem, str(each), _digest(each)) for each in files]
    return tuple(found)


def _digest(path: Path) -> str:
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()[:16]
    except OSError:
        return ""


def digest_of(pictures: Iterable[NamedPicture]) -> str:
    """Returns a few letters that change when any name or content does."""
    words = sorted((each.name, each.digest) for each in pictures)
    return hashlib.sha256(repr(words).encode()).hexdigest()[:8]


class Gallery:
    """The pictures themselves, gray, by name."""

    def __init__(self, pictures: Iterable[NamedPicture] = ()) -> None:
        self._pictures: dict[str, NamedPicture] = {}
        for each in pictures:
            if each.name in self._pictures:
                other = self._pictures[each.name].path
                raise OperatorError(f"two pictures are named {each.name}: {other} and {each.path}")
            self._pictures[each.name] = each
        self.frames = {name: _read(each) for name, each in self._pictures.items()}
        if TEST_CARD not in self.frames:
            self.frames[TEST_CARD] = drawn_card()

    def gray(self, name: str) -> Frame:
        """Returns the gray picture of that name; `ArgumentError` where there is none."""
        frame = self.frames.get(name)
        if frame is None:
            problem = ArgumentError.unknown("picture", name, self.frames)
            if not self._pictures:
                raise ArgumentError(
                    f"{problem} (only {TEST_CARD} is there: {ENVIRONMENT} names folders)"
                )
            raise problem
        return gray_of(frame)


def _read(picture: NamedPicture) -> Frame:
    """Returns the picture; `OperatorError` names the file that cannot be one."""
    try:
        frame = frame_of(picture.path)
    except FrameError as problem:
        raise OperatorError(f"the picture {picture.name} ({picture.path}): {problem}") from None
    if picture.digest and _digest(Path(picture.path)) != picture.digest:
        raise OperatorError(
            f"{picture.path} is not what it was when the operators were listed: start again"
        )
    return frame


def drawn_card() -> Frame:
    """Returns a drawn picture with plenty to recognize: rings, bars and blocks of known places."""
    import numpy

    random = numpy.random.default_rng(1897)
    down, across = numpy.mgrid[0:240, 0:320].astype(numpy.float64)
    card = numpy.full((240, 320, 3), 128.0)
    for _ in range(160):
        left, top = random.integers(0, 300), random.integers(0, 220)
        width, height = random.integers(8, 56, 2)
        angle = random.uniform(0, numpy.pi)
        x = (across - left) * numpy.cos(angle) + (down - top) * numpy.sin(angle)
        y = (down - top) * numpy.cos(angle) - (across - left) * numpy.sin(angle)
        inside = (numpy.abs(x) < width / 2) & (numpy.abs(y) < height / 2)
        if random.random() < 0.5:
            inside = (2 * x / width) ** 2 + (2 * y / height) ** 2 < 1
        card[inside] = random.integers(0, 256, 3)
    return card.astype(numpy.uint8)
