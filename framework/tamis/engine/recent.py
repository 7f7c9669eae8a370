"""Keeps events that were matched, at even distances among all that came, with what was answered.

Cost: an addition an event; some KB for each that is kept.
"""

from __future__ import annotations

from itertools import islice
from typing import NamedTuple

from tamis.engine.decision import Decision
from tamis.event import Event
from tamis.operators.asking import Solution
from tamis.statistics.sample import brief

_MOST_ANSWERS = 512


class RecentEvent(NamedTuple):
    """An event that was matched."""

    number: int
    content: str
    """As JSON, without what is long."""
    answers: dict[str, bool | list[Solution]]
    """The answers of calls that did not fail, by their texts."""


class Recent:
    """The events that are kept, so many at most."""

    def __init__(self, most: int) -> None:
        self.kept: list[RecentEvent] = []
        self._most = most
        self._came = 0
        self._step = 1

    def add(self, event: Event, decision: Decision | None) -> None:
        """Takes an event that was decided, and keeps it where its turn has come."""
        number = self._came
        self._came = number + 1
        if number % self._step:
            return
        if len(self.kept) >= self._most:
            self._step *= 2
            self.kept = self.kept[::2]
            if number % self._step:
                return
        answers = {} if decision is None else _answers_of(decision)
        self.kept.append(RecentEvent(number, brief(event.content), answers))


def _answers_of(decision: Decision) -> dict[str, bool | list[Solution]]:
    calls = decision.skeleton.calls
    return {
        calls[at].text: answer.truth if answer.solutions is None else answer.solutions
        for at, answer in islice(decision.answers.items(), _MOST_ANSWERS)
        if answer.failure is None and not answer.cut
    }
