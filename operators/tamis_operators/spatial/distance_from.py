"""`distanceFrom(place, ?metres)`: how far the position is from a place, along the ground;
`distanceFrom(?place, ?metres)`: from all of them, the nearest first.

The least geodesic distance on WGS84, to the millimetre; 0 within an area and on a line.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from tamis import Parameter, Sample, Variable
from tamis_operators.spatial.boxes import Declaration, near
from tamis_operators.spatial.common import METRES, NAME, SpatialOperator, specified


class DistanceFrom(SpatialOperator):
    """Measures the distance of the position from a place."""

    specification = specified(
        "distanceFrom",
        "How far the position is from a place, in metres along the ground.",
        Parameter("place", NAME, variable=True),
        Parameter("metres", METRES),
        outputs=("metres",),
        cost_seconds=5e-5,
    )

    def check(self, place: Any, metres: Any) -> Sequence[object]:
        """Returns the number of the place."""
        if isinstance(place, Variable):
            return place, metres
        return self.gazetteer.place(place).number, metres

    def solve(self, event: Any, place: Any, metres: Any) -> Iterable[float | tuple[str, float]]:
        """Returns the one distance, or all places with theirs."""
        if isinstance(place, Variable):
            return self.gazetteer.by_distance(event.prepared, math.inf)
        return [self.gazetteer.distance_m(event.prepared, place)]

    def boxed(self, place: Any, metres: Any) -> list[Declaration]:
        """Declares that the position's box meets one around the place, if it is bounded."""
        most = metres.most if isinstance(metres, Variable) else metres
        return near(self.bounds(place), most)

    def samples(self) -> Iterable[Sample]:
        """Returns some samples of New York, where it is known."""
        if self.built_in:
            here = {"position": [-73.897, 40.8448]}
            yield Sample("distanceFrom(StatueOfLiberty, ?metres)", here)
            yield Sample("distanceFrom(Bronx, ?metres)", here, [0.0])
            yield Sample("distanceFrom(?place, ?metres)", here)
