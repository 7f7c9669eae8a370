"""Counts on Spark what history says of the predicates of subscriptions: `tamis learn`."""

from __future__ import annotations

import contextlib
import math
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tamis.cli.failures import MisuseError, UnusableRunError
from tamis.cli.loading import find_operators, refuse_two_inputs, taken
from tamis.cli.options import (
    Debug,
    Master,
    Operators,
    Rejects,
    Rename,
    SparkHistory,
    Subscriptions,
    TimeZone,
    option,
    renamed_of,
)
from tamis.cli.saying import put, say, say_rejects
from tamis.words import agreed, counted

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tamis.files.naming import EventDefaults
    from tamis.learning.counts import Counts
    from tamis.learning.inputs import Input
    from tamis.learning.learner import TimeStretch
    from tamis.learning.ledger import FolderLedger
    from tamis.learning.lesson import Lesson

_LAST = "last"
_AGE = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*([a-z]*)")

Sample = Annotated[
    float | None,
    option(
        "FRACTION",
        "The share of the events that operators are asked about, the same events in every run; by "
        "default as many as --accuracy needs, within --most-seconds.",
        min=0.0,
        max=1.0,
    ),
]
Accuracy = Annotated[
    float,
    option("SHARE", "The error of selectivities to reach, 19 times in 20.", min=1e-4, max=0.5),
]
MostSeconds = Annotated[float, option("SECONDS", "About how long operators may be asked.", min=0.1)]
Append = Annotated[
    bool,
    typer.Option(
        "--append", help="Add to what the folder holds; files that were counted are skipped."
    ),
]
Again = Annotated[
    bool, typer.Option("--again", help="With --append: count files again that were counted.")
]
SameOperators = Annotated[
    bool,
    typer.Option("--same-operators", help="Accept operators whose code has changed."),
]
Since = Annotated[
    str | None,
    option(
        "TIME|last",
        "Only events of this time (RFC 3339) or later; last stands for the time of the latest "
        "event that the folder has counted.",
    ),
]
Forget = Annotated[
    str | None,
    option(
        "AGE",
        "Forget the counts of files, or of folders such as day=2026-01-15, whose events are all "
        "older than the latest event by more than this: 90d, 36h.",
    ),
]


def learn(
    subscriptions: Subscriptions,
    events: SparkHistory,
    output: Annotated[str, option("DIR", "The folder of statistics to write.")],
    operators: Operators = None,
    sample: Sample = None,
    accuracy: Accuracy = 0.01,
    most_seconds: MostSeconds = 600.0,
    append: Append = False,
    again: Again = False,
    same_operators: SameOperators = False,
    since: Since = None,
    until: Annotated[str | None, option("TIME", "Only events before this time.")] = None,
    forget: Forget = None,
    rejects: Rejects = None,
    time_zone: TimeZone = None,
    rename: Rename = None,
    master: Master = None,
    debug: Debug = False,
) -> None:
    """Learn statistics from a history of events, on Spark.

    Attribute predicates are counted on all events, operators are asked about a sample of them. The
    folder holds Parquet tables and a manifest; it is replaced at once when all is counted.
    """
    from tamis.catalog.subscription_lines import read_subscriptions
    from tamis.learning.ledger import FolderLedger
    from tamis.learning.lesson import Lesson
    from tamis.spark.session import require_spark

    require_spark()
    refuse_two_inputs(subscriptions, *events)
    if not append and (again or since == _LAST):
        raise MisuseError("--again and --since last go with --append")
    ledger = FolderLedger(output, append=append, forget_seconds=_seconds(forget))
    window, renamed = _window(since, until, ledger, time_zone), renamed_of(rename)
    records = [found.record for found in find_operators(operators).values()]
    with event_files(events) as (files, names):
        _check_places(output, rejects, [subscriptions, *files, *(operators or ())])
        lesson = taken(
            read_subscriptions(subscriptions),
            lambda entries: Lesson(
                entries, records, window=window, time_zone=time_zone, renamed=renamed
            ),
            len(records),
            "nothing was learned",
        )
        ledger.check(lesson, same_operators=same_operators)
        work = _LearnFiles(lesson, ledger, names, again=again, grows=since == _LAST)
        counts = work.counted(files, rejects, master, (sample, accuracy, most_seconds))
    if work.skipped:
        _say_skipped(work.skipped, ledger.unknown(lesson))
    _say_counts(counts, kept=rejects is not None)
    forgotten = work.publish({"history": list(events), "subscriptions": subscriptions})
    _say_forgotten(forgotten, ledger.undivided, forget)
    if not work.inputs and work.skipped:
        put(f"learned nothing: nothing is new; {output}")
        return
    put(_summary(lesson, counts, work.attributes, output))


def _say_forgotten(events: int, undivided: int, age: str | None) -> None:
    """Notes events that were forgotten, and those that only go together."""
    if events:
        say(f"note: {counted(events, 'event')} older than {age} were forgotten")
    if undivided:
        say(
            f"note: {counted(undivided, 'event')} counted before --forget was given go "
            f"together, when all of them are older than {age}"
        )


def _say_skipped(files: int, unknown: int) -> None:
    """Notes files that were counted before, and predicates that were not asked of them."""
    were = agreed(files, "was", "were")
    say(
        f"note: {counted(files, 'file')} that {were} counted before {were} skipped "
        f"(--again counts them)"
    )
    if unknown:
        new = f"{counted(unknown, 'predicate')} {agreed(unknown, 'was', 'were')} not asked of"
        say(f"note: {new} them: learn into a new folder to count all on all")


class _LearnFiles:
    """Files on their way to what they teach."""

    def __init__(
        self,
        lesson: Lesson,
        ledger: FolderLedger,
        names: dict[str, str],
        *,
        again: bool,
        grows: bool,
    ) -> None:
        from tamis.learning.learner import TimeStretch

        self._lesson, self._ledger, self._names = lesson, ledger, names
        window = lesson.task.window
        self._window = (
            TimeStretch(None, window.until) if grows else window
        )  # what was earlier is there
        self._again, self._grows = again, grows
        self._groups: dict[str, str] = {}
        self._namings: dict[str, EventDefaults] = {}
        self._counts: dict[str, Counts] = {}
        self.inputs: dict[str, list[Input]] = {}
        self.skipped = self.attributes = 0

    def counted(
        self,
        files: Sequence[str],
        rejects: str | None,
        master: str | None,
        asks: tuple[float | None, float, float],
    ) -> Counts:
        """Counts the files that were not counted before."""
        from tamis.cli.on_spark import on_spark
        from tamis.files.naming import namings_of
        from tamis.files.writing import lines_to
        from tamis.learning.counts import merged

        local = [file for file in files if "://" not in file]
        named = {file: self._names.get(file, file) for file in local}
        self._namings = namings_of(named, self._lesson.task.renamed)  # by all, counted or not
        with contextlib.ExitStack() as open_files:
            fresh = self._sift({file: self._input(file) for file in local})
            if not fresh and not any("://" in place for place in files):
                return merged(())
            keep = None if rejects is None else open_files.enter_context(lines_to(rejects)).write

            def count(spark: SparkSession) -> dict[str, Counts]:
                from tamis.spark.learning import grouped_counts, inputs_of_place

                mine = list(fresh)
                for place in files:
                    if "://" in place:
                        mine += self._sift(inputs_of_place(spark, place, self._window))
                self._ask(spark, mine, *asks)
                task, groups = self._lesson.task, self._groups
                return grouped_counts(
                    spark, mine, task, keep,
                    names=self._names, namings=self._namings, groups=groups,
                )  # fmt: skip

            self._counts = on_spark(count, master, shows=True)
        return merged(self._counts.values())

    def _input(self, file: str) -> Input:
        from tamis.learning.inputs import Input

        return Input.of(file, self._window, self._names.get(file))

    def _sift(self, inputs: dict[str, Input]) -> list[str]:
        """Returns the files that are to be counted."""
        from tamis.learning.inputs import sifted
        from tamis.learning.ledger import group_of

        before = () if self._again else self._ledger.inputs
        found = sifted(inputs, before, grows=self._grows)
        self.skipped += found.skipped
        for file, each in zip(found.fresh, found.inputs, strict=True):
            group = self._groups[file] = group_of(each.name) if self._ledger.in_parts else ""
            self.inputs.setdefault(group, []).append(each)
        return found.fresh

    def _ask(
        self,
        spark: SparkSession,
        files: Sequence[str],
        sample: float | None,
        accuracy: float,
        most_seconds: float,
    ) -> None:
        """Chooses how many events operators are asked about, and says so."""
        from tamis.learning.chunks import chunks_of
        from tamis.learning.sampling import events_in, heads, sampling
        from tamis.spark.learning import CHUNK_BYTES
        from tamis.spark.working import cores_of

        if sample is not None or not self._lesson.tests:
            return self._lesson.ask(1.0 if sample is None else sample)
        local = [file for file in files if "://" not in file]
        chunks = chunks_of(local, CHUNK_BYTES, self._namings)
        events = events_in(chunks)
        for place in files:
            if "://" in place:
                is_table = place.endswith(".parquet")
                events += (spark.read.parquet if is_table else spark.read.text)(place).count()
        folder = chunks[0].folder if chunks else ""
        tried = self._lesson.seconds_an_event(heads(chunks), folder)
        chosen = sampling(events, tried, cores_of(spark), accuracy, most_seconds)
        self._lesson.ask(chosen.share)
        if chosen.share < 1:
            say(f"note: {chosen}")

    def publish(self, source: dict[str, object]) -> int:
        """Adds what was learned to the folder; how many events are forgotten."""
        from tamis.spark.learning import about

        learned = {}
        for group, counts in self._counts.items():
            learned[group] = self._lesson.statistics(counts)
            learned[group].about = about(self._lesson, counts)
            learned[group].about["sources"][0] |= source
            self.attributes = max(
                self.attributes, len({row["attribute"] for row in learned[group].attributes})
            )
        return self._ledger.add(learned, self.inputs)


def _say_counts(counts: Counts, *, kept: bool) -> None:
    say_rejects(counts.rejects, counts.first_reject, kept=kept)
    if counts.passed_over:
        passed, were = counts.passed_over, agreed(counts.passed_over, "was", "were")
        say(f"note: {counted(passed, 'event')} of other times, or of none, {were} passed over")
    if not counts.events and counts.rejects:
        raise UnusableRunError("no line holds an event")


def _seconds(age: str | None) -> float | None:
    from tamis.language.units import TIME, UNITS, in_base_unit

    if age is None:
        return None
    found = _AGE.fullmatch(age)
    number, unit = found.groups() if found else ("", "")
    if found is None or UNITS.get(unit or "s", ("", 0))[0] != TIME:
        raise MisuseError(f"--forget is an age such as 90d or 36h, not {age!r}")
    return float(in_base_unit(number, unit or "s"))


def _summary(lesson: Lesson, counts: Counts, attributes: int, output: str) -> str:
    asked = 0 if counts.calls is None else counts.calls.tested
    words = [
        f"learned from {counted(counts.events, 'event')}",
        f"{counted(len(lesson.texts), 'attribute predicate')}",
        f"{counted(len(lesson.tests), 'test')} of operators, asked about {counted(asked, 'event')}",
        f"{counted(attributes, 'attribute')}",
    ]
    return f"{words[0]}: {', '.join(words[1:])}; {output}"


def _window(
    since: str | None, until: str | None, ledger: FolderLedger, zone: str | None
) -> TimeStretch:
    from tamis.event.clock import moment, zone_of
    from tamis.learning.learner import TimeStretch

    bounds = []
    for name, text in (("--since", since), ("--until", until)):
        if text == _LAST and name == "--since":
            last = ledger.last  # events of that very moment were counted
            bounds.append(None if last is None else math.nextafter(last, math.inf))
            continue
        found = None if text is None else moment(text, zone_of(zone))
        if text is not None and found is None:
            raise MisuseError(f"{name} is a time such as 2026-01-31T12:00:00Z, not {text!r}")
        bounds.append(None if found is None else float(found.epoch))
    return TimeStretch(*bounds)


@contextlib.contextmanager
def event_files(places: Sequence[str]) -> Iterator[tuple[list[str], dict[str, str]]]:
    """Yields the files of history, and the names of those that stand for another one."""
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
