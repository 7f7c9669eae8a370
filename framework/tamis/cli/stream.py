"""Matches what comes into a folder exactly once, by Structured Streaming: `tamis stream`."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tamis.cli import options
from tamis.cli.failures import InterruptedRunError, MisuseError
from tamis.cli.loading import Setup, subscribe
from tamis.cli.options import option
from tamis.cli.saying import say
from tamis.errors import SparkError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tamis.catalog.subscription_lines import SubscriptionLines
    from tamis.spark.compiling import CompiledSubscriptions
    from tamis.spark.streaming import Stream


def stream(
    subscriptions: options.Subscriptions,
    events: Annotated[
        str,
        option(
            "DIR", "The folder that .jsonl (also .gz) or .parquet files come into, each as a whole."
        ),
    ],
    output: Annotated[str, option("DIR", "The folder for matches/batch=N and rejects/batch=N.")],
    checkpoint: Annotated[
        str, option("DIR", "The folder that keeps the progress, for the next start.")
    ],
    format: Annotated[str, option("json|parquet", "The format of matches.")] = "json",
    index: options.Index = None,
    planner: options.Planner = None,
    statistics: options.StatisticsFolder = None,
    follow_statistics: options.FollowStatistics = False,
    operators: options.Operators = None,
    workers: options.Workers = 1,
    in_flight: options.InFlight = None,
    memo_bytes: options.MemoBytes = None,
    shards: options.Shards = 1,
    available_now: Annotated[
        bool,
        typer.Option("--available-now", "--once", help="Match what is there by now, then end."),
    ] = False,
    trigger_seconds: Annotated[
        float, option("N", "Seconds from one batch to the next.", min=0)
    ] = 1.0,
    files_a_batch: Annotated[int | None, option("N", "The most files in a batch.", min=1)] = None,
    time_zone: options.TimeZone = None,
    rename: options.Rename = None,
    keep: options.Keep = None,
    master: options.Master = None,
    debug: options.Debug = False,
) -> None:
    """Match files that come into a folder exactly once, on Spark.

    A batch appears as a folder when it is complete. After a kill, a start with the same checkpoint
    continues where the last one stopped. Subscriptions are read again between batches when their
    file has changed; every line names their version. Lines that hold no event go to rejects.
    """
    from tamis.spark.session import require_spark

    require_spark()
    options.check_followed(statistics, follows=follow_statistics)
    _check(format, subscriptions)
    _check_apart(events=events, output=output, checkpoint=checkpoint)
    more = (workers, in_flight, time_zone, memo_bytes)
    setup = Setup(operators, index, planner, statistics, *more)
    _run(
        master, events, subscriptions, _compiler(setup, shards), output=output,
        checkpoint=checkpoint, format=format, trigger=_trigger(available_now, trigger_seconds),
        files_a_batch=files_a_batch, follow_statistics=statistics if follow_statistics else None,
        renamed=options.renamed_of(rename), keep=options.names_of(keep), say=_tell,
    )  # fmt: skip


def _compiler(setup: Setup, shards: int) -> Callable[[SubscriptionLines], CompiledSubscriptions]:
    """Returns what compiles a version of the subscriptions."""

    def compiled(lines: SubscriptionLines) -> CompiledSubscriptions:
        matcher = setup.matcher()
        subscribe(matcher, lines)
        return setup.compiled(matcher, shards)

    return compiled


def _check(format: str, subscriptions: str) -> None:
    from tamis.spark.streaming import FORMATS

    if format not in FORMATS:
        raise MisuseError(f"--format is {' or '.join(FORMATS)}, not {format}")
    if subscriptions == "-":
        raise MisuseError("--subscriptions of a stream is a file: it is read again")


def _run(master: str | None, *places: Any, **settings: Any) -> None:
    """Runs a stream until it ends or is interrupted, as `stream_files` takes it."""
    from tamis.cli.on_spark import on_spark
    from tamis.spark.streaming import stream_files

    def work(spark: SparkSession) -> None:
        _wait(stream_files(spark, *places, **settings))

    try:
        on_spark(work, master, shows=False)
    except KeyboardInterrupt:
        raise InterruptedRunError(
            "interrupted: whole batches are kept, and the next run goes on from them"
        ) from None


def _trigger(available_now: bool, seconds: float) -> dict[str, Any]:
    """Returns when batches begin, as Spark says it."""
    if available_now:
        return {"availableNow": True}
    return {"processingTime": f"{round(seconds * 1000)} milliseconds"}


def _tell(words: str) -> None:
    """Tells batches to a terminal, troubles to everybody."""
    if sys.stderr.isatty() or not words.startswith("batch "):
        say(f"note: {words}")


def _wait(running: Stream) -> None:
    """Waits for the end of a stream, and says what it was."""
    from tamis.spark.working import last_line, spark_errors

    assert running.query is not None
    try:
        running.query.awaitTermination()
    except spark_errors() as bad:
        if running.trouble is not None:
            raise running.trouble from bad
        raise SparkError(f"the stream has ended: {last_line(bad)}") from bad


def _check_apart(**places: str) -> None:
    """Refuses folders of which one lies in another."""
    real = {name: os.path.realpath(place) + os.sep for name, place in places.items()}
    for name, place in real.items():
        for other, outer in real.items():
            if name != other and place.startswith(outer):
                raise MisuseError(f"--{name} lies in the folder of --{other}: keep them apart")
