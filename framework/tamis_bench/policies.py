"""Measures delivery policies: bytes of a key, time of an event, and saving the state.

Every policy is measured in a process of its own, and memory is what the process grows by. Each
event has a new key and matches; then known keys come again. Last, an event that matches one
subscription of very many is compared with an event that matches a single one.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from typing import Annotated, Any

from tamis import Deliveries, Matcher
from tamis_bench.options import Passes, count
from tamis_bench.report import Row, progress
from tamis_bench.subscribing import resident_bytes
from tamis_bench.timing import alternating

POLICIES: tuple[dict[str, Any], ...] = (
    {"cooldown": "10min"}, {"once": True}, {"of": [3, 5]}, {"for": "30s"}, {"on": "both"},
    {"on": "both", "gap": "1d"}, {"digest": "1h"},
)  # fmt: skip
_AGAIN, _EVENTS, _START = 10_000, 2_000, 1_768_478_400


def measured(
    *,
    keys: Annotated[int, count("Keys, each of an event that matches.")] = 1_000_000,
    subscriptions: Annotated[int, count("Subscriptions with policies.")] = 100_000,
    passes: Passes = 5,
) -> Iterator[Row]:
    """Yields a row for each policy, and one for each number of subscriptions."""
    for policy in POLICIES:
        progress(f"{keys:,} keys, {json.dumps(policy)}")
        program = f"from {__name__} import one; one({policy!r}, {keys})"
        done = subprocess.run(
            [sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, check=True
        )
        found = json.loads(done.stdout)
        yield {"part": f"{keys:,} keys", "policy": json.dumps(policy), "keys": keys, **found}
    yield from _many(subscriptions, passes)


def one(policy: dict[str, Any], keys: int) -> None:
    """Prints the figures of one policy as JSON."""
    matcher = Matcher(operators=[])
    matcher.subscribe("level > 3", id="s", deliver={**policy, "per": ["drone"]})
    deliveries = Deliveries(matcher)
    _seconds(matcher, deliveries, _events(0, 100))
    before = resident_bytes()
    new, delivered = _seconds(matcher, deliveries, _events(100, keys))
    held = resident_bytes() - before
    again = min(_AGAIN, keys)
    known, _ = _seconds(matcher, deliveries, _events(0, again, later=keys))
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        deliveries.save(folder)
        saved = time.perf_counter()
        Deliveries.open(folder, matcher)
        opened = time.perf_counter()
    found = {
        "delivered": delivered,
        "bytes": held / keys,
        "new_us": 1e6 * new / keys,
        "known_us": 1e6 * known / again,
        "save_seconds": saved - began,
        "open_seconds": opened - saved,
    }
    print(json.dumps(found))


def _events(first: int, count: int, later: int = 0) -> Iterator[dict[str, Any]]:
    """Yields an event a key, a tenth of a second apart."""
    for at in range(first, first + count):
        time = _START + (at + later) / 10
        yield {"id": f"event-{at + later}", "time": time, "drone": f"drone-{at}", "level": 7}


def _seconds(
    matcher: Matcher, deliveries: Deliveries, events: Iterable[dict[str, Any]]
) -> tuple[float, int]:
    """Takes the results of events; the seconds that it took, and how many deliveries it gave."""
    seconds, delivered = 0.0, 0
    for event in events:
        result = matcher.match(event)
        began = time.perf_counter()
        delivered += len(deliveries.take(result))
        seconds += time.perf_counter() - began
    return seconds, delivered


def _many(subscriptions: int, passes: int) -> Iterator[Row]:
    """Yields what an event takes that matches one subscription, alone and among very many."""
    works = {}
    for number in (1, subscriptions):
        progress(f"{number:,} subscriptions")
        matcher = Matcher(operators=[])
        matcher.subscribe_many(
            {"where": f"level = {at}", "deliver": {"on": "both", "per": ["drone"]}}
            for at in range(number)
        )
        results = [
            matcher.match({**event, "level": 0, "drone": f"drone-{at % 10}"})
            for at, event in enumerate(_events(0, _EVENTS))
        ]

        # every pass, and one before them, takes the results by deliveries of its own
        fresh = iter([Deliveries(matcher) for _ in range(passes + 1)])

        def work(fresh: Iterator[Deliveries] = fresh, results: Any = results) -> int:
            deliveries = next(fresh)
            return sum(len(deliveries.take(result)) for result in results)

        works[number] = work
    timed = alternating(works, passes)
    alone = timed[1]
    for number, each in timed.items():
        if each.result != alone.result:
            raise AssertionError("one subscription of many is delivered something else")
        yield {
            "part": "An event that matches one subscription",
            "subscriptions": number,
            "us": 1e6 * each.least / _EVENTS,
            "over_one": each.least / alone.least,
        }
