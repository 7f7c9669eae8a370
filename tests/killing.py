"""Kills processes at random moments, as they begin and as they work, and audits what is left.

A process is a module that takes a place and a seed, and says in lines of JSON that it is `opening`
the place, that it has `opened` it, and what was acknowledged to it.
"""

from __future__ import annotations

import argparse
import atexit
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Protocol

ROOT = Path(__file__).resolve().parents[1]


class Auditor(Protocol):
    """What was acknowledged, and whether a place has it all."""

    counts: Counter[str]

    def hear(self, lines: bytes) -> None:
        """Takes what a process said until it was killed."""

    def audit(self, place: Path) -> None:
        """Compares a place with what was said."""


class Trial(Protocol):
    """A place, and the processes that are killed there, one after the other."""

    def kill_once(self, place: Path, chance: random.Random) -> None:
        """Starts a process, and kills it."""

    def end(self, place: Path) -> Counter[str]:
        """Audits what is left; how often what was acknowledged."""


class ProgramTrial:
    """A program that says what was acknowledged to it, and is audited whenever it was killed."""

    def __init__(self, program: str, auditor: Auditor) -> None:
        self._program = program
        self._auditor = auditor

    def kill_once(self, place: Path, chance: random.Random) -> None:
        self._auditor.hear(killed_once(self._program, place, chance))
        self._auditor.audit(place)

    def end(self, place: Path) -> Counter[str]:
        return self._auditor.counts


class Breeder:
    """A process that has imported a program, and forks one that runs it whenever it is asked.

    To begin a process takes milliseconds then, and not as long as all imports."""

    _PROGRAM = """
import importlib, os, sys
main = importlib.import_module(sys.argv[1]).main
while line := sys.stdin.readline():
    child = os.fork()
    if not child:
        try:
            main(*line.split())
        finally:
            os._exit(1)
    os.write(1, b"child %d\\n" % child)
    os.write(1, b"\\nended %d\\n" % os.waitpid(child, 0)[1])
"""

    def __init__(self, program: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", self._PROGRAM, program],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=dict(os.environ),
        )
        self._child = 0
        self._said: list[bytes] = []
        atexit.register(self.end)

    def end(self) -> None:
        """Ends it; nothing is asked of it any more."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()

    def begin(self, place: Path, seed: str) -> None:
        """Begins a process."""
        assert self._process.stdin is not None
        self._child, self._said = 0, []
        self._process.stdin.write(f"{place} {seed}\n".encode())
        self._process.stdin.flush()

    def wait_for(self, word: bytes) -> None:
        """Waits until the process has said a word."""
        while not self._child or not any(word in line for line in self._said):
            line = self._line()
            assert not line.startswith(b"ended "), "the process ended by itself"

    def kill(self) -> bytes:
        """Kills the process; all whole lines that it has said."""
        os.kill(self._child, signal.SIGKILL)
        while not (line := self._line()).startswith(b"ended "):
            pass
        assert line == b"ended %d\n" % signal.SIGKILL
        return b"".join(self._said[:-1])  # without what it was about to say

    def _line(self) -> bytes:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, "the program ended by itself"
        if line.startswith(b"child "):
            self._child = int(line.split()[1])
        elif not line.startswith(b"ended "):
            self._said.append(line)
        return line


_breeder_of = cache(Breeder)


def killed_once(program: str, place: Path, chance: random.Random) -> bytes:
    """Starts a process and kills it; what it said."""
    seed = f"{chance.getrandbits(32):x}"
    recovering = chance.random() < 0.3
    breeder = _breeder_of(program)
    breeder.begin(place, seed)
    breeder.wait_for(b"opening" if recovering else b"opened")
    time.sleep(chance.uniform(0, 0.03) if recovering else chance.uniform(0.0, 0.6))
    return breeder.kill()


def killed(
    times: int, seed: int, trial: Callable[[], Trial], *, a_place: int = 10, start: int = 0
) -> Counter[str]:
    """Kills so many times, some in `log-0`, some in `log-1` …; how often what was acknowledged.

    Each place has chances of its own, so that one can go on at a `start`."""
    counts: Counter[str] = Counter()
    for first in range(start - start % a_place, times, a_place):
        chance = random.Random(f"{seed} {first}")
        folder = Path(tempfile.mkdtemp())
        place = folder / f"log-{first // a_place}"
        last = min(first + a_place, times)
        each = trial()
        for _ in range(first, last):
            each.kill_once(place, chance)
        counts += each.end(place)
        shutil.rmtree(folder)
        if times > a_place:
            print(f"{last} of {times} kills: {sum(counts.values())} answers kept", flush=True)
    return counts


def commanded(about: str | None, kill: Callable[[int, int, int], Counter[str]]) -> None:
    """Kills as often as the command line says."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--times", type=int, default=30)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    parser.add_argument("--start", type=int, default=0, help="how many were killed before")
    chosen = parser.parse_args()
    print(f"seed {chosen.seed}")
    counts = kill(chosen.times, chosen.seed, chosen.start)
    print(f"{chosen.times} kills, nothing lost of {dict(counts)}")
