"""Learning from history: script and notebook run, and what was learned spares calls, counted."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.examples.running import EXAMPLES, STRICT, run, shown

LEARNING = EXAMPLES / "learning"


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The example, where it may write."""
    for module, extra in (("pyspark", "spark"), ("matplotlib", "bench")):
        pytest.importorskip(module, reason=f"pip install 'tamis[{extra}]'")
    from tamis.spark import SparkError, java_found

    try:
        java_found()
    except SparkError as bad:
        pytest.skip(str(bad))
    return Path(shutil.copytree(LEARNING, tmp_path / "learning"))


@pytest.mark.slow
def test_its_readme_is_right(copy: Path) -> None:
    commands = shown((LEARNING / "README.md").read_text(encoding="utf-8"))
    assert len(commands) == 2
    for command, _ in commands:
        program, *arguments = shlex.split(command)
        if program == "tamis":
            arguments = ["-m", "tamis", *arguments]
            # a whole history takes minutes: the sensors are slow
            lines = "\n".join(json.dumps({"id": str(each), "load": 5}) for each in range(20))
            (copy / "history.jsonl").write_text(lines + "\n{")
            arguments[arguments.index("--events") + 1] = "history.jsonl"
        ended = run(*STRICT, *arguments, folder=copy)
        assert ended.status == 0, ended.err
        if program != "tamis":
            _check_script(ended.out, copy / "learned")
    assert len((copy / "learned" / "matches.jsonl").read_text().splitlines()) == 20
    assert len((copy / "learned" / "bad.jsonl").read_text().splitlines()) == 1


def _check_script(said: str, folder: Path) -> None:
    rows = {name: [int(a), int(b)] for name, a, b in re.findall(r"(?m)^(\w+) +(\d+) +(\d+) ", said)}
    assert list(rows) == ["naive", "sequential", "suborder", "savings"]
    assert rows["naive"][0] == rows["naive"][1] == max(map(max, rows.values()))
    for planner in ("suborder", "savings"):
        assert rows[planner][1] <= 0.8 * rows[planner][0]
    for plot in ("selectivities.png", "calls.png"):
        assert (folder / plot).read_bytes().startswith(b"\x89PNG")


@pytest.mark.slow
def test_the_cells_of_the_notebook_run(copy: Path) -> None:
    notebook = json.loads((LEARNING / "learning.ipynb").read_text(encoding="utf-8"))
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    code: list[dict[str, Any]] = [each for each in notebook["cells"] if each["cell_type"] == "code"]
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in code)
    program = "\n".join("".join(cell["source"]) for cell in code)
    program += "\nassert learning.plot_calls(found)._repr_png_()[1:4] == b'PNG'"
    program += "\nsavings = [each.total for each in found['savings']]"
    program += "\nassert savings[1] <= 0.8 * savings[0], savings"
    program += "\nimport shutil; shutil.rmtree(folder)"
    ended = run(*STRICT, "-c", program, folder=copy)
    assert ended.status == 0, ended.err
    assert "3000 events, 1 rejected" in ended.out
