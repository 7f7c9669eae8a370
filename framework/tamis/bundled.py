"""What comes with the core, through the same hooks as anybody's."""

from __future__ import annotations

from tamis.clock import TIME_ATTRIBUTES
from tamis.event import DerivedAttribute
from tamis.hookspecs import hookimpl
from tamis.indexing import Index, IndexRecord


def _scan() -> Index:
    from tamis.index.scan import Scan

    return Scan()


def _pstbloom(signature: str | None = None, vector: bool | None = None) -> Index:
    from tamis.index.pstbloom import pstbloom

    return pstbloom(signature, vector)


def _psthash(accesses: int = 2, short_list: int = 65_536, vector: bool | None = None) -> Index:
    from tamis.index.psthash import PSTHash

    return PSTHash(accesses=accesses, short_list=short_list, vector=vector)


def _lanes(vector: bool | None = None) -> Index:
    from tamis.index.lanes import Lanes

    return Lanes(vector=vector)


@hookimpl
def tamis_indexes() -> list[IndexRecord]:
    """The indexes of the core."""
    return [
        IndexRecord("pstbloom", _pstbloom, "PS-Trees, one access predicate a row; the default"),
        IndexRecord("psthash", _psthash, "PS-Trees, several access predicates a row"),
        IndexRecord("lanes", _lanes, "a value or a pair of attributes, the least memory"),
        IndexRecord("scan", _scan, "every distinct predicate in turn; the reference"),
    ]


@hookimpl
def tamis_attributes() -> list[DerivedAttribute]:
    """The attributes derived from `time`."""
    return list(TIME_ATTRIBUTES)
