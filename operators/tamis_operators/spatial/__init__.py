"""Spatial operators: where events are, against a gazetteer of named places and regions.

Nothing heavy is imported before an operator is made.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import partial

from tamis import DerivedAttribute, OperatorRecord, hookimpl
from tamis_operators.spatial.boxes import POSITION_ATTRIBUTES
from tamis_operators.spatial.common import SpatialOperator, preparation
from tamis_operators.spatial.configuration import (
    MOST_VERTICES,
    Configuration,
    GazetteerSource,
    PlaceSource,
    configured,
    digest_of,
)
from tamis_operators.spatial.distance_from import DistanceFrom
from tamis_operators.spatial.intersects import Intersects
from tamis_operators.spatial.loc_in import LocIn
from tamis_operators.spatial.loc_within import LocWithin
from tamis_operators.spatial.nearest import NearestPlace

__all__ = ["PlaceSource", "operators"]

_OPERATORS: tuple[type[SpatialOperator], ...] = (
    *(LocIn, LocWithin, DistanceFrom, Intersects, NearestPlace),
)


def operators(
    gazetteer: GazetteerSource | Iterable[GazetteerSource] | None = None,
    *,
    built_in: bool = True,
    max_vertices: int = MOST_VERTICES,
    crs: str | None = None,
) -> list[OperatorRecord]:
    """Returns the spatial operators over files, folders and `PlaceSource`s, beside New York unless
    `built_in=False`.

    Without `gazetteer` those that `TAMIS_GAZETTEER` lists. A position of more than `max_vertices`
    vertices is refused; one that is a pair is of the coordinate system `crs`, of `TAMIS_CRS` where
    none is given, and else a longitude and a latitude."""
    configuration = configured(gazetteer, built_in=built_in, max_vertices=max_vertices, crs=crs)
    return list(_records(configuration))


def _renewed(configuration: Configuration) -> list[OperatorRecord]:
    """Returns the operators over what the sources hold now."""
    return _records(replace(configuration, digest=digest_of(configuration)))


def _records(configuration: Configuration) -> list[OperatorRecord]:
    shared, version = preparation(configuration), f"1-{configuration.digest}"
    renewed = partial(_renewed, configuration)
    records = []
    for operator in _OPERATORS:
        specification = replace(operator.specification, version=version, preparation=shared)
        factory = partial(operator, configuration, specification)
        records.append(OperatorRecord(specification, factory, renewed=renewed))
    return records


@hookimpl
def tamis_attributes() -> list[DerivedAttribute]:
    """Returns the sides of the box in which a position lies."""
    return list(POSITION_ATTRIBUTES)


@hookimpl
def tamis_operators() -> list[OperatorRecord]:
    """Returns the operators as the environment sets them up."""
    return operators()
