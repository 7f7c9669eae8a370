"""Sums what became of many events: their accounts, what was rejected, what stayed undetermined.

Totals of parts add up to those of the whole, in whatever process each was matched.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from tamis.errors import EventError
from tamis.files.reading import Line
from tamis.result.account import Account
from tamis.result.result import Result


@dataclass
class Totals:
    """What matching some events took, and what it left."""

    is_accounted: bool = True
    """Whether the accounts of events are read, which takes time."""
    account: Account = field(default_factory=Account)
    events: int = 0
    rejected: int = 0
    first_reject: str = ""
    undetermined: int = 0
    first_undetermined: str = ""
    rejected_by: Counter[str] = field(default_factory=Counter)
    memo: dict[str, Counter[str]] = field(default_factory=dict)
    cpu_seconds: float = 0.0
    """Of the processor: other than the clock, it does not count what others do meanwhile."""

    def add(self, other: Totals) -> None:
        """Adds those of events that come later."""
        self.account.add(other.account)
        self.events += other.events
        self.rejected += other.rejected
        self.cpu_seconds += other.cpu_seconds
        self.undetermined += other.undetermined
        self.first_reject = self.first_reject or other.first_reject
        self.first_undetermined = self.first_undetermined or other.first_undetermined
        self.rejected_by.update(other.rejected_by)
        for name, counts in other.memo.items():
            self.memo.setdefault(name, Counter()).update(counts)

    def match(
        self, match: Callable[..., Result], line: Line, folder: str, default_id: str | None
    ) -> Result | str:
        """Matches and counts a line: the result, or the reason why it holds no event."""
        reason = line.reason
        if reason is None:
            try:
                result = match(line.document, folder=folder, default_id=default_id)
            except EventError as bad:
                reason = str(bad)
            else:
                self.events += 1
                self.take(result)
                return result
        self.rejected += 1
        self.first_reject = self.first_reject or f"{line.file}:{line.number}: {reason}"
        return reason

    def take(self, result: Result) -> None:
        """Counts a result, of an event that is counted."""
        if self.is_accounted:
            self.account.add(result.account)
            self.rejected_by.update(reason for each in result.rejections for reason in each.because)
        for left in result.undetermined:
            self.undetermined += 1
            self.first_undetermined = self.first_undetermined or (
                f"{left.subscription} for {result.event}, {left.reason}"
            )
