"""How tests run the demo, and what they know of a run."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]


def command(output: Path, *more: str) -> list[str]:
    """How the demo is run in tests: with few frames."""
    few = ["--history", "0.5", "--patience", "250", "--output", str(output)]
    return [sys.executable, "-m", "examples.uav.demo", *few, *more]


def environment(**more: str) -> dict[str, str]:
    """That of this process, for a demo that is run from the root of the checkout."""
    return {**os.environ, "PYTHONUNBUFFERED": "1", **more}


@dataclass
class Ran:
    """A run that is over."""

    output: Path
    printed: str
    run: Mapping[str, Any]
    page: str
