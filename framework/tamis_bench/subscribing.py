"""Measures what very many subscriptions cost: to take, to hold, and to match after a change.

Texts are those of `changing`: two ranges and two to four calls, in batches as a file is read.
Memory is what the process grows by, each index in a process of its own. Only public names are used.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from tamis import Matcher
from tamis_bench import changing
from tamis_bench.report import Row, progress

SUBSCRIPTIONS, SHARE = 1_000_000, 0.001
_INDEXES = ("pstbloom", "lanes")
_CHANGES = 40
_BATCH = 10_000
_KNOWN = 2_100
"""Subscriptions that come before anything is measured: with them everything is compiled."""


def measured(scale: float, seed: int) -> Iterator[Row]:
    """Yields what each index takes, in a process of its own."""
    count = round(SUBSCRIPTIONS * scale) or 1
    for index in _INDEXES:
        progress(f"{count:,} subscriptions, {index}")
        program = f"from {__name__} import one; one({index!r}, {count}, {seed})"
        done = subprocess.run(
            [sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, check=True
        )
        found = json.loads(done.stdout)
        yield {"part": "Very many subscriptions", "index": index, "subscriptions": count, **found}


def one(index: str, count: int, seed: int) -> None:
    """Prints the figures of one index as JSON."""
    chance = np.random.default_rng(seed)
    matcher = Matcher(operators=[changing.op], index=index)
    texts = changing.texts(count + _KNOWN + _CHANGES, SHARE, chance)
    entries = [{"where": where} for where in texts]
    matcher.subscribe_many(entries[:_KNOWN])
    events = list(changing.events(3 * _CHANGES, "e", chance))
    matcher.match(events[0])
    before = resident_bytes()
    began = time.perf_counter()
    for at in range(_KNOWN, _KNOWN + count, _BATCH):
        matcher.subscribe_many(entries[at : min(at + _BATCH, _KNOWN + count)])
    seconds = time.perf_counter() - began
    held = resident_bytes() - before
    for event in events[:_CHANGES]:
        matcher.match(event)
    usual, first = [], []
    for at in range(_CHANGES):
        usual.append(_seconds(matcher, events[_CHANGES + at]))
        if at % 2:
            matcher.unsubscribe(f"new {at - 1}")
        else:
            matcher.subscribe(entries[-1 - at]["where"], id=f"new {at}")
        first.append(_seconds(matcher, events[2 * _CHANGES + at]))
    figures = {
        "us": 1e6 * seconds / count,
        "a_minute": 60 * count / seconds,
        "bytes": held / count,
        "match_ms": 1e3 * statistics.median(usual),
        "after_a_change_over_it": statistics.median(first) / statistics.median(usual),
    }
    print(json.dumps(figures))


def _seconds(matcher: Matcher, event: dict[str, object]) -> float:
    began = time.perf_counter()
    matcher.match(event)
    return time.perf_counter() - began


def resident_bytes() -> int:
    """Returns how much memory the process holds."""
    words = Path("/proc/self/statm").read_text(encoding="ascii").split()
    return int(words[1]) * 4_096
