"""Prints measurements as they come: `tamis bench`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Annotated, Any

import typer

from tamis.cli.command import Command
from tamis.cli.failures import MisuseError
from tamis.cli.options import Debug, Json, option
from tamis.cli.saying import put, put_json, say

Names = Annotated[list[str] | None, option("NAME…", "Measure only these; all when none is named.")]
Seed = Annotated[int, typer.Option(min=0, help="What everything random follows from.")]
Events = Annotated[int, typer.Option(min=1, help="Events a row.")]
Scale = Annotated[
    float, typer.Option(min=0.00001, help="Times the size that the workloads are meant to have.")
]


def _table_1(words: str, default: float, least: float = 0, most: float | None = None) -> Any:
    """An option for a parameter of the paper's Table 1."""
    return option("N…", f"{words} ({default:,} by default); begen.", min=least, max=most)


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
        option("FIGURE…", "4 5 6 7 8 costs guarded groups rounds scenes learning; all by default."),
    ] = None,
    planner: Names = None,
    events: Annotated[
        int, typer.Option(min=1, help="Events a row that has a goal; others have fewer.")
    ] = 100,
    workloads: Annotated[
        int, typer.Option(min=1, help="Workloads among which the events of a row are shared out.")
    ] = 2,
    seed: Seed = 1,
    scale: Scale = 1.0,
    quick: Annotated[
        bool, typer.Option("--quick", help="As --scale 0.05 --events 8: about a minute.")
    ] = False,
    plots: Annotated[str | None, option("DIR", "Draw every figure into this folder (SVG).")] = None,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Measure what planners cost, counted exactly, on the same events (figures 4 to 8).

    Costs stand beside bounds that hold for every method, and beside the goals.
    """
    from tamis.plugins.loader import installed
    from tamis_bench.effort import Effort
    from tamis_bench.planner_sections import SECTIONS, TITLES, measured
    from tamis_bench.planner_tables import closing, cost_lines, header, section_lines
    from tamis_bench.planners import ON_THE_BOUNDS, ON_THE_UNIFORM_FIGURES

    chosen = _chosen("--figures", figures, TITLES)
    for name in planner or ():
        installed().planner(name)
    if quick:
        scale, events = 0.05, 8
    effort = Effort(seed, scale, events, workloads, say if sys.stderr.isatty() else _quiet)
    if plots is not None:
        from tamis_bench.plots import drawable

        drawable()
    heads = {each: TITLES[each] + ("" if each in SECTIONS else f"\n{header()}") for each in chosen}

    def text(row: dict[str, Any]) -> str:
        lines = section_lines(row) if row["figure"] in SECTIONS else cost_lines(row)
        head = heads.pop(row["figure"], None)
        return lines if head is None else f"\n{head}\n{lines}"

    rows = _printed(measured(chosen, effort, planner), text, json)
    if json:
        put_json({"seed": seed, "scale": scale, "events": events, "rows": rows})
    else:
        put(f"\n{ON_THE_BOUNDS}")
        if "4" in chosen:
            put(f"\n{ON_THE_UNIFORM_FIGURES}")
        put(closing(rows))
    if plots is not None:
        from tamis_bench.plots import draw

        for path in draw(rows, plots):
            say(f"drew {path}")


@bench.command("index", cls=Command)
def index_(
    workloads: Annotated[
        list[str] | None,
        option(
            "NAME…",
            "dense dense3m ads sparse equality matching continuous mixed, all by default; "
            "or begen, which the options from --subscriptions to --equality describe.",
        ),
    ] = None,
    index: Names = None,
    scans: Annotated[
        list[str] | None,
        option(
            "NAME…",
            "Scans beside the compiled one: naive column numpy duckdb; "
            "all that do not take too long when none is named.",
        ),
    ] = None,
    events: Events = 100,
    passes: Annotated[int, typer.Option(min=1, help="Passes over the events.")] = 5,
    subscriptions: Annotated[list[int] | None, _table_1("Subscriptions", 1_000_000, 10)] = None,
    zipf: Annotated[
        list[float] | None, _table_1("Popularity of attributes: 1/rank to this power", 0)
    ] = None,
    dimensions: Annotated[list[int] | None, _table_1("Attributes there are", 100, 1)] = None,
    cardinality: Annotated[list[int] | None, _table_1("Values an attribute has", 100, 2)] = None,
    subscription_size: Annotated[
        list[int] | None, _table_1("Predicates a subscription, on average", 5, 1)
    ] = None,
    event_size: Annotated[list[int] | None, _table_1("Pairs an event", 30, 1)] = None,
    matching: Annotated[
        list[float] | None, _table_1("Share of the subscriptions that match an event", 0.001, 0, 1)
    ] = None,
    equality: Annotated[
        list[float] | None, _table_1("Share of the predicates that are =", 0.2, 0, 1)
    ] = None,
    seed: Seed = 1,
    scale: Scale = 1.0,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Measure indexes beside scans of the same subscriptions, every answer compared.

    Workloads of the paper's Table 1 come of its parameters, each with one value or several:
    tamis bench index --zipf 0 1 2 --dimensions 1000
    """
    from tamis.plugins.loader import installed
    from tamis_bench import begen
    from tamis_bench.index import WORKLOADS, begen_plan, plan, run
    from tamis_bench.rivals import SCANS
    from tamis_bench.tables import closing, table

    given: dict[str, Any] = {
        "subscriptions": subscriptions, "zipf": zipf, "dimensions": dimensions,
        "cardinality": cardinality, "subscription_size": subscription_size,
        "event_size": event_size, "matching": matching, "equality": equality,
    }  # fmt: skip
    if any(given.values()):
        workloads = workloads or [begen.NAME]
        if begen.NAME not in workloads:
            raise MisuseError("the parameters of Table 1 are those of --workloads begen")
    _chosen("--workloads", workloads, (*WORKLOADS, begen.NAME))
    _chosen("--scans", scans, SCANS)
    for name in index or ():
        installed().index(name)
    plans = [
        each
        for name in workloads or WORKLOADS
        for each in (
            [begen_plan(values, scale) for values in begen.combinations(given)]
            if name == begen.NAME
            else [plan(name, scale)]
        )
    ]
    measured = run(
        plans, seed=seed, events=events, passes=passes, indexes=index, scans=scans,
        progress=say if sys.stderr.isatty() else _quiet,
    )  # fmt: skip
    rows = _printed(measured, table, json)
    if json:
        put_json({"seed": seed, "scale": scale, "events": events, "rows": rows})
    else:
        put(closing(rows))


@bench.command(cls=Command)
def spark(
    only: Annotated[
        list[str] | None, option("PART…", "learning matching; both by default.")
    ] = None,
    events: Annotated[
        list[int] | None, option("N…", "Events, of 30 attributes (1,000,000).", min=100)
    ] = None,
    predicates: Annotated[
        list[int] | None, option("N…", "Attribute predicates (1,000 and 1,000,000).", min=10)
    ] = None,
    cores: Annotated[int, typer.Option(min=1, help="Cores that Spark takes.")] = 2,
    passes: Annotated[int, typer.Option(min=1, help="Passes; the fastest counts.")] = 3,
    seed: Seed = 1,
    quick: Annotated[
        bool,
        typer.Option("--quick", help="As --events 5000 20000 --predicates 1000 50000 --passes 1."),
    ] = False,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Measure learning and matching on Spark beside one process, what they give compared.

    Spark runs before anything is timed. Reading the texts of subscriptions is no part of it.
    Events and predicates are those of learning.
    """
    from tamis.spark.session import session
    from tamis_bench import spark_matching
    from tamis_bench.spark_learning import EVENTS, FEW, MANY, closing, judged, measured, table

    if quick:
        events, predicates, passes = [5_000, 20_000], [1_000, 50_000], 1
    chosen = _chosen("--only", only, ("learning", "matching"))
    running = session(f"local[{cores}]")
    told = say if sys.stderr.isatty() else _quiet
    rows: list[dict[str, Any]] = []
    matched: list[dict[str, Any]] = []
    if "learning" in chosen:
        rows += measured(
            running, cores=cores, events=events or [EVENTS], predicates=predicates or [FEW, MANY],
            passes=passes, seed=seed, say=told,
        )  # fmt: skip
    goals = list(judged(rows))
    if rows and not json:
        put(f"{table(rows)}\n\n{closing(goals)}\n")
    if "matching" in chosen:
        matched += spark_matching.measured(
            running, cores=cores, scale=0.1 if quick else 1, passes=passes, seed=seed, say=told
        )
    held = list(spark_matching.judged(matched))
    if json:
        head = {"seed": seed, "cores": cores}
        put_json(head | {"rows": rows, "goals": goals, "matching": matched, "matching_goals": held})
    elif matched:
        put(f"{spark_matching.table(matched)}\n\n{spark_matching.closing(held)}")


_PARTS = {
    "engine": "Measure what matching costs besides operators, and subscribing.",
    "isolation": "Measure calls in worker processes, and how late a kill comes.",
    "places": "Measure spatial operators: what answers cost, what one query for many saves.",
    "pictures": "Measure detectors on frames of known truth: precision, recall, seconds.",
    "facts": "Measure reasoning: closing events over ontologies, queries.",
    "phrases": "Measure the search for many phrases in texts.",
}
def _add_part(name: str, words: str) -> None:
    """Adds a measurement that reads its own options: `tamis bench NAME --help` has them."""

    def run(context: typer.Context) -> None:
        part = import_module(f"tamis_bench.{name}")
        part.main(context.args)

    run.__doc__ = words
    settings = {"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []}
    bench.command(name, context_settings=settings)(run)


for _name, _words in _PARTS.items():
    _add_part(_name, _words)


def _printed(
    rows: Iterable[dict[str, Any]], text: Callable[[dict[str, Any]], str], json: bool
) -> list[dict[str, Any]]:
    """The rows, printed as they come unless all are to be JSON."""
    kept = []
    for row in rows:
        kept.append(row)
        if not json:
            put(text(row))
    return kept


def _chosen(option: str, given: list[str] | None, known: Iterable[str]) -> list[str]:
    """What is to be measured, all when nothing is named."""
    for name in given or ():
        if name not in known:
            raise MisuseError(f"{option} {name}: there are {', '.join(known)}")
    return list(given or known)


def _quiet(words: str) -> None:
    """Says nothing: nobody is looking."""
