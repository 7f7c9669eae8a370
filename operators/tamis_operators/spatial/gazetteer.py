"""Finds places by name, regions by position, and what regions say of each other.

A gazetteer is read once a process and configuration, and never changes. Places are known by number.
Cost: a point in all regions is one query of a tree and a prepared test for each box that it is in.
"""

from __future__ import annotations

import functools
import heapq
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import shapely

from tamis import ArgumentError
from tamis_operators.spatial.boxes import united
from tamis_operators.spatial.configuration import VARIABLE, Configuration, digest_of
from tamis_operators.spatial.distance import apart, between_points, widest_chord
from tamis_operators.spatial.errors import GazetteerError
from tamis_operators.spatial.geojson import AREA, LINE, POINT
from tamis_operators.spatial.places import KINDS, Place
from tamis_operators.spatial.position import Position
from tamis_operators.spatial.reading import entries_of
from tamis_operators.spatial.relations import MARGIN_DEGREES, disjoint, inside

Bounds = tuple[float, float, float, float]
_FEW = 3
_MILLIMETRES = 3
_YOURS = (
    f"; bring places of your own by {VARIABLE}=places.geojson, features with a name, "
    "or spatial.operators(gazetteer=…)"
)


class PositionRelation(NamedTuple):
    """A way in which a position may lie to a region, and which places can be asked for it."""

    decides: Callable[[Place, Position], bool]
    dimensions: tuple[int, ...]
    wanted: str


WITHIN = PositionRelation(Place.holds, (AREA,), "an area")
MEETING = PositionRelation(Place.meets, (LINE, AREA), "a line or an area")


@functools.lru_cache(maxsize=16)
def gazetteer_of(configuration: Configuration) -> Gazetteer:
    """Returns the gazetteer of a configuration; `GazetteerError` says what is wrong with it."""
    try:
        files = configuration.files
    except OSError as failure:
        raise GazetteerError(f"the gazetteer cannot be read: {failure}") from failure
    now = digest_of(configuration)
    if now != configuration.digest:
        raise GazetteerError(
            f"the files of the gazetteer are not those it was configured with (digest {now}, "
            f"expected {configuration.digest}): {', '.join(map(str, files))}"
        )
    places = [
        Place(number, entry.name, entry.names, entry.kind, entry.geometry, entry.where)
        for number, entry in enumerate(entries_of(files))
    ]
    return Gazetteer(places)


class Gazetteer:
    """All places of some files."""

    def __init__(self, places: Sequence[Place]) -> None:
        self.places = list(places)
        self._named = {name: each for each in self.places for name in (each.name, *each.names)}
        self._regions = [each for each in self.places if each.dimension != POINT]
        self._boxes: Any = None
        self._edges_of_plane: set[int] = set()
        self._lock = threading.Lock()
        self._by_kind: dict[str, list[Place]] = {}
        for each in self.places:
            if each.kind is not None:
                self._by_kind.setdefault(each.kind, []).append(each)
        self._balls: dict[str | None, Any] = {}
        self._held: dict[object, Bounds] = {}
        self._bounds = np.array([each.bounds for each in self.places]).reshape(-1, 4)
        self._related: dict[tuple[int, int], tuple[bool, bool]] = {}

    @functools.cached_property
    def areas(self) -> int:
        """The number of places that are areas."""
        return sum(each.dimension == AREA for each in self._regions)

    def place(self, name: object) -> Place:
        """Returns the place of a name; `ArgumentError` with the nearest name for an unknown one."""
        found = self._named.get(name) if isinstance(name, str) else None
        if found is None:
            raise ArgumentError.unknown("place", name, self._named, otherwise=_YOURS)
        return found

    def region(self, name: object, relation: PositionRelation = WITHIN) -> Place:
        """Returns the area of a name, where that will do the line, ready to be asked."""
        fitting = relation.dimensions
        found = self._named.get(name) if isinstance(name, str) else None
        if found is None:
            known = [each for each, of in self._named.items() if of.dimension in fitting]
            raise ArgumentError.unknown("region", name, known, otherwise=_YOURS)
        if found.dimension not in fitting:
            raise ArgumentError(
                f"{name} is {KINDS[found.dimension]}, not {relation.wanted}: "
                f"locWithin({name}, 100m) takes its surroundings"
            )
        return found.prepare()

    def kind(self, name: object) -> str:
        """Returns a kind that some place has."""
        if not isinstance(name, str) or name not in self._by_kind:
            raise ArgumentError.unknown("kind", name, self._by_kind)
        return name

    def names(self, position: Position, relation: PositionRelation) -> list[str]:
        """Returns the names of all regions that the position lies to so."""
        found = [self.places[number] for number in sorted(self._candidates(position))]
        return [
            each.name
            for each in found
            if each.dimension in relation.dimensions and relation.decides(each.prepare(), position)
        ]

    @property
    def kinds(self) -> list[str]:
        """The kinds that places have."""
        return sorted(self._by_kind)

    def bounds_of(self, *dimensions: int) -> Bounds:
        """Bounds that hold all places of some dimensions, of all where none is named."""
        return self._united(dimensions, self.places)

    def bounds_of_kind(self, kind: str | None) -> Bounds:
        """Bounds that hold all places of a kind, or of any."""
        if kind is not None:
            return self._united(kind, self._by_kind[kind])
        return self._united(None, [each for of in self._by_kind.values() for each in of])

    def _united(self, key: object, places: Iterable[Place]) -> Bounds:
        known = self._held.get(key)
        if known is None:
            dimensions = key if isinstance(key, tuple) and key else (POINT, LINE, AREA)
            known = self._held[key] = united(
                each.bounds for each in places if each.dimension in dimensions
            )
        return known

    def by_distance(self, position: Position, most_m: float) -> Iterator[tuple[str, float]]:
        """Yields all places that are at most so far, the nearest first, with their distances."""
        low = self._least(position, None, self.places)
        waiting: list[tuple[float, str]] = []
        for at in np.argsort(low, kind="stable").tolist():
            while waiting and low[at] > widest_chord(waiting[0][0] + 1e-3):
                distance, name = heapq.heappop(waiting)
                yield name, distance
            if low[at] > widest_chord(most_m + 1e-3):
                break
            distance = self.distance_m(position, at)
            if distance <= most_m:
                heapq.heappush(waiting, (distance, self.places[at].name))
        while waiting:
            distance, name = heapq.heappop(waiting)
            yield name, distance

    def _least(self, position: Position, kind: str | None, places: Sequence[Place]) -> Any:
        """Chords that are no longer than the distances of places."""
        if kind not in self._balls:
            self._balls[kind] = _balls([each.pieces for each in places])
        centers, radii = self._balls[kind]
        (center,), (radius,) = _balls([position.pieces])
        return np.sqrt(((centers - center) ** 2).sum(axis=1)) - radii - radius

    def answers(
        self, position: Position, numbers: Sequence[int], relation: PositionRelation = WITHIN
    ) -> list[bool]:
        """Returns for some regions whether the position lies to each so."""
        places, decides = self.places, relation.decides
        if len(numbers) <= _FEW:
            return [decides(places[number], position) for number in numbers]
        candidates = self._candidates(position)
        known = {each: decides(places[each], position) for each in candidates.intersection(numbers)}
        return [known.get(number, False) for number in numbers]

    def _candidates(self, position: Position) -> set[int]:
        """Returns the numbers of lines and areas whose boxes meet the position's, and of those at
        the antimeridian or at a pole if it is there too."""
        if self._boxes is None:
            with self._lock:
                if self._boxes is None:
                    self._build()
        if position.point is not None:
            x, y = position.point
            found = set(self._numbers[self._boxes.query(shapely.Point(x, y))].tolist())
            return found | self._edges_of_plane if abs(x) == 180 or abs(y) == 90 else found
        parts = position.parts
        hits = self._boxes.query([part.geometry for part in parts])[1]
        found = set(self._numbers[hits].tolist())
        at_edge = any(part.seam or part.north or part.south for part in parts)
        return found | self._edges_of_plane if at_edge else found

    def _build(self) -> None:
        self._numbers = np.array([each.number for each in self._regions], np.int64)
        self._edges_of_plane = {
            each.number for each in self._regions if each.seam or each.north or each.south
        }
        boxes = shapely.STRtree([each.geometry for each in self._regions])
        boxes.query(shapely.Point(0, 0))  # builds it: queries by several threads only read
        self._boxes = boxes

    def distance_m(self, position: Position, number: int) -> float:
        """Returns the least distance from a place, to the millimetre; 0 within an area."""
        known = position.distances.get(number)
        if known is None:
            known = position.distances[number] = self._distance(position, self.places[number])
        return known

    def _distance(self, position: Position, place: Place) -> float:
        here, there = position.point, place.point
        if here is not None and there is not None:
            return round(between_points(*here, *there), _MILLIMETRES)
        if self._overlap(position, place):
            return 0.0
        return round(apart(position.pieces, place.pieces), _MILLIMETRES)

    @staticmethod
    def _overlap(position: Position, place: Place) -> bool:
        """Returns whether they meet on the plane, where one of them is more than points."""
        if place.dimension != POINT:
            return place.prepare().meets(position)
        if all(part.dimension == POINT for part in position.parts):
            return False
        points = [
            Position(at, None)
            for at in map(tuple, shapely.get_coordinates(place.geometry).tolist())
        ]
        areas = [
            Place(-1, "", (), None, part.geometry, "")
            for part in position.parts
            if part.dimension != POINT
        ]
        return any(area.meets(point) for area in areas for point in points)

    def nearest(self, position: Position, kind: str) -> list[tuple[str, float]]:
        """Finds the nearest place of a kind (all that are, to the millimetre), and how far."""
        places = self._by_kind[kind]
        low = self._least(position, kind, places)
        found: list[tuple[str, float]] = []
        for at in np.argsort(low, kind="stable").tolist():
            if found and low[at] > widest_chord(found[0][1] + 1e-3):
                break
            distance = self.distance_m(position, places[at].number)
            if not found or distance < found[0][1]:
                found = []
            if not found or distance == found[0][1]:
                found.append((places[at].name, distance))
        return sorted(found)

    def related(
        self, number: int, others: Sequence[int], *, away: bool = True
    ) -> Iterable[tuple[int, bool, bool]]:
        """Yields which of other regions, by their place in the list, this one lies in, or has no
        point in common with: `(place, lies in it, disjoint)`.

        Those far `away`, which may be very many, only where they are asked for."""
        if not others:
            return
        low_x, low_y, high_x, high_y = self._bounds[number]
        bounds = self._bounds[np.asarray(others, np.int64)]
        margin = 2 * MARGIN_DEGREES
        are_away = (
            (bounds[:, 0] > high_x + margin)
            | (bounds[:, 2] < low_x - margin)
            | (bounds[:, 1] > high_y + margin)
            | (bounds[:, 3] < low_y - margin)
        )
        mine = self.places[number]
        edge = mine.seam or mine.north or mine.south
        places = range(len(others)) if away or edge else np.flatnonzero(~are_away).tolist()
        for at in places:
            if are_away[at] and not edge:
                yield at, False, True
                continue
            other = others[at]
            known = self._related.get((number, other))
            if known is None:
                place = self.places[other]
                known = self._related[number, other] = inside(mine, place), disjoint(mine, place)
            if known != (False, False):
                yield at, *known


def _balls(groups: Sequence[Any]) -> tuple[Any, Any]:
    """Returns for each group of pieces a ball that holds it."""
    centers = np.array([each.middle.mean(axis=0) for each in groups]).reshape(-1, 3)
    radii = [
        float(np.max(np.sqrt(((each.middle - center) ** 2).sum(axis=1)) + each.half_m))
        for each, center in zip(groups, centers, strict=True)
    ]
    return centers, np.array(radii)
