"""Prints what the core and each extra bring: distributions, licences, megabytes, import times.

`python -m tests.sizes`, or `make sizes`, in an environment where all of them are installed.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement

IMPORTS = {
    "core": ("tamis", "tamis.matcher"),
    "audio": ("pocketsphinx",),
    "bench": ("matplotlib.pyplot", "scipy.optimize", "duckdb", "owlrl"),
    "database": ("duckdb", "psycopg"),
    "detector": ("cv2", "onnxruntime"),
    "graph": ("networkx",),
    "image": ("cv2",),
    "parquet": ("pyarrow.parquet",),
    "places": ("pyogrio",),
    "reasoner": ("rdflib", "pyoxigraph", "owlready2"),
    "server": ("fastapi", "uvicorn", "apsw", "httpx", "prometheus_client"),
    "spark": ("pyspark.sql",),
    "spatial": ("shapely", "pyproj"),
    "testing": ("hypothesis", "pytest"),
    "text": ("onnxruntime", "tokenizers"),
}
_UNIONS = ("all", "demo", "dev")
_REPEATS = 3
_LONGEST_LICENCE = 40


def brought(name: str, extras: frozenset[str], seen: set[str]) -> Iterator[str]:
    """Yields the distributions that one of them brings with some extras, itself last."""
    for text in metadata.requires(name) or ():
        wanted = Requirement(text)
        marker = wanted.marker
        if marker is None or any(marker.evaluate({"extra": each}) for each in extras or {""}):
            key = wanted.name.lower()
            if key not in seen:
                seen.add(key)
                yield from brought(wanted.name, frozenset(wanted.extras), seen)
                yield wanted.name


def megabytes(name: str) -> float:
    """Returns how large what is installed of a distribution is."""
    places = (Path(str(file.locate())) for file in metadata.files(name) or ())
    return sum(place.stat().st_size for place in places if place.is_file()) / 1e6


def licence(name: str) -> str:
    """Returns the licence that a distribution names."""
    about = metadata.metadata(name)
    fields = ("License-Expression", "License")
    said = next((about[field] for field in fields if field in about), "")
    if not said or "\n" in said or len(said) > _LONGEST_LICENCE:
        named = [
            each for each in about.get_all("Classifier") or () if each.startswith("License ::")
        ]
        said = ", ".join(each.rpartition(" :: ")[2] for each in named) or said.split("\n")[0]
    return said or "see its files"


def import_seconds(modules: tuple[str, ...]) -> float:
    """Returns what it takes to import modules in a new process, beyond starting Python."""

    def least(program: str) -> float:
        taken = []
        for _ in range(_REPEATS):
            began = time.perf_counter()
            subprocess.run([sys.executable, "-c", program], check=True)
            taken.append(time.perf_counter() - began)
        return min(taken)

    return max(0.0, least(f"import {', '.join(modules)}") - least("pass"))


def main() -> None:
    """Prints a table, or JSON with `--json`."""
    core = set[str]()
    names = {"core": [*brought("tamis", frozenset(), core)]}
    for extra in sorted(metadata.metadata("tamis").get_all("Provides-Extra") or ()):
        if extra not in _UNIONS:
            names[extra] = [*brought("tamis", frozenset({extra}), set(core))]
    rows: list[dict[str, Any]] = [
        {
            "extra": extra,
            "megabytes": round(sum(map(megabytes, brings))),
            "import_seconds": round(import_seconds(IMPORTS[extra]), 2),
            "brings": {name: licence(name) for name in sorted(brings, key=str.lower)},
        }
        for extra, brings in names.items()
    ]
    if "--json" in sys.argv[1:]:
        print(json.dumps(rows, indent=2))
        return
    for row in rows:
        print(
            f"{row['extra']:<9} {row['megabytes']:>5} MB, {row['import_seconds']:.2f} s to import"
        )
        for name, said in row["brings"].items():
            print(f"          {name}: {said}")


if __name__ == "__main__":
    main()
