"""The options that several commands share, spelled and explained once."""

from __future__ import annotations

from typing import Annotated

import typer

Subscriptions = Annotated[
    str,
    typer.Option(
        metavar="FILE",
        help='The subscriptions: {"id": …, "where": …}, one a line; - for standard input.',
    ),
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
