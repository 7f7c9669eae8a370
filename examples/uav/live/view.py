"""Shows the demo while it runs: a live page in a terminal, or lines where there is none.

Both show the same things: what is being done, events with position and camera, matches with their
bindings, calls made and spared by operator, the bound, and how fast it goes.
"""

from __future__ import annotations

import sys
import time
from collections import deque
from types import TracebackType
from typing import TYPE_CHECKING, Protocol

from examples.uav.live.record import DemoRun, Frame, ShownMatch

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.live import Live

STAGES = ("history", "learning", "matching", "comparing", "report")
_LINES_EVERY = 20
_RECENT, _FEED = 9, 40
_FEWER = ("matches", "calls", "spared")


class View(Protocol):
    """Where a run is shown; for `with`."""

    def stage(self, name: str, detail: str = "", share: float | None = None) -> None:
        """Says what is being done, and how much of it is done."""

    def frame(self, frame: Frame, run: DemoRun) -> None:
        """Shows a frame that was matched."""

    def say(self, words: str) -> None:
        """Says something that stays."""

    def __enter__(self) -> View: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...


def view_for(seconds: float | None) -> View:
    """The live page on a terminal, else lines."""
    return LiveView(seconds) if sys.stdout.isatty() else LineView()


class LineView:
    """Prints a line for each thing that happens."""

    def __init__(self) -> None:
        self._stage = ""
        self._quarter = -1

    def stage(self, name: str, detail: str = "", share: float | None = None) -> None:
        """A line when a stage begins, and at each quarter of it."""
        quarter = -1 if share is None else int(share * 4)
        if name == self._stage and (quarter <= self._quarter or share is None):
            return
        self._stage, self._quarter = name, quarter
        print(f"{name:<10}{detail}", flush=True)

    def frame(self, frame: Frame, run: DemoRun) -> None:
        """A line for the frame, one for each of its first matches, and the totals now and then."""
        account = run.account
        print(
            f"{frame.id:<16}{frame.camera:<7}{place(frame):<20}{frame.altitude:>5.0f} m"
            f"{len(frame.matches):>4} matches  {frame.calls:>3} calls, {frame.spared:>3} spared, "
            f"at least {frame.needed_at_least} needed"
        )
        for each in frame.matches[:3]:
            print(f"    {each.words}")
        if len(frame.matches) > 3:
            print(f"    and {len(frame.matches) - 3} more")
        if len(run.frames) % _LINES_EVERY == 0:
            print(f"-- {totals(run)}")
            operators = sorted(account.operators.items(), key=lambda item: -item[1].calls)
            for name, asked in operators:
                print(f"--   {name:<22}{asked.calls:>6} calls{asked.spared:>6} spared")
        sys.stdout.flush()

    def say(self, words: str) -> None:
        """A line."""
        print(words, flush=True)

    def __enter__(self) -> LineView:
        return self

    def __exit__(self, *exception: object) -> None:
        sys.stdout.flush()


class LiveView:
    """A page that is drawn again four times a second."""

    def __init__(self, seconds: float | None) -> None:
        from rich.console import Console

        self._console = Console()
        self._seconds = seconds
        self._stage, self._detail, self._share = "", "", None if seconds else 0.0
        self._frames: deque[Frame] = deque(maxlen=_RECENT)
        self._matches: deque[tuple[Frame, ShownMatch]] = deque(maxlen=_FEED)
        self._run: DemoRun | None = None
        self._live: Live | None = None
        self._began = time.monotonic()

    def stage(self, name: str, detail: str = "", share: float | None = None) -> None:
        """Moves the line of stages on."""
        self._stage, self._detail, self._share = name, detail, share

    def frame(self, frame: Frame, run: DemoRun) -> None:
        """Puts the frame and its matches on top."""
        self._run = run
        self._frames.appendleft(frame)
        paper = [each for each in frame.matches if each.team == "paper"]
        others = {each.team: each for each in frame.matches if each.team != "paper"}
        for each in [*list(others.values())[-3:], *paper]:  # of each team one
            self._matches.appendleft((frame, each))

    def say(self, words: str) -> None:
        """A line above the page, which stays."""
        self._console.print(words, highlight=False)

    def __enter__(self) -> LiveView:
        from rich.live import Live

        self._live = Live(
            get_renderable=self._page, console=self._console, refresh_per_second=4, transient=True
        )
        self._live.start()
        return self

    def __exit__(self, *exception: object) -> None:
        if self._live is not None:
            self._live.stop()

    # drawing

    def _page(self) -> RenderableType:
        from rich.console import Group
        from rich.table import Table

        if self._run is None:
            return Group(self._stages())
        height = max(20, self._console.height - 2)
        if self._console.width < 110:
            tail = self._operators(max(3, height - 18))
            return Group(self._stages(), self._totals(), self._recent(3), self._feed(5), tail)
        body = Table.grid(expand=True, padding=(0, 2, 0, 0))
        body.add_column(ratio=3)
        body.add_column(ratio=2)
        feed = self._feed(max(4, height - _RECENT - 10))
        body.add_row(Group(self._recent(_RECENT), "", feed), self._operators(height - 8))
        return Group(self._stages(), self._totals(), body)

    def _stages(self) -> RenderableType:
        from rich.text import Text

        line = Text("\n")
        at = STAGES.index(self._stage) if self._stage in STAGES else 0
        for number, name in enumerate(STAGES):
            style = "dim" if number > at else "bold cyan" if number == at else "green"
            line.append(f"{'✓' if number < at else '●' if number == at else '○'} {name}", style)
            line.append("   ")
        line.append(f"\n  {self._detail}", "dim")
        if self._share is not None:
            done = round(24 * min(1.0, max(0.0, self._share)))
            line.append("  ")
            line.append("━" * done, "cyan")
            line.append("━" * (24 - done), "bright_black")
        line.append(f"  {time.monotonic() - self._began:,.0f} s", "dim")
        if self._stage == "matching":
            line.append("  Ctrl-C: to the report", "dim")
        line.append("\n")
        return line

    def _totals(self) -> RenderableType:
        from rich.text import Text

        assert self._run is not None
        return Text(f"  {totals(self._run)}\n", style="bold")

    def _recent(self, most: int) -> RenderableType:
        from rich.table import Table

        wide = self._console.width >= 110
        table = Table(box=None, expand=True, pad_edge=True, header_style="dim")
        for name in ("event", "camera", "position"):
            table.add_column(name, no_wrap=True)
        for name in ("height", "matches", "calls", "spared", "needed") if wide else _FEWER:
            table.add_column(name, justify="right", no_wrap=True)
        for frame in list(self._frames)[:most]:
            numbers = [str(len(frame.matches) or "·"), str(frame.calls), str(frame.spared)]
            if wide:
                numbers = [f"{frame.altitude:.0f} m", *numbers, str(frame.needed_at_least)]
            table.add_row(
                *(frame.id, frame.camera, place(frame), *numbers),
                style="" if frame.matches else "dim",
            )
        return table

    def _feed(self, most: int) -> RenderableType:
        from rich.table import Table
        from rich.text import Text

        table = Table(box=None, expand=True, pad_edge=True, header_style="dim")
        table.add_column("match", no_wrap=True)
        table.add_column("bindings", no_wrap=True, ratio=1)
        table.add_column("event", justify="right", no_wrap=True)
        for frame, each in list(self._matches)[:most]:
            style = "bold red" if each.team == "paper" else "yellow"
            bindings = each.words.removeprefix(each.subscription).strip()
            table.add_row(Text(each.subscription, style), bindings, Text(frame.id, "dim"))
        return table

    def _operators(self, most: int) -> RenderableType:
        from rich.table import Table

        assert self._run is not None
        table = Table(box=None, expand=True, header_style="dim")
        table.add_column("operator", no_wrap=True)
        for name in ("calls", "spared", "implied", "seconds"):
            table.add_column(name, justify="right", no_wrap=True)
        rows = sorted(self._run.account.operators.items(), key=lambda item: -item[1].calls)
        for name, each in rows[:most]:
            table.add_row(
                name, f"{each.calls:,}", f"{each.spared:,}", f"{each.implied:,}",
                f"{each.seconds:.1f}",
            )  # fmt: skip
        return table


def place(frame: Frame) -> str:
    """Where a frame was taken, in degrees."""
    lon, lat = frame.position
    return f"{lon:.4f}, {lat:.4f}"


def totals(run: DemoRun) -> str:
    """The totals so far, in a line."""
    account = run.account
    rate = account.events / run.seconds if run.seconds else 0.0
    words = (
        f"{account.events:,} events at {rate:.1f}/s, {account.matches:,} matches; "
        f"{account.calls:,} calls made, {account.spared:,} spared, "
        f"at least {account.needed_at_least:,} needed"
    )
    if account.naive_expected is not None:
        words += f", {account.naive_expected:,.0f} expected of naive"
    return words
