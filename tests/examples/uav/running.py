"""Runs the demo for tests."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
NEEDED = (
    "apsw", "cv2", "fastapi", "httpx", "pyarrow", "pyoxigraph", "pyproj", "pyspark", "rdflib",
    "scipy", "shapely",
)  # fmt: skip


def begun(output: Path, *more: str) -> subprocess.Popen[str]:
    """The demo, from the root of the checkout, with a short history."""
    for name in NEEDED:
        pytest.importorskip(name, reason="the demo needs more: pip install 'tamis[demo]'")
    few = ["--recorded", "12", "--output", str(output)]
    return subprocess.Popen(
        [sys.executable, "-m", "examples.uav.demo", *few, *more],
        cwd=ROOT,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
