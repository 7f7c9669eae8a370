"""Ctrl-C on a run on Spark: a sentence, whatever the JVM is doing, and nothing half done."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli.running import without_waiting

OPERATORS = """
import time
from pathlib import Path
import tamis

@tamis.operator(inputs=("loudness",))
def louderThan(event, level):
    (Path({folder!r}) / "called").touch()
    time.sleep(0.2)
    return event["loudness"] > level
"""
OPTIONS = {
    "match": ["--on", "spark", "--events", "events", "--output", "out"],
    "learn": ["--events", "events", "--output", "out"],
    "stream": ["--events", "events", "--output", "out", "--checkpoint", "kept"],
}
# what is started in the background of a shell would ignore the signal
HEAD = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from tamis.cli import main
sys.exit(main(sys.argv[1:]))
"""
WORDS = {"stream": "interrupted: whole batches are kept, and the next run goes on from them\n"}


@pytest.mark.slow
@pytest.mark.parametrize("command", OPTIONS)
def test_an_interrupted_run_says_so_and_ends(tmp_path: Path, command: str) -> None:
    (tmp_path / "ops.py").write_text(OPERATORS.format(folder=str(tmp_path)))
    (tmp_path / "s.jsonl").write_text('{"id": "s1", "where": "louderThan(3)"}\n')
    (tmp_path / "events").mkdir()
    events = (json.dumps({"id": f"e{at}", "loudness": at % 7}) for at in range(2_000))
    (tmp_path / "events" / "1.jsonl").write_text("\n".join(events))
    (tmp_path / "temporary").mkdir()
    command_line = [command, "--subscriptions", "s.jsonl", "--operators", "ops.py"]
    run = subprocess.Popen(
        [sys.executable, "-c", HEAD, *command_line, *OPTIONS[command], "--master", "local[2]"],
        cwd=tmp_path,
        env={**os.environ, "TMPDIR": str(tmp_path / "temporary")},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        end = time.monotonic() + 120
        while not (tmp_path / "called").exists() and run.poll() is None:
            assert time.monotonic() < end
            time.sleep(0.1)
        os.killpg(run.pid, signal.SIGINT)  # what a terminal does: to all of them
        out, said = run.communicate(timeout=60)
    finally:
        if run.poll() is None:
            os.killpg(run.pid, signal.SIGKILL)
    said = without_waiting(said)
    assert (run.returncode, out, said) == (130, "", WORDS.get(command, "interrupted\n"))
    assert not (tmp_path / "out.partial").exists()
    assert not list((tmp_path / "out").glob("*/batch=*" if command == "stream" else "*"))
    assert not list((tmp_path / "temporary").glob("tamis-*"))
