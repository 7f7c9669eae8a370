"""How well a detector finds what is there: precision and recall by label, on frames of known truth.

    tamis bench pictures --truth truth.jsonl --detector hog --detector model.onnx

A line of the truth is a frame: `{"image": PATH, "things": [["person", x, y, width, height], …],
"ignored": [[x, y, width, height], …], "meters_per_pixel": …}`, boxes in pixels, paths relative to
the file. A thing is found when a detection of its label covers it (their common area over that of
both is 0.4 or more), each by one detection; what is ignored counts neither way, nor do labels that
the detector cannot tell. `off` is by how many the count of a frame is wrong, on average.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tamis_operators.image.configuration import DetectorConfiguration
from tamis_operators.image.detection import Box, Detection

OVERLAP = 0.4


@dataclass
class Score:
    """What was found of a label, and what was not."""

    right: int = 0
    wrong: int = 0
    missed: int = 0
    off: int = 0

    @property
    def precision(self) -> float:
        """How much of what was found is there."""
        return self.right / (self.right + self.wrong) if self.right + self.wrong else 1.0

    @property
    def recall(self) -> float:
        """How much of what is there was found."""
        return self.right / (self.right + self.missed) if self.right + self.missed else 1.0


@dataclass
class Scores:
    """The scores of a detector on many frames."""

    labels: dict[str, Score] = field(default_factory=lambda: defaultdict(Score))
    frames: int = 0
    seconds: float = 0.0

    def add(
        self,
        found: Iterable[Detection],
        truth: Iterable[tuple[str, Box]],
        ignored: Sequence[Box] = (),
        labels: Iterable[str] | None = None,
    ) -> None:
        """Counts one frame; of these labels only, where they are given."""
        self.frames += 1
        wanted = None if labels is None else set(labels)
        by_label: dict[str, tuple[list[Box], list[Box]]] = defaultdict(lambda: ([], []))
        for thing in found:
            if wanted is None or thing.label in wanted:
                by_label[thing.label][0].append(thing.box)
        for label, box in truth:
            if wanted is None or label in wanted:
                by_label[label][1].append(box)
        for label, (boxes, there) in by_label.items():
            _score(self.labels[label], boxes, there, ignored)


def _score(score: Score, boxes: list[Box], there: list[Box], ignored: Sequence[Box]) -> None:
    """Pairs boxes with things, those that cover one another most first."""
    pairs = sorted(
        (
            (box.overlap(thing), at, to)
            for at, box in enumerate(boxes)
            for to, thing in enumerate(there)
        ),
        reverse=True,
    )
    used: set[int] = set()
    seen: set[int] = set()
    for overlap, at, to in pairs:
        if overlap >= OVERLAP and at not in used and to not in seen:
            used.add(at)
            seen.add(to)
    wrong = [
        box
        for at, box in enumerate(boxes)
        if at not in used and not any(box.common(each) > 0.4 * box.area for each in ignored)
    ]
    score.right += len(used)
    score.wrong += len(wrong)
    score.missed += len(there) - len(seen)
    score.off += abs(len(used) + len(wrong) - len(there))


def measured(
    configuration: DetectorConfiguration, lines: Iterable[dict[str, Any]], folder: Path
) -> Scores:
    """The scores of a detector on the frames of a truth."""
    from tamis_operators.image.detectors import detector_of
    from tamis_operators.image.frames import frame_of

    scores = Scores()
    detector = detector_of(configuration)
    for line in lines:
        frame = frame_of(folder / line["image"])
        started = time.perf_counter()
        found = detector.detect(frame, line.get("meters_per_pixel"))
        scores.seconds += time.perf_counter() - started
        truth = [(each[0], Box(*each[1:])) for each in line["things"]]
        ignored = [Box(*each) for each in line.get("ignored", ())]
        told = {label for label, _ in truth} & detector.labels
        scores.add(found, truth, ignored, told)
    return scores


def table(name: str, scores: Scores) -> str:
    """The scores as text."""
    rows = [
        f"{name}: {scores.frames} frames, {scores.seconds / max(1, scores.frames):.2f} s each",
        "  label             there   found right  precision  recall    off",
    ]
    for label, each in sorted(scores.labels.items()):
        there, found = each.right + each.missed, each.right + each.wrong
        rows.append(
            f"  {label:16} {there:6} {found:7} {each.right:5}  {each.precision:9.3f} "
            f"{each.recall:7.3f} {each.off / max(1, scores.frames):6.2f}"
        )
    return "\n".join(rows)


def as_data(scores: Scores) -> dict[str, Any]:
    """The scores as data."""
    return {
        "frames": scores.frames,
        "seconds": scores.seconds,
        "labels": {
            label: {
                "right": each.right,
                "wrong": each.wrong,
                "missed": each.missed,
                "precision": each.precision,
                "recall": each.recall,
                "off": each.off / max(1, scores.frames),
            }
            for label, each in sorted(scores.labels.items())
        },
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Prints the scores of detectors on a truth."""
    parser = argparse.ArgumentParser(prog="tamis bench pictures")
    parser.add_argument("--truth", type=Path, required=True, help="frames of known truth, .jsonl")
    parser.add_argument("--detector", action="append", help="as TAMIS_DETECTOR; several in a row")
    parser.add_argument("--json", action="store_true", help="as data")
    given = parser.parse_args(arguments)
    text = given.truth.read_text(encoding="utf-8")
    lines = [json.loads(line) for line in text.splitlines() if line.strip()]
    results = {
        name: measured(DetectorConfiguration.of(name), lines, given.truth.parent)
        for name in given.detector or ["hog"]
    }
    if given.json:
        print(json.dumps({name: as_data(scores) for name, scores in results.items()}))
    else:
        print("\n".join(table(name, scores) for name, scores in results.items()))
