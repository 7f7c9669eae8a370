"""How well the machine does the work: whether kernels compile, are kept, and how wide they are."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from tamis.doctor.finding import BROKEN, MISSING, OK, Finding

_MEND_CACHE = "set XDG_CACHE_HOME (or NUMBA_CACHE_DIR) to a folder of your own that can be written"


def kernels() -> Iterator[Finding]:
    """Whether kernels compile, whether they are right, and where machine code is kept."""
    started = time.perf_counter()
    from tamis.doctor.probe import counted

    count = int(counted(np.arange(10, dtype=np.int64)))
    seconds = time.perf_counter() - started
    if count != 45:
        yield Finding("kernels", BROKEN, "numba compiles wrong code", "reinstall numba")
        return
    yield Finding("kernels", OK, f"compiled or found, and run, in {seconds:.1f} s")
    kept: Any = counted
    yield _cache(kept._cache.cache_path)


def _cache(folder: str | None) -> Finding:
    subject = "kernel cache"
    if folder is None:
        return Finding(subject, BROKEN, "there is no folder for machine code", _MEND_CACHE)
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as failure:
        words = f"{folder} cannot be written ({failure.strerror}): every process compiles anew"
        return Finding(subject, BROKEN, words, _MEND_CACHE)
    files = [each for each in os.scandir(folder) if each.name.endswith(".kernel")]
    size = sum(each.stat().st_size for each in files)
    return Finding(subject, OK, f"{folder} holds {len(files)} kernels, {size / 1e6:.1f} MB")


def vectors() -> Iterator[Finding]:
    """Whether indexes can look 64 bytes up at once on this processor."""
    from tamis.index.buckets.bits import has_vectors

    if has_vectors():
        yield Finding("index", OK, "looks up 64 values at once (AVX-512 VBMI)")
    else:
        words = "looks up values one by one: the processor, or numba's settings, lack AVX-512 VBMI"
        yield Finding("index", MISSING, words, "nothing to do: answers are the same, in more time")
