"""What comes with the core, through the same hooks as anybody's."""

from __future__ import annotations

from tamis.clock import TIME_ATTRIBUTES
from tamis.event import DerivedAttribute
from tamis.hookspecs import hookimpl
from tamis.indexing import Index, IndexRecord


def _scan() -> Index:
    from tamis.index.scan import Scan

    return Scan()


@hookimpl
def tamis_indexes() -> list[IndexRecord]:
    """The indexes of the core."""
    return [IndexRecord("scan", _scan, "every distinct predicate in turn; the reference")]


@hookimpl
def tamis_attributes() -> list[DerivedAttribute]:
    """The attributes derived from `time`."""
    return list(TIME_ATTRIBUTES)
