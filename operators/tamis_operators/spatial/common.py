"""Prepares what the spatial operators share, and specifies what they have in common.

Only the standard library and tamis are imported here; the rest comes with the first operator made.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from tamis import Implication, Operator, Parameter, Preparation, Specification, Variable
from tamis.kit import NUMBER, STRING
from tamis_operators.spatial.boxes import Declaration, lying_in, meeting
from tamis_operators.spatial.configuration import INPUT, Configuration

if TYPE_CHECKING:
    from tamis_operators.spatial.gazetteer import Gazetteer
    from tamis_operators.spatial.places import Place
    from tamis_operators.spatial.position import Position

NAME = frozenset({STRING})
METRES = frozenset({NUMBER})
_MOST_EXCLUDED = 64
"""In a gazetteer of more areas disjointness is not declared: there it is true of most pairs, and
to weigh them costs more than the one query that answers all of them anyway."""


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


def specified(name: str, description: str, *parameters: Parameter, **more: Any) -> Specification:
    """Returns what is known of a spatial operator before its gazetteer is."""
    return Specification(
        name=name,
        description=description,
        parameters=parameters,
        inputs=(INPUT,),
        deterministic=True,
        extra="tamis[spatial]",
        modules=("shapely", "pyproj"),
        **more,
    )


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

    def bounds(self, place: Any, *dimensions: int) -> tuple[float, float, float, float]:
        """Returns the bounds of a place; for a variable, of all places of these dimensions."""
        if isinstance(place, Variable):
            return self.gazetteer.bounds_of(*dimensions)
        known: Place = self.gazetteer.places[place]
        return known.bounds

    def in_solutions(self, arguments: Sequence[Any]) -> Sequence[Any]:
        """Returns the name of the place; other arguments as they are."""
        place, *others = arguments
        name = None if isinstance(place, Variable) else self.gazetteer.places[place].name
        return name, *others

    def necessary(self, arguments: Sequence[Any]) -> list[Declaration]:
        """Declares in which boxes the position's lies or which it meets, if pairs are its own."""
        return self.boxed(*arguments) if self.is_boxed else []

    def boxed(self, *arguments: Any) -> list[Declaration]:
        """Declares the same of positions whose boxes are known."""
        raise NotImplementedError


class RegionOperator(SpatialOperator):
    """Decides how the position lies to a region; with a variable, finds those it lies to so."""

    meets: ClassVar[bool]
    """True if some of the position in the region, a line too, will do."""

    def __init__(self, configuration: Configuration, specification: Specification) -> None:
        from tamis_operators.spatial.gazetteer import MEETING, WITHIN

        super().__init__(configuration, specification)
        self._relation = MEETING if self.meets else WITHIN

    def check(self, region: Any) -> Sequence[object]:
        """Returns the number of the region."""
        if isinstance(region, Variable):
            return (region,)
        return (self.gazetteer.region(region, self._relation).number,)

    def solve(self, event: Any, region: Any) -> bool | list[str]:
        """Returns whether it is so of one region, or the names of all of which it is."""
        if isinstance(region, Variable):
            return self.gazetteer.names(event.prepared, self._relation)
        return self._relation.decides(self.gazetteer.places[region], event.prepared)

    def solve_many(self, event: Any, lists: Sequence[Sequence[Any]]) -> list[bool | list[str]]:
        """Answers all of them by one query."""
        numbers = [region for (region,) in lists if not isinstance(region, Variable)]
        truths = iter(self.gazetteer.answers(event.prepared, numbers, self._relation))
        return [
            self.solve(event, region) if isinstance(region, Variable) else next(truths)
            for (region,) in lists
        ]

    def implications(
        self, arguments: Sequence[Any], others: Sequence[Sequence[Any]]
    ) -> Iterable[Implication]:
        """Implies the regions around this one; what lies in it excludes those away from it."""
        numbers = [number for (number,) in others]
        few = not self.meets and self.gazetteer.areas <= _MOST_EXCLUDED
        for at, around, away in self.gazetteer.related(arguments[0], numbers, away=few):
            if around:
                yield Implication(True, at, True)
            if away and few:
                yield Implication(True, at, False)

    def boxed(self, region: Any) -> list[Declaration]:
        """Declares that the position's box lies in that of the region or meets it, or all's."""
        declared = meeting if self.meets else lying_in
        return declared(self.bounds(region, *self._relation.dimensions))
