"""Statistics as a folder of Parquet tables: what anybody's tools read and write."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from tamis.errors import StatisticsError
from tamis.files import parquet
from tamis.statistics.predicates import PredicateStatistics
from tamis.statistics.sample import KEPT_COLUMNS, ObservedSample, SampleEvent

COLUMNS = ("predicate", "kind", "tested", "satisfied", "failed", "selectivity", "cost_seconds")
_ALL = (*COLUMNS, "measured")
require_arrow = partial(
    parquet.require_arrow,
    StatisticsError,
    "statistics are Parquet tables: install pyarrow (pip install 'tamis[parquet]')",
)
_TYPES = {
    "predicate": "string",
    "kind": "string",
    "selectivity": "float64",
    "cost_seconds": "float64",
}


def write_predicates(folder: Path, predicates: Mapping[str, PredicateStatistics]) -> None:
    """Writes a row a predicate."""
    arrow = require_arrow()
    listed = list(predicates.values())
    columns = {"predicate": list(predicates)}
    columns |= {name: [getattr(found, name) for found in listed] for name in _ALL[1:]}
    types = {name: arrow.type_for_alias(_TYPES.get(name, "int64")) for name in _ALL}
    arrays = [arrow.array(columns[name], types[name]) for name in _ALL]
    write_table(folder, arrow.table(arrays, schema=arrow.schema(list(types.items()))))


def read_predicates(folder: Path) -> dict[str, PredicateStatistics]:
    """Reads predicates by canonical text; other tables may lack how often costs were taken."""
    table = read_table(folder, COLUMNS)
    texts = table.column("predicate").to_pylist() if "predicate" in table.column_names else []
    columns = [
        table.column(name).to_pylist() if name in table.column_names else [None] * len(texts)
        for name in _ALL[1:]
    ]
    found = (PredicateStatistics(*values) for values in zip(*columns, strict=True))
    return dict(zip(texts, found, strict=True))


def write_sample(folder: Path, events_folder: Path, sample: ObservedSample) -> None:
    """Writes a row of bits a predicate, and a row an event, in the order of the bits."""
    write_table(folder, require_arrow().table(sample.columns()))
    write_columns(events_folder, (each._asdict() for each in sample.kept), KEPT_COLUMNS)


def read_sample(folder: Path, events_folder: Path, events: int) -> ObservedSample:
    """Reads so many fully observed events; older folders do not have the events themselves."""
    columns = read_table(folder, ("predicate", "true", "known")).to_pydict()
    rows = read_rows(events_folder, list(KEPT_COLUMNS)) if events_folder.is_dir() else []
    kept = [SampleEvent(row["event"], row["content"]) for row in rows]
    try:
        return ObservedSample.from_columns(columns, events, kept if len(kept) == events else ())
    except (KeyError, ValueError) as bad:
        raise StatisticsError(f"{folder} is damaged: {bad}") from None


def write_rows(folder: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """Writes rows of the columns that they name."""
    write_table(folder, require_arrow().Table.from_pylist(list(rows)))


def write_columns(
    folder: Path, rows: Iterable[Mapping[str, Any]], columns: Mapping[str, str]
) -> None:
    """Writes rows of columns of these types: of pyarrow, or lists of such."""
    arrow = require_arrow()
    fields = []
    for name, type_ in columns.items():
        inner = type_.removeprefix("list<").removesuffix(">")
        kind = arrow.type_for_alias(inner)
        fields.append((name, kind if inner == type_ else arrow.list_(kind)))
    write_table(folder, arrow.Table.from_pylist(list(rows), schema=arrow.schema(fields)))


def read_rows(folder: Path, columns: Sequence[str]) -> list[dict[str, Any]]:
    """Returns the rows of a table that has these columns at least."""
    rows: list[dict[str, Any]] = read_table(folder, columns).to_pylist()
    return rows


def write_table(folder: Path, table: Any) -> None:
    """Writes a table into a new folder."""
    folder.mkdir()
    require_arrow().parquet.write_table(table, folder / "part-0.parquet")


def read_table(folder: Path, columns: Sequence[str]) -> Any:
    """Returns the table in a folder."""
    arrow = require_arrow()
    try:
        table = arrow.parquet.read_table(folder)
    except (OSError, arrow.ArrowException) as bad:
        raise StatisticsError(f"{folder} cannot be read: {bad}") from None
    lacking = [name for name in columns if name not in table.column_names]
    if lacking and table.num_rows:
        raise StatisticsError(f"{folder} lacks the columns {', '.join(lacking)}")
    return table
