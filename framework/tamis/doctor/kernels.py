"""Says whether kernels are compiled, compiles them, and says where numba keeps them.

Cost: a second where everything is in the cache; compiling takes about `COLD_SECONDS`.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import tamis
from tamis.doctor.finding import BROKEN, MISSING, OK, Finding
from tamis.plugins.loader import installed

COLD_SECONDS = 35
"""What compiling everything took on two cores of 2026."""
_PATIENCE_SECONDS = 8


def kernels() -> Iterator[Finding]:
    """Says whether what is compiled for many subscriptions is in the cache, and where that is."""
    began = time.perf_counter()
    command = [sys.executable, "-c", f"from {__name__} import compile_all; [*compile_all()]"]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=_PATIENCE_SECONDS
        )
    except subprocess.TimeoutExpired:
        words = f"not compiled yet; whoever needs them first waits about {COLD_SECONDS} s"
        yield Finding("kernels", MISSING, words, "tamis doctor --compile does it now")
    else:
        if done.returncode:
            last = done.stderr.strip().rpartition("\n")[2]
            yield Finding("kernels", BROKEN, f"they do not compile: {last}", "reinstall numba")
        else:
            words = f"compiled, and ready in {time.perf_counter() - began:.1f} s"
            yield Finding("kernels", OK, words)
    yield cache()


def compile_all() -> Iterator[str]:
    """Compiles what indexes and planners need for many subscriptions; yields their names."""
    plugins = installed()
    for name, index in plugins.indexes.items():
        if index.compile is not None:
            index.compile()
            yield name
    for name, planner in plugins.planners.items():
        if planner.compile is not None:
            planner.compile()
            yield name


def cache() -> Finding:
    """Says where machine code is kept: where numba's documentation says that it looks."""
    subject = "kernel cache"
    package = Path(next(iter(tamis.__path__)))
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    if chosen:
        folder, mend = Path(chosen), "set NUMBA_CACHE_DIR to a folder that can be written"
    elif os.access(package, os.W_OK):
        folder, mend = package, "make it writable, or set NUMBA_CACHE_DIR"
    else:
        words = f"{package} is read-only: numba keeps them in its folder for the user"
        return Finding(subject, OK, words)
    with contextlib.suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
    if not os.access(folder, os.W_OK):
        return Finding(subject, BROKEN, f"{folder} cannot be written: each process compiles", mend)
    files = [*folder.rglob("*.nbc")]
    size = sum(file.stat().st_size for file in files)
    where = f"{folder}" if chosen else f"{folder} (__pycache__)"
    return Finding(subject, OK, f"{where} holds {len(files)} kernels, {size / 1e6:.1f} MB")
