"""Measures spatial operators: medians of several passes; what is compared takes turns.

Answers are compared too, and a run with a wrong answer fails.
"""

from __future__ import annotations

import random
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Annotated, Any

from tamis_bench import districts
from tamis_bench.options import Passes, Seed, count
from tamis_bench.report import Row
from tamis_bench.timing import alternating
from tamis_operators.spatial.configuration import configured
from tamis_operators.spatial.gazetteer import Gazetteer, gazetteer_of
from tamis_operators.spatial.places import Place
from tamis_operators.spatial.position import Position, position_of
from tamis_operators.spatial.reading import geometry_of

_SIDE = 0.02


def measured(
    *,
    points: Annotated[int, count("Positions that are asked for.")] = 400,
    regions: Annotated[int, count("Regions all over the city.")] = 1_000,
    subscriptions: Annotated[int, count("Subscriptions of districts.")] = 200_000,
    passes: Passes = 7,
    seed: Seed = 1,
) -> Iterator[Row]:
    """Yields a row for each operator in New York, for many regions about a point, and for very
    many subscriptions of districts."""
    chance = random.Random(seed)
    here = [[chance.uniform(-74.05, -73.75), chance.uniform(40.55, 40.9)] for _ in range(points)]
    for what, each_us in _medians(_new_york(here), passes, points).items():
        yield {"part": "Places in New York", "what": what, "median_us": each_us}
    many, inside = _many(chance, here, regions)
    medians = _medians(many, passes, points)
    part = f"locIn, {regions:,} regions, of which {inside:.1f} hold a point"
    for what, each_us in medians.items():
        over = each_us / medians["one query"]
        yield {"part": part, "what": what, "median_us": each_us, "over_one_query": over}
    yield from districts.rows(max(1, subscriptions // 100), subscriptions, seed)


def _medians(
    works: Mapping[str, Callable[[], object]], passes: int, points: int
) -> dict[str, float]:
    """Returns the microseconds of a point."""
    timed = alternating(works, passes)
    return {what: 1e6 * statistics.median(each.seconds) / points for what, each in timed.items()}


def _new_york(here: Sequence[Sequence[float]]) -> dict[str, Callable[[], object]]:
    known = gazetteer_of(configured(()))
    bronx = known.region("Bronx")
    statue, queens = known.place("StatueOfLiberty").number, known.place("Queens").number

    def each(work: Callable[[Position], object]) -> Callable[[], object]:
        """Works on positions that were read before, without distances that were asked before."""
        read = [position_of(at, 10_000) for at in here]

        def run() -> None:
            for position in read:
                position.distances.clear()
                work(position)

        return run

    return {
        "read a point": lambda: [position_of(at, 10_000) for at in here],
        "locIn, one region": each(bronx.holds),
        "distanceFrom a point": each(lambda at: known.distance_m(at, statue)),
        "distanceFrom an area of 19 edges": each(lambda at: known.distance_m(at, queens)),
        "nearest bridge of 14": each(lambda at: known.nearest(at, "bridge")),
    }


def _many(
    chance: random.Random, here: Sequence[Sequence[float]], regions: int
) -> tuple[dict[str, Callable[[], object]], float]:
    """Returns ways to ask for regions all over the city, each an octagon, some over each other; and
    how many of them hold a point."""
    known = Gazetteer([_octagon(chance, number) for number in range(regions)])
    numbers = [each.prepare().number for each in known.places]
    read = [position_of(at, 10_000) for at in here]

    def one_query() -> list[Sequence[bool]]:
        return [known.answers(position, numbers) for position in read]

    def one_by_one() -> list[Sequence[bool]]:
        return [[place.holds(position) for place in known.places] for position in read]

    held = one_query()
    if held != one_by_one():
        raise AssertionError("one query and one by one differ")
    inside = sum(map(sum, held)) / len(read)
    return {"one query": one_query, "one by one": one_by_one}, inside


def _octagon(chance: random.Random, number: int) -> Place:
    x, y = chance.uniform(-74.05, -73.75), chance.uniform(40.55, 40.9)
    size = chance.uniform(_SIDE / 4, _SIDE)
    corners = [(1, 3), (3, 1), (3, -1), (1, -3), (-1, -3), (-3, -1), (-3, 1), (-1, 3), (1, 3)]
    ring = [[x + size * a / 3, y + size * b / 3] for a, b in corners]
    geometry: Any = geometry_of({"type": "Polygon", "coordinates": [ring]})
    return Place(number, f"r{number}", (), None, geometry, "bench")
