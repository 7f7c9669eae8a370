"""Counts on Spark what history says of the predicates of subscriptions: `tamis learn`."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tamis.cli.failures import MisuseError, UnusableRunError
from tamis.cli.loading import find_operators, refuse_two_inputs, taken
from tamis.cli.options import (
    Debug,
    Master,
    Operators,
    Rejects,
    Rename,
    SampleShare,
    SparkHistory,
    Subscriptions,
    TimeZone,
    option,
    renamed_of,
)
from tamis.cli.saying import put, say, say_rejects
from tamis.words import agreed, counted

if TYPE_CHECKING:
    from tamis.learning.counts import Counts
    from tamis.learning.lesson import Lesson
    from tamis.statistics import Statistics


def learn(
    subscriptions: Subscriptions,
    events: SparkHistory,
    output: Annotated[str, option("DIR", "The folder of statistics that is written.")],
    operators: Operators = None,
    sample: SampleShare = 1.0,
    append: Annotated[
        bool, typer.Option("--append", help="Add to what the folder holds: counts add up.")
    ] = False,
    since: Annotated[
        str | None, option("TIME", "Only events of this time (RFC 3339) or later.")
    ] = None,
    until: Annotated[str | None, option("TIME", "Only events before this time.")] = None,
    rejects: Rejects = None,
    time_zone: TimeZone = None,
    rename: Rename = None,
    master: Master = None,
    debug: Debug = False,
) -> None:
    """Learn from history what planners and indexes go by, on Spark.

    Attribute predicates are counted on all events, operators are asked about a sample of them. The
    folder holds Parquet tables and a manifest; an older one is replaced when all is counted.
    """
    from tamis.catalog.subscription_lines import read_subscriptions
    from tamis.learning.lesson import Lesson
    from tamis.spark.session import require_spark
    from tamis.statistics import Statistics

    require_spark()
    refuse_two_inputs(subscriptions, *events)
    window, renamed = _window(since, until, time_zone), renamed_of(rename)
    before = None
    if append and os.path.exists(os.path.join(output, "manifest.json")):
        before = Statistics.load(output)
    records = [found.record for found in find_operators(operators).values()]
    with event_files(events) as (files, names):
        _check_places(output, rejects, [subscriptions, *files, *(operators or ())])
        lesson = taken(
            read_subscriptions(subscriptions),
            lambda entries: Lesson(
                entries,
                records,
                sample=sample,
                window=window,
                time_zone=time_zone,
                renamed=renamed,
            ),
            len(records),
            "nothing was learned",
        )
        if before is not None:
            _check_versions(before, lesson, output)
        counts = _counted(lesson, files, names, rejects, master)
    say_rejects(counts.rejects, counts.first_reject, kept=rejects is not None)
    if counts.passed_over:
        passed, were = counts.passed_over, agreed(counts.passed_over, "was", "were")
        say(f"note: {counted(passed, 'event')} of other times, or of none, {were} passed over")
    if not counts.events and counts.rejects:
        raise UnusableRunError("no line holds an event")
    learned = _statistics(lesson, counts, events, subscriptions)
    if before is not None:
        learned = before.merged(learned)
    learned.save(output)
    put(_summary(lesson, counts, learned, output))


def _counted(
    lesson: Lesson,
    files: Sequence[str],
    names: dict[str, str],
    rejects: str | None,
    master: str | None,
) -> Counts:
    from tamis.cli.on_spark import on_spark
    from tamis.files.writing import lines_to
    from tamis.spark.learning import counts_of_files

    with contextlib.ExitStack() as open_files:
        keep = None if rejects is None else open_files.enter_context(lines_to(rejects)).write
        return on_spark(
            lambda spark: counts_of_files(spark, files, lesson.task, keep, names=names),
            master,
            shows=True,
        )


def _statistics(
    lesson: Lesson, counts: Counts, events: Sequence[str], subscriptions: str
) -> Statistics:
    from tamis.spark.learning import about

    learned = lesson.statistics(counts)
    learned.about = about(lesson, counts)
    [source] = learned.about["sources"]
    source |= {"history": list(events), "subscriptions": subscriptions}
    return learned


def _summary(lesson: Lesson, counts: Counts, learned: Statistics, output: str) -> str:
    asked = 0 if counts.calls is None else counts.calls.tested
    words = [
        f"learned from {counted(counts.events, 'event')}",
        f"{counted(len(lesson.texts), 'attribute predicate')}",
        f"{counted(len(lesson.tests), 'test')} of operators, asked about {counted(asked, 'event')}",
        f"{counted(len({row['attribute'] for row in learned.attributes}), 'attribute')}",
    ]
    return f"{words[0]}: {', '.join(words[1:])}; {output}"


def _window(since: str | None, until: str | None, time_zone: str | None) -> Any:
    from tamis.event.clock import moment, zone_of
    from tamis.learning.learner import Window

    bounds = []
    for name, text in (("--since", since), ("--until", until)):
        found = None if text is None else moment(text, zone_of(time_zone))
        if text is not None and found is None:
            raise MisuseError(f"{name} is a time such as 2026-01-31T12:00:00Z, not {text!r}")
        bounds.append(None if found is None else float(found.epoch))
    return Window(*bounds)


@contextlib.contextmanager
def event_files(places: Sequence[str]) -> Iterator[tuple[list[str], dict[str, str]]]:
    """The files of history, and the names of those that stand for another one."""
    from tamis.files.reading import STANDARD_INPUT, Events

    here = [place for place in places if "://" not in place]
    files = Events(here).files if here else []
    names: dict[str, str] = {}
    with contextlib.ExitStack() as kept:
        for at, file in enumerate(files):
            if file != STANDARD_INPUT:
                continue
            # workers cannot read what is piped into this process
            folder = kept.enter_context(tempfile.TemporaryDirectory(prefix="tamis-"))
            files[at] = os.path.join(folder, "events.jsonl")
            names[files[at]] = "standard input"
            with open(files[at], "wb") as copy:
                shutil.copyfileobj(sys.stdin.buffer, copy)
        yield [*files, *(place for place in places if "://" in place)], names


def _check_places(output: str, rejects: str | None, read: Sequence[str]) -> None:
    """Refuses to write over what is read, before anything is done."""
    from tamis.files.writing import WritingError
    from tamis.statistics.tables import require_arrow

    require_arrow()
    if os.path.exists(output) and not os.path.isdir(output):
        raise MisuseError(f"--output is a folder, and {output} is a file")
    there = Path(output).resolve()
    for each in read:
        path = Path(each).resolve()
        if os.path.exists(each) and rejects is not None and path == Path(rejects).resolve():
            raise MisuseError(f"--rejects would write over a file that is read ({each})")
        if there in path.parents and path.suffix == ".parquet":
            raise MisuseError(f"--output would write over a file that is read ({each})")
    try:
        there.mkdir(parents=True, exist_ok=True)
    except OSError as bad:
        raise WritingError(f"cannot write {output}: {bad.strerror or bad}") from bad


def _check_versions(before: Statistics, lesson: Lesson, output: str) -> None:
    """Refuses to add what operators do to what was counted otherwise, or of other versions."""
    from tamis.errors import StatisticsError

    if not before.is_conditional and any(test.necessary for test in lesson.tests):
        raise StatisticsError(
            f"{output} was learned before operators could declare what is necessary, and counts "
            "their tests otherwise: learn into a new folder, without --append"
        )
    known = before.about.get("operators", {})
    for name, version in lesson.versions.items():
        if known.get(name, version) != version:
            raise StatisticsError(
                f"{output} was learned with version {known[name]} of {name}, and this is version "
                f"{version}: learn into a new folder, without --append"
            )
