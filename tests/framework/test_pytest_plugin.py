"""The pytest plugin: items of operators and laws, sentences for failures, no harm to others."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

OPERATORS = """
import tamis

@tamis.operator(inputs=("loudness",), samples=[tamis.Sample("loud(3)", {"loudness": 7}, True)])
def loud(event, level: float):
    return float(event["loudness"]) > level

@tamis.operator(inputs=("loudness",), samples=[tamis.Sample("quiet(3)", {"loudness": 7}, True)])
def quiet(event, level: float):
    return float(event["loudness"]) < level

@tamis.operator(modules=("no_such_module",), extra="tamis[spatial]")
def far(event):
    return True
"""
OTHER = """
import sys

def test_other(matcher_of, request):
    if not request.config.getoption("--tamis-operators"):
        assert "numpy" not in sys.modules
        assert "hypothesis.strategies" not in sys.modules
    from ops import loud
    assert matcher_of(loud, s1="loud(3)", s2="loud(9)").match({"loudness": 5}).matches
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Somebody's project, with operators in a file and a test of its own."""
    (tmp_path / "ops.py").write_text(OPERATORS)
    (tmp_path / "test_other.py").write_text(OTHER)
    (tmp_path / "pytest.ini").write_text("[pytest]\nfilterwarnings = error\n")
    return tmp_path


def run(project: Path, *arguments: str) -> tuple[int, str]:
    """A run of pytest there, with the plugin even where tamis was installed without it."""
    points = metadata.entry_points(group="pytest11", name="tamis")
    given = [] if any(points) else ["-p", "tamis.pytest_plugin"]
    ended = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-p",
            "no:schemathesis",
            *given,
            "--strict-markers",
            *arguments,
        ],
        cwd=project,
        env={**os.environ, "COLUMNS": "100"},
        capture_output=True,
        text=True,
        check=False,
    )
    return ended.returncode, ended.stdout + ended.stderr


def test_unused_it_changes_nothing(project: Path) -> None:
    status, text = run(project, "-q")
    assert status == 0, text
    assert "1 passed" in text


def test_every_operator_and_law_is_an_item(project: Path) -> None:
    status, text = run(project, "-v", "--tamis-operators=ops.py", "-rs")
    assert status == 1
    assert "collected 61 items" in text
    assert "loud[answers] PASSED" in text
    assert "loud[travels] PASSED" in text
    assert "quiet[answers] FAILED" in text
    assert "test_other.py::test_other PASSED" in text
    assert "far needs no_such_module" in text
    assert "1 failed, 40 passed, 20 skipped" in text


@pytest.mark.slow
def test_a_failure_is_a_sentence(project: Path) -> None:
    status, text = run(project, "-q", "-m", "tamis_operator", "--tamis-operators=ops.py")
    assert status == 1
    failure = text.partition("quiet[answers] ___")[2].partition("\n")[2].partition("====")[0]
    assert failure.splitlines() == [
        "quiet breaks the law 'answers': it answers its samples, as they say",
        "a sample has another answer",
        "  predicate  quiet(3)",
        "  event      {'loudness': 7}",
        "  expected   True",
        "  got        False",
        "  mend it    correct the operator, or the sample",
    ]
    assert "Traceback" not in text


@pytest.mark.slow
def test_items_are_chosen_by_name(project: Path) -> None:
    status, text = run(project, "-q", "-k", "loud and answers", "--tamis-operators=ops.py")
    assert status == 0
    assert "1 passed, 60 deselected" in text


@pytest.mark.slow
@pytest.mark.parametrize("target", ["nowhere", "test_other.py"])
def test_what_holds_no_operator_is_wrong_usage(project: Path, target: str) -> None:
    status, text = run(project, "-q", f"--tamis-operators={target}")
    assert status == 4
    assert f"ERROR: --tamis-operators: {target} " in text
    assert "Traceback" not in text


@pytest.mark.slow
def test_a_plugin_that_cannot_be_loaded_is_a_failure(project: Path) -> None:
    site = project / "site"
    (site / "wreck-1.5.dist-info").mkdir(parents=True)
    (site / "wreck_plugin.py").write_text("raise RuntimeError('on the rocks')")
    about = {"METADATA": "Metadata-Version: 2.1\nName: wreck\nVersion: 1.5\n"}
    about["entry_points.txt"] = "[tamis]\nwreck = wreck_plugin\n"
    for name, text in about.items():
        (site / "wreck-1.5.dist-info" / name).write_text(text)
    (project / "conftest.py").write_text("import sys; sys.path.append('site')\n")
    status, text = run(project, "-q", "-m", "tamis_operator", "-k", "loads", "--tamis-operators")
    assert status == 1
    assert "plugin wreck of wreck is left out; it failed: RuntimeError: on the rocks" in text
    assert "Traceback" not in text


@pytest.mark.slow
def test_the_class_shows_each_law_by_its_name(project: Path) -> None:
    (project / "test_quiet.py").write_text(
        "from tamis.testing import OperatorConformance\n"
        "import ops\n"
        "class TestQuiet(OperatorConformance):\n    operator = ops.quiet\n"
        "class TestFar(OperatorConformance):\n    operator = ops.far\n"
    )
    status, text = run(project, "-v", "test_quiet.py")
    assert status == 1
    assert "TestQuiet::test_answers FAILED" in text
    assert "TestQuiet::test_deterministic PASSED" in text
    assert "1 failed, 19 passed, 20 skipped" in text
