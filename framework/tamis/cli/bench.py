"""`tamis bench`: measurements, printed as they come."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Annotated, Any

import typer

from tamis.cli.command import Command
from tamis.cli.failures import MisuseError
from tamis.cli.options import Debug, Json

Names = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME…", help="Measure only these; all when none is named."),
]
Seed = Annotated[int, typer.Option(min=0, help="What everything random follows from.")]
Events = Annotated[int, typer.Option(min=1, help="Events a row.")]
Scale = Annotated[
    float, typer.Option(min=0.00001, help="Times the size that the workloads are meant to have.")
]

bench = typer.Typer(
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Measure planners and indexes on the workloads of the papers.",
)


@bench.callback()
def _bench() -> None:
    """Measure planners and indexes on the workloads of the papers."""


@bench.command(cls=Command)
def planners(
    figures: Annotated[
        list[str] | None,
        typer.Option(metavar="FIGURE…", help="4 5 6 7 8 costs guarded; all when none is named."),
    ] = None,
    planner: Names = None,
    events: Events = 100,
    workloads: Annotated[
        int, typer.Option(min=1, help="Workloads among which the events of a row are shared out.")
    ] = 8,
    seed: Seed = 1,
    scale: Scale = 1.0,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Measure what planners cost, counted exactly, on the same events (figures 4 to 8)."""
    from tamis.bench.planners import FIGURES, ON_THE_UNIFORM_FIGURES, TITLES, run
    from tamis.cli.saying import put, put_json, say
    from tamis.plugins import installed

    chosen = _chosen("--figures", figures, FIGURES)
    for name in planner or ():
        installed().planner(name)
    rows = []
    shown = None
    progress = say if sys.stderr.isatty() else _quiet
    for figure, row in run(
        chosen,
        seed=seed,
        scale=scale,
        events=events,
        workloads=workloads,
        planners=planner,
        progress=progress,
    ):
        rows.append({"figure": figure, **row})
        if json:
            continue
        if figure != shown:
            put(f"\n{TITLES[figure]}\n{_header()}")
            shown = figure
        put(_lines(row))
    if json:
        put_json({"seed": seed, "scale": scale, "events": events, "rows": rows})
    elif "4" in chosen:
        put(f"\n{ON_THE_UNIFORM_FIGURES}")


@bench.command("index", cls=Command)
def index_(
    workloads: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME…", help="dense ads sparse equality matching continuous; all by default."
        ),
    ] = None,
    index: Names = None,
    events: Events = 100,
    passes: Annotated[int, typer.Option(min=1, help="Passes over the events.")] = 3,
    seed: Seed = 1,
    scale: Scale = 1.0,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Measure indexes beside scans of the same subscriptions, every answer compared."""
    from tamis.bench.boxes import SHAPES
    from tamis.bench.indexes import SCANS, run
    from tamis.cli.saying import put, put_json, say
    from tamis.plugins import installed

    chosen = _chosen("--workloads", workloads, SHAPES)
    for name in index or ():
        installed().index(name)
    progress = say if sys.stderr.isatty() else _quiet
    rows = []
    for row in run(
        chosen, seed=seed, scale=scale, events=events, passes=passes, indexes=index,
        progress=progress,
    ):  # fmt: skip
        rows.append(row)
        if not json:
            put(_index_table(row, SCANS))
    if json:
        put_json({"seed": seed, "scale": scale, "events": events, "rows": rows})


def _index_table(row: dict[str, Any], scans: tuple[str, ...]) -> str:
    """A workload: each method, and how many times faster than each scan it is."""
    title = f"{row['workload']}: {row['subscriptions']:,} subscriptions of "
    title += f"{row['predicates']:.1f} predicates, {row['match_ratio']:.3%} match"
    header = f"{'':<16}{'us/event':>10}{'p99/mean':>9}"
    header += "".join(f"{'x ' + scan:>16}" for scan in scans)
    lines = ["", title, f"{header}{'build us':>9}{'bytes':>7}"]
    for name, each in row["methods"].items():
        line = f"{name:<16}{each['us']:>10,.1f}{each['p99_over_mean']:>9.2f}"
        line += "".join(f"{each['times'][scan]:>16.2f}" for scan in scans)
        if "build_us" in each:
            line += f"{each['build_us']:>9.2f}{each['bytes']:>7.0f}"
        lines.append(line)
    return "\n".join(lines)


def _chosen(option: str, given: list[str] | None, known: Iterable[str]) -> list[str]:
    """What is to be measured, all when nothing is named."""
    for name in given or ():
        if name not in known:
            raise MisuseError(f"{option} {name}: there are {', '.join(known)}")
    return list(given or known)


def _quiet(words: str) -> None:
    """Says nothing: nobody is looking."""


def _header() -> str:
    names = f"{'workload':<34}{'planner':<12}{'cost':>9}{'±':>6}{'calls':>9}"
    return f"{names}{'us/call':>9}{'ms/event':>10}"


def _lines(row: dict[str, Any]) -> str:
    """A workload: its baseline, its planners, its bounds."""
    lines = [f"{row['workload']:<34}{'(distinct)':<12}{row['every_distinct']:>9,.0f}"]
    for name, each in row["planners"].items():
        error = "" if each["error"] is None else f"{each['error']:.0f}"
        lines.append(
            f"{'':<34}{name:<12}{each['cost']:>9,.0f}{error:>6}{each['calls']:>9,.0f}"
            f"{each['planner_us_a_call']:>9.1f}{each['event_ms']:>10.1f}"
        )
    marked = row["marked_by_sequential"]
    lines.append(f"{'':<34}{'(at least)':<12}{'':>15}{row['at_least']:>9,.0f}")
    if marked is not None:
        lines.append(f"{'':<34}{'(marked)':<12}{'':>15}{marked:>9,.0f}")
    return "\n".join(lines)
