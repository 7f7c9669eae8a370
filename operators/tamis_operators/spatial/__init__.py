"""Spatial operators: where events are, against a gazetteer of named places and regions.

Nothing heavy is imported before an operator is made.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import partial

from tamis.operators import OperatorRecord
from tamis_operators.spatial.common import preparation
from tamis_operators.spatial.configuration import MOST_VERTICES, configured
from tamis_operators.spatial.distance_from import DistanceFrom, distance_from
from tamis_operators.spatial.intersects import Intersects, intersects
from tamis_operators.spatial.loc_in import LocIn, loc_in
from tamis_operators.spatial.loc_within import LocWithin, loc_within
from tamis_operators.spatial.nearest import Nearest, nearest

__all__ = ["operators"]

_OPERATORS = (
    (loc_in, LocIn),
    (loc_within, LocWithin),
    (distance_from, DistanceFrom),
    (intersects, Intersects),
    (nearest, Nearest),
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
