"""`make demo`: a history, what Spark learns from it, live frames matched, and a report in HTML.

    make demo                   five simulated minutes
    SECONDS=30 make demo        no more than 30 seconds of matching
    python -m examples.uav.demo --help

Ctrl-C ends the matching, and the report is still written. Nothing here reaches the network.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from examples.uav.live import feed, subscribers
from examples.uav.live.history import History, loaded
from examples.uav.live.record import DemoRun
from examples.uav.live.stopping import StopSignal
from examples.uav.live.view import View, view_for

if TYPE_CHECKING:
    from tamis import Matcher


def arguments(given: Sequence[str] | None) -> argparse.Namespace:
    """What the command line and the environment say."""
    parser = argparse.ArgumentParser(prog="python -m examples.uav.demo", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    seconds = os.environ.get("SECONDS") or None
    parser.add_argument("--seconds", type=float, default=seconds, help="of matching, at most")
    parser.add_argument("--minutes", type=float, default=5.0, help="that the live flights take")
    parser.add_argument("--history", type=float, default=4.0, help="minutes that are learned from")
    parser.add_argument(
        "--patience",
        type=float,
        default=45.0,
        help="seconds; then matching begins before all is learned",
    )
    parser.add_argument("--seed", type=int, default=1, help="of the live flights")
    parser.add_argument("--output", type=Path, default=Path("demo-output"), metavar="FOLDER")
    return parser.parse_args(given)


def main(given: Sequence[str] | None = None) -> int:
    """Runs the demo."""
    options = arguments(given)
    options.output.mkdir(parents=True, exist_ok=True)
    history = History(options.output, options.history)
    try:
        with StopSignal() as stopping, view_for(options.seconds) as view:
            words = demonstrate(options, history, stopping, view)
        print(words)  # when the live page is gone
        return 0
    except KeyboardInterrupt:
        print("\nstopped", file=sys.stderr)
        return 130
    finally:
        history.stop()


def demonstrate(
    options: argparse.Namespace, history: History, stopping: StopSignal, view: View
) -> str:
    """All stages, one after the other; what came of them, in words."""
    view.stage("history", "flights of another day")
    history.make(
        lambda done, of: view.stage("history", f"{done} of {of} frames", done / of), stopping
    )
    if not history.is_learned():
        view.say(f"$ {shlex.join(history.command)}")
        history.begin_learning()
    view.stage("learning", "what Spark says of that history; loading operators meanwhile")
    from examples.uav.live.matching import INDEX, PLANNER, match_live, matcher_of

    subscriptions = subscribers.subscriptions()
    with matcher_of(subscriptions) as matcher:
        matcher.match(feed.first_of(history.events))  # kernels and closures are made once
        run = DemoRun(options.seed, PLANNER, INDEX, subscriptions)
        lesson = LearnedLater(history, matcher, run, view)
        history.wait(stopping, options.patience)
        if stopping.asked:
            raise KeyboardInterrupt
        lesson.take()
        view.stage("matching", f"live frames against {len(matcher):,} subscriptions")
        stopping.after(options.seconds)
        flights = feed.LiveFrames(options.seed, options.minutes, options.seconds)
        match_live(matcher, flights, run, view, stopping, lesson.take)
        history.stop()
        path = write_report(run, options.output, view)
    return summary(run, path)


def summary(run: DemoRun, path: Path) -> str:
    """What came of it, in a few lines."""
    account = run.account
    found = [id for id in ("S1", "S2", "S3", "S4", "S5") if run.by_subscription[id]]
    return (
        f"\n{account.events:,} events, {account.matches:,} matches of "
        f"{len(run.by_subscription)} subscriptions; {account.calls_text}\n"
        f"{run.alarms:,} alarms of chases, once for each that a drone saw\n"
        f"of the paper's subscriptions {', '.join(found) or 'none'} matched\n"
        f"the report: {path}"
    )


class LearnedLater:
    """What is learned, handed to the matcher as soon as it is there: matching may begin before."""

    def __init__(self, history: History, matcher: Matcher, run: DemoRun, view: View) -> None:
        self._history, self._matcher, self._run, self._view = history, matcher, run, view
        self._began = time.perf_counter()
        self._taken = self._waits = False

    def take(self) -> None:
        """Takes it, once, if it is there."""
        if self._taken:
            return
        if self._history.is_learning():
            if not self._waits:
                self._view.say("Spark still learns: matching begins without statistics")
            self._waits = True
            return
        self._taken = True
        trouble = self._history.trouble()
        if trouble:
            self._view.say(f"nothing was learned, and matching goes on without: {trouble}")
            return
        took = time.perf_counter() - self._began if self._history.learns else 0.0
        self._matcher.statistics, learned = loaded(self._history.statistics, took)
        self._run.learned = learned | {"after_frames": len(self._run.frames)}
        self._view.say(
            f"learned from {learned['events']} events: {learned['predicates']} predicates"
            + (f", in {took:.0f} s" if took else " (in an earlier run)")
        )


def write_report(run: DemoRun, folder: Path, view: View) -> Path:
    """Writes `report.html`, and the run in plain values beside it."""
    from examples.uav.live.looking import explanations, pictures
    from examples.uav.report import page

    shown = pictures(
        run.kept, lambda done, of: view.stage("report", f"{done} of {of} pictures", done / of)
    )
    (folder / "run.json").write_text(json.dumps(run.as_dict(), indent=1), encoding="utf-8")
    path = folder / "report.html"
    path.write_text(page.of(run, shown, explanations(run)), encoding="utf-8")
    return path


if __name__ == "__main__":
    sys.exit(main())
