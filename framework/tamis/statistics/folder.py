"""Writes statistics to a folder of Parquet tables with a manifest, and reads them.

Cost: O(predicates, marks and cells).
"""

from __future__ import annotations

from pathlib import Path

from tamis.errors import StatisticsError
from tamis.files.manifest import read_manifest, remove_manifest, write_manifest
from tamis.spaces.tables import (
    CELL_COLUMNS,
    SPACE_COLUMNS,
    cell_rows,
    space_rows,
    spaces_from,
)
from tamis.statistics.answers import ANSWER_COLUMNS, answer_rows, answers_from
from tamis.statistics.history import Statistics
from tamis.statistics.tables import (
    read_predicates,
    read_rows,
    read_sample,
    write_columns,
    write_predicates,
    write_rows,
    write_sample,
)

FORMAT_VERSION = 2
"""Since 2, tests are counted on the events in which their declarations hold."""
_OLDER = (1,)
_OWN_FIELDS = frozenset(
    ("format_version", "events", "rejects", "predicates", "sample", "prepared", "tables", "time")
)


def save(statistics: Statistics, folder: Path) -> None:
    """Writes a folder of Parquet tables and a manifest; an older one there is replaced."""
    folder.mkdir(parents=True, exist_ok=True)
    remove_manifest(folder)
    write_predicates(folder / "predicates", statistics.predicates)
    if statistics.attributes:
        write_rows(folder / "attributes", statistics.attributes)
    if statistics.spaces:
        write_columns(folder / "cells", cell_rows(statistics.spaces), CELL_COLUMNS)
        write_columns(folder / "spaces", space_rows(statistics.spaces), SPACE_COLUMNS)
    if statistics.answers:
        write_columns(folder / "answers", answer_rows(statistics.answers), ANSWER_COLUMNS)
    if statistics.sample is not None:
        write_sample(folder / "sample", folder / "events", statistics.sample)
    tables = {
        "attributes": statistics.attributes,
        "cells": statistics.spaces,
        "answers": statistics.answers,
    }
    write_manifest(
        folder,
        FORMAT_VERSION,
        **{
            **statistics.about,
            "events": statistics.events,
            "rejects": statistics.rejects,
            "predicates": len(statistics.predicates),
            "sample": None if statistics.sample is None else len(statistics.sample),
            "prepared": {name: list(both) for name, both in statistics.prepared.items()},
            "time": statistics.stretch,
            "tables": [name for name, held in tables.items() if held],
        },
    )


def load(folder: Path) -> Statistics:
    """Reads what `save` or `tamis learn` wrote."""
    manifest = read_manifest(folder, "statistics", FORMAT_VERSION, StatisticsError, older=_OLDER)
    statistics = Statistics()
    statistics.is_conditional = manifest["format_version"] not in _OLDER
    statistics.events = manifest.get("events")
    statistics.rejects = manifest.get("rejects")
    statistics.predicates = read_predicates(folder / "predicates")
    # what an older manifest does not tell is there if its folder is
    tables = manifest.get("tables", ["attributes"])
    if "attributes" in tables and (folder / "attributes").exists():
        statistics.attributes = read_rows(folder / "attributes", ("attribute",))
    if "cells" in tables:
        statistics.spaces = spaces_from(
            read_rows(folder / "spaces", list(SPACE_COLUMNS)),
            read_rows(folder / "cells", list(CELL_COLUMNS)),
        )
    if "answers" in tables:
        rows = read_rows(folder / "answers", list(ANSWER_COLUMNS))
        statistics.answers = answers_from(rows)
    prepared = manifest.get("prepared", {})
    statistics.prepared = {name: (made, spent) for name, (made, spent) in prepared.items()}
    statistics.about = {name: value for name, value in manifest.items() if name not in _OWN_FIELDS}
    if manifest.get("sample") is not None:
        count = manifest["sample"]
        statistics.sample = read_sample(folder / "sample", folder / "events", count)
    return statistics
