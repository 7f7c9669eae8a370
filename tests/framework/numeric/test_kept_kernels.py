"""Machine code is used again while the files it was made from are the same, and made anew else."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tamis.numeric import kernels

PARTS = {
    "__init__.py": "",
    "widths.py": "WIDTH = 10\n",
    "parts.py": """
from tamis.kit import inlined
from acme.widths import WIDTH

@inlined
def widened(number):
    return number * WIDTH
""",
    "offering.py": "from acme import parts\nwidened = parts.widened\n",
    "summing.py": """
from tamis.kit import (
    kernel,
)
from .offering import widened as wide

@kernel
def summed(numbers):
    total = 0
    for each in numbers:
        total += wide(each)
    return total
""",
}
PROGRAM = """
import numpy as np
from acme.summing import summed
from tamis.numeric.kernels import is_kept

was_kept = is_kept(summed)
found = summed(np.arange(4))
print(found, was_kept, sum(summed.stats.cache_hits.values()))
"""


@pytest.fixture
def acme(tmp_path: Path) -> Path:
    """A plugin's package, whose kernel calls what two other files of it say."""
    package = tmp_path / "acme"
    package.mkdir()
    for name, text in PARTS.items():
        (package / name).write_text(text)
    return package


def run(package: Path) -> list[str]:
    """A new process that calls the kernel: its sum, whether it was kept, whether it was read."""
    done = subprocess.run(
        [sys.executable, "-B", "-c", PROGRAM],
        capture_output=True,
        text=True,
        check=True,
        cwd=package.parent,
        env={**os.environ, "NUMBA_CACHE_DIR": str(package.parent / "kept")},
    )
    return done.stdout.split()


def test_kernels_are_compiled_anew_when_what_they_call_has_changed(acme: Path) -> None:
    assert run(acme) == ["60", "False", "0"]
    (acme / "alone.py").write_text("nothing = 'of the kernel'\n")
    assert run(acme) == ["60", "True", "1"]
    (acme / "widths.py").write_text("WIDTH = 100\n")
    assert run(acme) == ["600", "False", "0"]
    changed = PARTS["parts.py"].replace("number * WIDTH", "number + WIDTH")
    (acme / "parts.py").write_text(changed)
    assert run(acme) == ["406", "False", "0"]


def test_kernels_are_not_kept_where_numba_hides_its_files(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(kernels, "_kept", lambda made: None)

    @kernels.kernel
    def twice(number: int) -> int:
        return number + number

    assert twice(4) == 8
    assert type(twice._cache).__name__ == "NullCache"  # type: ignore[attr-defined]
    assert "each process compiles" in caplog.text
