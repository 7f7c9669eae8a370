"""`locWithin(place, distance)`: whether the position is at most so many metres from a place;
`locWithin(?place, distance)`: from which ones.

The distance is that of `distanceFrom`. A distance implies all that are longer.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from tamis import ArgumentError, Implication, Parameter, Sample, Variable
from tamis_operators.spatial.boxes import Declaration, near
from tamis_operators.spatial.common import METRES, NAME, SpatialOperator, specified


class LocWithin(SpatialOperator):
    """Decides whether the position is within a distance of a place."""

    specification = specified(
        "locWithin",
        "Whether the position is within a distance of a place, in metres along the ground.",
        Parameter("place", NAME, variable=True),
        Parameter("distance", METRES),
        cost_seconds=5e-5,
    )

    def check(self, place: Any, distance: Any) -> Sequence[object]:
        """Returns the number of the place, and the distance."""
        if not isinstance(place, Variable):
            place = self.gazetteer.place(place).number
        if distance < 0:
            raise ArgumentError(f"a distance is not negative, as {distance} is", 1)
        return place, distance

    def solve(self, event: Any, place: Any, distance: float) -> bool | Iterable[str]:
        """Returns whether one place is so near, or the names of all that are."""
        if isinstance(place, Variable):
            near = self.gazetteer.by_distance(event.prepared, distance)
            return (name for name, _ in near)
        return self.gazetteer.distance_m(event.prepared, place) <= distance

    def solve_many(self, event: Any, lists: Sequence[Sequence[Any]]) -> list[object]:
        """Returns the distance from each place once; it is kept with the position."""
        answers: list[object] = []
        for place, distance in lists:
            try:
                answers.append(self.solve(event, place, distance))
            except ValueError as failure:
                answers.append(failure)
        return answers

    def implications(
        self, arguments: Sequence[Any], others: Sequence[Sequence[Any]]
    ) -> Iterable[Implication]:
        """Implies all longer distances."""
        place, distance = arguments
        for at, (other, longer) in enumerate(others):
            if other == place and longer >= distance:
                yield Implication(True, at, True)

    def boxed(self, place: Any, distance: float) -> list[Declaration]:
        """Declares that the position's box meets one around the place."""
        return near(self.bounds(place), distance)

    def samples(self) -> Iterable[Sample]:
        """Returns some samples of New York, where it is known."""
        if self.built_in:
            bronx = {"position": [-73.897, 40.8448]}
            yield Sample("locWithin(TimesSquare, 5000m)", bronx, False)
            yield Sample("locWithin(TimesSquare, 15km)", bronx, True)
            yield Sample("locWithin(Bronx, 0)", bronx, True)
            yield Sample("locWithin(?place, 0)", bronx, ["Bronx", "NewYork"])
            yield Sample("locWithin(?place, 15km)", bronx)
