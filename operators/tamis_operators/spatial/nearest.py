"""`nearest(kind, ?name, ?metres)`: which place of a kind is nearest to the position, and how far;
`nearest(?kind, ?name, ?metres)`: of each kind.

Places that are equally far, to the millimetre, are solutions all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from tamis import Parameter, Sample, Variable
from tamis_operators.spatial.boxes import Declaration, near, united
from tamis_operators.spatial.common import METRES, NAME, SpatialOperator, specified


class NearestPlace(SpatialOperator):
    """Finds the nearest place of a kind."""

    specification = specified(
        "nearest",
        "Which place of a kind (airport, bridge, park …) is nearest, and how far it is.",
        Parameter("kind", NAME, variable=True),
        Parameter("name", NAME),
        Parameter("metres", METRES),
        outputs=("name", "metres"),
        cost_seconds=5e-5,
    )

    def check(self, kind: Any, name: Any, metres: Any) -> Sequence[object]:
        """Checks that the kind is that of some place."""
        return kind if isinstance(kind, Variable) else self.gazetteer.kind(kind), name, metres

    def solve(self, event: Any, kind: Any, *asked: Any) -> Iterable[tuple[Any, ...]]:
        """Returns the nearest one, or those that are equally near; of one kind or of each."""
        if isinstance(kind, Variable):
            return (
                (each, *found)
                for each in self.gazetteer.kinds
                for found in self.gazetteer.nearest(event.prepared, each)
            )
        return self.gazetteer.nearest(event.prepared, kind)

    def boxed(self, kind: Any, name: Any, metres: Any) -> list[Declaration]:
        """Declares that the position's box meets one around the places, if it is bounded."""
        kind = None if isinstance(kind, Variable) else kind
        if not isinstance(name, Variable):
            named = [each.bounds for each in self.gazetteer.places if each.name == name]
            bounds = united(named) if named else self.gazetteer.bounds_of_kind(kind)
        else:
            bounds = self.gazetteer.bounds_of_kind(kind)
        return near(bounds, metres.most if isinstance(metres, Variable) else metres)

    def in_solutions(self, arguments: Sequence[Any]) -> Sequence[Any]:
        """Arguments as they are."""
        return arguments

    def samples(self) -> Iterable[Sample]:
        """Returns some samples of New York, where it is known."""
        if self.built_in:
            here = {"position": [-73.7789, 40.6398]}
            yield Sample("nearest(airport, ?name, ?metres)", here, [("JFKAirport", 0.0)])
            yield Sample("nearest(?kind, ?name, ?metres)", here)
