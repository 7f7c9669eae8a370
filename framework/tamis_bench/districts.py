"""Measures operators that pre-filter themselves: very many `locIn(district)`, and nothing else.

Districts are squares of a grid over a city, as many subscriptions each; positions lie anywhere in
it. The median time of a match is held against that of its index alone.
"""

from __future__ import annotations

import json
import random
import statistics
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from tamis import Matcher
from tamis_bench.report import Row, progress
from tamis_operators import spatial

_WIDE, _WARMING, _EVENTS = 50, 100, 400
_WEST, _SOUTH, _SIDE = -74.2, 40.5, 0.01


def rows(districts: int, subscriptions: int, seed: int) -> Iterator[Row]:
    """Yields the microseconds of a match, and of each stage, with calls and candidates."""
    matcher = _matcher(districts)
    progress(f"{subscriptions:,} subscriptions of {districts:,} districts")
    matcher.subscribe_many(
        {"where": f"locIn(d{number % districts})"} for number in range(subscriptions)
    )
    chance = random.Random(seed)
    high = -(-districts // _WIDE)
    times: list[tuple[float, float]] = []
    counts: list[tuple[int, int, int]] = []
    for at in range(_WARMING + _EVENTS):
        here = [
            _WEST + _SIDE * chance.uniform(0, _WIDE),
            _SOUTH + _SIDE * chance.uniform(0, high),
        ]
        began = time.perf_counter()
        result = matcher.match({"id": f"e{at}", "position": here})
        seconds, account = time.perf_counter() - began, result.account
        times.append((seconds, account.seconds["index"]))
        counts.append((account.candidates, account.calls, account.needed_at_least))
    whole, index = (statistics.median(each) for each in zip(*times[_WARMING:], strict=True))
    means = [statistics.fmean(each) for each in zip(*counts[_WARMING:], strict=True)]
    yield {
        "part": f"{subscriptions:,} locIn over {districts:,} districts",
        "us": 1e6 * whole,
        "index_us": 1e6 * index,
        "over_index": whole / index,
        **dict(zip(("candidates", "calls", "needed"), means, strict=True)),
    }


def _matcher(districts: int) -> Matcher:
    features = []
    for number in range(districts):
        west = _WEST + _SIDE * (number % _WIDE)
        south = _SOUTH + _SIDE * (number // _WIDE)
        east, north = west + _SIDE, south + _SIDE
        ring = [[west, south], [east, south], [east, north], [west, north], [west, south]]
        features.append(
            {
                "type": "Feature",
                "properties": {"name": f"d{number}"},
                "geometry": {"type": "Polygon", "coordinates": [ring]},
            }
        )
    with TemporaryDirectory() as folder:
        file = Path(folder) / "districts.geojson"
        file.write_text(json.dumps({"type": "FeatureCollection", "features": features}))
        matcher = Matcher(spatial.operators(file, built_in=False))
        matcher.subscribe("locIn(d0)", id="first")  # the file is read with the first one
    return matcher
