"""The transcript of the match server is what a shell prints, and its client works."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tamis.server.service import ServerSettings
from tamis.server.serving import Server
from tests.examples.running import EXAMPLES, run

FOLDER = EXAMPLES / "server"
PATIENCE_SECONDS = 120


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port: int = taken.getsockname()[1]
        return port


def transcript(text: str) -> list[tuple[str, str]]:
    """The commands of a README, each with all that it prints, empty lines too."""
    found: list[tuple[str, str]] = []
    for block in re.findall(r"```console\n(.*?)```", text, re.DOTALL):
        for line in block.splitlines():
            if line.startswith("$ "):
                found.append((line[2:], ""))
            else:
                found[-1] = found[-1][0], f"{found[-1][1]}{line}\n"
    return found


@pytest.mark.long
def test_the_transcript_is_what_a_shell_prints(tmp_path: Path) -> None:
    folder = tmp_path / "server"
    shutil.copytree(FOLDER, folder)
    port = str(free_port())
    text = (FOLDER / "README.md").read_text(encoding="utf-8").replace("8484", port)
    commands = transcript(text)
    assert len(commands) >= 18
    (folder / "tamis").write_text(f'#!/bin/sh\nexec {sys.executable} -m tamis "$@"\n')
    (folder / "tamis").chmod(0o755)
    mark = "=== the next command ==="
    script = "\n".join(f"{command}\necho '{mark}'" for command, _ in commands)
    shell = subprocess.run(
        ["bash", "-c", f"{script}\n"],
        cwd=folder,
        env={**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    printed = shell.stdout.split(f"{mark}\n")
    if len(printed) == 1:
        printed = shell.stdout.split(mark)
    for (command, shown), output in zip(commands, printed, strict=False):
        expected = ".*".join(map(re.escape, shown.strip().split("…")))
        assert re.fullmatch(expected, output.replace(mark, "").strip(), re.DOTALL), (
            f"{command}\n{output}"
        )
    assert len(printed) == len(commands) + 1


def test_the_client_reads_what_is_due(tmp_path: Path) -> None:
    import tamis
    from examples.server.operators import louderThan

    settings = ServerSettings(tmp_path)
    with Server(settings, lambda: tamis.Matcher(operators=[louderThan])) as server:
        ended = run("client.py", server.url, folder=FOLDER)
    assert (ended.status, ended.out) == (0, "match event-2\n"), ended.err


def test_the_settings_are_those_that_serve_knows() -> None:
    import tomllib

    import typer

    from tamis.cli.app import build

    read = tomllib.loads((FOLDER / "tamis.toml").read_text(encoding="utf-8"))
    serve = typer.main.get_command(build()).commands["serve"]  # type: ignore[attr-defined]
    assert read.keys() <= {each.name.replace("_", "-") for each in serve.params}
