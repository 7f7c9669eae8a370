"""Counts how often answers are right: precision and recall of what was said beside what is true.

A thing on a frame is found when a detection of its label covers it (their common area over that of
both is 0.4 or more), each by one detection; what is ignored counts neither way.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tamis_bench.report import Row

if TYPE_CHECKING:
    from tamis_operators.image.detection import Box, Detection


@dataclass
class Score:
    """Answers to questions of yes or no, or things found beside things that are there."""

    right: int = 0
    """Said and true."""
    wrong: int = 0
    """Said and false."""
    missed: int = 0
    """True and not said."""

    def add(self, said: bool, true: bool) -> None:
        """Adds one more answer."""
        self.right += said and true
        self.wrong += said and not true
        self.missed += true and not said

    def merge(self, other: Score) -> None:
        """Adds the answers of another one."""
        self.right += other.right
        self.wrong += other.wrong
        self.missed += other.missed

    @property
    def precision(self) -> float:
        """Returns how much of what was said is true; 1 where nothing was said."""
        return self.right / (self.right + self.wrong) if self.right + self.wrong else 1.0

    @property
    def recall(self) -> float:
        """Returns how much of what is true was said; 1 where nothing is."""
        return self.right / (self.right + self.missed) if self.right + self.missed else 1.0

    def row(self) -> Row:
        """Returns the figures."""
        return {
            "precision": self.precision,
            "recall": self.recall,
            "true": self.right + self.missed,
            "said": self.right + self.wrong,
        }


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
