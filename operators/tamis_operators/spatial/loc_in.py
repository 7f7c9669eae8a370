"""`locIn(region)`: whether all of the position lies in a region, whose border belongs to it;
`locIn(?region)`: in which ones.

All regions that are asked about one event are answered by one query of a tree of their boxes. A
region implies those it lies in and excludes those it has no point in common with.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from tamis import Implication, Parameter, Preparation, Sample, Specification, Variable
from tamis_operators.spatial.boxes import Declaration, lying_in
from tamis_operators.spatial.common import NAME, SpatialOperator, answered, specification
from tamis_operators.spatial.configuration import Configuration
from tamis_operators.spatial.geojson import AREA

if TYPE_CHECKING:
    from tamis_operators.spatial.places import Place

_MOST_EXCLUDED = 64
"""In a gazetteer of more areas disjointness is not declared: there it is true of most pairs, and
to weigh them costs more than the one query that answers all of them anyway."""


def specified(configuration: Configuration, shared: Preparation) -> Specification:
    """Specifies the operator."""
    return specification(
        "locIn",
        "Whether the position lies in a region (all of it; the border belongs to the region).",
        (Parameter("region", NAME, variable=True),),
        configuration,
        shared,
        cost_seconds=6e-6,
        marginal_cost_seconds=2e-7,
    )


class LocIn(SpatialOperator):
    """Decides whether the position lies in a region; with a variable, finds those."""

    def check(self, region: Any) -> Sequence[object]:
        """Returns the number of the region."""
        return (region if isinstance(region, Variable) else self.gazetteer.region(region).number,)

    def solve(self, event: Any, region: Any) -> bool | list[str]:
        """Returns whether one region holds the position, or the names of all that do."""
        if isinstance(region, Variable):
            return self.gazetteer.names_holding(event.prepared)
        place: Place = self.gazetteer.places[region]
        return place.holds(event.prepared)

    def solve_many(self, event: Any, lists: Sequence[Sequence[Any]]) -> list[bool | list[str]]:
        """Answers all regions by one query."""
        return answered(self, event, lists, self.gazetteer.holding)

    def implications(
        self, arguments: Sequence[Any], others: Sequence[Sequence[Any]]
    ) -> Iterable[Implication]:
        """Implies the regions around this one, and excludes those away from it."""
        numbers = [number for (number,) in others]
        few = self.gazetteer.areas <= _MOST_EXCLUDED
        for at, around, away in self.gazetteer.related(arguments[0], numbers, away=few):
            if around:
                yield Implication(True, at, True)
            if away and few:
                yield Implication(True, at, False)

    def necessary(self, arguments: Sequence[Any]) -> list[Declaration]:
        """Declares that the position's box lies in that of the region, or of all regions."""
        if not self.is_boxed:
            return []
        return lying_in(self.bounds(arguments[0], AREA))

    def samples(self) -> Iterable[Sample]:
        """Returns some samples of New York, where it is known."""
        if self.built_in:
            yield Sample("locIn(Bronx)", {"position": [-73.897, 40.8448]}, True)
            yield Sample("locIn(Manhattan)", {"position": [-73.897, 40.8448]}, False)
            yield Sample("locIn(NewYork)", {"position": [-73.9855, 40.758]}, True)
            line = {"type": "LineString", "coordinates": [[-73.897, 40.8448], [-73.9855, 40.758]]}
            yield Sample("locIn(NewYork)", {"position": line}, True)
            yield Sample("locIn(Bronx)", {"position": line}, False)
            inside = ["Bronx", "NewYork"]
            yield Sample("locIn(?region)", {"position": [-73.897, 40.8448]}, inside)
            yield Sample("locIn(?region)", {"position": line}, ["NewYork"])
