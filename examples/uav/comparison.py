"""Compares planners on frames that nothing was tuned on, in calls and in seconds, beside a bound.

Each frame is matched, then everything is asked of it once, so that all planners are weighed by the
same answers and the same seconds; a preparation counts once for whoever needs it. Seconds are those
of the processor: what else runs on the machine does not count. The bound is the
least that decides the frame for who knows all answers. Without the index, predicates on attributes
are calls too (`attributeIs`), and nothing is known of places. Whether statistics help is a matter
of what was expected, so `savings` matches the frames with them and without, learning as it goes.
"""

from __future__ import annotations

import operator
import time
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import tamis
from examples.uav import operators, subscribers
from examples.uav.simulation import moments
from tamis_bench.report import Row, progress
from tamis_operators import reasoner, spatial

PLANNERS = ("naive", "sequential", "suborder", "savings")
DRONES = 12
FRAMES_SEED, OTHER_SUBSCRIBERS = 8_600, 6_007
"""Of frames, and of subscriptions, that nothing was tuned on."""
_COMPARISONS = {"=": operator.eq, "<": operator.lt, ">": operator.gt, ">=": operator.ge}


@tamis.operator(cost_seconds=0.000002)
def attributeIs(event: Any, name: str, comparison: str, value: str | float) -> bool:
    """Tells whether an attribute of the event is so, as an index does else."""
    return name in event and bool(_COMPARISONS[comparison](event[name], value))


def indexed_operators() -> list[tamis.OperatorRecord]:
    """Lists the operators of the demo."""
    return [*operators.tamis_operators(), *spatial.operators(), *reasoner.operators()]


@tamis.hookimpl
def tamis_operators() -> list[tamis.OperatorRecord]:
    """Lists the operators of the demo, of which no index knows what is necessary."""
    return [
        tamis.OperatorRecord(each.specification, partial(_silent, each))
        for each in indexed_operators()
    ]


def _silent(record: tamis.OperatorRecord) -> tamis.Operator:
    made = record.factory()
    made.necessary = lambda arguments: ()  # type: ignore[method-assign]
    return made


def matcher_of(
    entries: Iterable[Mapping[str, Any]],
    statistics: tamis.Statistics | None = None,
    *,
    indexed: bool = True,
    learning: bool = True,
) -> tamis.Matcher:
    """Makes a matcher as `make demo` serves it; without the index where that is wanted."""
    known: list[object] = [*indexed_operators()] if indexed else [*tamis_operators(), attributeIs]
    entries = entries if indexed else map(subscribers.unindexed, entries)
    matcher = tamis.Matcher(
        known, statistics=statistics, learning=learning, memo_bytes=0, timer=time.process_time
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tamis.SubscriptionWarning)  # S3 has a ')' too many
        matcher.subscribe_many(entries)
    return matcher


def frames(count: int, seed: int = FRAMES_SEED) -> Iterator[dict[str, Any]]:
    """Yields moments of flights, two of each seed, at many hours and in any weather."""
    for flights, number in moments(count, seed, drones=DRONES, a_seed=2, key=98):
        yield flights.observation(number).event


def measured(
    events: Sequence[Mapping[str, Any]],
    statistics: tamis.Statistics,
    called: tamis.Statistics,
    seed: int,
) -> Iterator[Row]:
    """Yields the rows of the subscriptions of a seed, with what was learned for them, and for them
    without the index."""
    entries = list(subscribers.made(seed))
    for words, indexed, known in (("without", False, called), ("with", True, statistics)):
        part = (
            f"{len(entries)} subscriptions of seed {seed} on {len(events)} frames that nothing was "
            f"tuned on, {words} the index"
        )
        with matcher_of(entries, known, indexed=indexed) as matcher:
            yield from ({"part": part, **row} for row in _planners(matcher, events))
    part = f"Subscriptions of seed {seed}, matched by savings as frames come"
    yield from ({"part": part, **row} for row in _learning(entries, events, statistics))


def _planners(matcher: tamis.Matcher, events: Sequence[Mapping[str, Any]]) -> Iterator[Row]:
    shadows = tamis.Shadows(matcher, PLANNERS)
    total = None
    for number, event in enumerate(events, 1):
        progress(f"comparing planners: frame {number} of {len(events)}")
        shadow = shadows.of(matcher.match(event))
        if total is None:
            total = shadow
        else:
            total.add(shadow)
    assert total is not None
    least, most = total.clairvoyant_seconds or 0.0, total.seconds["naive"]
    figures = {
        "every distinct predicate": (total.every_seconds, total.every),
        **{name: (total.seconds[name], total.calls[name]) for name in PLANNERS},
        "(at least, who knows all)": (least, total.clairvoyant),
    }
    for name, (seconds, calls) in figures.items():
        over = {"over_naive": seconds / most, "over_least": seconds / least}
        yield {"planner": name, "seconds": seconds, "calls": calls, **over}


def _learning(
    entries: Sequence[Mapping[str, Any]],
    events: Sequence[Mapping[str, Any]],
    statistics: tamis.Statistics,
) -> Iterator[Row]:
    """Matches with what Spark learned and without, frame by frame in turns."""
    matchers = {
        "with what Spark learned": matcher_of(entries, statistics),
        "without, learning as it goes": matcher_of(entries),
        "without, learning nothing": matcher_of(entries, learning=False),
    }
    spent = {name: {"seconds": 0.0, "calls": 0} for name in matchers}
    for number, event in enumerate(events, 1):
        progress(f"with statistics and without: frame {number} of {len(events)}")
        for name in sorted(matchers, reverse=number % 2 > 0):
            account = matchers[name].match(event).account
            spent[name]["seconds"] += sum(each.seconds for each in account.operators.values())
            spent[name]["calls"] += account.calls
    first = spent["with what Spark learned"]["seconds"]
    for name, each in spent.items():
        yield {"statistics": name, **each, "over_learned": each["seconds"] / first}
        matchers[name].close()
