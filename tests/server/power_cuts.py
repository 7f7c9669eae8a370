"""Cuts the power at each point of a recorded trace of writes and syncs, and looks what is left.

`python -m tests.server.power_cuts --points N [--seed S] [--control]`: with `synchronous=FULL`, as
the server has it, nothing acknowledged before the cut is lost, whatever part of what was not synced
is on disk; with `--control`, `synchronous=NORMAL`, something is.
"""

from __future__ import annotations

import argparse
import json
import pickle
import random
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from tamis.server.errors import LogError
from tests.killing import ROOT
from tests.power import Disk, Op
from tests.server.kills import Auditor

_PER_TRACE = 2_500
_BEGINNING = 24
_SHARED_MEMORY = Path("/dev/shm")


def recorded(folder: Path, seed: int, count: int, synchronous: str) -> list[Any]:
    """What a process did to a folder, and what it was told."""
    done = subprocess.run(
        [
            *(sys.executable, "-m", "tests.server.power_recording"),
            *(str(folder), f"{seed:08x}", str(count), synchronous),
        ],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        check=True,
    )
    found: list[Any] = pickle.loads(done.stdout)
    return [Op(*each) if isinstance(each, tuple) else each for each in found]


def cut(points: int, seed: int, synchronous: str = "FULL", *, aloud: bool = False) -> Counter[str]:
    """Cuts so many times; what was lost, how often, and how much was acknowledged before."""
    chance = random.Random(seed)
    counts: Counter[str] = Counter()
    place = _SHARED_MEMORY if _SHARED_MEMORY.is_dir() else None
    while counts["points"] < points:
        folder = Path(tempfile.mkdtemp(dir=place))
        try:
            some = min(points - counts["points"], _PER_TRACE)
            trace = recorded(folder / "log", chance.getrandbits(31), some, synchronous)
            _cut_trace(trace, folder, chance, counts)
        finally:
            shutil.rmtree(folder)
        if aloud:
            print(f"{counts['points']:,} of {points:,} points: {dict(counts)}", flush=True)
    return counts


def _cut_trace(trace: list[Any], folder: Path, chance: random.Random, counts: Counter[str]) -> None:
    """Cuts behind each operation of a trace."""
    disk, auditor, left = Disk(), Auditor(), folder / "left"
    for each in trace:
        counts["points"] += 1
        if isinstance(each, Op):
            disk.take(each)
            counts[each.kind] += 1
        else:
            auditor.hear(json.dumps(each).encode() + b"\n")
            counts["acknowledged"] += 1
        disk.cut(chance, str(folder / "log"), left)
        try:
            auditor.audit(left)
        except (AssertionError, KeyError):
            counts["lost"] += 1
        except LogError as refused:
            counts["refused"] += 1
            counts[str(refused).replace(str(left), "")] += 1
        finally:
            shutil.rmtree(left)


def cut_beginnings(times: int, seed: int) -> Counter[str]:
    """Cuts so many times at each of the first operations, where the files are made."""
    chance = random.Random(seed)
    counts: Counter[str] = Counter()
    folder = Path(tempfile.mkdtemp())
    try:
        trace = recorded(folder / "log", seed, _BEGINNING, "FULL")
        for _ in range(times):
            _cut_trace(trace, folder, chance, counts)
    finally:
        shutil.rmtree(folder)
    return counts


def main() -> None:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--points", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    parser.add_argument("--control", action="store_true", help="synchronous=NORMAL, which loses")
    chosen = parser.parse_args()
    print(f"seed {chosen.seed}")
    synchronous = "NORMAL" if chosen.control else "FULL"
    counts = cut(chosen.points, chosen.seed, synchronous, aloud=True)
    bad = counts["lost"] + counts["refused"]
    print(f"{chosen.points:,} cuts with synchronous={synchronous}: {bad:,} lost or refused")
    sys.exit(bool(bad) is not chosen.control)


if __name__ == "__main__":
    main()
