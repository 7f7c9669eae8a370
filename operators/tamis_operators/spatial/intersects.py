"""`intersects(region)`: whether some of the position lies in an area, or on a line.

Only what lies in a region is implied: a line meets regions that have nothing in common.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from tamis import Implication, Parameter, Preparation, Sample, Specification
from tamis_operators.spatial.boxes import Declaration, meeting
from tamis_operators.spatial.common import NAME, SpatialOperator, specification
from tamis_operators.spatial.configuration import Configuration


def specified(configuration: Configuration, shared: Preparation) -> Specification:
    """Its specification."""
    return specification(
        "intersects",
        "Whether the position (a point, line or area) has a point in common with a line or area.",
        (Parameter("region", NAME),),
        configuration,
        shared,
        cost_seconds=6e-6,
        marginal_cost_seconds=2e-7,
    )


class Intersects(SpatialOperator):
    """Whether the position meets a line or an area."""

    def check(self, region: Any) -> Sequence[object]:
        """The number of the line or area."""
        return (self.gazetteer.extended(region).number,)

    def solve(self, event: Any, region: int) -> bool:
        """One of them."""
        return self.gazetteer.places[region].meets(event.prepared)

    def solve_many(self, event: Any, lists: Sequence[Sequence[Any]]) -> list[bool]:
        """All of them by one query."""
        return self.gazetteer.meeting(event.prepared, [number for (number,) in lists])

    def implications(
        self, arguments: Sequence[Any], others: Sequence[Sequence[Any]]
    ) -> Iterable[Implication]:
        """What meets this one meets those around it."""
        numbers = [number for (number,) in others]
        for at, around, _ in self.gazetteer.related(arguments[0], numbers):
            if around:
                yield Implication(True, at, True)

    def necessary(self, arguments: Sequence[Any]) -> list[Declaration]:
        """The position's box meets that of the region."""
        return meeting(self.gazetteer.places[arguments[0]].bounds)

    def samples(self) -> Iterable[Sample]:
        """Some of New York, where it is known."""
        if self.built_in:
            line = {"type": "LineString", "coordinates": [[-73.897, 40.8448], [-73.9855, 40.758]]}
            yield Sample("intersects(Bronx)", {"position": line}, True)
            yield Sample("intersects(Manhattan)", {"position": line}, True)
            yield Sample("intersects(StatenIsland)", {"position": line}, False)
            yield Sample("intersects(Bronx)", {"position": [-73.897, 40.8448]}, True)
