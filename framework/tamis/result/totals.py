"""Sums the results of many events: their accounts, and what was rejected or undetermined.

Totals of parts add up to those of the whole, in whatever process each was matched.
"""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from tamis.engine.window import EventInFlight, Window
from tamis.errors import EventError
from tamis.event.clock import unread_time
from tamis.files.reading import FileLine
from tamis.result.account import Account
from tamis.result.result import Result


class GivenLine(NamedTuple):
    """A line that may hold an event, and what the event is relative to."""

    line: FileLine
    folder: str = ""
    default_id: str | None = None


def _account() -> Account:
    account = Account()
    account.seconds["output"] = 0.0
    return account


@dataclass
class Totals:
    """Sums what matching some events took, and its outcomes."""

    is_accounted: bool = True
    """True if the accounts of events are read, which takes time."""
    account: Account = field(default_factory=_account)
    """Reading lines is of its stage `index`, accounting and writing are its stage `output`."""
    events: int = 0
    rejected: int = 0
    first_reject: str = ""
    undetermined: int = 0
    first_undetermined: str = ""
    unread_times: int = 0
    """Events whose hour or day was asked for, and whose time cannot be read."""
    first_unread_time: str = ""
    rejected_by: Counter[str] = field(default_factory=Counter)
    memo: dict[str, Counter[str]] = field(default_factory=dict)
    cpu_seconds: float = 0.0
    """Processor time, which other programs do not change."""

    def add(self, other: Totals) -> None:
        """Adds the totals of later events."""
        self.account.add(other.account)
        self.events += other.events
        self.rejected += other.rejected
        self.cpu_seconds += other.cpu_seconds
        self.undetermined += other.undetermined
        self.unread_times += other.unread_times
        self.first_unread_time = self.first_unread_time or other.first_unread_time
        self.first_reject = self.first_reject or other.first_reject
        self.first_undetermined = self.first_undetermined or other.first_undetermined
        self.rejected_by.update(other.rejected_by)
        for name, counts in other.memo.items():
            self.memo.setdefault(name, Counter()).update(counts)

    def spend(self, stage: str, began: float) -> None:
        """Counts the time since some moment to a stage."""
        self.account.seconds[stage] += time.perf_counter() - began

    def _read(self, given: Iterable[GivenLine]) -> Iterator[GivenLine]:
        """Yields lines, and counts the time of reading."""
        lines = iter(given)
        while True:
            began = time.perf_counter()
            line = next(lines, None)
            self.spend("index", began)
            if line is None:
                return
            yield line

    def match_many(
        self,
        window: Window[Result],
        begin: Callable[..., EventInFlight[Result]],
        given: Iterable[GivenLine],
    ) -> Iterator[tuple[GivenLine, Result | str]]:
        """Matches and counts lines; yields them in order, with the result or the reason why a line
        holds no event."""
        reasons: deque[str] = deque()

        def begun(each: GivenLine) -> EventInFlight[Result] | None:
            reason = each.line.reason
            if reason is None:
                try:
                    return begin(each.line.document, folder=each.folder, default_id=each.default_id)
                except EventError as bad:
                    reason = str(bad)
            reasons.append(reason)
            return None

        for each, result in window.run(self._read(given), begun):
            if result is None:
                reason = reasons.popleft()
                self.rejected += 1
                at = f"{each.line.file}:{each.line.number}"
                self.first_reject = self.first_reject or f"{at}: {reason}"
                yield each, reason
            else:
                self.events += 1
                self.take(result)
                yield each, result

    def take(self, result: Result) -> None:
        """Counts a result, of an event that is counted."""
        began = time.perf_counter()
        if self.is_accounted:
            result.add_to(self.account)
            self.rejected_by.update(reason for each in result.rejections for reason in each.because)
        unread = unread_time(result._seen.event)
        if unread is not None:
            self.unread_times += 1
            at = f"{result.event}, {unread!r:.80}"
            self.first_unread_time = self.first_unread_time or at
        for left in result.undetermined:
            self.undetermined += 1
            self.first_undetermined = self.first_undetermined or (
                f"{left.subscription} for {result.event}, {left.reason}"
            )
        self.spend("output", began)
