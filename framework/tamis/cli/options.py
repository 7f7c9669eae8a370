"""Spells and explains the options of commands: those that are shared, and those that are long."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tamis.cli.failures import MisuseError

if TYPE_CHECKING:
    from tamis.files.films import Frames


def option(metavar: str, says: str, *names: str, **more: Any) -> Any:
    """Returns an option: what stands for its value, and what it is for."""
    return typer.Option(*names, metavar=metavar, help=says, **more)


def check_followed(statistics: str | None, *, follows: bool, on: str = "local") -> None:
    """Refuses to follow what is not there, or where workers hold it."""
    if follows and statistics is None:
        raise MisuseError("--follow-statistics needs --statistics DIR")
    if follows and on == "spark":
        raise MisuseError("--follow-statistics does not work with --on spark: use tamis stream")


def argument(metavar: str, says: str) -> Any:
    """Returns an argument, likewise."""
    return typer.Argument(metavar=metavar, help=says)


def _events(what: str, more: str = "") -> Any:
    """Returns an option for events in files."""
    return option(
        "FILE|DIR|PATTERN…",
        f"{what}: .jsonl (also .gz) or .parquet files, folders of them, patterns{more}; "
        "- for standard input.",
    )


Subscriptions = Annotated[
    str,
    option("FILE", 'The subscriptions: {"id": …, "where": …}, one a line; - for standard input.'),
]
Events = Annotated[list[str], _events("The events")]
History = Annotated[list[str], _events("The history")]
Sampled = Annotated[list[str] | None, _events("A sample of events")]
SparkHistory = Annotated[
    list[str], _events("The history", ", what Spark can read (hdfs://…, s3a://…)")
]
Operators = Annotated[
    list[str] | None,
    option("MODULE|FILE…", "Operators besides those of installed plugins: modules or .py files."),
]
Planner = Annotated[
    str | None,
    option("NAME", "The planner, which orders operator calls: a name of tamis planners."),
]
Index = Annotated[
    str | None, option("NAME", "The index, which finds candidates: a name of tamis indexes.")
]
StatisticsFolder = Annotated[
    str | None, option("DIR", "The folder that tamis learn wrote.", "--statistics")
]
FollowStatistics = Annotated[
    bool,
    typer.Option(
        "--follow-statistics", help="Load the statistics again when their folder changes."
    ),
]
SampleShare = Annotated[
    float,
    option(
        "FRACTION",
        "The share of the events that operators are asked about; the same events in every run.",
        min=0.0,
        max=1.0,
    ),
]
Types = Annotated[
    str | None,
    option(
        "FILE",
        "Event types as JSON: events that fit none are rejected, conditions that fit none give a "
        "warning.",
    ),
]
TimeZone = Annotated[
    str | None,
    option(
        "ZONE",
        "The time zone of time.hour and time.weekday, such as America/New_York; by default the "
        "offset of each event's own time.",
    ),
]
Rename = Annotated[
    str | None,
    option(
        "FROM=TO,…",
        "New names for keys of events, also inside of objects (meta.taken=time).",
    ),
]
Keep = Annotated[
    str | None,
    option("NAME,…", 'Attributes of the event to copy into its line of results, as "kept".'),
]
Rejects = Annotated[
    str | None, option("FILE", "The file to write lines to that hold no event, with the reason.")
]
Shards = Annotated[
    int,
    option(
        "N",
        "On Spark: split the subscriptions into N parts, of which a worker holds one at a time.",
        min=1,
        max=1_024,
    ),
]
Workers = Annotated[
    int, option("N", "The number of operator calls made at once.", min=1, max=4_096)
]
InFlight = Annotated[
    int | None,
    option(
        "N",
        "The number of events matched at once; by default 64 if an operator answers about several "
        "events at once, else 1.",
        min=1,
        max=65_536,
    ),
]
MemoBytes = Annotated[
    int | None,
    option("N", "The bytes of memory for answers of deterministic operators; 0 keeps none.", min=0),
]
Every = Annotated[
    str | None,
    option(
        "DURATION",
        "Read --events as films or cameras (files, folders, patterns, an address, camera:0): one "
        "frame every DURATION, such as 1s, is an event.",
    ),
]
Starts = Annotated[
    str | None,
    option("TIME", "The time at which films began (RFC 3339); by default the first of --track."),
]
TrackFile = Annotated[
    str | None,
    option("FILE", "Where films were taken: .gpx, or .csv with time or seconds, lat and lon."),
]
MostFrames = Annotated[
    int | None, option("N", "The most frames to read of a film or camera.", min=1)
]
Master = Annotated[str | None, option("URL", "The address of Spark; by default local[*].")]


def renamed_of(given: str | None) -> tuple[tuple[str, str], ...]:
    """Reads what is to be renamed; `MisuseError` if it is unclear."""
    pairs = [each.partition("=") for each in (given or "").split(",") if each.strip()]
    found = tuple((name.strip(), new.strip()) for name, _, new in pairs)
    for name, new in found:
        if not name or not new or [each for _, each in found].count(new) > 1:
            raise MisuseError(f"--rename is FROM=TO,… with each TO once, not {given}")
    return found


def frames_of(
    events: list[str], every: str | None, starts: str | None, track: str | None, most: int | None
) -> Frames | None:
    """Reads which frames of films are events; `None` where files of events are read."""
    from tamis.files.films import Frames, films_among
    from tamis.language.durations import duration_seconds

    if every is None:
        films = films_among(events)
        if films:
            raise MisuseError(
                f"{films[0]} is a film or a camera: say how often a frame is an event, "
                "as --every 1s"
            )
        if starts or track or most:
            raise MisuseError("--starts, --track and --frames are for films: give --every DURATION")
        return None
    try:
        seconds = float(duration_seconds(every))
    except ValueError as bad:
        raise MisuseError(f"--every: {bad}") from None
    try:
        began = None if starts is None else datetime.fromisoformat(starts)
    except ValueError:
        raise MisuseError(f"--starts is a time as 2026-05-01T10:00:00Z, not {starts!r}") from None
    if began is not None and began.tzinfo is None:
        began = began.replace(tzinfo=UTC)
    return Frames(seconds, began, track, most)


def names_of(given: str | None) -> tuple[str, ...]:
    """Names with commas between them."""
    return tuple(dict.fromkeys(filter(None, map(str.strip, (given or "").split(",")))))


Json = Annotated[bool, typer.Option("--json", help="Write JSON, for programs.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]
