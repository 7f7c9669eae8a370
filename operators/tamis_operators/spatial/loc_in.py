"""`locIn(region)`: whether all of the position lies in a region, whose border belongs to it;
`locIn(?region)`: in which ones.

All regions that are asked about one event are answered by one query of a tree of their boxes. A
region implies those it lies in and excludes those it has no point in common with.
"""

from __future__ import annotations

from collections.abc import Iterable

from tamis import Parameter, Sample
from tamis_operators.spatial.common import NAME, RegionOperator, specified


class LocIn(RegionOperator):
    """Decides whether the position lies in a region; with a variable, finds those."""

    specification = specified(
        "locIn",
        "Whether the position lies in a region (all of it; the border belongs to the region).",
        Parameter("region", NAME, variable=True),
        cost_seconds=6e-6,
        marginal_cost_seconds=2e-7,
    )
    meets = False

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
