"""Processes that compile kernels: a package of one's own, a cache of one's own."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

COUNTING = """
import sys
from numba.core import event
class Counting(event.Listener):
    compiled = []
    def on_start(self, event): self.compiled.append(event.data["dispatcher"].__name__)
    def on_end(self, event): pass
event.register("numba:compile", Counting())
"""
"""Collects the names of what is compiled in `Counting.compiled`."""


@dataclass
class Machine:
    """A place for modules and a place for what is compiled."""

    root: Path
    environment: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Processes here share nothing with those elsewhere."""
        self.environment = {
            **os.environ,
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONPATH": str(self.root),
            "XDG_CACHE_HOME": str(self.cache),
            "TMPDIR": str(self.root),
        }
        self.environment.pop("NUMBA_CACHE_DIR", None)

    @property
    def cache(self) -> Path:
        """The user's cache."""
        return self.root / "cache"

    @property
    def kept(self) -> list[Path]:
        """The files with machine code."""
        return sorted((self.cache / "tamis" / "kernels").glob("*"))

    def write(self, name: str, text: str) -> None:
        """Writes a module, always at the same time and of the same size."""
        path = self.root / f"{name}.py"
        path.write_text(f"{text:<2000}")
        os.utime(path, (1_000_000_000, 1_000_000_000))

    def start(self, program: str, **environment: str) -> subprocess.Popen[str]:
        """Starts a program."""
        return subprocess.Popen(
            [sys.executable, "-c", COUNTING + program],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**self.environment, **environment},
            preexec_fn=_as_anybody,
        )

    def run(self, program: str, **environment: str) -> str:
        """What a program prints."""
        return ended(self.start(program, **environment))


def ended(process: subprocess.Popen[str]) -> str:
    """What a process has printed at its end, which must be a good one without complaints."""
    out, err = process.communicate(timeout=120)
    assert (process.returncode, err) == (0, ""), err
    return out.strip()


def _as_anybody() -> None:
    """Lets the superuser be refused what permissions refuse (Linux)."""
    if sys.platform == "linux" and os.getuid() == 0:
        drop_capability, may_override, may_read = 24, 1, 2
        for capability in (may_override, may_read):
            ctypes.CDLL(None).prctl(drop_capability, capability, 0, 0, 0)
