"""Explains why subscriptions did or did not match one event: `tamis explain`."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tamis.cli import options
from tamis.cli.failures import MisuseError
from tamis.cli.loading import Setup, refuse_two_inputs, subscribe
from tamis.cli.options import option
from tamis.cli.saying import put, put_json
from tamis.cli.tables import table
from tamis.errors import EventError
from tamis.nearest import did_you_mean
from tamis.words import duration

if TYPE_CHECKING:
    from tamis.catalog.subscription_lines import SubscriptionLines
    from tamis.matcher import Matcher
    from tamis.result import Result
    from tamis.result.account import Account

_FILE = "@"
_FACTS = (
    *("subscriptions", "checked", "candidates", "matches", "undetermined", "calls", "attempts"),
    *("invocations", "evaluations", "excluded", "implied", "memoized", "spared", "needed_at_least"),
    "naive_expected",
)
_COUNTS = (
    *("calls", "invocations", "evaluations", "failed", "excluded", "implied", "memoized"),
    "spared",
)


def explain(
    subscriptions: options.Subscriptions,
    event: Annotated[
        str,
        option("JSON|@FILE|-", "The event, a file that holds it, or - for standard input."),
    ],
    subscription: Annotated[
        list[str] | None, option("ID…", "Explain only these; all when none is named.")
    ] = None,
    operators: options.Operators = None,
    index: options.Index = None,
    planner: options.Planner = None,
    statistics: options.StatisticsFolder = None,
    time_zone: options.TimeZone = None,
    rename: options.Rename = None,
    graph: Annotated[
        str | None,
        option(
            "OUT.graphml|OUT.svg",
            "Write the graph of subscriptions and predicates here, and the linked chains "
            "beside it (OUT-chains).",
        ),
    ] = None,
    plan: Annotated[
        bool,
        typer.Option("--plan", help="Show how the event would be decided, without any call."),
    ] = False,
    json: options.Json = False,
    debug: options.Debug = False,
) -> None:
    """Explain why subscriptions did or did not match an event."""
    from tamis.catalog.subscription_lines import read_subscriptions
    from tamis.files.naming import EventDefaults

    refuse_two_inputs(subscriptions, event.removeprefix(_FILE), option="--event")
    matcher = Setup(operators, index, planner, statistics, time_zone=time_zone).matcher()
    lines = read_subscriptions(subscriptions)
    document, folder = _event(event)
    document = EventDefaults(options.renamed_of(rename)).document(document)
    subscribe(matcher, lines)
    ids = _chosen(subscription, lines, subscriptions)
    if graph is not None:
        _write_graphs(matcher, graph)
    if plan:
        found = matcher.plan(document, folder=folder)
        put_json(found.data) if json else put(f"{found}\n")
        return
    with contextlib.redirect_stdout(sys.stderr):
        result = matcher.match(document, folder=folder)
    _say(result, ids, json)


def _say(result: Result, ids: Sequence[str], json: bool) -> None:
    explanations = map(result.explain, ids)
    if json:
        put_json(
            {
                "event": result.event,
                "explanations": [each.data for each in explanations],
                "rejections": [each._asdict() for each in result.rejections],
                "account": result.account.as_dict(),
            }
        )
        return
    for each in explanations:
        put(f"{each}\n")
    put(f"{result.account.calls_text}\n")
    put(_account_text(result.account))


def _event(argument: str) -> tuple[Mapping[str, Any], str]:
    """Returns the event that the argument is or names, and the folder it is in."""
    from tamis.files.reading import ReadingError, read_event_line, read_whole

    place, text = "--event", argument
    if argument == "-" or argument.startswith(_FILE):
        file = argument.removeprefix(_FILE)
        place, text = file, read_whole(file)
    try:
        document = read_event_line(text)
    except EventError:
        raise ReadingError(f"{place}: nested too deep") from None
    except ValueError as bad:
        hint = ""
        if str(bad).startswith("Extra data"):
            hint = "; --event takes one event"
        elif place == "--event" and os.path.exists(text):
            hint = f"; did you mean @{text}?"
        raise ReadingError(f"{place} is not valid JSON: {bad}{hint}") from bad
    return document, "" if place == "--event" else os.path.dirname(place)


def _write_graphs(matcher: Matcher, target: str) -> None:
    """Writes both graphs, in the format that the suffix names."""
    from tamis.result.drawing import draw_chains, draw_subscriptions
    from tamis.result.graphs import graphml

    stem, suffix = os.path.splitext(target)
    if suffix not in (".graphml", ".svg"):
        raise MisuseError(f"--graph {target}: the name ends in .graphml or .svg")
    graph, chains = matcher.graph(), matcher.chains()
    drawn = (
        (draw_subscriptions(graph), draw_chains(chains))
        if suffix == ".svg"
        else (graphml(graph), graphml(chains))
    )
    for path, text in zip((target, f"{stem}-chains{suffix}"), drawn, strict=True):
        with open(path, "w", encoding="utf-8") as out:
            out.write(text)


def _chosen(wanted: Sequence[str] | None, lines: SubscriptionLines, file: str) -> list[str]:
    """Returns the ids to explain, in the order of the file."""
    for id in wanted or ():
        if id not in lines.lines:
            raise MisuseError(
                f"--subscription: {file} holds no subscription {id!r}"
                f"{did_you_mean(id, lines.lines)}"
            )
    return [entry.id for entry in lines.entries if not wanted or entry.id in wanted]


def _account_text(account: Account) -> str:
    """Returns the account as tables."""
    needless = [each for each in ("attempts", "invocations") if account[each] == account.calls]
    facts: list[tuple[str, object]] = [
        (name.replace("_", " "), account[name])
        for name in _FACTS
        if account[name] is not None and name not in needless
    ]
    facts.extend((f"{stage} time", duration(spent)) for stage, spent in account.seconds.items())
    parts = [table(("account", ""), facts)]
    if account.operators:
        seen = account.operators.values()
        names = [
            name for name in _COUNTS if name not in needless and any(each[name] for each in seen)
        ]
        parts.append(
            table(
                ("operator", *names, "time"),
                [
                    (operator, *(each[name] for name in names), duration(each.seconds))
                    for operator, each in sorted(account.operators.items())
                ],
            )
        )
    return "\n\n".join(parts)
