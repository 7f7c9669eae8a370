"""A rig that kills a learning job: `python -m tests.spark.learning_kills --times 30`.

Each time a job that adds files to a folder of statistics is killed (SIGKILL, its JVM and workers
too) at a random moment, half of the times while it publishes. The folder then holds what it held,
or what a whole job gives; the job is run again, twice, and the folder holds what a whole job gives.
"""

from __future__ import annotations

import argparse
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tamis import Statistics

from . import kills
from .history import facts

_DEADLINE_SECONDS = 240


def prepare(folder: Path) -> float:
    """The folder before the job, and as a whole job leaves it; what the job takes, in seconds."""
    kills.prepare(folder)
    events = sorted((folder / "events").iterdir())
    (folder / "later").mkdir()
    for file in events[len(events) // 2 :]:
        file.rename(folder / "later" / file.name)
    for arguments in (("before", "events"), ("whole", "events")):
        _start(folder, *arguments).wait(_DEADLINE_SECONDS)
    begun = time.monotonic()
    _start(folder, "whole", "later").wait(_DEADLINE_SECONDS)
    return time.monotonic() - begun


def _start(folder: Path, output: str, events: str) -> subprocess.Popen[bytes]:
    more = ["--events", events, "--output", output, "--append", "--master", "local[2]"]
    with (folder / "log.txt").open("ab") as log:
        return subprocess.Popen(
            kills.command("learn", *more),
            cwd=folder,
            stdout=log,
            stderr=log,
            start_new_session=True,
            env=kills.environment(),
        )


def trial(folder: Path, seed: int, seconds: float) -> str:
    """Kills a job and runs it again; what is not as it should be, empty when all is."""
    chance = random.Random(seed)
    output = folder / f"out-{seed}"
    shutil.copytree(folder / "before", output)
    before, whole = (facts(Statistics.load(folder / name)) for name in ("before", "whole"))
    process = _start(folder, output.name, "later")
    if chance.random() < 0.5:
        time.sleep(chance.uniform(0, seconds))
    else:
        while process.poll() is None and not list(output.glob(".new-*")):
            time.sleep(0.001)
        time.sleep(chance.uniform(0, 0.05))
    kills.end(process)
    left = facts(Statistics.load(output))
    if left not in (before, whole):
        return "killed, it left what is neither old nor new"
    for _ in range(2):
        if _start(folder, output.name, "later").wait(_DEADLINE_SECONDS):
            return f"it cannot be run again: {(folder / 'log.txt').read_text()[-1000:]}"
    if facts(Statistics.load(output)) != whole:
        return "run again, it counts otherwise"
    if left_over := [*output.glob(".new-*"), *output.glob("*/.*")]:
        return f"it leaves {left_over[0].name}"
    shutil.rmtree(output)
    return ""


def main() -> int:
    """Runs trials and says what they came to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    wrong = 0
    with tempfile.TemporaryDirectory(prefix="tamis-kills-") as place:
        folder = Path(place) / "rig"
        seconds = prepare(folder)
        for seed in range(given.seed, given.seed + given.times):
            words = trial(folder, seed, seconds)
            wrong += bool(words)
            print(f"{seed}: {words or 'as one job'}", flush=True)
    print(f"{given.times} jobs killed, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
