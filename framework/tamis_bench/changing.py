"""Measures matches whose candidates change with every event: what they cost, stage by stage.

Subscriptions of two ranges, which leave a given share, and of two to four calls of 5,000, of Zipf
popularity; the operator only looks at one attribute. What is learned changes what is called, so
that events before warming and after it are told apart. Python's collections of garbage, which take
long where very much is subscribed, are in the means and not in the medians. Only public names are
used.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from tamis import Matcher, operator
from tamis_bench.report import Row, progress

SIZES = ((20_000, 0.01), (200_000, 0.01), (200_000, 0.1))
_OPERATORS, _MOST_CALLS = 5_000, 4
_WARMING, _EVENTS = 20, 40
_TRUE_OF_1000 = 300


@operator(inputs=("salt",))
def op(event: Any, number: int) -> bool:
    """Answers at once, differently for every event and number."""
    mixed = event["salt"] * 2_654_435_761 + number * 2_654_404_609 >> 7
    return bool(mixed % 1000 < _TRUE_OF_1000)


def measured(scale: float, seed: int) -> Iterator[Row]:
    """Yields the milliseconds an event of each size: of all, and of each stage."""
    for subscriptions, share in SIZES:
        count = round(subscriptions * scale) or 1
        about = f"{count:,} subscriptions, {share:.0%} left"
        progress(f"{about}: subscribing")
        chance = np.random.default_rng(seed)
        matcher = Matcher(operators=[op])
        matcher.subscribe_many({"where": where} for where in texts(count, share, chance))
        for when, number in (("at first", _WARMING), ("warm", _EVENTS)):
            yield from _rows(matcher, f"{about}, {when}", list(events(number, when, chance)))


def texts(count: int, share: float, chance: np.random.Generator) -> Iterator[str]:
    """Draws texts of two ranges, which leave a share of the events, and of two to four calls."""
    popular = np.cumsum(1 / np.arange(1, _OPERATORS + 1))
    popular /= popular[-1]
    width = share**0.5
    lowest = chance.random((count, 2)) * (1 - width)
    lengths = chance.integers(2, _MOST_CALLS + 1, count)
    numbers = np.searchsorted(popular, chance.random((count, 2 * _MOST_CALLS)))
    for (x, y), length, mine in zip(lowest.tolist(), lengths, numbers.tolist(), strict=True):
        calls = " and ".join(f"op({number})" for number in list(dict.fromkeys(mine))[:length])
        yield f"x in [{x:.6f}, {x + width:.6f}] and y in [{y:.6f}, {y + width:.6f}] and {calls}"


def events(count: int, when: str, chance: np.random.Generator) -> Iterator[dict[str, Any]]:
    """Draws events, each with values of its own."""
    for at in range(count):
        x, y = chance.random(2).tolist()
        yield {"id": f"{when} {at}", "x": x, "y": y, "salt": int(chance.integers(1 << 30))}


def _rows(matcher: Matcher, about: str, events: list[dict[str, Any]]) -> Iterator[Row]:
    progress(about)
    seconds, accounts = [], []
    for event in events:
        began = time.perf_counter()
        result = matcher.match(event)
        seconds.append(time.perf_counter() - began)
        accounts.append(result.account)
    part = "Candidates that change with every event"
    row: Row = {"part": part, "what": about, "stage": "all"}
    for what in ("candidates", "calls"):
        row[what] = float(np.mean([account[what] for account in accounts]))
    yield {**row, "ms": 1e3 * float(np.median(seconds)), "mean_ms": 1e3 * float(np.mean(seconds))}
    for stage in accounts[0].seconds:
        spent = [account.seconds[stage] for account in accounts]
        median, mean = 1e3 * float(np.median(spent)), 1e3 * float(np.mean(spent))
        yield {"part": part, "what": about, "stage": stage, "ms": median, "mean_ms": mean}
