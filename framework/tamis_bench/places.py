"""What spatial answers cost: `tamis bench places [--json] [--seed N]`.

Each figure is the median of several passes in one process; what is compared alternates. Answers are
compared too: a figure for wrong answers is not printed.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

from tamis_operators.spatial.configuration import configured
from tamis_operators.spatial.gazetteer import Gazetteer, gazetteer_of
from tamis_operators.spatial.places import Place
from tamis_operators.spatial.position import Position, position_of
from tamis_operators.spatial.reading import geometry_of

_PASSES = 7
_SIDE = 0.02
Row = tuple[str, float]


def main(arguments: Sequence[str] | None = None) -> None:
    """Prints the figures."""
    words = (__doc__ or "").partition("\n")[0]
    parser = argparse.ArgumentParser(prog="tamis bench places", description=words)
    parser.add_argument("--json", action="store_true", help="print them as JSON")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args(arguments)
    rows = figures(given.seed)
    if given.json:
        print(json.dumps(dict(rows), indent=2))
        return
    for what, value in rows:
        print(f"{what:<66}{value:>10.2f}")


def figures(seed: int, points: int = 400, regions: int = 1_000) -> list[Row]:
    """What is measured, and how much it is."""
    chance = random.Random(seed)
    here = [[chance.uniform(-74.05, -73.75), chance.uniform(40.55, 40.9)] for _ in range(points)]
    return [*_new_york(here), *_many(chance, here, regions)]


def _new_york(here: Sequence[Sequence[float]]) -> list[Row]:
    known = gazetteer_of(configured(()))
    bronx = known.region("Bronx")
    statue, queens = known.place("StatueOfLiberty").number, known.place("Queens").number

    def each(work: Callable[[Position], object]) -> Callable[[], object]:
        """On positions that were read before, without distances that were asked before."""
        read = [position_of(at, 10_000) for at in here]

        def run() -> None:
            for position in read:
                position.distances.clear()
                work(position)

        return run

    measured = _alternating(
        {
            "read a point": lambda: [position_of(at, 10_000) for at in here],
            "locIn, one region": each(bronx.holds),
            "distanceFrom a point": each(lambda at: known.distance_m(at, statue)),
            "distanceFrom an area of 19 edges": each(lambda at: known.distance_m(at, queens)),
            "nearest bridge of 14": each(lambda at: known.nearest(at, "bridge")),
        }
    )
    return [(f"{what}, µs", 1e6 * seconds / len(here)) for what, seconds in measured.items()]


def _many(chance: random.Random, here: Sequence[Sequence[float]], regions: int) -> list[Row]:
    """Regions all over the city, each an octagon, some over each other."""
    known = Gazetteer([_octagon(chance, number) for number in range(regions)])
    numbers = [each.prepare().number for each in known.places]
    read = [position_of(at, 10_000) for at in here]
    one_query = [known.holding(position, numbers) for position in read]
    one_by_one = [[place.holds(position) for place in known.places] for position in read]
    if one_query != one_by_one:
        raise AssertionError("one query and one by one differ")
    measured = _alternating(
        {
            "query": lambda: [known.holding(position, numbers) for position in read],
            "single": lambda: [
                [each.holds(position) for each in known.places] for position in read
            ],
        }
    )
    inside = sum(map(sum, one_query)) / len(read)
    return [
        (f"locIn, {regions:,} regions ({inside:.1f} hold a point), one query, µs",
         1e6 * measured["query"] / len(read)),
        (f"locIn, {regions:,} regions, one by one, µs", 1e6 * measured["single"] / len(read)),
        ("one by one over one query", measured["single"] / measured["query"]),
    ]  # fmt: skip


def _octagon(chance: random.Random, number: int) -> Place:
    x, y = chance.uniform(-74.05, -73.75), chance.uniform(40.55, 40.9)
    size = chance.uniform(_SIDE / 4, _SIDE)
    corners = [(1, 3), (3, 1), (3, -1), (1, -3), (-1, -3), (-3, -1), (-3, 1), (-1, 3), (1, 3)]
    ring = [[x + size * a / 3, y + size * b / 3] for a, b in corners]
    geometry: Any = geometry_of({"type": "Polygon", "coordinates": [ring]})
    return Place(number, f"r{number}", (), None, geometry, "bench")


def _alternating(works: dict[str, Callable[[], object]]) -> dict[str, float]:
    """The median seconds of each, taken in turns."""
    taken: dict[str, list[float]] = {what: [] for what in works}
    for _ in range(_PASSES):
        for what, work in works.items():
            started = time.perf_counter()
            work()
            taken[what].append(time.perf_counter() - started)
    return {what: statistics.median(each) for what, each in taken.items()}
