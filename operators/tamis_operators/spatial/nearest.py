"""`nearest(kind, ?name, ?metres)`: which place of a kind is nearest to the position, and how far.

Places that are equally far, to the millimetre, are solutions all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from tamis import Parameter, Preparation, Sample, Specification
from tamis_operators.spatial.common import METRES, NAME, SpatialOperator, specification
from tamis_operators.spatial.configuration import Configuration


def specified(configuration: Configuration, shared: Preparation) -> Specification:
    """Its specification."""
    return specification(
        "nearest",
        "Which place of a kind (airport, bridge, park …) is nearest, and how far it is.",
        (Parameter("kind", NAME), Parameter("name", NAME), Parameter("metres", METRES)),
        configuration,
        shared,
        outputs=("name", "metres"),
        cost_seconds=5e-5,
    )


class Nearest(SpatialOperator):
    """Which place of a kind is nearest."""

    def check(self, kind: Any, name: Any, metres: Any) -> Sequence[object]:
        """The kind is that of some place."""
        return self.gazetteer.kind(kind), name, metres

    def solve(self, event: Any, kind: str, *asked: Any) -> list[tuple[str, float]]:
        """The nearest one, or those that are equally near."""
        return self.gazetteer.nearest(event.prepared, kind)

    def samples(self) -> Iterable[Sample]:
        """Some of New York, where it is known."""
        if self.built_in:
            here = {"position": [-73.7789, 40.6398]}
            yield Sample("nearest(airport, ?name, ?metres)", here, [("JFKAirport", 0.0)])
