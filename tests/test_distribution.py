"""The wheel and the source archive hold what they should, and serve in an empty environment."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

MINE = """
import tamis

@tamis.operator(inputs=("loudness",))
def louderThan(event, level: float):
    return event["loudness"] > level
"""
EXPECTED = (
    '{"event": "e1", "matches": [{"subscription": "s1", "bindings": [{}]}], "undetermined": []}\n'
)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a wheel, and the source archive that it was built from."""
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--outdir", str(folder), str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def only(folder: Path, pattern: str) -> Path:
    (found,) = folder.glob(pattern)
    return found


def test_the_source_archive_is_a_checkout(built: Path) -> None:
    with tarfile.open(only(built, "*.tar.gz")) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    for name in ("LICENSE", "SECURITY.md", "README.md", "Makefile", "framework/constraints.txt"):
        assert name in names
    assert "tests/test_distribution.py" in names


def test_the_wheel_holds_the_packages_and_the_licence(built: Path) -> None:
    with zipfile.ZipFile(only(built, "*.whl")) as wheel:
        names = wheel.namelist()
    tops = {name.partition("/")[0] for name in names}
    assert {name for name in tops if not name.endswith(".dist-info")} == {
        *("tamis", "tamis_bench", "tamis_operators", "tamis_planners"),
    }
    assert any(name.endswith("dist-info/licenses/LICENSE") for name in names)
    for template in ("project.toml", "readme.md", "measure.py", "image_edge.py"):
        assert f"tamis/scaffold/templates/{template}" in names
    for part in ("index.html", "page.css", "main.js", "outlines.geojson"):
        assert f"tamis/server/page/{part}" in names
    assert not [name for name in names if name.endswith((".nbi", ".nbc", ".pyc"))]


def test_the_wheel_serves_in_an_empty_environment(built: Path, tmp_path: Path) -> None:
    home = tmp_path / "environment"
    venv.create(home, with_pip=True)
    python = home / "bin" / "python"

    def run(*command: str | Path) -> str:
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    run(python, "-m", "pip", "install", "--quiet", only(built, "*.whl"))
    shown = run(python, "-m", "pip", "show", "tamis").splitlines()
    assert any(line.startswith("License") and line.endswith("Apache-2.0") for line in shown)
    (tmp_path / "mine.py").write_text(MINE)
    (tmp_path / "S.jsonl").write_text('{"id": "s1", "where": "louderThan(3) and altitude < 9"}\n')
    (tmp_path / "E.jsonl").write_text('{"id": "e1", "loudness": 7, "altitude": 3}\n')
    files = ("--subscriptions", "S.jsonl", "--events", "E.jsonl", "--operators", "mine.py")
    assert run(home / "bin" / "tamis", "match", *files) == EXPECTED
    assert "peopleCount" in run(home / "bin" / "tamis", "operators")
