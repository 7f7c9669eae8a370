"""People on photographs and on a real pedestrian video, by gradients and by cascades."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import tamis
from tamis_bench.image import frames_of, scored
from tamis_operators.image import operators
from tamis_operators.image.configuration import DetectorConfiguration
from tamis_operators.image.detectors import detector_of
from tamis_operators.image.frames import frame_of

from .data import written


@pytest.mark.slow
def test_people_are_found_on_the_video(tmp_path: Path) -> None:
    lines = written(tmp_path, video=True)
    scores = scored(DetectorConfiguration("hog"), list(frames_of(lines, tmp_path)))
    assert scores.labels["person"].recall >= 0.85
    assert scores.labels["person"].precision >= 0.85


def test_somebody_and_a_face_are_found_on_photographs(tmp_path: Path) -> None:
    written(tmp_path, video=False)
    people = detector_of(DetectorConfiguration("hog")).detect(frame_of(tmp_path / "bus.jpg"))
    assert any(each.box.height > 200 for each in people)
    cascade = detector_of(DetectorConfiguration("cascade"))
    assert cascade.labels == {"face", "person"}
    assert any(each.label == "face" for each in cascade.detect(frame_of(tmp_path / "zidane.jpg")))


def test_an_altitude_beside_a_photograph_changes_nothing(tmp_path: Path) -> None:
    written(tmp_path, video=False)
    matcher = tamis.Matcher(operators())
    matcher.subscribe("peopleCount(?n)", id="people")
    for name, there in (("bus.jpg", 4), ("zidane.jpg", 2)):
        counts = set()
        for more in ({}, {"altitude": 60}, {"altitude": 120, "field_of_view": 45}):
            (match,) = matcher.match({"image": str(tmp_path / name), **more}).matches
            counts.add(match.bindings[0]["n"])
        assert len(counts) == 1
        assert int(counts.pop()) <= there


def test_nobody_is_found_where_nothing_is() -> None:
    for kind in ("hog", "cascade"):
        detector = detector_of(DetectorConfiguration(kind))
        for size in ((240, 320), (20, 20), (1, 1)):
            assert detector.detect(np.full((*size, 3), 128, np.uint8)) == []
