"""The command line as a process: statuses, signals, pipes, terminals, and what it imports."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tamis import Statistics

from .running import Process, strict, without_waiting, write_lines

MATCH = ("match", "--subscriptions", "S.jsonl", "--operators", "ops.py")


def test_the_entry_point_and_the_module_are_one(process: Process) -> None:
    script = Path(sys.executable).with_name("tamis")
    if not script.exists():
        pytest.skip("tamis is not installed beside this Python: pip install -e .")
    by_name = subprocess.run([script, "--version"], capture_output=True, check=True)
    assert re.fullmatch(r"tamis \d+\.\d+\.\d+\S*\n", by_name.stdout.decode())
    assert process("--version").out == by_name.stdout.decode()


def test_help_imports_nothing_heavy(process: Process) -> None:
    heavy = ("numpy", "pyarrow", "rich", "pluggy", "re2", "numba", "networkx", "tamis.matcher")
    ended = process.python(
        "import sys\n"
        "from tamis.cli import main\n"
        "statuses = [main(['--help']), main(['match', '--help'])]\n"
        f"print('heavy', [name for name in {heavy} if name in sys.modules], statuses)\n"
    )
    # pluggy comes with `import tamis`; whatever that takes is not the command line's
    alone = process.python(
        "import sys, tamis\n"
        f"print('heavy', [name for name in {heavy} if name in sys.modules], [0, 0])\n"
    )
    assert ended.out.splitlines()[-1] == alone.out.strip()
    assert "numpy" not in alone.out
    assert "130" in ended.out


def test_no_command_is_wrong_usage(process: Process) -> None:
    ended = process()
    assert (ended.status, ended.out) == (2, "")
    assert "Commands:" in ended.err
    unknown = process("mtach")
    assert unknown.status == 2
    assert "Did you mean 'match'?" in unknown.err


def test_statistics_are_followed_while_events_come(process: Process) -> None:
    pytest.importorskip("pyarrow", reason="pip install 'tamis[parquet]' brings pyarrow")
    folder = process.folder / "learned"
    Statistics({"louderThan(3)": 0.1}).save(folder)
    following = ("--statistics", "learned", "--follow-statistics")
    running = process.start(*MATCH, "--events", "-", *following)
    assert running.stdin is not None
    assert running.stdout is not None
    assert running.stderr is not None
    with running:
        for name in ("e1", "e2"):
            running.stdin.write(f'{{"id": "{name}", "people": 9}}\n'.encode())
            running.stdin.flush()
            assert json.loads(running.stdout.readline())["event"] == name
            Statistics({"louderThan(3)": 0.9}).save(folder)
            said = [running.stderr.readline().decode()]
            while "new statistics" not in said[-1]:
                assert said[-1].startswith("tamis is "), said
                said.append(running.stderr.readline().decode())
        running.stdin.close()
    assert running.returncode == 0
    assert process(*MATCH, "--events", "-", "--follow-statistics").status == 2


def test_from_standard_input_to_standard_output(process: Process) -> None:
    ended = process(*MATCH, "--events", "-", stdin='{"id": "é", "people": 9}\n'.encode())
    assert (ended.status, ended.err) == (0, "")
    assert ended.lines[0]["matches"][0]["bindings"] == [{"n": 9}]
    assert "é" in ended.out


def test_output_is_utf8_whatever_the_locale(process: Process) -> None:
    event = '{"id": "é\\ud800", "people": 9}'
    locale = {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
    ended = process(*MATCH, "--events", "-", stdin=event.encode(), **locale)
    assert ended.lines[0]["event"] == "é\ud800"
    told = process("explain", *MATCH[1:], "--event", event, PYTHONIOENCODING="ascii")
    assert told.status == 0
    assert "s2 matches \\xe9" in told.out
    data = process("explain", *MATCH[1:], "--event", event, "--json", PYTHONIOENCODING="ascii")
    assert strict(data.out)["event"] == "é\ud800"


def test_an_interruption_is_a_sentence_and_leaves_no_half_file(
    process: Process, folder: Path
) -> None:
    (folder / "out.jsonl").write_text("as it was")
    with process.start(*MATCH, "--events", "-", "--output", "out.jsonl") as running:
        assert running.stdin is not None
        running.stdin.write(b'{"id": "e1"}\n')
        running.stdin.flush()
        partial = folder / "out.jsonl.partial"
        while not (partial.exists() and partial.read_text().endswith("\n")):
            assert running.poll() is None
        running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=30)
    assert running.returncode == 130
    assert out == b""
    assert without_waiting(err.decode()) == (
        "interrupted after 1 event; what was written until then is in out.jsonl.partial\n"
    )
    assert (folder / "out.jsonl").read_text() == "as it was"
    assert strict(partial.read_text())["event"] == "e1"


def test_a_reader_that_has_enough_ends_the_run_quietly(process: Process, folder: Path) -> None:
    events = ({"id": f"e{at}", "people": 9} for at in range(3000))
    write_lines(folder / "E.jsonl", *events)
    with process.start(*MATCH, "--events", "E.jsonl") as running:
        assert running.stdout is not None
        assert running.stderr is not None
        assert json.loads(running.stdout.readline())["event"] == "e0"
        running.stdout.close()
        assert without_waiting(running.stderr.read().decode()) == ""
    assert running.returncode == 0


def test_what_a_reader_that_has_enough_costs_is_told(process: Process, folder: Path) -> None:
    write_lines(folder / "E.jsonl", *({"id": f"e{at}", "people": 9} for at in range(3000)))
    with process.start(*MATCH, "--events", "E.jsonl", "--report", "R.json") as running:
        assert running.stdout is not None
        assert running.stderr is not None
        running.stdout.readline()
        running.stdout.close()
        assert "so --report and --policy-state are not written" in running.stderr.read().decode()
    assert running.returncode == 0
    assert not (folder / "R.json").exists()


def test_results_come_as_events_do(process: Process) -> None:
    with process.start(*MATCH, "--events", "-") as running:
        assert running.stdin is not None
        assert running.stdout is not None
        for number in range(3):
            running.stdin.write(b'{"id": "e%d"}\n' % number)
            running.stdin.flush()
            assert json.loads(running.stdout.readline())["event"] == f"e{number}"
        running.stdin.close()
    assert running.returncode == 0


def test_standard_output_has_a_path_too(process: Process, folder: Path) -> None:
    with (folder / "out.jsonl").open("wb") as out:
        out.write(b"before\n")
        out.flush()
        arguments = (*MATCH, "--events", "-", "--output", "/dev/stdout")
        with process.start(*arguments, stdout=out) as running:
            running.communicate(b'{"id": "e1"}', timeout=30)
    assert running.returncode == 0
    before, line = (folder / "out.jsonl").read_text().splitlines()
    assert (before, strict(line)["event"]) == ("before", "e1")


@pytest.mark.parametrize("before", [True, False])
def test_only_debug_shows_a_traceback(process: Process, before: bool) -> None:
    arguments = ("check", "nowhere.jsonl")
    plain = process(*arguments)
    assert (plain.status, plain.out) == (1, "")
    assert "Traceback" not in plain.err
    debug = process("--debug", *arguments) if before else process(*arguments, "--debug")
    assert debug.status == 1
    assert "Traceback" in debug.err
    assert debug.err.endswith(plain.err)


def test_faults_have_no_traceback_either(process: Process, folder: Path) -> None:
    (folder / "ops.py").write_text("raise KeyError('oh')")
    ended = process(*MATCH, "--events", "-")
    assert ended.status == 2
    assert ended.err == "error: --operators: ops.py cannot be imported: KeyError: 'oh'\n"


def test_terminals_see_progress_and_pipes_do_not(process: Process, folder: Path) -> None:
    write_lines(folder / "E.jsonl", *({"people": 9} for _ in range(50)))
    arguments = (*MATCH, "--events", "E.jsonl")
    reading, terminal = pty.openpty()
    with process.start(*arguments, stderr=terminal) as running:
        os.close(terminal)
        out, _ = running.communicate(timeout=30)
    shown = b""
    with os.fdopen(reading, "rb", buffering=0) as screen:
        try:
            while piece := screen.read(4096):
                shown += piece
        except OSError:  # how Linux says that nobody holds the terminal any more
            pass
    assert running.returncode == 0
    assert len(out.splitlines()) == 50
    words = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown.decode())
    assert "50 events" in words
    assert "events/s" in words
    assert "50 matches" in words
    assert process(*arguments).err == ""
