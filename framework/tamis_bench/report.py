"""Prints what a bench measured: its rows as tables, or everything as JSON; then the goals.

A row is a flat record of one thing that was measured. Rows in sequence with the same `part` make a
table, which has that title and the keys of its rows as columns. Values that are no scalars, and the
keys in `_UNSEEN`, are for JSON alone.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

Row = dict[str, Any]

OVER_BEFORE = "_over_before"
_UNSEEN = ("part", "workload", "figure")


def progress(words: str) -> None:
    """Tells whoever looks at a terminal what is being measured."""
    if sys.stderr.isatty():
        print(words, file=sys.stderr, flush=True)


def tables(rows: Iterable[Row]) -> Iterator[tuple[list[Row], str]]:
    """Yields the rows of each part, and how they look, as soon as they are measured."""
    for part, some in groupby(rows, key=lambda row: row["part"]):
        group = list(some)
        yield group, f"\n{part}\n{table(group)}"


def table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Returns rows in columns."""
    from tamis.cli.tables import table as columns

    seen = {name: True for row in rows for name, value in row.items() if _is_seen(name, value)}
    cells = [[row.get(name) for name in seen] for row in rows]
    return columns([heading(name) for name in seen], cells, shown=cell)


def heading(name: str) -> str:
    """Returns the words of a key; a ratio to what was before stands behind what it is of."""
    if name.endswith(OVER_BEFORE):
        return "over before"
    return " ".join("µs" if word == "us" else word for word in name.split("_"))


def _is_seen(name: str, value: object) -> bool:
    return name not in _UNSEEN and isinstance(value, str | int | float)


def cell(value: object) -> str:
    """Returns a figure with four digits, and as many as there are before the point."""
    if value is None or isinstance(value, bool):
        return {None: "", True: "yes", False: "no"}[value]
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 1_000 else f"{value:.4g}"
    return f"{value:,}" if isinstance(value, int) else str(value)
