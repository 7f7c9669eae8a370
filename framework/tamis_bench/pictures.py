"""Measures how well detectors find what is there: by label, on frames of known truth.

A line of the truth is a frame: `{"image": PATH, "things": [["person", x, y, width, height], …],
"ignored": [[x, y, width, height], …], "meters_per_pixel": …}`, boxes in pixels, paths relative to
the file. A thing is found when a detection of its label covers it (their common area over that of
both is 0.4 or more), each by one detection; what is ignored counts neither way, nor do labels that
the detector cannot tell. `off` is by how many the count of a frame is wrong, on average.
"""

from __future__ import annotations

import json
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import typer

from tamis_bench.report import Row, progress
from tamis_bench.scores import Score
from tamis_operators.image.configuration import DetectorConfiguration
from tamis_operators.image.detection import Box, Detection
from tamis_operators.image.frames import frame_of

OVERLAP = 0.4


@dataclass
class DetectorScores:
    """The scores of a detector on many frames."""

    labels: dict[str, Score] = field(default_factory=lambda: defaultdict(Score))
    off: Counter[str] = field(default_factory=Counter)
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
        by_label: dict[str, tuple[list[Box], list[Box]]] = defaultdict(lambda: ([], []))
        for thing in found:
            by_label[thing.label][0].append(thing.box)
        for label, box in truth:
            by_label[label][1].append(box)
        for label in by_label if labels is None else by_label.keys() & set(labels):
            score = _score(*by_label[label], ignored)
            self.labels[label].merge(score)
            self.off[label] += abs(score.wrong - score.missed)

    def rows(self, name: str) -> Iterator[Row]:
        """Yields the figures of each label."""
        part = f"{name}: {self.frames} frames, {self.seconds / max(1, self.frames):.2f} s each"
        for label, score in sorted(self.labels.items()):
            off = self.off[label] / max(1, self.frames)
            yield {"part": part, "label": label, **score.row(), "right": score.right, "off": off}


def _score(boxes: list[Box], there: list[Box], ignored: Sequence[Box]) -> Score:
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
    return Score(len(used), len(wrong), len(there) - len(seen))


def measured(
    *,
    truth: Annotated[str, typer.Option(metavar="FILE", help="Frames of known truth, .jsonl.")],
    detector: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME…", help="Detectors as TAMIS_DETECTOR names them; hog."),
    ] = None,
) -> Iterator[Row]:
    """Yields a row for each label of each detector."""
    text = Path(truth).read_text(encoding="utf-8")
    lines = [json.loads(line) for line in text.splitlines() if line.strip()]
    for name in detector or ("hog",):
        progress(name)
        configuration = DetectorConfiguration.of(name)
        yield from scored(configuration, lines, Path(truth).parent).rows(name)


def scored(
    configuration: DetectorConfiguration, lines: Iterable[dict[str, Any]], folder: Path
) -> DetectorScores:
    """Returns the scores of a detector on the frames of a truth."""
    from tamis_operators.image.detectors import detector_of

    scores = DetectorScores()
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
