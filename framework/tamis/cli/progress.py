"""What a terminal shows while events are matched; a pipe shows nothing."""

from __future__ import annotations

import time
from types import TracebackType
from typing import TYPE_CHECKING

from tamis.words import counted

if TYPE_CHECKING:
    from rich.progress import Progress as Bar
    from rich.progress import TaskID

_EVERY_SECONDS = 0.1


class Progress:
    """Counts events and matches, and shows them now and then where there is somebody to see."""

    def __init__(self, *, shown: bool) -> None:
        self.shown = shown
        self.events = 0
        self.matches = 0
        self._bar: Bar | None = None
        self._task: TaskID | None = None
        self._started = time.perf_counter()
        self._next = 0.0

    def count(self, matches: int, share: float | None) -> None:
        """Notes an event, and how much of the input has been read with it."""
        self.events += 1
        self.matches += matches
        now = time.perf_counter()
        if now >= self._next:
            self._next = now + _EVERY_SECONDS
            self._show(share)

    def _show(self, share: float | None) -> None:
        if self._bar is None or self._task is None:
            return
        elapsed = time.perf_counter() - self._started
        rate = self.events / elapsed if elapsed else 0.0
        self._bar.update(
            self._task,
            completed=share or 0.0,
            total=None if share is None else 1.0,
            words=f"{counted(self.events, 'event')}  {rate:,.0f} events/s  "
            f"{counted(self.matches, 'match')}",
        )

    def __enter__(self) -> Progress:
        self._started = time.perf_counter()
        if self.shown:
            from rich.console import Console
            from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
            from rich.progress import Progress as Bar

            self._bar = Bar(
                BarColumn(bar_width=16),
                TextColumn("{task.fields[words]}"),
                TimeElapsedColumn(),
                console=Console(stderr=True),
                redirect_stdout=False,  # it carries data
            )
            self._task = self._bar.add_task("", total=None, words="0 events")
            self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._show(1.0 if kind is None else None)
            self._bar.stop()
