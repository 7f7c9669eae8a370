"""looksLike on photographs that were turned, scaled, tilted, darkened, blurred and covered."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy
import pytest

import tamis
from tamis_operators.image.features import features_of
from tamis_operators.image.gray import gray_of
from tamis_operators.image.looks_like import LooksLike
from tamis_operators.image.pictures import listed
from tamis_operators.image.pixel_records import pixel_operators
from tests.operators.image.asking import solutions
from tests.operators.image.photographs import changes, file, photograph

NAMES = ("astronaut", "camera", "coffee", "chelsea", "rocket", "retina")


@pytest.fixture(scope="module")
def looks(tmp_path_factory: pytest.TempPathFactory) -> LooksLike:
    place = tmp_path_factory.mktemp("references")
    for name in NAMES:
        path = file("scikit-image", f"{name}.*")
        (place / path.name).write_bytes(path.read_bytes())
    return LooksLike(listed([place]))


class Seen:
    """What an operator sees of an event whose features were made."""

    def __init__(self, frame: numpy.ndarray) -> None:
        self.prepared = features_of(gray_of(frame))


@pytest.mark.parametrize("name", ["astronaut", pytest.param("coffee", marks=pytest.mark.slow)])
def test_a_scene_is_recognized_however_it_is_seen_and_no_other_is(
    looks: LooksLike, name: str
) -> None:
    picture = photograph("scikit-image", f"{name}.*")
    wall = cv2.resize(photograph("scikit-image", "gravel.png"), (640, 480))
    compiled = [looks.check(each) for each in NAMES]
    missed = []
    for change, frame in changes(picture, numpy.asarray(wall, numpy.uint8), 7).items():
        event = Seen(frame)
        together = looks.solve_many(event, compiled)
        assert together == [looks.solve(event, *each) for each in compiled]
        found = {each for each, answer in zip(NAMES, together, strict=True) if answer}
        assert found <= {name}, change
        if not found:
            missed.append(change)
    assert len(missed) <= 1, missed


def test_a_mirrored_scene_is_another(looks: LooksLike) -> None:
    picture = photograph("scikit-image", "astronaut.png")
    mirrored = Seen(numpy.ascontiguousarray(picture[:, ::-1]))
    assert not looks.solve(mirrored, *looks.check("astronaut"))


def test_a_reference_with_too_few_points_is_refused_with_their_number(tmp_path: Path) -> None:
    wall = numpy.full((200, 200, 3), 120, numpy.uint8)
    wall[50:60, 50:60] = 0
    cv2.imwrite(str(tmp_path / "wall.png"), wall)
    matcher = tamis.Matcher(operators=pixel_operators(tmp_path))
    with pytest.raises(tamis.SubscriptionError, match=r"wall has \d+ points .* needs 24"):
        matcher.subscribe("looksLike(wall)")


def test_a_large_frame_is_looked_at_smaller() -> None:
    card = LooksLike()._gallery.frames["testCard"]
    large = cv2.resize(card, None, fx=9, fy=9, interpolation=cv2.INTER_CUBIC)
    assert solutions("looksLike(testCard)", large)
