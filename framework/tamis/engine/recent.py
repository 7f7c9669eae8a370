"""Keeps events that were matched, at even distances among all that came, with what was answered.

Cost: an addition an event; some KB for each that is kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import islice

from tamis.engine.decision import Decision
from tamis.event import Event
from tamis.operators.asking import Solution
from tamis.statistics.sample import brief

_MOST_ANSWERS = 512


class RecentEvent:
    """An event that was matched."""

    def __init__(self, number: int, event: Event, decision: Decision | None) -> None:
        self.number = number
        self.content = brief(event.content)
        """As JSON, without what is long."""
        self._texts: Sequence[str] = ()
        """Those of the calls, which themselves keep operators that were refreshed since."""
        self._answers: Sequence[bool | list[Solution]] = ()
        if decision is not None and decision.answers:
            self._take(decision)

    def _take(self, decision: Decision) -> None:
        given = dict(islice(decision.answers.items(), _MOST_ANSWERS))
        self._answers, solutions, failures, *_ = zip(*given.values(), strict=True)
        if not solutions.count(None) == failures.count(None) == len(given):
            given = {
                at: each for at, each in given.items() if each.failure is None and not each.cut
            }
            self._answers = [
                each.truth if each.solutions is None else each.solutions for each in given.values()
            ]
        calls = decision.skeleton.calls
        self._texts = [calls[at].text for at in given]

    @cached_property
    def answers(self) -> dict[str, bool | list[Solution]]:
        """The answers of calls that did not fail, by their texts."""
        return dict(zip(self._texts, self._answers, strict=True))


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
        self.kept.append(RecentEvent(number, event, decision))
