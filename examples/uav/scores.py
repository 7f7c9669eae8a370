"""How often answers are right: precision and recall of what is said of frames against the truth.

A count is asked as subscriptions ask it, `> n` for some n that are common in the frames, each a
question of yes or no, and all of them together; beside it stands how often the number itself is
right, and right within a tenth. A pattern is there or not. What stays unknown is taken for no.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from examples.uav.truth import Truth

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
SUBSCRIPTIONS = ("S1", "S2", "S3", "S4", "S5")


@dataclass
class Score:
    """Of one question of yes or no."""

    right: int = 0
    """Said and true."""
    wrong: int = 0
    """Said and false."""
    missed: int = 0
    """True and not said."""

    def add(self, said: bool, true: bool) -> None:
        """One more frame."""
        self.right += said and true
        self.wrong += said and not true
        self.missed += true and not said

    def merge(self, other: Score) -> None:
        """The frames of another one too."""
        self.right += other.right
        self.wrong += other.wrong
        self.missed += other.missed

    @property
    def precision(self) -> float:
        """How much of what was said is true; 1 where nothing was said."""
        return self.right / (self.right + self.wrong) if self.right + self.wrong else 1.0

    @property
    def recall(self) -> float:
        """How much of what is true was said; 1 where nothing is."""
        return self.right / (self.right + self.missed) if self.right + self.missed else 1.0


@dataclass
class Numbers:
    """How near counts are, on the frames where there is something to count or was said to be."""

    frames: int = 0
    exact: int = 0
    near: int = 0
    said: int = 0
    true: int = 0

    def add(self, said: int, true: int) -> None:
        """One more frame."""
        if said or true:
            self.frames += 1
            self.exact += said == true
            self.near += abs(said - true) <= 0.1 * true
            self.said += said
            self.true += true


@dataclass
class Scores:
    """Of all questions."""

    asked: dict[str, Score] = field(default_factory=dict)
    """By question: `peopleCount > 50`, `peopleCount` for all of its thresholds, `S1`, …"""
    numbers: dict[str, Numbers] = field(default_factory=dict)
    frames: int = 0
    unknown: int = 0
    seconds: float = 0.0
    """What all answers took."""

    def add(self, answers: Mapping[str, Any], truth: Truth) -> None:
        """One more frame: what was said of it, by operator and subscription."""
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
        for name in SUBSCRIPTIONS:
            self._of(name).add(bool(answers.get(name)), name in truth.subscriptions)

    def _of(self, question: str) -> Score:
        return self.asked.setdefault(question, Score())

    def merge(self, other: Scores) -> None:
        """The frames of others too."""
        self.frames += other.frames
        self.unknown += other.unknown
        self.seconds += other.seconds
        for question, score in other.asked.items():
            self._of(question).merge(score)
        for name, numbers in other.numbers.items():
            mine = self.numbers.setdefault(name, Numbers())
            for each in vars(numbers):
                setattr(mine, each, getattr(mine, each) + getattr(numbers, each))

    @property
    def operators(self) -> list[str]:
        """The questions that are one of an operator or a subscription, not of a threshold."""
        return [*THRESHOLDS, *PATTERNS, *SUBSCRIPTIONS]

    def as_data(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "format_version": 1,
            "frames": self.frames,
            "unknown": self.unknown,
            "seconds": round(self.seconds, 3),
            "questions": {
                question: {
                    "precision": round(score.precision, 4),
                    "recall": round(score.recall, 4),
                    **vars(score),
                }
                for question, score in self.asked.items()
            },
            "numbers": {name: vars(numbers) for name, numbers in self.numbers.items()},
        }

    def table(self) -> str:
        """For people."""
        lines = [f"{'':34}  precision  recall   true   said"]
        for name in self.operators:
            lines.append(self._line(name, name))
            if name in THRESHOLDS:
                thresholds = THRESHOLDS[name]
                lines += [self._line(f"  > {each}", f"{name} > {each}") for each in thresholds]
                numbers = self.numbers[name]
                shares = (
                    f"{each / max(numbers.frames, 1):.0%}" for each in (numbers.exact, numbers.near)
                )
                exact, near = shares
                lines.append(f"    exact on {exact}, within a tenth on {near} of {numbers.frames}")
        each = self.seconds / max(self.frames, 1)
        lines.append(
            f"{self.frames} frames, {self.unknown} answers unknown, {each:.3f} seconds a frame"
        )
        return "\n".join(lines)

    def _line(self, label: str, question: str) -> str:
        score = self.asked[question]
        true, said = score.right + score.missed, score.right + score.wrong
        return f"{label:34}  {score.precision:9.3f}  {score.recall:6.3f}  {true:5}  {said:5}"
