"""Reads the rows of a Parquet file as events: plain values, times as RFC 3339 text in UTC.

pyarrow is imported when the first such file is read. Cost: one batch of rows in memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from tamis.errors import TamisError
from tamis.files.columns import values_of

_BATCH = 1024


def require_arrow(
    error: type[TamisError] | None = None,
    words: str = "events in .parquet files need pyarrow: pip install 'tamis[parquet]'",
) -> Any:
    """Returns pyarrow with its Parquet reader, or an error (`ReadingError`) that says how to get
    it."""
    from tamis.files.reading import ReadingError

    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise (error or ReadingError)(words) from None
    return pyarrow


def rows(file: str) -> Iterator[tuple[float, dict[str, Any]]]:
    """Yields each row, and how much of the file has been read with it."""
    from tamis.files.reading import ReadingError

    arrow = require_arrow()
    done = 0
    try:
        with arrow.parquet.ParquetFile(file) as table:
            total = table.metadata.num_rows or 1
            for batch in batches_of(table, _BATCH):
                for row in dicts(batch):
                    done += 1
                    yield done / total, row
    except (OSError, ValueError, arrow.ArrowException) as bad:
        place = f" after row {done:,}" if done else ""
        raise ReadingError(f"{file} cannot be read as Parquet{place}: {bad}") from bad


def batches_of(table: Any, rows: int, groups: Iterable[int] | None = None) -> Iterator[Any]:
    """Yields batches of an open file, or of some row groups; times of 96 bits are in UTC.

    Spark, Hive and Impala write these, and they are moments, which Arrow does not say."""
    arrow = require_arrow()
    leaves = range(len(table.schema))
    batches = table.iter_batches(rows, row_groups=groups)
    if not any(table.schema.column(at).physical_type == "INT96" for at in leaves):
        yield from batches
        return
    schema = arrow.schema(
        [each.with_type(_in_utc(arrow, each.type)) for each in table.schema_arrow]
    )
    for batch in batches:
        yield batch.cast(schema, safe=False)


def _in_utc(arrow: Any, kind: Any) -> Any:
    """Returns a type whose times, as those of 96 bits are read, are in UTC."""
    if kind == arrow.timestamp("ns"):
        return arrow.timestamp("us", "UTC")
    if arrow.types.is_struct(kind):
        return arrow.struct([each.with_type(_in_utc(arrow, each.type)) for each in kind])
    if arrow.types.is_list(kind):
        return arrow.list_(kind.value_field.with_type(_in_utc(arrow, kind.value_type)))
    return kind


def dicts(batch: Any) -> list[dict[str, Any]]:
    """Returns the rows of a batch as events; times are cut to the microseconds that Python has, and
    those that are moments are in UTC, whatever the zone of a table or of a session of Spark."""
    if not batch.num_columns:
        return [{} for _ in range(batch.num_rows)]
    arrow, names = require_arrow(), batch.schema.names
    columns = (values_of(arrow, column) for column in batch.columns)
    return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]
