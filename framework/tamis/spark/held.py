"""Holds what a worker process matches with: matchers mapped from folders, operators made once.

A task lies beside the folders of its shards; a process keeps the one it had last, so that tasks
that follow find it ready. Of several shards one is open at a time, and events go through them block
by block; what they give is merged event by event.
"""

from __future__ import annotations

import gc
import hashlib
import os
import pickle
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from tamis.calling.memo import MemoAccount
from tamis.errors import SparkError
from tamis.matcher import Matcher
from tamis.operators import OperatorRecord
from tamis.operators.shipping import unpacked
from tamis.result.lines import ResultText, ResultTexts
from tamis.result.totals import GivenLine, Totals

_TASK = "task"
BLOCK = 8_192
"""Events that go through a shard before the next one is opened."""


@dataclass(frozen=True)
class MatchTask:
    """The subscriptions and settings that a worker needs to match."""

    fingerprints: tuple[str, ...]
    """Of each shard."""
    operators: bytes
    in_flight: int | None
    settings: dict[str, Any]
    """Of matchers."""

    def save(self, folder: Path) -> str:
        """Writes it beside the shards; what it is known by."""
        content = pickle.dumps(self, protocol=5)
        (folder / _TASK).write_bytes(content)
        return hashlib.sha256(content).hexdigest()


class MatchedLine(NamedTuple):
    """The result of one given line, or the reason why there is none."""

    given: GivenLine
    text: ResultText
    reason: str | None


_NO_RESULT = ResultText("")


class Holder:
    """The matchers of a task in this process."""

    def __init__(self, task: MatchTask, root: str) -> None:
        self._task = task
        self._root = root
        self._records: list[OperatorRecord] = unpacked(task.operators)
        self._open: tuple[int, Matcher, ResultTexts] | None = None
        self._lock = threading.Lock()

    def matcher(self, shard: int) -> Matcher:
        """Returns the matcher of a shard; the one before is closed."""
        with self._lock:
            if self._open is None or self._open[0] != shard:
                self._open = None
                matcher = Matcher.open(
                    os.path.join(self._root, shard_name(shard)),
                    self._records,
                    fingerprint=self._task.fingerprints[shard],
                    **self._task.settings,
                )
                self._open = shard, matcher, ResultTexts()
            return self._open[1]

    def match(
        self, given: Iterable[GivenLine], totals: Totals, keep: Sequence[str] = ()
    ) -> Iterator[MatchedLine]:
        """Matches events; what it took is added to the totals. Attributes may be kept."""
        if len(self._task.fingerprints) == 1:
            yield from self._matched(0, given, totals, keep)
            return
        iterator = iter(given)
        while block := list(islice(iterator, BLOCK)):
            yield from self._through_shards(block, totals, keep)

    def _through_shards(
        self, block: list[GivenLine], totals: Totals, keep: Sequence[str]
    ) -> list[MatchedLine]:
        unread = totals.unread_times
        found = list(self._matched(0, block, totals, keep))
        events = [each for each in found if each.reason is None]
        given = [each.given for each in events]
        for shard in range(1, len(self._task.fingerprints)):
            more = Totals(totals.is_accounted)
            for each, other in zip(events, self._matched(shard, given, more), strict=True):
                each.text.add(other.text)
            more.events = more.account.events = 0  # the first shard has counted them
            more.unread_times = max(0, more.unread_times + unread - totals.unread_times)
            totals.add(more)
        return found

    def _matched(
        self, shard: int, given: Iterable[GivenLine], totals: Totals, keep: Sequence[str] = ()
    ) -> Iterator[MatchedLine]:
        matcher = self.matcher(shard)
        assert self._open is not None
        texts, window = self._open[2], matcher.window(self._task.in_flight)
        with _memo_of(matcher, totals):
            for each, found in totals.match_many(window, matcher.begin, given):
                if isinstance(found, str):
                    yield MatchedLine(each, _NO_RESULT, found)
                else:
                    began = time.perf_counter()
                    text = texts.of(found, keep)
                    totals.spend("output", began)
                    yield MatchedLine(each, text, None)


@contextmanager
def _memo_of(matcher: Matcher, totals: Totals) -> Iterator[None]:
    """Adds to totals what the memo of a matcher does meanwhile."""
    before = matcher.memo.account()
    try:
        yield
    finally:
        for name, account in matcher.memo.account().items():
            counts = Counter(vars(account))
            counts.subtract(vars(before.get(name, MemoAccount())))
            totals.memo.setdefault(name, Counter()).update(counts)


_held: tuple[tuple[str, str], Holder] | None = None
_holding = threading.Lock()


def shard_name(shard: int) -> str:
    """Returns the folder of a shard."""
    return f"shard-{shard}"


def holder_of(key: str, find: Callable[[], str]) -> Holder:
    """Returns this process's holder for a task; garbage is collected between parts only."""
    global _held
    with _holding:
        root = find()
        if _held is None or _held[0] != (key, root):
            _held = None
            gc.unfreeze()
            content = Path(root, _TASK).read_bytes()
            if hashlib.sha256(content).hexdigest() != key:
                raise SparkError("what was sent to a worker is another task")
            task: MatchTask = pickle.loads(content)
            _held = (key, root), Holder(task, root)
            if len(task.fingerprints) == 1:
                _held[1].matcher(0)
                gc.freeze()
        return _held[1]
