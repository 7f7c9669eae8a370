"""Runs the command line for tests, and keeps what it wrote."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple, Protocol

PATIENCE_SECONDS = 240


class Ended(NamedTuple):
    """A run that has ended."""

    status: int
    out: str
    err: str

    @property
    def lines(self) -> list[dict[str, Any]]:
        """What was written, a JSON document a line, in strict JSON."""
        return [strict(line) for line in self.out.splitlines()]


def without_waiting(said: str) -> str:
    """What was said but for what was waited for, which a slow machine has said at any time."""
    waiting = re.compile(r"tamis is |[0-9,]+ of [0-9,]+ parts? done, ")
    return "".join(line for line in said.splitlines(True) if not waiting.match(line))


class Tamis(Protocol):
    """Runs a command line."""

    def __call__(self, *arguments: str, stdin: bytes = b"") -> Ended: ...


class Process:
    """Runs the command line in processes of their own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __call__(self, *arguments: str, stdin: bytes = b"", **environment: str) -> Ended:
        ended = subprocess.run(
            [sys.executable, "-m", "tamis", *arguments],
            input=stdin,
            capture_output=True,
            cwd=self.folder,
            env={**os.environ, **environment},
            timeout=PATIENCE_SECONDS,
            check=False,
        )
        return Ended(
            ended.returncode, ended.stdout.decode(), without_waiting(ended.stderr.decode())
        )

    def start(self, *arguments: str, **options: Any) -> subprocess.Popen[bytes]:
        """Starts the command line with pipes, unless other streams are given."""
        streams = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        return subprocess.Popen(
            [sys.executable, "-m", "tamis", *arguments],
            cwd=self.folder,
            **{**streams, **options},
        )

    def python(self, program: str) -> Ended:
        """Runs a program."""
        ended = subprocess.run(
            [sys.executable, "-c", program],
            capture_output=True,
            cwd=self.folder,
            timeout=PATIENCE_SECONDS,
            check=False,
        )
        return Ended(
            ended.returncode, ended.stdout.decode(), without_waiting(ended.stderr.decode())
        )


def strict(text: str) -> Any:
    """JSON without the numbers that JSON has not."""

    def refuse(token: str) -> None:
        raise AssertionError(f"{token} is no JSON")

    return json.loads(text, parse_constant=refuse)


def write_lines(path: Path, *documents: object) -> Path:
    """Writes JSON lines; text as it is."""
    lines = [each if isinstance(each, str) else json.dumps(each) for each in documents]
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path
