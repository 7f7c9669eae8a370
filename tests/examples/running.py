"""Runs an example as a user does, in a folder, and keeps what it says."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import NamedTuple

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
PATIENCE_SECONDS = 240
STRICT = ("-W", "error", "-W", "ignore::DeprecationWarning")
"""No warning but of what libraries say of each other."""


class Ended(NamedTuple):
    """A run that has ended."""

    status: int
    out: str
    err: str


def run(*arguments: object, folder: Path, **environment: str) -> Ended:
    """Runs this Python with arguments, in a folder."""
    ended = subprocess.run(
        [sys.executable, *map(str, arguments)],
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    return Ended(ended.returncode, ended.stdout, ended.stderr)


def installed(project: Path, place: Path) -> dict[str, str]:
    """The environment in which a project is installed, as an editable install leaves it."""
    about = tomllib.loads((project / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    name, version = about["name"], about["version"]
    info = place / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    entries = "".join(f"{key} = {to}\n" for key, to in about["entry-points"]["tamis"].items())
    (info / "entry_points.txt").write_text(f"[tamis]\n{entries}")
    paths = [str(project / "src"), str(place), *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    return {"PYTHONPATH": os.pathsep.join(filter(None, paths))}


def shown(text: str) -> list[tuple[str, str]]:
    """The commands of a README's console blocks, each with what it is shown to print."""
    found: list[tuple[str, str]] = []
    for block in re.findall(r"```console\n(.*?)```", text, re.DOTALL):
        for line in block.splitlines():
            if line.startswith("$ "):
                found.append((line[2:], ""))
            else:
                command, before = found[-1]
                if before == "" and command.endswith("\\"):
                    found[-1] = (command[:-1] + line.strip(), "")
                else:
                    found[-1] = (command, before + line + "\n")
    return found
