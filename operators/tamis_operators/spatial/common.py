"""Prepares what the spatial operators share, and specifies what they have in common.

Only the standard library and tamis are imported here; the rest comes with the first operator made.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from tamis import Operator, Parameter, Preparation, Specification, Variable
from tamis.kit import NUMBER, STRING
from tamis_operators.spatial.configuration import Configuration

if TYPE_CHECKING:
    from tamis_operators.spatial.gazetteer import Gazetteer
    from tamis_operators.spatial.places import Place
    from tamis_operators.spatial.position import Position

INPUT = "position"
NAME = frozenset({STRING})
METRES = frozenset({NUMBER})


def located(event: Any, most_vertices: int, crs: str) -> Position:
    """Reads the position of the event."""
    from tamis_operators.spatial.position import position_of

    return position_of(event[INPUT], most_vertices, crs)


def preparation(configuration: Configuration) -> Preparation:
    """Makes the preparation of all spatial operators: it reads and checks the position, once."""
    return Preparation(
        "position",
        partial(located, most_vertices=configuration.most_vertices, crs=configuration.crs),
        inputs=(INPUT,),
        cost_seconds=5e-6,
    )


def specification(
    name: str,
    description: str,
    parameters: tuple[Parameter, ...],
    configuration: Configuration,
    shared: Preparation,
    *,
    outputs: tuple[str, ...] = (),
    cost_seconds: float,
    marginal_cost_seconds: float | None = None,
) -> Specification:
    """Returns the specification of a spatial operator."""
    return Specification(
        name=name,
        version=f"1-{configuration.digest}",
        description=description,
        parameters=parameters,
        outputs=outputs,
        inputs=(INPUT,),
        cost_seconds=cost_seconds,
        marginal_cost_seconds=marginal_cost_seconds,
        deterministic=True,
        preparation=shared,
        extra="tamis[spatial]",
        modules=("shapely", "pyproj"),
    )


def answered(
    operator: Operator,
    event: Any,
    lists: Sequence[Sequence[Any]],
    decided: Callable[[Any, list[int]], list[bool]],
) -> list[Any]:
    """Returns the answers to lists of one place: those of numbers by one query."""
    numbers = [place for (place,) in lists if not isinstance(place, Variable)]
    truths = iter(decided(event.prepared, numbers))
    return [
        operator.solve(event, place) if isinstance(place, Variable) else next(truths)
        for (place,) in lists
    ]


class SpatialOperator(Operator):
    """An operator with a gazetteer."""

    def __init__(self, configuration: Configuration, specification: Specification) -> None:
        from tamis_operators.spatial.gazetteer import gazetteer_of

        if configuration.crs:
            from tamis_operators.spatial.crs import checked_code

            checked_code(configuration.crs)
        self.specification = specification
        self.gazetteer: Gazetteer = gazetteer_of(configuration)
        self.built_in = configuration.built_in and not configuration.crs
        self.is_boxed = configuration.is_boxed

    def name_of(self, place: Any) -> Any:
        """Returns the name of a place in solutions; `None` for a variable."""
        return None if isinstance(place, Variable) else self.gazetteer.places[place].name

    def bounds(self, place: Any, *dimensions: int) -> tuple[float, float, float, float]:
        """Returns the bounds of a place; for a variable, of all places of these dimensions."""
        if isinstance(place, Variable):
            return self.gazetteer.bounds_of(*dimensions)
        known: Place = self.gazetteer.places[place]
        return known.bounds

    def in_solutions(self, arguments: Sequence[Any]) -> Sequence[Any]:
        """Returns the name of the place; other arguments as they are."""
        place, *others = arguments
        return self.name_of(place), *others
