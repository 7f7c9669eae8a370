"""Matches events of files against subscriptions of a file: `tamis match`."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tamis.cli import options
from tamis.cli.failures import InterruptedRunError, MisuseError
from tamis.cli.loading import Setup
from tamis.cli.matching import MatchRun
from tamis.cli.options import option
from tamis.cli.policies import Policies
from tamis.cli.progress import Meter, bar
from tamis.cli.saying import say
from tamis.words import counted

if TYPE_CHECKING:
    from tamis.advising.shadow import Shadow, Shadows
    from tamis.files.films import Films
    from tamis.files.reading import Events
    from tamis.files.writing import Lines
    from tamis.matcher import Matcher
    from tamis.result.totals import Totals
    from tamis.statistics import Statistics

ShadowOption = Annotated[
    bool,
    typer.Option(
        "--shadow",
        help="Also make all other calls, and report what every planner would have called, with "
        "bounds.",
    ),
]
Output = Annotated[str, option("FILE", "The file for the results; - for standard output.")]
Report = Annotated[str | None, option("FILE", "The file for the account of the run, as JSON.")]
PolicyState = Annotated[
    str | None,
    option("DIR", "The folder of the state of delivery policies, for the next run."),
]


def match(
    subscriptions: options.Subscriptions,
    events: options.Events,
    index: options.Index = None,
    planner: options.Planner = None,
    statistics: options.StatisticsFolder = None,
    follow_statistics: options.FollowStatistics = False,
    operators: options.Operators = None,
    workers: options.Workers = 1,
    in_flight: options.InFlight = None,
    memo_bytes: options.MemoBytes = None,
    shadow: ShadowOption = False,
    output: Output = "-",
    report: Report = None,
    rejects: options.Rejects = None,
    time_zone: options.TimeZone = None,
    types: options.Types = None,
    rename: options.Rename = None,
    keep: options.Keep = None,
    every: options.Every = None,
    starts: options.Starts = None,
    track: options.TrackFile = None,
    frames: options.MostFrames = None,
    policy_state: PolicyState = None,
    on: Annotated[str, option("local|spark", "Match in this process, or on Spark.")] = "local",
    master: options.Master = None,
    shards: options.Shards = 1,
    debug: options.Debug = False,
) -> None:
    """Match events against subscriptions; write a line for each.

    Each event gives one line of JSON, in the order of the input. Lines that hold no event are
    counted and skipped. A bad file of subscriptions stops the run before any event, and all its
    bad lines are listed.

    Files are written as NAME.partial and renamed when the run is complete, the report last: after
    a failure or an interruption an older file is as it was, and NAME.partial holds what was
    written until then. On Spark, --output is a folder of parts with the same lines.
    """
    setup = Setup(
        operators, index, planner, statistics, workers, in_flight, time_zone, memo_bytes, types
    )
    named = options.renamed_of(rename), options.names_of(keep)
    films = options.frames_of(events, every, starts, track, frames)
    run = MatchRun(subscriptions, events, setup, output, report, rejects, *named, films)
    options.check_followed(statistics, follows=follow_statistics, on=on)
    if on == "spark" and films is not None:
        raise MisuseError("films are read by one process: leave out --on spark")
    if _is_on_spark(on, master, shards, shadow, policy_state):
        from tamis.cli.match_on_spark import match_on_spark

        match_on_spark(run, master, shards)
    else:
        _match_here(run, shadow, policy_state, follows=follow_statistics)


def _is_on_spark(
    on: str, master: str | None, shards: int, shadow: bool, policy_state: str | None
) -> bool:
    if on not in ("local", "spark"):
        raise MisuseError(f"--on is local or spark, not {on}")
    if on == "local" and (master is not None or shards > 1):
        raise MisuseError("--master and --shards go with --on spark")
    if on == "spark" and shadow:
        raise MisuseError("--shadow looks at one process: leave out --on spark")
    if on == "spark" and policy_state is not None:
        raise MisuseError("--policy-state is kept by one process: leave out --on spark")
    return on == "spark"


def _match_here(run: MatchRun, shadow: bool, policy_state: str | None, *, follows: bool) -> None:
    """Matches in this process."""
    from tamis.advising.shadow import Shadows
    from tamis.files.writing import lines_to
    from tamis.result.totals import Totals

    matcher = run.setup.matcher(workers=run.setup.workers)
    if shadow and run.report is None:
        raise MisuseError("--shadow writes its figures to the report: give --report FILE")
    shadows = Shadows(matcher) if shadow else None
    source = run.source()
    run.check(source.files)
    run.subscribe(matcher)
    policies = Policies.of(matcher, policy_state)
    seen = run.output == "-" and sys.stdout.isatty()
    prompt = source.live or seen
    totals = Totals(is_accounted=run.report is not None)
    with contextlib.ExitStack() as open_files:
        results = open_files.enter_context(lines_to(run.output, prompt=prompt))
        if follows:
            open_files.enter_context(_followed(run, matcher))
        rejected = None
        if run.rejects is not None:
            rejected = open_files.enter_context(lines_to(run.rejects, prompt=prompt))
        in_flight = run.setup.in_flight or (1 if source.live else None)
        work = _MatchFiles(
            matcher, source, results, rejected, totals, shadows, in_flight, run.keep, policies
        )
        shown = sys.stderr.isatty() and not seen
        try:
            # what an operator prints is not a result
            with contextlib.redirect_stdout(sys.stderr), bar(shown=shown) as show:
                work.match_all(Meter(show, lambda: source.share))
        except BrokenPipeError:
            if run.report is not None or policy_state is not None:
                say("note: nobody reads on, so --report and --policy-state are not written")
            raise
        except KeyboardInterrupt:
            raise InterruptedRunError(
                f"interrupted after {counted(work.written, 'event')}{work.kept()}"
            ) from None
        except Exception:
            if work.kept():
                say(f"stopped after {counted(work.written, 'event')}{work.kept()}")
            raise
    policies.save()
    totals.memo = {name: Counter(vars(each)) for name, each in matcher.memo.account().items()}
    facts = {} if work.shadow is None else {"shadow": work.shadow.as_dict()}
    run.conclude(totals, len(matcher), spent=matcher.operators.spent(), **facts)


def _followed(run: MatchRun, matcher: Matcher) -> contextlib.AbstractContextManager[None]:
    """Gives a matcher the statistics of its folder whenever they change."""
    from tamis.statistics.follower import follow

    def take(found: Statistics) -> None:
        matcher.statistics = found
        say(f"note: new statistics of {counted(found.events or 0, 'event')} were taken")

    assert run.setup.statistics is not None
    return follow(Path(run.setup.statistics), take)


@dataclass
class _MatchFiles:
    """Events on their way from their files to those of results and rejects."""

    _matcher: Matcher
    _events: Events | Films
    _results: Lines
    _rejects: Lines | None
    _totals: Totals
    _shadows: Shadows | None
    _in_flight: int | None
    _keep: tuple[str, ...]
    _policies: Policies
    written: int = 0
    shadow: Shadow | None = None

    def match_all(self, meter: Meter) -> None:
        """Matches every event."""
        from tamis.advising.shadow import Shadow
        from tamis.result.lines import ResultTexts
        from tamis.result.totals import GivenLine

        texts = ResultTexts()
        totals, begun = self._totals, time.process_time()
        if self._shadows is not None:
            self.shadow = Shadow()
        matcher = self._matcher
        window = matcher.window(self._in_flight)
        lines = (
            GivenLine(
                line, os.path.dirname(line.file), f"{os.path.basename(line.file)}:{line.number}"
            )
            for line in self._events
        )
        for given, result in totals.match_many(window, matcher.begin, lines):
            if isinstance(result, str):
                if self._rejects is not None:
                    self._rejects.write(given.line.rejected(result))
                continue
            if self.shadow is not None and self._shadows is not None:
                self.shadow.add(self._shadows.of(result))
            began = time.perf_counter()
            due = self._policies.due(result)
            self._results.write_bytes(texts.of(result, self._keep).line(due))
            self.written += 1
            totals.spend("output", began)
            meter.count(len(result.matches))
        if last := self._policies.last_line():
            self._results.write(last)
        meter.show()
        totals.cpu_seconds = time.process_time() - begun

    def kept(self) -> str:
        """Tells where to find what was written until now."""
        partial = [
            each.partial
            for each in (self._results, self._rejects)
            if each is not None and each.partial is not None
        ]
        return f"; what was written until then is in {' and '.join(partial)}" if partial else ""
