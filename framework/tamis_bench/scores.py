"""Counts how often answers are right: precision and recall of what was said beside what is true."""

from __future__ import annotations

from dataclasses import dataclass

from tamis_bench.report import Row


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
