"""Writes statistics to a folder of Parquet tables with a manifest, and reads them.

Cost: O(predicates, marks and cells).
"""

from __future__ import annotations

import shutil
import uuid
from collections.abc import Container, Mapping
from pathlib import Path
from typing import Any

from tamis.errors import StatisticsError
from tamis.files.manifest import read_manifest, write_manifest
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
PARTS = "parts"
_OPTIONAL = ("attributes", "cells", "spaces", "answers", "sample", "events")
_BESIDE, _DONE = ".new-", ".done-"
_TRIES = 3
_OWN_FIELDS = frozenset(
    (
        *("format_version", "generation", "parts", "events", "rejects", "predicates", "sample"),
        *("prepared", "tables", "time"),
    )
)


def save(
    statistics: Statistics, folder: Path, parts: Mapping[str, Statistics | None] | None = None
) -> None:
    """Writes a folder of Parquet tables and a manifest; an older one there is replaced at once.

    Tables are written beside those that are there; with the manifest the folder is the new one, and
    only then are tables moved into their places: killed at any moment, it holds the old or the new.
    `parts` are what it is the sum of, each `None` where it is there already."""
    generation = uuid.uuid4().hex
    beside = folder / f"{_BESIDE}{generation}"
    beside.mkdir(parents=True)
    write_predicates(beside / "predicates", statistics.predicates)
    if statistics.attributes:
        write_rows(beside / "attributes", statistics.attributes)
    if statistics.spaces:
        write_columns(beside / "cells", cell_rows(statistics.spaces), CELL_COLUMNS)
        write_columns(beside / "spaces", space_rows(statistics.spaces), SPACE_COLUMNS)
    if statistics.answers:
        write_columns(beside / "answers", answer_rows(statistics.answers), ANSWER_COLUMNS)
    if statistics.sample is not None:
        write_sample(beside / "sample", beside / "events", statistics.sample)
    for name, part in (parts or {}).items():
        if part is not None:
            save(part, folder / PARTS / name)
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
            "generation": generation,
            "parts": list(parts or ()),
            "events": statistics.events,
            "rejects": statistics.rejects,
            "predicates": len(statistics.predicates),
            "sample": None if statistics.sample is None else len(statistics.sample),
            "prepared": {name: list(both) for name, both in statistics.prepared.items()},
            "time": statistics.stretch,
            "tables": [name for name, held in tables.items() if held],
        },
    )
    _settle(folder, beside, parts or ())


def _settle(folder: Path, beside: Path, parts: Container[str]) -> None:
    """Moves tables into their places, and removes what nothing names any more."""
    for written in beside.glob("*/*"):
        place = folder / written.parent.name
        place.mkdir(exist_ok=True)
        for old in place.glob("*.parquet"):
            if old.name != written.name:
                old.unlink()
        written.replace(place / written.name)
    old_parts = (each for each in folder.glob(f"{PARTS}/*") if each.name not in parts)
    old_tables = (folder / name for name in _OPTIONAL if not (beside / name).exists())
    for needless in (*old_tables, *old_parts):
        shutil.rmtree(needless, ignore_errors=True)
    beside.replace(folder / f"{_DONE}{uuid.uuid4().hex}")  # one half removed says nothing
    for needless in (*folder.glob(f"{_BESIDE}*"), *folder.glob(f"{_DONE}*")):
        shutil.rmtree(needless, ignore_errors=True)


def _manifest(folder: Path) -> dict[str, Any]:
    return read_manifest(folder, "statistics", FORMAT_VERSION, StatisticsError, older=_OLDER)


def recover(folder: Path) -> None:
    """Puts into its place what was written by one that was killed when all but that was done."""
    try:
        manifest = _manifest(folder)
    except StatisticsError:
        return
    beside = folder / f"{_BESIDE}{manifest.get('generation')}"
    if beside.exists():
        _settle(folder, beside, manifest["parts"])


def generation_of(folder: Path) -> str | None:
    """Identifies the state of a folder; `None` where it holds no statistics."""
    try:
        manifest = _manifest(folder)
    except StatisticsError:
        return None
    return str(manifest.get("generation"))


def load(folder: Path) -> Statistics:
    """Reads what `save` or `tamis learn` wrote, all of one state, while another may be written."""
    for tries_left in reversed(range(_TRIES)):
        manifest = _manifest(folder)
        try:
            statistics = _loaded(folder, manifest)
        except StatisticsError:
            if not tries_left or generation_of(folder) == str(manifest.get("generation")):
                raise
        else:
            if generation_of(folder) == str(manifest.get("generation")):
                return statistics
    raise StatisticsError(f"{folder} is written again and again while it is read")


def load_parts(folder: Path) -> dict[str, Statistics]:
    """Returns the parts that a folder is the sum of, where it was written as such."""
    manifest = _manifest(folder)
    return {name: load(folder / PARTS / name) for name in manifest.get("parts", ())}


def _loaded(folder: Path, manifest: Mapping[str, Any]) -> Statistics:
    beside = folder / f"{_BESIDE}{manifest.get('generation')}"

    def place(table: str) -> Path:
        is_beside = any((beside / table).glob("*"))  # moved one by one
        return beside / table if is_beside else folder / table

    statistics = Statistics()
    statistics.is_conditional = manifest["format_version"] not in _OLDER
    statistics.events = manifest.get("events")
    statistics.rejects = manifest.get("rejects")
    statistics.predicates = read_predicates(place("predicates"))
    # what an older manifest does not tell is there if its folder is
    tables = manifest.get("tables", ["attributes"])
    if "attributes" in tables and place("attributes").exists():
        statistics.attributes = read_rows(place("attributes"), ("attribute",))
    if "cells" in tables:
        statistics.spaces = spaces_from(
            read_rows(place("spaces"), list(SPACE_COLUMNS)),
            read_rows(place("cells"), list(CELL_COLUMNS)),
        )
    if "answers" in tables:
        rows = read_rows(place("answers"), list(ANSWER_COLUMNS))
        statistics.answers = answers_from(rows)
    prepared = manifest.get("prepared", {})
    statistics.prepared = {name: (made, spent) for name, (made, spent) in prepared.items()}
    statistics.about = {name: value for name, value in manifest.items() if name not in _OWN_FIELDS}
    if manifest.get("sample") is not None:
        count = manifest["sample"]
        statistics.sample = read_sample(place("sample"), place("events"), count)
    return statistics
