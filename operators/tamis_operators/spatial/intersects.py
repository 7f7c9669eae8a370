"""`intersects(region)`: whether some of the position lies in an area, or on a line;
`intersects(?region)`: in or on which ones.

Only what lies in a region is implied: a line meets regions that have nothing in common.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from tamis import Implication, Parameter, Preparation, Sample, Specification, Variable
from tamis_operators.spatial.boxes import Declaration, meeting
from tamis_operators.spatial.common import NAME, SpatialOperator, answered, specification
from tamis_operators.spatial.configuration import Configuration
from tamis_operators.spatial.geojson import AREA, LINE

if TYPE_CHECKING:
    from tamis_operators.spatial.places import Place


def specified(configuration: Configuration, shared: Preparation) -> Specification:
    """Specifies the operator."""
    return specification(
        "intersects",
        "Whether the position (a point, line or area) has a point in common with a line or area.",
        (Parameter("region", NAME, variable=True),),
        configuration,
        shared,
        cost_seconds=6e-6,
        marginal_cost_seconds=2e-7,
    )


class Intersects(SpatialOperator):
    """Decides whether the position meets a line or an area; with a variable, finds those."""

    def check(self, region: Any) -> Sequence[object]:
        """Returns the number of the line or area."""
        return (region if isinstance(region, Variable) else self.gazetteer.extended(region).number,)

    def solve(self, event: Any, region: Any) -> bool | list[str]:
        """Returns whether it meets one of them, or the names of all that the position meets."""
        if isinstance(region, Variable):
            return self.gazetteer.names_meeting(event.prepared)
        place: Place = self.gazetteer.places[region]
        return place.meets(event.prepared)

    def solve_many(self, event: Any, lists: Sequence[Sequence[Any]]) -> list[bool | list[str]]:
        """Answers all of them by one query."""
        return answered(self, event, lists, self.gazetteer.meeting)

    def implications(
        self, arguments: Sequence[Any], others: Sequence[Sequence[Any]]
    ) -> Iterable[Implication]:
        """Implies for lines and areas those around them."""
        numbers = [number for (number,) in others]
        for at, around, _ in self.gazetteer.related(arguments[0], numbers, away=False):
            if around:
                yield Implication(True, at, True)

    def necessary(self, arguments: Sequence[Any]) -> list[Declaration]:
        """Declares that the position's box meets that of the region, or of all regions."""
        if not self.is_boxed:
            return []
        return meeting(self.bounds(arguments[0], LINE, AREA))

    def samples(self) -> Iterable[Sample]:
        """Returns some samples of New York, where it is known."""
        if self.built_in:
            line = {"type": "LineString", "coordinates": [[-73.897, 40.8448], [-73.9855, 40.758]]}
            yield Sample("intersects(Bronx)", {"position": line}, True)
            yield Sample("intersects(Manhattan)", {"position": line}, True)
            yield Sample("intersects(StatenIsland)", {"position": line}, False)
            yield Sample("intersects(Bronx)", {"position": [-73.897, 40.8448]}, True)
            yield Sample("intersects(?region)", {"position": [-73.9855, 40.758]})
