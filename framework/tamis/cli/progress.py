"""Shows on a terminal how far a run has come; in a pipe, a line a minute."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator

from tamis.cli.saying import say
from tamis.words import counted

_EVERY_SECONDS = 0.1
_MINUTE = 60.0

Show = Callable[[str, float | None], None]
"""Shows words, and how much of all is done, where that is known."""


@contextlib.contextmanager
def bar(*, shown: bool) -> Iterator[Show]:
    """Shows words beside a bar while something runs."""
    if not shown:
        yield _Minutes() if not sys.stderr.isatty() else lambda words, share: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (BarColumn(bar_width=16), TextColumn("{task.fields[words]}"), TimeElapsedColumn())
    # what is printed meanwhile is data
    with Progress(*columns, console=Console(stderr=True), redirect_stdout=False) as progress:
        task = progress.add_task("", total=None, words="")
        yield lambda words, share: progress.update(
            task, completed=share or 0.0, total=None if share is None else 1.0, words=words
        )


class _Minutes:
    """Says how far it has come, once a minute."""

    def __init__(self) -> None:
        self._next = time.monotonic() + _MINUTE

    def __call__(self, words: str, share: float | None) -> None:
        now = time.monotonic()
        if now >= self._next:
            self._next = now + _MINUTE
            say(words if share is None else f"{words}, {share:.0%}")


class Meter:
    """Counts events and matches, and shows them now and then."""

    def __init__(self, show: Show, share: Callable[[], float | None]) -> None:
        self.events = 0
        self.matches = 0
        self._show = show
        self._share = share
        self._started = time.perf_counter()
        self._next = 0.0

    def count(self, matches: int) -> None:
        """Notes an event."""
        self.events += 1
        self.matches += matches
        now = time.perf_counter()
        if now >= self._next:
            self._next = now + _EVERY_SECONDS
            self.show()

    def show(self) -> None:
        """Shows what was counted, and how much of the input has been read with it."""
        elapsed = time.perf_counter() - self._started
        rate = self.events / elapsed if elapsed else 0.0
        events, matches = counted(self.events, "event"), counted(self.matches, "match")
        self._show(f"{events}  {rate:,.0f} events/s  {matches}", self._share())
