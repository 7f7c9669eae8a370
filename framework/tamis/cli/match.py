"""`tamis match`: events of files against subscriptions of a file, a line of results an event."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tamis.cli.failures import InterruptedRunError, MisuseError, UnusableRunError
from tamis.cli.options import (
    Debug,
    Index,
    Master,
    Operators,
    Planner,
    StatisticsFolder,
    Subscriptions,
    Workers,
)
from tamis.words import agreed, counted

if TYPE_CHECKING:
    from tamis.advising.shadow import Shadow, Shadows
    from tamis.cli.progress import Progress
    from tamis.files.reading import Events
    from tamis.files.writing import Lines
    from tamis.matcher import Matcher
    from tamis.result.totals import Totals

REPORT_VERSION = 1
_MOST_REJECTING = 100


def match(
    subscriptions: Subscriptions,
    events: Annotated[
        list[str],
        typer.Option(
            metavar="FILE|DIR|PATTERN…",
            help="The events: .jsonl (also .gz) or .parquet files, folders of them, "
            "patterns; - for standard input.",
        ),
    ],
    index: Index = None,
    planner: Planner = None,
    statistics: StatisticsFolder = None,
    operators: Operators = None,
    workers: Workers = 1,
    shadow: Annotated[
        bool,
        typer.Option(
            "--shadow",
            help="Evaluate everything beside the run, for the exact figures of other planners "
            "and bounds in the report.",
        ),
    ] = False,
    output: Annotated[
        str, typer.Option(metavar="FILE", help="Where the results go; - for standard output.")
    ] = "-",
    report: Annotated[
        str | None, typer.Option(metavar="FILE", help="Where the totals go, as JSON.")
    ] = None,
    rejects: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Where lines go that hold no event, with the reason."),
    ] = None,
    on: Annotated[
        str, typer.Option(metavar="local|spark", help="Where to match: here, or on Spark.")
    ] = "local",
    master: Master = None,
    shards: Annotated[
        int,
        typer.Option(
            metavar="N",
            min=1,
            max=1_024,
            help="On Spark, cut the subscriptions into so many parts, by shared calls, of which a "
            "worker holds one at a time.",
        ),
    ] = 1,
    debug: Debug = False,
) -> None:
    """Match events against subscriptions: a line of JSON an event, in order.

    Lines that hold no event are counted and passed over. A bad file of subscriptions stops the
    run before any event, with every bad line.

    Files are written as NAME.partial and renamed when the run is complete, the report last: after
    a failure or an interruption an older file is as it was, and NAME.partial holds what was
    written until then. On Spark, --output is a folder of parts with the same lines.
    """
    if _is_on_spark(on, master, shards, shadow):
        from tamis.cli.match_on_spark import match_on_spark

        match_on_spark(
            subscriptions=subscriptions, events=events, index=index, planner=planner,
            statistics=statistics, operators=operators, workers=workers, output=output,
            report=report, rejects=rejects, master=master, shards=shards,
        )  # fmt: skip
        return
    _match_here(
        subscriptions, events, index, planner, statistics, operators, workers, shadow, output,
        report, rejects,
    )  # fmt: skip


def _is_on_spark(on: str, master: str | None, shards: int, shadow: bool) -> bool:
    if on not in ("local", "spark"):
        raise MisuseError(f"--on is local or spark, not {on}")
    if on == "local" and (master is not None or shards > 1):
        raise MisuseError("--master and --shards go with --on spark")
    if on == "spark" and shadow:
        raise MisuseError("--shadow looks at one process: leave out --on spark")
    return on == "spark"


def _match_here(
    subscriptions: str,
    events: list[str],
    index: str | None,
    planner: str | None,
    statistics: str | None,
    operators: list[str] | None,
    workers: int,
    shadow: bool,
    output: str,
    report: str | None,
    rejects: str | None,
) -> None:
    """Matches in this process."""
    started = time.perf_counter()
    from tamis.advising.shadow import Shadow, Shadows
    from tamis.catalog.subscription_lines import read_subscriptions
    from tamis.cli.loading import make_matcher, subscribe
    from tamis.cli.progress import Progress
    from tamis.cli.saying import say
    from tamis.files import reading
    from tamis.files.writing import lines_to
    from tamis.matcher import DEFAULT_INDEX, DEFAULT_PLANNER
    from tamis.result.totals import Totals

    matcher = make_matcher(
        operators, index=index, planner=planner, statistics=statistics, workers=workers
    )
    if shadow and report is None:
        raise MisuseError("--shadow writes its figures to the report: give --report FILE")
    shadows = Shadows(matcher) if shadow else None
    source = reading.Events(events)
    read = [subscriptions, *source.files, *(operators or ())]
    refuse_collisions(subscriptions, source.files, read, output, rejects, report)
    if report is not None:
        check_place(report)
    subscribe(matcher, read_subscriptions(subscriptions))
    prompt = source.live or (output == "-" and sys.stdout.isatty())
    shown = sys.stderr.isatty() and not (output == "-" and sys.stdout.isatty())
    totals = Totals(is_accounted=report is not None)
    with contextlib.ExitStack() as open_files:
        results = open_files.enter_context(lines_to(output, prompt=prompt))
        rejected = None
        if rejects is not None:
            rejected = open_files.enter_context(lines_to(rejects, prompt=prompt))
        progress = Progress(shown=shown)
        run = _Run(matcher, source, results, rejected, totals, progress)
        if shadow:
            run.shadow, run.shadows = Shadow(), shadows
        try:
            # what an operator prints is not a result
            with contextlib.redirect_stdout(sys.stderr), progress:
                run.match_all()
        except KeyboardInterrupt:
            raise InterruptedRunError(
                f"interrupted after {counted(progress.events, 'event')}{run.kept()}"
            ) from None
        except Exception:
            if run.kept():
                say(f"stopped after {counted(progress.events, 'event')}{run.kept()}")
            raise
    facts: dict[str, Any] = {
        "planner": planner or DEFAULT_PLANNER,
        "index": index or DEFAULT_INDEX,
        "workers": workers,
        "wall_seconds": time.perf_counter() - started,
    }
    if run.shadow is not None:
        facts["shadow"] = run.shadow.as_dict()
    totals.memo = {name: Counter(vars(each)) for name, each in matcher.memo.account().items()}
    conclude(totals, len(matcher), facts, report, kept=rejects is not None)


class _Run:
    """Events on their way from their files to those of results and rejects."""

    def __init__(
        self,
        matcher: Matcher,
        events: Events,
        results: Lines,
        rejects: Lines | None,
        totals: Totals,
        progress: Progress,
    ) -> None:
        self._matcher = matcher
        self._events = events
        self._results = results
        self._rejects = rejects
        self._totals = totals
        totals.account.seconds["output"] = 0.0
        self._progress = progress
        self.shadow: Shadow | None = None
        self.shadows: Shadows | None = None

    def match_all(self) -> None:
        """Matches every event."""
        progress, totals = self._progress, self._totals
        for line in self._events:
            default_id = f"{os.path.basename(line.file)}:{line.number}"
            result = totals.match(self._matcher.match, line, os.path.dirname(line.file), default_id)
            if isinstance(result, str):
                if self._rejects is not None:
                    self._rejects.write(line.rejected(result))
                continue
            if self.shadow is not None:
                assert self.shadows is not None
                self.shadow.add(self.shadows.of(result))
            began = time.perf_counter()
            self._results.write(result.as_dict())
            totals.account.seconds["output"] += time.perf_counter() - began
            progress.count(len(result.matches), self._events.share if progress.shown else None)

    def kept(self) -> str:
        """Where what was written until now can be found."""
        partial = [
            each.partial
            for each in (self._results, self._rejects)
            if each is not None and each.partial is not None
        ]
        return f"; what was written until then is in {' and '.join(partial)}" if partial else ""


def conclude(
    totals: Totals, subscriptions: int, facts: dict[str, Any], report: str | None, *, kept: bool
) -> None:
    """Ends a run: notes, the report, and a failure where no line held an event."""
    from tamis.cli.saying import say

    for sentence in _notes_of(totals, kept=kept):
        say(f"note: {sentence}")
    totals.account.rejected = totals.rejected
    totals.account.subscriptions = subscriptions
    if report is not None:
        _write_report(report, facts, totals)
    if totals.rejected and not totals.events:
        raise UnusableRunError("no line holds an event")


def _notes_of(run: Totals, *, kept: bool) -> Iterator[str]:
    """What became of lines that hold no event, and of what failing operators left open."""
    if run.rejected:
        hint = "" if kept else f" (--rejects FILE keeps {agreed(run.rejected, 'it', 'them')})"
        lines = f"{counted(run.rejected, 'line')} {agreed(run.rejected, 'holds', 'hold')}"
        first = "" if run.rejected == 1 else ", the first of them"
        yield f"{lines} no event{hint}{first or ':'} {run.first_reject}"
    if run.undetermined:
        yield f"{run.undetermined:,} undetermined, the first: {run.first_undetermined}"


def refuse_collisions(
    subscriptions: str,
    events: list[str],
    read: list[str],
    output: str,
    rejects: str | None,
    report: str | None,
) -> None:
    """Refuses to read standard input twice, and to write over what is read or written."""
    from tamis.files.writing import is_direct

    if subscriptions == "-" and "-" in events:
        raise MisuseError("--subscriptions and --events cannot both be standard input (-)")
    taken = {
        os.path.realpath(each): f"a file that is read ({each})"
        for each in read
        if os.path.isfile(each)
    }
    for option, path in (("--output", output), ("--rejects", rejects), ("--report", report)):
        if path is None or is_direct(path):
            continue
        place = "-" if path == "-" else os.path.realpath(path)
        if place in taken:
            raise MisuseError(f"{option} would write over {taken[place]}: {path}")
        taken[place] = f"that of {option}"


def check_place(path: str) -> None:
    """Refuses a place for the report that cannot be written, before anything is done."""
    from tamis.files.writing import WritingError, is_direct

    folder = os.path.dirname(path) or "."
    if path != "-" and not is_direct(path) and not os.access(folder, os.W_OK):
        what = "is no folder" if not os.path.isdir(folder) else "cannot be written"
        raise WritingError(f"cannot write {path}: {folder} {what}")


def _write_report(path: str, facts: dict[str, Any], totals: Totals) -> None:
    """Writes totals, and what the run was asked for."""
    from importlib import metadata

    from tamis.files.writing import lines_to

    account = totals.account
    facts["summary"] = f"{account.outcome_text}; {account.calls_text}"
    facts |= account.as_dict() | {"memo": totals.memo}
    facts["rejected_by"] = dict(totals.rejected_by.most_common(_MOST_REJECTING))
    head = {"format_version": REPORT_VERSION, "tamis": metadata.version("tamis")}
    with lines_to(path) as file:
        file.write(head | facts, indent=1)
