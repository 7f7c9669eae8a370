"""Whatever ends, workers end with it, and what is theirs comes between nobody's data."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import tamis
from tests.framework.calling.patience import in_thread, join

from .abuse import above, children, left, marked
from .test_isolation import LINUX, process
from .workers import isolated, matcher_with, values

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs a system that can fork")

PROGRAM = """
import os, signal, sys, threading, time, gc, warnings
warnings.filterwarnings("ignore", ".*fork", DeprecationWarning)  # programs may fork beside threads
from tests.framework.calling.isolation.abuse import *
matcher = matcher_of(isolated=True, workers=2)
matcher.match(event_of(5))
print("ready", flush=True)
"""

ENDS = {
    "with the program": "",
    "with the matcher": """
del matcher
gc.collect()
assert left(os.environ[MARK]) == []
assert children() == []
""",
    "with close": """
matcher.close()
assert left(os.environ[MARK]) == []
assert matcher.match(event_of(6)).matches
""",
    "with an exception": "raise SystemExit(0)",
    "at the end of modules": "import builtins; builtins.last = matcher",
    "with an interrupted call": """
matcher.subscribe("waits()", id="interrupted") if False else None
@tamis.operator(isolation="process")
def waits(event):
    time.sleep(1000)
other = Matcher([waits])
other.subscribe("waits()", id="s")
try:
    threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    other.match({})
except KeyboardInterrupt:
    print("interrupted", flush=True)
else:
    raise SystemExit("not interrupted")
""",
    "with a fork": """
child = os.fork()
if not child:
    assert matcher.match(event_of(6)).matches
    matcher.close()
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
assert matcher.match(event_of(6)).matches
""",
    "with a fork that lives on": """
if not os.fork():
    os.environ[MARK] = ""
    os.execlp("sleep", "sleep", "3")
os.kill(os.getpid(), signal.SIGKILL)
""",
    "with an idle fork that lives on": """
if not os.fork():
    time.sleep(1)
    os._exit(0)
os.kill(os.getpid(), signal.SIGKILL)
""",
    "with kill -9": "os.kill(os.getpid(), signal.SIGKILL)",
    "with kill -9 in a call": """
@tamis.operator(isolation="process")
def waits(event):
    time.sleep(1000)
other = Matcher([waits])
other.subscribe("waits()", id="s")
threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGKILL)).start()
other.match({})
""",
    "with a server that was killed": """
server, = children()
os.kill(server, signal.SIGKILL)
for number in range(4):
    result = matcher.match(event_of(number))
matcher.close()
""",
}


@LINUX
@pytest.mark.parametrize("how", ENDS)
def test_processes_end(how: str) -> None:
    root = Path(__file__).parents[4]
    with marked() as mark:
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", PROGRAM + ENDS[how]],
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
            cwd=root,
        )
        assert left(mark) == []
    killed = "kill -9" in how or "lives on" in how
    assert done.returncode == (-signal.SIGKILL if killed else 0), done.stderr
    assert done.stderr == ""
    assert done.stdout.startswith("ready\n")


@LINUX
def test_an_interrupt_of_the_terminal_reaches_no_worker() -> None:
    """The whole group of the program is interrupted, as a terminal does."""
    program = PROGRAM.replace('print("ready", flush=True)\n', "")
    program += 'try:\n    print("ready", flush=True)\n    time.sleep(60)\n'
    program += "except KeyboardInterrupt:\n    pass\n"
    program += "assert matcher.match(event_of(6)).matches\n"
    with marked() as mark:
        begun = subprocess.Popen(
            [sys.executable, "-c", program],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            cwd=Path(__file__).parents[4],
        )
        with begun:
            assert begun.stdout is not None
            assert begun.stdout.readline() == "ready\n"
            os.killpg(begun.pid, signal.SIGINT)
            said, problems = begun.communicate(timeout=60)
        assert (begun.returncode, said, problems) == (0, "", "")
        assert left(mark) == []


def test_what_operators_print_does_not_come_between_the_data() -> None:
    program = """
import tamis
@tamis.operator(isolation="process")
def prints(event):
    print("said by the operator")
    return True
with tamis.Matcher([prints]) as matcher:
    matcher.subscribe("prints()", id="s")
    print(len(matcher.match({}).matches))
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60
    )
    assert (done.stdout, done.stderr) == ("1\n", "said by the operator\n")


def test_a_worker_that_was_killed_while_idle_is_replaced_unnoticed() -> None:
    with matcher_with(process) as matcher:
        for _ in range(3):
            ((pid,),) = values(matcher, "process(?p)")
            os.kill(pid, signal.SIGKILL)
            with suppress(FileNotFoundError):
                while Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z":
                    time.sleep(0.002)
        assert values(matcher, "process(?p)") != [[pid]]


def test_a_matcher_can_be_used_after_it_was_closed() -> None:
    matcher = matcher_with(above)
    matcher.subscribe("above(3)", id="s")
    for _ in range(3):
        assert matcher.match({"height": 5}).matches
        matcher.close()
        matcher.close()


@LINUX
def test_a_fork_server_that_was_killed_costs_no_call(tmp_path: Path) -> None:
    """Not even the call that is under way: it is made again, by a worker of the next server."""
    release, begun = tmp_path / "release", tmp_path / "begun"

    @isolated(outputs=("server",))
    def waits(event: Any, server: Any) -> list[int]:
        begun.touch()
        while not release.exists():
            time.sleep(0.002)
        return [os.getppid()]

    others = children()
    with matcher_with(waits) as matcher:
        matcher.subscribe("waits(?x)", id="s")
        found: list[tamis.Result] = []
        for _ in range(2):
            for path in (release, begun):
                path.unlink(missing_ok=True)
            thread = in_thread(lambda: found.append(matcher.match({})))
            while not begun.exists():
                time.sleep(0.002)
            (server,) = (each for each in children() if each not in others)
            os.kill(server, signal.SIGKILL)
            release.touch()
            join(thread)
        assert [len(result.matches) for result in found] == [1, 1]
