"""`intersects(region)`: whether some of the position lies in an area, or on a line;
`intersects(?region)`: in or on which ones.

Only what lies in a region is implied: a line meets regions that have nothing in common.
"""

from __future__ import annotations

from collections.abc import Iterable

from tamis import Parameter, Sample
from tamis_operators.spatial.common import NAME, RegionOperator, specified


class Intersects(RegionOperator):
    """Decides whether the position meets a line or an area; with a variable, finds those."""

    specification = specified(
        "intersects",
        "Whether the position (a point, line or area) has a point in common with a line or area.",
        Parameter("region", NAME, variable=True),
        cost_seconds=6e-6,
        marginal_cost_seconds=2e-7,
    )
    meets = True

    def samples(self) -> Iterable[Sample]:
        """Returns some samples of New York, where it is known."""
        if self.built_in:
            line = {"type": "LineString", "coordinates": [[-73.897, 40.8448], [-73.9855, 40.758]]}
            yield Sample("intersects(Bronx)", {"position": line}, True)
            yield Sample("intersects(Manhattan)", {"position": line}, True)
            yield Sample("intersects(StatenIsland)", {"position": line}, False)
            yield Sample("intersects(Bronx)", {"position": [-73.897, 40.8448]}, True)
            yield Sample("intersects(?region)", {"position": [-73.9855, 40.758]})
