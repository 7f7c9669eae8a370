"""Measures detectors on photographs and films: precision, recall, and milliseconds by model.

Photographs and films come out of packages of public registries; what they show was marked and
counted by hand (`image_truth.jsonl`). Of faces only the number is known, so the smaller one of the
shown and the counted number is taken as right. `off` is the mean error of a count on a frame. What
a detector cannot tell is left out, and so is a package that cannot be fetched, which is named. The
models are those that `tamis models fetch` has fetched.

A line of a truth of your own (`--truth`) is a frame: `{"image": PATH, "things": [["person", x, y,
width, height], …], "ignored": [[x, y, width, height], …], "meters_per_pixel": …}`, boxes in pixels,
paths relative to the file.
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
from tamis_bench.report import Row, progress
from tamis_bench.scores import DetectorScores, Score
from tamis_operators.image.configuration import DetectorConfiguration
from tamis_operators.image.detection import Box
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
    truth: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Frames of your own and what is on them, .jsonl."),
    ] = None,
) -> Iterator[Row]:
    """Yields a row for each part, model and label."""
    names = model or [HOG, CASCADE, *(n for n, each in DETECTORS.items() if each.record.fetched)]
    place = TRUTH if truth is None else Path(truth)
    text = place.read_text(encoding="utf-8")
    lines = [json.loads(line) for line in text.splitlines() if line.strip()]
    for part, some in groupby(lines, key=lambda line: str(line.get("part", place.name))):
        try:
            frames = list(frames_of(some, place.parent))
        except UnavailableError as problem:
            print(f"{part} is left out: {problem}", file=sys.stderr)
            continue
        for name in names:
            progress(f"{part}: {name}")
            yield from _rows(part, name, frames)


def frames_of(
    lines: Iterable[dict[str, Any]], folder: Path
) -> Iterator[tuple[dict[str, Any], Any]]:
    """Yields each line of a truth with its frame."""
    with tempfile.TemporaryDirectory() as cut:
        for line in lines:
            path = fetch(*line["source"]) if "source" in line else folder / line["image"]
            if "frame" in line:
                path = frame_of_film(path, line["frame"], Path(cut) / line["image"])
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
    scores = scored(DetectorConfiguration.of(name), frames)
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


def scored(
    configuration: DetectorConfiguration, frames: Sequence[tuple[dict[str, Any], Any]]
) -> DetectorScores:
    """Returns the scores of a detector on frames, of the labels that it can tell."""
    from tamis_operators.image.detectors import detector_of

    scores, detector = DetectorScores(), detector_of(configuration)
    told = [_labels(line) & detector.labels for line, _ in frames]
    if not any(told):
        return scores
    detector.detect(frames[0][1])
    for (line, frame), labels in zip(frames, told, strict=True):
        began = time.process_time()
        found = detector.detect(frame, line.get("meters_per_pixel"))
        scores.seconds += time.process_time() - began
        if "counts" in line:
            _count(scores, line["counts"], [each.label for each in found])
        else:
            truth = [(each[0], Box(*each[1:])) for each in line["things"]]
            ignored = [Box(*each) for each in line.get("ignored", ())]
            scores.add(found, truth, ignored, labels)
    return scores


def _labels(line: dict[str, Any]) -> set[str]:
    return set(line.get("counts", ())) | {each[0] for each in line.get("things", ())}


def _count(scores: DetectorScores, there: dict[str, int], found: Iterable[str]) -> None:
    """Adds a frame of which the numbers of things are known, and not their places."""
    labels = list(found)
    scores.frames += 1
    for label, number in there.items():
        said = labels.count(label)
        right = min(said, number)
        scores.labels[label].merge(Score(right, said - right, number - right))
        scores.off[label] += abs(said - number)
