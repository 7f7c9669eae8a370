"""Another checkout is measured in turns with this one, or it is said why it cannot be."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

import tamis
from tamis_bench.before import beside

HERE = Path(tamis.__file__).resolve().parents[2]
OPTIONS: dict[str, Any] = {"workloads": ["matching"], "index": ["scan"], "scans": []}
SMALL = {**OPTIONS, "scale": 0.0005, "events": 4, "passes": 1}


@pytest.fixture
def other(tmp_path: Path) -> Path:
    """A copy of this checkout whose scan is slow."""
    for source in ("framework/tamis", "operators/tamis_operators", "planners/tamis_planners"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(HERE / source, tmp_path / source, ignore=ignored)
    scan = tmp_path / "framework" / "tamis" / "index" / "scan.py"
    text = scan.read_text(encoding="utf-8")
    slow = "    def match(self, event: Event) -> Rows:\n"
    assert slow in text
    text = text.replace(slow, f"{slow}        import time; time.sleep(0.05)\n")
    scan.write_text(text, encoding="utf-8")
    return tmp_path


@pytest.mark.slow
@pytest.mark.long
def test_a_checkout_is_measured_beside_this_one(other: Path) -> None:
    rows = beside(str(other), "index", SMALL, 1)
    (scan,) = [row for row in rows if row["method"] == "scan" and "while_us" in row]
    assert scan["while_us_over_before"] < 0.7
    (costs,) = [row for row in rows if "bytes" in row]
    assert costs["bytes_over_before"] == 1
    assert not [name for row in rows for name in row if name == "events_over_before"]


def test_what_is_no_checkout_or_lacks_what_is_measured_is_said(other: Path, tmp_path: Path) -> None:
    with pytest.raises(tamis.TamisError, match="is no checkout of tamis"):
        beside(str(tmp_path / "nothing"), "index", SMALL, 1)
    (other / "framework" / "tamis" / "index" / "__init__.py").write_text("", encoding="utf-8")
    with pytest.raises(tamis.TamisError, match=f"cannot measure that of {other}: ImportError"):
        beside(str(other), "index", SMALL, 1)
