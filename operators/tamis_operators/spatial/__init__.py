"""Spatial operators: where events are, against a gazetteer of named places and regions.

Nothing heavy is imported before an operator is made.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import partial

from tamis import DerivedAttribute, OperatorRecord, hookimpl
from tamis_operators.spatial import distance_from, intersects, loc_in, loc_within, nearest
from tamis_operators.spatial.boxes import POSITION_ATTRIBUTES
from tamis_operators.spatial.common import preparation
from tamis_operators.spatial.configuration import MOST_VERTICES, configured

__all__ = ["operators"]

_OPERATORS = (
    (loc_in.specified, loc_in.LocIn),
    (loc_within.specified, loc_within.LocWithin),
    (distance_from.specified, distance_from.DistanceFrom),
    (intersects.specified, intersects.Intersects),
    (nearest.specified, nearest.Nearest),
)


def operators(
    gazetteer: str | os.PathLike[str] | Iterable[str | os.PathLike[str]] | None = None,
    *,
    built_in: bool = True,
    max_vertices: int = MOST_VERTICES,
) -> list[OperatorRecord]:
    """The spatial operators over GeoJSON files or folders, beside New York unless `built_in=False`.

    Without `gazetteer` those that `TAMIS_GAZETTEER` lists. A position of more than `max_vertices`
    vertices is refused."""
    configuration = configured(gazetteer, built_in=built_in, max_vertices=max_vertices)
    shared = preparation(configuration)
    records = []
    for specified, operator in _OPERATORS:
        specification = specified(configuration, shared)
        records.append(
            OperatorRecord(specification, partial(operator, configuration, specification))
        )
    return records


@hookimpl
def tamis_attributes() -> list[DerivedAttribute]:
    """The sides of the box in which a position lies."""
    return list(POSITION_ATTRIBUTES)


@hookimpl
def tamis_operators() -> list[OperatorRecord]:
    """The operators as the environment sets them up."""
    return operators()
