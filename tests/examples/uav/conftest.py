"""One short run of the demo, in a pipe, for all tests of what it shows and writes."""

from __future__ import annotations

import json
import subprocess

import pytest

from tests.examples.uav.running import ROOT, Ran, command, environment

NEEDED = ("cv2", "shapely", "pyproj", "rdflib", "pyoxigraph", "pyarrow", "pyspark", "scipy")


@pytest.fixture(scope="session")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """The demo, for some seconds."""
    for name in NEEDED:
        pytest.importorskip(name, reason="the demo needs more: pip install 'tamis[demo]'")
    output = tmp_path_factory.mktemp("demo")
    done = subprocess.run(
        command(output),
        cwd=ROOT,
        env=environment(SECONDS="5"),
        capture_output=True,
        text=True,
        check=False,
        timeout=280,
    )
    assert done.returncode == 0, done.stderr + done.stdout
    run = json.loads((output / "run.json").read_text(encoding="utf-8"))
    page = (output / "report.html").read_text(encoding="utf-8")
    return Ran(output, done.stdout, run, page)
