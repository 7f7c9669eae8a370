"""A folder to work in, and the command line in this process and in one of its own."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from .running import Ended, Process, Tamis, without_waiting

OPERATORS = '''
import tamis

@tamis.operator(inputs=("loudness",), cost_seconds=0.002, version="3")
def louderThan(event, level):
    """Whether it is louder than a level."""
    return event["loudness"] > level

@tamis.operator(inputs=("people",), outputs=("count",), timeout=2)
def peopleCount(event, count):
    return [event["people"]]

@tamis.operator
def broken(event, *anything):
    raise RuntimeError("no such luck")

@tamis.operator(inputs=("image",), outputs=("path",))
def imagePath(event, path):
    return [event["image"]]

@tamis.operator(outputs=("value",))
def endless(event, value):
    return [float("inf"), -float("inf")]
'''
SUBSCRIPTIONS = """\
{"id": "s1", "where": "louderThan(3) and altitude < 400"}
{"id": "s2", "where": "peopleCount(?n), ?n > 5", "owner": "ann"}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with operators and subscriptions."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ops.py").write_text(OPERATORS)
    (tmp_path / "S.jsonl").write_text(SUBSCRIPTIONS)
    return tmp_path


@pytest.fixture
def tamis(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]
) -> Tamis:
    """The command line in this process."""
    from tamis.cli import main

    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setenv("COLUMNS", "80")

    def run(*arguments: str, stdin: bytes = b"") -> Ended:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        status = main(arguments)
        captured = capsysbinary.readouterr()
        return Ended(status, captured.out.decode(), without_waiting(captured.err.decode()))

    return run


@pytest.fixture
def process(folder: Path) -> Process:
    """The command line in a process of its own."""
    return Process(folder)
