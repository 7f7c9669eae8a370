"""Kernels are compiled into a cache that can be written, wherever tamis is installed."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import numba.core.caching as caching
for name in ("InTreeCacheLocator", "InTreeCacheLocatorFsAgnostic", "UserWideCacheLocator"):
    getattr(caching, name).from_function = classmethod(lambda cls, *rest: None)
import numba, numpy
from tamis_planners.suborder_kernels import saving
chains = [numpy.array(each) for each in ([0, 2], [2, 2], [0, 1, 1, 2])]
print(round(saving(*chains, numpy.array([0.2, 0.5, 0.8]), numpy.ones(3), 1, 0), 3))
print(numba.config.CACHE_DIR)
"""


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="folders of users are POSIX")
def test_without_a_place_of_its_own_the_cache_is_private(tmp_path: Path) -> None:
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    environment.pop("NUMBA_CACHE_DIR", None)

    def run() -> list[str]:
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM],
            capture_output=True,
            text=True,
            check=True,
            env=environment,
        )
        return done.stdout.split()

    saved, folder = run()
    assert float(saved) == 0.5
    assert Path(folder).parent == tmp_path
    assert stat.S_IMODE(os.stat(folder).st_mode) == 0o700
    os.chmod(folder, 0o777)
    _, other = run()
    assert other != folder


def test_kernels_are_imported_only_where_one_is_needed() -> None:
    program = (
        "import sys, tamis; tamis.Matcher([]); "
        "tamis.index.build('scan', []); print('numba' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "False"
