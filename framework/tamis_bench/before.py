"""Measures another checkout beside this one: today's bench, with the other one's `tamis`.

Both run in processes of their own that take turns, a pass each; the least of passes counts, and
figures of time and memory come with their ratio to those before. A checkout whose `tamis` lacks
what the bench calls cannot be measured, and is said to be so. A folder that has what an earlier run
kept (`papers.json`) is compared with instead.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import tamis
from tamis import TamisError
from tamis_bench.report import OVER_BEFORE, Row, progress

_SOURCES = ("framework", "operators", "planners")
_COMPARED = ("us", "ms", "seconds", "bytes", "minimum")
_UNLIKE = "part", "about"
_WRITTEN = "folder", "plots"
"""Options of this checkout alone: the other one would write over what they name."""


def beside(folder: str, bench: str, options: Mapping[str, Any], passes: int) -> list[Row]:
    """Returns the rows of this checkout, with ratios to those of the one, or of the run, in a
    folder."""
    other = Path(folder).resolve()
    kept = other / f"{bench}.json"
    if kept.is_file():
        before = _least([json.loads(kept.read_text(encoding="utf-8"))["rows"]])
        rows = list(import_module(f"tamis_bench.{bench}").measured(**options))
        return [_ratios(row, before.get(_key(row), {})) for row in rows]
    options = {name: each for name, each in options.items() if name not in _WRITTEN}
    if not (other / "framework" / "tamis").is_dir():
        raise TamisError(f"{folder} is no checkout of tamis: it has no folder framework/tamis")
    asked = {"bench": bench, "options": dict(options)}
    runs: tuple[list[list[Row]], list[list[Row]]] = ([], [])
    with TemporaryDirectory() as place:
        (Path(place) / "tamis_bench").symlink_to(Path(__file__).resolve().parent)
        here = Path(tamis.__file__).resolve().parents[2]
        for number in range(passes):
            for root, taken in zip((here, other), runs, strict=True):
                progress(f"pass {number + 1} of {passes}: {root}")
                paths = [place, *(str(root / source) for source in _SOURCES), *sys.path]
                taken.append(_child(paths, asked, root))
    now, before = (_least(each) for each in runs)
    return [_ratios(row, before.get(key, {})) for key, row in now.items()]


def _child(paths: Sequence[str], asked: Mapping[str, Any], root: Path) -> list[Row]:
    """Runs a bench in a process of its own, on what lies in some folders."""
    done = subprocess.run(
        [sys.executable, "-P", "-m", "tamis_bench.before"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        input=json.dumps({**asked, "root": str(root)}),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        why = done.stderr.strip().rpartition("\n")[2]
        raise TamisError(f"the bench of this checkout cannot measure that of {root}: {why}")
    rows: list[Row] = json.loads(done.stdout.splitlines()[-1])
    return rows


def _least(runs: Sequence[Sequence[Row]]) -> dict[tuple[object, ...], Row]:
    """Returns the rows by what they are about, each time the least of all runs."""
    found: dict[tuple[object, ...], Row] = {}
    for row in (row for rows in runs for row in rows):
        known = found.setdefault(_key(row), row)
        for name in filter(_is_compared, row):
            if row[name] is not None:
                known[name] = min(known[name], row[name])
    return found


def _key(row: Row) -> tuple[object, ...]:
    """Returns what a row is about: its words, and which figures it has."""
    words = [value for name, value in row.items() if name not in _UNLIKE]
    return (*(each for each in words if isinstance(each, str)), *row)


def _ratios(row: Row, before: Row) -> Row:
    """Returns a row with the ratio of each figure behind it."""
    made: Row = {}
    for name, value in row.items():
        made[name] = value
        if _is_compared(name) and value is not None and before.get(name):
            made[name + OVER_BEFORE] = value / before[name]
    return made


def _is_compared(name: str) -> bool:
    return name.rpartition("_")[2] in _COMPARED


def _main() -> None:
    asked = json.load(sys.stdin)
    if not Path(tamis.__file__).resolve().is_relative_to(asked["root"]):
        raise ImportError(f"it would be that of {tamis.__file__}")
    module = import_module(f"tamis_bench.{asked['bench']}")
    rows = list(module.measured(**asked["options"]))
    print(json.dumps(rows))


if __name__ == "__main__":
    _main()
