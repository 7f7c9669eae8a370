"""Spells and explains the options of commands: those that are shared, and those that are long."""

from __future__ import annotations

from typing import Annotated, Any

import typer

Subscriptions = Annotated[
    str,
    typer.Option(
        metavar="FILE",
        help='The subscriptions: {"id": …, "where": …}, one a line; - for standard input.',
    ),
]


def _events(what: str, more: str = "") -> Any:
    """An option for events in files."""
    return typer.Option(
        metavar="FILE|DIR|PATTERN…",
        help=f"{what}: .jsonl (also .gz) or .parquet files, folders of them, patterns{more}; "
        "- for standard input.",
    )


Events = Annotated[list[str], _events("The events")]
History = Annotated[list[str], _events("The history")]
SparkHistory = Annotated[
    list[str], _events("The history", ", what Spark can read (hdfs://…, s3a://…)")
]
Operators = Annotated[
    list[str] | None,
    typer.Option(
        metavar="MODULE|FILE…",
        help="Operators beside those of the installed plugins: modules or .py files.",
    ),
]
Planner = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Which call is made next; tamis planners lists them."),
]
Index = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="What pre-filters by attributes; tamis indexes lists them."),
]
StatisticsFolder = Annotated[
    str | None,
    typer.Option("--statistics", metavar="DIR", help="What was learned from history."),
]
SampleShare = Annotated[
    float,
    typer.Option(
        metavar="FRACTION",
        min=0.0,
        max=1.0,
        help="The share of the events that operators are asked about; always the same ones.",
    ),
]
Rejects = Annotated[
    str | None,
    typer.Option(metavar="FILE", help="Where lines go that hold no event, with the reason."),
]
Shards = Annotated[
    int,
    typer.Option(
        metavar="N",
        min=1,
        max=1_024,
        help="On Spark, cut the subscriptions into so many parts, by shared calls, of which a "
        "worker holds one at a time.",
    ),
]
Workers = Annotated[
    int,
    typer.Option(metavar="N", min=1, max=4_096, help="How many operator calls run at once."),
]
Master = Annotated[
    str | None,
    typer.Option(metavar="URL", help="Where Spark runs: local[*] when not given."),
]
Json = Annotated[bool, typer.Option("--json", help="Write JSON, for programs.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]
