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
    times: int, seed: int, program: str, auditor: Callable[[], Auditor], a_place: int = 10
) -> Counter[str]:
    """Kills so many times, some in `log-0`, some in `log-1` …; how often what was acknowledged."""
    chance = random.Random(seed)
    counts: Counter[str] = Counter()
    done = 0
    while done < times:
        folder = Path(tempfile.mkdtemp())
        each = auditor()
        place = folder / f"log-{done // a_place}"
        for _ in range(min(a_place, times - done)):
            each.hear(killed_once(program, place, chance))
            each.audit(place)
            done += 1
            if times > a_place and done % a_place == 0:
                print(f"{done} of {times} kills: {sum(each.counts.values())} answers kept")
        counts += each.counts
        shutil.rmtree(folder)
    return counts


def commanded(about: str | None, kill: Callable[[int, int], Counter[str]]) -> None:
    """Kills as often as the command line says."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--times", type=int, default=30)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    chosen = parser.parse_args()
    print(f"seed {chosen.seed}")
    counts = kill(chosen.times, chosen.seed)
    print(f"{chosen.times} kills, nothing lost of {dict(counts)}")
