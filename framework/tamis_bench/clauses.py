"""Measures conditions of many clauses, each of which is one entry of an index.

Conditions of ten and of fifty clauses of two or three predicates, whose alternatives nobody could
write out, go through `Matcher`; what counts is the time of its index. A condition is drawn so that
one of the events satisfies it. Every answer is compared with that of the scan.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from tamis import Matcher
from tamis_bench.report import Row, progress
from tamis_bench.subjects import compiled

NAME = "clauses"
CLAUSES = (10, 50)
_CONDITIONS = 5_000
_ATTRIBUTES, _VALUES, _PAIRS = 200, 20, 60
_LONGEST = 3
"""The most predicates of a clause."""
_SECONDS = 5.0
"""The seconds of an index beyond which its events are not repeated."""

Event = dict[str, Any]


def measured(
    indexes: Sequence[str], *, seed: int, events: int, passes: int, scale: float
) -> Iterator[Row]:
    """Yields a row for each number of clauses and each index."""
    chance = random.Random(seed)
    drawn = [_event(chance) for _ in range(events)]
    count = max(10, round(_CONDITIONS * scale))
    for clauses in CLAUSES:
        texts = [_condition(chance, chance.choice(drawn), clauses) for _ in range(count)]
        right = matched(filled("scan", texts)[0], drawn)
        found = float(np.mean([len(answer) for answer in right]))
        part = (
            f"{NAME}: {count:,} conditions of {clauses} clauses, {_PAIRS} pairs an event;\n"
            f"{found / count:.3%} match, seed {seed}; "
            f"{len(drawn) * len(indexes):,} answers compared, none wrong"
        )
        for name in indexes:
            progress(f"{NAME}: {clauses} clauses, {name}")
            matcher, seconds = filled(name, texts)
            for at, answer in enumerate(matched(matcher, drawn)):
                if answer != right[at]:
                    raise AssertionError(
                        f"{name} and scan differ on event {at} of {NAME}, seed {seed}"
                    )
            row: Row = {"part": part, "workload": NAME, "method": name, "clauses": clauses}
            row["mean_us"] = 1e6 * index_seconds(matcher, drawn, passes)
            yield {**row, "subscribe_us": 1e6 * seconds / count}


def _event(chance: random.Random) -> Event:
    names = chance.sample(range(_ATTRIBUTES), _PAIRS)
    return {f"a{name}": chance.randrange(_VALUES) for name in names}


def _condition(chance: random.Random, event: Event, clauses: int) -> str:
    """Returns a condition that an event satisfies, each clause by its first predicate."""
    names, parts = list(event), []
    for _ in range(clauses):
        name = chance.choice(names)
        predicates = [f"{name} {chance.choice(('=', '<=', '>='))} {event[name]}"]
        for _ in range(chance.randint(1, _LONGEST - 1)):
            other = f"a{chance.randrange(_ATTRIBUTES)}"
            predicates.append(f"{other} = {chance.randrange(_VALUES)}")
        parts.append(f"({' or '.join(predicates)})")
    return " and ".join(parts)


def filled(name: str, texts: Sequence[str]) -> tuple[Matcher, float]:
    """Returns a matcher of conditions, and the seconds that it took to subscribe them."""
    matcher = Matcher(operators=[], index=name, index_options=compiled(name, {}))
    begun = time.perf_counter()
    matcher.subscribe_many({"id": str(at), "where": text} for at, text in enumerate(texts))
    return matcher, time.perf_counter() - begun


def matched(matcher: Matcher, events: Sequence[Event]) -> list[list[str]]:
    """Returns which conditions each event satisfies."""
    return [[match.subscription for match in matcher.match(event).matches] for event in events]


def index_seconds(matcher: Matcher, events: Sequence[Event], passes: int) -> float:
    """Returns the seconds of the index for an event: the fastest of some passes, in the mean."""
    fastest: dict[int, float] = {}
    begun = time.perf_counter()
    for number in range(passes):
        for at, event in enumerate(events):
            if number and time.perf_counter() - begun > _SECONDS:
                break
            spent = matcher.match(event).account.seconds["index"]
            fastest[at] = min(fastest.get(at, spent), spent)
    return float(np.mean(list(fastest.values())))
