"""Scores answers: precision and recall of what is said of frames against the truth.

A count is asked as subscriptions ask it, `> n` for some n that are common in the frames, each a
question of yes or no, and all of them together; beside it stands how often the number itself is
right, and right within a tenth. A pattern is there or not. What stays unknown is taken for no.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from tamis_bench.scores import Score

THRESHOLDS: dict[str, tuple[int, ...]] = {
    "peopleCount": (0, 20, 50, 100, 250),
    "pedestrianCount": (0, 20, 50, 100, 250),
    "vehicleCount": (0, 5, 10, 20, 30),
    "policeCarCount": (0, 1),
    "tourBoatCount": (0, 1, 2, 3),
    "coastGuardBoatCount": (0, 1),
    "mobPattern": (5, 20, 50, 100, 200),
}
PATTERNS = {
    "chasePattern(policeCar, anyCar)": "chase",
    "trafficPattern(congestion)": "congestion",
    "trafficPattern(accident)": "accident",
}
ROOFS = "roofNumber"
SUBSCRIPTIONS = ("S1", "S2", "S3", "S4", "S5")


class DrawnTruth(Protocol):
    """Holds what is true of a drawn frame, as `examples/uav/truth.py` has it; patterns by name."""

    @property
    def counts(self) -> Mapping[str, int]:
        """Returns how many there are, by operator."""

    @property
    def roofs(self) -> tuple[int, ...]:
        """The numbers on roofs."""

    @property
    def mobs(self) -> tuple[int, ...]:
        """The sizes of dense clusters."""

    @property
    def subscriptions(self) -> tuple[str, ...]:
        """Those of S1 to S5 that hold."""


@dataclass
class Numbers:
    """Tells how near counts are, on frames where there is something to count, or was said to be."""

    frames: int = 0
    exact: int = 0
    near: int = 0
    said: int = 0
    true: int = 0

    def add(self, said: int, true: int) -> None:
        """Counts one more frame."""
        if said or true:
            self.frames += 1
            self.exact += said == true
            self.near += abs(said - true) <= 0.1 * true
            self.said += said
            self.true += true


@dataclass
class QuestionScores:
    """Of all questions."""

    asked: dict[str, Score] = field(default_factory=dict)
    """By question: `peopleCount > 50`, `peopleCount` for all of its thresholds, `S1`, …"""
    numbers: dict[str, Numbers] = field(default_factory=dict)
    frames: int = 0
    unknown: int = 0
    seconds: float = 0.0
    """What all answers took."""

    def add(self, answers: Mapping[str, Any], truth: DrawnTruth) -> None:
        """Counts what was said of one more frame, by operator and subscription."""
        self.frames += 1
        self.unknown += sum(answer is None for answer in answers.values())
        for name, thresholds in THRESHOLDS.items():
            true = max(truth.mobs, default=0) if name == "mobPattern" else truth.counts[name]
            said = int(answers.get(name) or 0)
            self.numbers.setdefault(name, Numbers()).add(said, true)
            for threshold in thresholds:
                question = f"{name} > {threshold}"
                for each in (name, question):
                    self._of(each).add(said > threshold, true > threshold)
        for pattern, attribute in PATTERNS.items():
            self._of(pattern).add(bool(answers.get(pattern)), bool(getattr(truth, attribute)))
        read = set(answers.get(ROOFS) or ())
        for number in read.union(truth.roofs):
            self._of(ROOFS).add(number in read, number in truth.roofs)
        for name in SUBSCRIPTIONS:
            self._of(name).add(bool(answers.get(name)), name in truth.subscriptions)

    def _of(self, question: str) -> Score:
        return self.asked.setdefault(question, Score())

    def merge(self, other: QuestionScores) -> None:
        """Counts the frames of others too."""
        self.frames += other.frames
        self.unknown += other.unknown
        self.seconds += other.seconds
        for question, score in other.asked.items():
            self._of(question).merge(score)
        for name, numbers in other.numbers.items():
            mine = self.numbers.setdefault(name, Numbers())
            for each in vars(numbers):
                setattr(mine, each, getattr(mine, each) + getattr(numbers, each))

    def rows(self, part: str) -> Iterator[dict[str, Any]]:
        """Yields, for `tamis bench uav`, a row for each operator, threshold, pattern and
        subscription."""
        for name in (*THRESHOLDS, ROOFS, *PATTERNS, *SUBSCRIPTIONS):
            row = {"part": part, "question": name, **self._of(name).row()}
            numbers = self.numbers.get(name)
            if numbers is not None:
                frames = max(numbers.frames, 1)
                row |= {"exact": numbers.exact / frames, "near": numbers.near / frames}
                row |= {"frames": numbers.frames}
            yield row
            for threshold in THRESHOLDS.get(name, ()):
                question = f"{name} > {threshold}"
                yield {"part": part, "question": question, **self.asked[question].row()}
