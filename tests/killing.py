"""Kills processes at random moments, as they begin and as they work, and audits what is left.

A process is a module that takes a place and a seed, and says in lines of JSON that it is `opening`
the place, that it has `opened` it, and what was acknowledged to it.
"""

from __future__ import annotations

import argparse
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


def killed_once(program: str, place: Path, chance: random.Random) -> bytes:
    """Starts a process and kills it; what it said."""
    seed = f"{chance.getrandbits(32):x}"
    process = subprocess.Popen(
        [sys.executable, "-m", program, str(place), seed],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        env=dict(os.environ),
    )
    assert process.stdout is not None
    recovering = chance.random() < 0.3
    first = b""
    wanted = b"opening" if recovering else b"opened"
    while wanted not in first:
        line = process.stdout.readline()
        assert line, "the process ended by itself"
        first += line
    time.sleep(chance.uniform(0, 0.03) if recovering else chance.uniform(0.0, 0.6))
    process.send_signal(signal.SIGKILL)
    rest = process.stdout.read()
    process.stdout.close()
    assert process.wait() == -signal.SIGKILL
    return first + rest


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
