"""What a worker process holds to match: matchers mapped from folders, operators made once.

A task says where its folders are and what is expected of them; a process keeps the one it had last,
so that tasks that follow find it ready. Of several shards one is open at a time, and events go
through them block by block; what they give is merged event by event.
"""

from __future__ import annotations

import gc
import hashlib
import os
import pickle
import threading
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, NamedTuple

from tamis.errors import EventError, SparkError
from tamis.files.reading import Line
from tamis.limits import DEFAULT_LIMITS, Limits
from tamis.matcher import Matcher
from tamis.operators import OperatorRecord
from tamis.operators.shipping import unpacked
from tamis.result import Result
from tamis.result.account import Account
from tamis.statistics import Statistics

_BLOCK = 8_192
"""Events that go through a shard before the next one is opened."""


@dataclass(frozen=True)
class MatchTask:
    """What a worker needs to know to match."""

    folders: tuple[str, ...]
    """Of each shard."""
    fingerprints: tuple[str, ...]
    archive: str | None
    """What Spark has unpacked the folders from; `None` where all workers see them."""
    operators: bytes
    planner: str
    statistics: Statistics | None
    workers: int = 1
    limits: Limits = DEFAULT_LIMITS

    def packed(self) -> bytes:
        """It as bytes."""
        return pickle.dumps(self, protocol=5)


class Given(NamedTuple):
    """An event as it comes, or why it is none."""

    line: Line
    folder: str = ""
    default_id: str | None = None


class Matched(NamedTuple):
    """What became of one that was given: a line of results, or the reason why there is none."""

    given: Given
    answer: dict[str, Any]
    reason: str | None


@dataclass
class Tally:
    """What matching some events took."""

    account: Account = field(default_factory=Account)
    rejected: int = 0
    first_reject: str = ""
    undetermined: int = 0
    first_undetermined: str = ""
    rejected_by: Counter[str] = field(default_factory=Counter)
    memo: dict[str, Counter[str]] = field(default_factory=dict)
    cpu_seconds: float = 0.0
    """Of the processor: other than the clock, it does not count what others do meanwhile."""

    def add(self, other: Tally) -> None:
        """Adds another one, of events that come later."""
        self.account.add(other.account)
        self.rejected += other.rejected
        self.cpu_seconds += other.cpu_seconds
        self.undetermined += other.undetermined
        self.first_reject = self.first_reject or other.first_reject
        self.first_undetermined = self.first_undetermined or other.first_undetermined
        self.rejected_by.update(other.rejected_by)
        for name, counts in other.memo.items():
            self.memo.setdefault(name, Counter()).update(counts)

    def reject(self, line: Line, reason: str) -> None:
        """Counts a line that holds no event."""
        self.rejected += 1
        self.first_reject = self.first_reject or f"{line.file}:{line.number}: {reason}"

    def take(self, result: Result, *, again: bool) -> None:
        """Counts a result; `again` when another shard has counted the event."""
        account = result.account
        if again:
            account.events = 0
        self.account.add(account)
        self.rejected_by.update(reason for each in result.rejections for reason in each.because)
        for left in result.undetermined:
            self.undetermined += 1
            self.first_undetermined = self.first_undetermined or (
                f"{left.subscription} for {result.event}, {left.reason}"
            )


class Holder:
    """The matchers of a task in this process."""

    def __init__(self, task: MatchTask) -> None:
        self._task = task
        self._root = ""
        if task.archive is not None:
            from pyspark import SparkFiles

            self._root = SparkFiles.get(task.archive)
        self._records: list[OperatorRecord] = unpacked(task.operators)
        self._open: tuple[int, Matcher] | None = None
        self._lock = threading.Lock()

    def matcher(self, shard: int) -> Matcher:
        """The matcher of a shard; the one before is closed."""
        with self._lock:
            if self._open is None or self._open[0] != shard:
                task = self._task
                self._open = None
                matcher = Matcher.open(
                    os.path.join(self._root, task.folders[shard]),
                    self._records,
                    fingerprint=task.fingerprints[shard],
                    planner=task.planner,
                    statistics=task.statistics,
                    workers=task.workers,
                    limits=task.limits,
                )
                self._open = shard, matcher
            return self._open[1]

    def match(self, given: Iterable[Given], tally: Tally) -> Iterator[Matched]:
        """Matches events; what it took is added to the tally."""
        if len(self._task.folders) == 1:
            with _memo_of(matcher := self.matcher(0), tally):
                for each in given:
                    yield self._matched(matcher, each, tally)
            return
        iterator = iter(given)
        while block := list(islice(iterator, _BLOCK)):
            yield from self._through_shards(block, tally)

    def _matched(self, matcher: Matcher, each: Given, tally: Tally) -> Matched:
        reason = each.line.reason
        if reason is None:
            try:
                result = matcher.match(
                    each.line.document,  # type: ignore[arg-type]
                    folder=each.folder,
                    default_id=each.default_id,
                )
                tally.take(result, again=False)
                return Matched(each, result.as_dict(), None)
            except EventError as bad:
                reason = str(bad)
        tally.reject(each.line, reason)
        return Matched(each, {}, reason)

    def _through_shards(self, block: list[Given], tally: Tally) -> list[Matched]:
        with _memo_of(matcher := self.matcher(0), tally):
            found = [self._matched(matcher, each, tally) for each in block]
        for shard in range(1, len(self._task.folders)):
            with _memo_of(matcher := self.matcher(shard), tally):
                for each in found:
                    if each.reason is None:
                        result = matcher.match(
                            each.given.line.document,  # type: ignore[arg-type]
                            folder=each.given.folder,
                            default_id=each.given.default_id,
                        )
                        tally.take(result, again=True)
                        more = result.as_dict()
                        for part in ("matches", "undetermined"):
                            each.answer[part] += more[part]
        for each in found:
            for part in ("matches", "undetermined"):
                each.answer.get(part, []).sort(key=lambda one: one["subscription"])
        return found


class _memo_of:  # noqa: N801 (read as a verb's clause)
    """Adds to a tally what the memo of a matcher did meanwhile."""

    def __init__(self, matcher: Matcher, tally: Tally) -> None:
        self._matcher, self._tally = matcher, tally

    def _now(self) -> dict[str, Counter[str]]:
        return {
            name: Counter(
                {
                    what: value
                    for what, value in vars(each).items()
                    if isinstance(value, (int, float)) and not isinstance(value, bool)
                }
            )
            for name, each in self._matcher.memo.account().items()
        }

    def __enter__(self) -> None:
        self._before = self._now()

    def __exit__(self, *about: object) -> None:
        for name, counts in self._now().items():
            counts.subtract(self._before.get(name, Counter()))
            self._tally.memo.setdefault(name, Counter()).update(counts)


_held: tuple[str, Holder] | None = None
_holding = threading.Lock()


def key_of(content: bytes) -> str:
    """What a task is known by."""
    return hashlib.sha256(content).hexdigest()


def holder_of(key: str, content: bytes) -> Holder:
    """What this process holds for a task; Spark collects garbage after each part, not among it."""
    global _held
    with _holding:
        if _held is None or _held[0] != key:
            _held = None
            gc.unfreeze()
            task = pickle.loads(content)
            if not isinstance(task, MatchTask):
                raise SparkError("what was sent to a worker is no task")
            _held = key, Holder(task)
            if len(task.folders) == 1:
                _held[1].matcher(0)
                gc.freeze()
        return _held[1]
