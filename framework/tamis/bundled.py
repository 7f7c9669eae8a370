"""Brings what comes with the core, through the same hooks as anybody's.

Indexes that are compiled keep up to `scan_up_to` rows in a scan: few rows are not worth compiling.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from os import PathLike
from typing import Any

from tamis.event import DerivedAttribute
from tamis.event.clock import TIME_ATTRIBUTES
from tamis.indexing import Index, IndexRecord
from tamis.plugins.hookspecs import hookimpl

MOST_SCANNED = 2_000
"""Rows up to which a scan serves; `tamis bench forms` says how much longer an event takes there."""


def _scan() -> Index:
    from tamis.index.scan import Scan

    return Scan()


def _pstbloom(
    signature: str = "none", vector: bool | None = None, scan_up_to: int = MOST_SCANNED
) -> Index:
    from tamis.index.buckets.store import SIGNATURES

    if signature not in SIGNATURES:
        raise ValueError(f"signature is one of {', '.join(SIGNATURES)}, not {signature!r}")

    def large() -> Index:
        from tamis.index.pstbloom import PSTBloom, SignedPSTBloom

        if signature == "none":
            return PSTBloom(vector=vector)
        return SignedPSTBloom(signature=signature, vector=vector)

    return _scan_first(large, scan_up_to)


def _psthash(
    accesses: int = 2,
    look_up_rows: float = 512.0,
    vector: bool | None = None,
    scan_up_to: int = MOST_SCANNED,
) -> Index:
    from tamis.index.buckets.store import MOST_ACCESSES

    if not 1 <= accesses <= MOST_ACCESSES:
        raise ValueError(f"accesses is from 1 to {MOST_ACCESSES}, not {accesses}")
    if look_up_rows < 0:
        raise ValueError(f"look_up_rows is 0 or more, not {look_up_rows}")

    def large() -> Index:
        from tamis.index.psthash import PSTHash

        return PSTHash(accesses=accesses, look_up_rows=look_up_rows, vector=vector)

    return _scan_first(large, scan_up_to)


def _lanes(vector: bool | None = None, scan_up_to: int = MOST_SCANNED) -> Index:
    def large() -> Index:
        from tamis.index.lanes import LanesIndex

        return LanesIndex(vector=vector)

    return _scan_first(large, scan_up_to)


def _opindex(segments: int = 128, scan_up_to: int = MOST_SCANNED) -> Index:
    if not 1 <= segments <= 1_024:
        raise ValueError(f"segments is from 1 to 1,024, not {segments}")

    def large() -> Index:
        from tamis.index.opindex.index import OpIndex

        return OpIndex(segments=segments)

    return _scan_first(large, scan_up_to)


def _auto(
    look_up_rows: float = 512.0, vector: bool | None = None, scan_up_to: int = MOST_SCANNED
) -> Index:
    if look_up_rows < 0:
        raise ValueError(f"look_up_rows is 0 or more, not {look_up_rows}")

    def large() -> Index:
        from tamis.index.auto import AutoIndex

        return AutoIndex(look_up_rows=look_up_rows, vector=vector)

    return _scan_first(large, scan_up_to, f"scan: {scan_up_to:,} rows at most")


def _counting(
    form: str = "best", most_values: int = 4_096, domains: Mapping[str, Any] | None = None
) -> Index:
    from tamis.index.associations import BEST, FORMS
    from tamis.index.counting import CountingIndex

    if form not in (BEST, *FORMS):
        raise ValueError(f"form is one of {', '.join((BEST, *FORMS))}, not {form!r}")
    if most_values < 0:
        raise ValueError(f"most_values is 0 or more, not {most_values}")
    return CountingIndex(form, most_values, domains)


def _dbms(database: str = "sqlite", path: str | None = None, method: str = "grouping") -> Index:
    from tamis.index.dbms.index import DATABASES, METHODS, DatabaseIndex

    if database not in DATABASES:
        raise ValueError(f"database is one of {', '.join(DATABASES)}, not {database!r}")
    if method not in METHODS:
        raise ValueError(f"method is one of {', '.join(METHODS)}, not {method!r}")
    if path is not None and (not isinstance(path, (str, PathLike)) or not str(path)):
        raise ValueError(f"path is that of a file, or an address, not {path!r}")
    if path is None and database == "postgresql":
        raise ValueError("path is the address of PostgreSQL, such as postgresql://host/name")
    return DatabaseIndex(DATABASES[database](None if path is None else str(path)), method)


def _pbtree(folder: str | None = None, pool_bytes: int = 64 << 20) -> Index:
    from tamis.index.pbtree.index import PBTree

    if pool_bytes < 1 << 20:
        raise ValueError(f"pool_bytes is 1 MB (1048576) or more, not {pool_bytes}")
    return PBTree(folder, pool_bytes)


def _scan_first(large: Callable[[], Index], scan_up_to: int, choice: str = "") -> Index:
    """Returns a scan that becomes a large index when it has more rows, or that index at once."""

    def ready() -> Index:
        from tamis.index.prepared import prepared

        return prepared(large)

    if scan_up_to <= 0:
        return ready()
    from tamis.index.disjunctions import taking_disjunctions
    from tamis.index.scan_first import ScanFirst

    return ScanFirst(lambda: taking_disjunctions(ready()), scan_up_to, choice)


def _compiled(name: str, factory: Callable[..., Index], description: str) -> IndexRecord:
    return IndexRecord(name, factory, description, partial(_compile, factory))


def _compile(factory: Callable[..., Index]) -> None:
    from tamis.index.needles import exercise

    factory(scan_up_to=0)
    exercise()


@hookimpl
def tamis_indexes() -> list[IndexRecord]:
    """Returns the indexes of the core."""
    return [
        _compiled(
            "pstbloom",
            _pstbloom,
            "PS-Tree: finds a row by its most selective predicate; a dense million takes 25.5 us "
            "an event, 38.5 with signature=row, 29.7 with signature=block",
        ),
        _compiled(
            "psthash", _psthash, "PS-Tree: finds a row by two or more predicates, where that pays"
        ),
        _compiled(
            "lanes",
            _lanes,
            "finds a row by a rare attribute, a value or a pair of attributes; takes least memory",
        ),
        _compiled(
            "auto",
            _auto,
            "lanes, pstbloom or psthash, whichever is fast with the present rows and events",
        ),
        _compiled(
            "opindex",
            _opindex,
            "OpIndex: sorted lists by attribute and operator, whose hits are counted by row",
        ),
        IndexRecord(
            "counting",
            _counting,
            "decides each distinct predicate by a table of values, and counts by row",
        ),
        IndexRecord("dbms", _dbms, "queries SQLite, DuckDB or PostgreSQL, which keep the rows"),
        IndexRecord(
            "pbtree", _pbtree, "B+trees of predicates in a folder, for more rows than memory holds"
        ),
        IndexRecord(
            "scan", _scan, "decides every distinct predicate in turn; the reference of tests"
        ),
    ]


@hookimpl
def tamis_attributes() -> list[DerivedAttribute]:
    """Returns the attributes derived from `time`."""
    return list(TIME_ATTRIBUTES)
