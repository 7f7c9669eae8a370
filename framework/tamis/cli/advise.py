"""Recommends index, planner and settings by what they cost on a history: `tamis advise`."""

from __future__ import annotations

import contextlib
import sys
from typing import TYPE_CHECKING, Annotated

from tamis.cli.failures import UnusableRunError
from tamis.cli.loading import find_operators, refuse_two_inputs, taken
from tamis.cli.options import (
    Debug,
    History,
    Json,
    Operators,
    Rename,
    SampleShare,
    StatisticsFolder,
    Subscriptions,
    TimeZone,
    option,
    renamed_of,
)
from tamis.cli.progress import bar
from tamis.cli.saying import put, put_json, say
from tamis.cli.tables import table, wrapped
from tamis.words import agreed, counted, duration

if TYPE_CHECKING:
    from tamis.advising import Advice, AdviceBounds
    from tamis.advising.advice import Advisor
    from tamis.advising.chosen import EventChoice

MostEvents = Annotated[int, option("N", "The most events that operators are asked about.", min=1)]
MostSeconds = Annotated[
    float,
    option(
        "SECONDS",
        "The time for operator calls and planners; when it is over, only some of the other "
        "events are used.",
        min=0.1,
    ),
]


def advise(
    subscriptions: Subscriptions,
    events: History,
    statistics: StatisticsFolder = None,
    operators: Operators = None,
    sample: SampleShare = 1.0,
    most_events: MostEvents = 1_000,
    most_seconds: MostSeconds = 60.0,
    time_zone: TimeZone = None,
    rename: Rename = None,
    workers: Annotated[int, option("N", "How many workers to simulate.", min=1, max=4_096)] = 4,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Recommend an index and a planner by a sample of history.

    Every operator is asked everything about each event of the sample, once. Planners are then run
    on these answers, indexes on these events, and all answers are compared.
    """
    from tamis.advising import AdviceBounds
    from tamis.advising.advice import Advisor
    from tamis.catalog.subscription_lines import read_subscriptions
    from tamis.files import reading
    from tamis.statistics import Statistics

    refuse_two_inputs(subscriptions, *events)
    source = reading.Events(events, renamed_of(rename))
    known = None if statistics is None else Statistics.load(statistics)
    records = [found.record for found in find_operators(operators).values()]
    advisor = taken(
        read_subscriptions(subscriptions),
        lambda entries: Advisor(entries, records, known, time_zone),
        len(records),
        "no advice is given",
    )
    budget = AdviceBounds(sample, most_events, most_seconds, workers)
    chosen, shown = advisor.sample(budget), sys.stderr.isatty()
    with contextlib.redirect_stdout(sys.stderr):  # what an operator prints is no advice
        with bar(shown=shown) as show:
            for read in chosen.add_lines(source):
                show(f"reading  {counted(read, 'event')}", source.share)
        if not chosen.read and chosen.rejected:
            raise UnusableRunError(f"no line holds an event: {chosen.first_reject}")
        say(_warning(advisor, chosen, budget))
        with bar(shown=shown) as show:
            found = advisor.advice(
                chosen,
                budget,
                lambda events, share: show(f"evaluating  {counted(events, 'event')}", share),
            )
    put_json(found.as_dict()) if as_json else put("\n".join(_lines(found)))


def _warning(advisor: Advisor, chosen: EventChoice, budget: AdviceBounds) -> str:
    """Announces the expense of the evaluation before it begins."""
    events = len(chosen.documents)
    words = f"note: {counted(events, 'event')} of {chosen.read:,} with "
    words += (
        f"{counted(advisor.calls, 'distinct call')} {agreed(events, 'is', 'are')} evaluated in full"
    )
    if advisor.calls:
        most = events * advisor.declared_seconds
        words += f", {duration(most)} at most by what operators declare"
    if chosen.rejected:
        words += f"; {counted(chosen.rejected, 'line')} without an event, "
        words += f"the first: {chosen.first_reject}"
    return f"{words}; after {duration(budget.seconds)} events are thinned (--most-seconds)"


def _lines(found: Advice) -> list[str]:
    lines = [
        wrapped(
            f"{counted(found.events, 'event')} of {found.read:,}, "
            f"{counted(found.subscriptions, 'subscription')}: {found.matches:,} matched, "
            f"{found.undetermined:,} undetermined; {found.every:,} calls in all"
        ),
        "",
    ]
    rows: list[tuple[object, ...]] = []
    for each in found.planners:
        if each.is_whole:
            seconds = duration(each.expected_seconds), duration(each.own_seconds)
            mark = "recommended" if each.planner == found.planner else ""
            rows.append((each.planner, each.calls, *seconds, mark))
        else:
            mark = "broken" if each.broken else "left out"
            rows.append((each.planner, None, "-", "-", mark))
    lines.append(table(("planner", "calls", "of calls", "its own", ""), rows))
    lines.append(_bounds(found))
    lines.append("")
    lines.append(
        table(
            ("index", "an event", "bytes", "build", "checked", "unlearned", "left", ""),
            [
                (
                    each.index,
                    duration(each.event_seconds),
                    each.nbytes,
                    duration(each.build_seconds),
                    round(each.checked, 1),
                    round(each.checked_unlearned, 1),
                    round(each.alternatives, 1),
                    "broken" if each.is_broken
                    else "recommended" if each.index == found.index else "",
                )
                for each in found.indexes
            ],
        )
    )  # fmt: skip
    lines += ["", wrapped(f"planner {found.planner}: {found.why_planner}", more="  ")]
    lines.append(wrapped(f"index {found.index}: {found.why_index}", more="  "))
    lines += [
        wrapped(f"{each.index} is {each.choice}", more="  ")
        for each in found.indexes
        if each.choice
    ]
    lines += [wrapped(f"broken: {each}", more="  ") for each in found.broken]
    if found.hints:
        lines += ["", *(wrapped(hint.sentence, indent="- ", more="  ") for hint in found.hints)]
    return lines


def _bounds(found: Advice) -> str:
    bounds = found.bounds
    if bounds.lacking:
        return f"no bounds: {bounds.lacking}"
    if bounds.clairvoyant is None or bounds.non_anticipative is None:
        return "no bounds: no event asks an operator anything"
    words = f"at least {bounds.clairvoyant:,.0f} calls by any method, "
    words += f"{bounds.non_anticipative:,.0f} by one that does not know answers beforehand"
    if bounds.events < found.events:
        words += f" (of {bounds.events:,} events)"
    return words
