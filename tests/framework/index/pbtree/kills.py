"""Kills a process that changes an index, at random moments, and looks what is left.

`python -m tests.framework.index.pbtree.kills --times N [--seed S] [--folder DIR]`: all that was
committed is there, and of the change that a kill fell into all or nothing. A process is killed
while it writes, and while it opens what the one before it left. With a folder, a run that was
interrupted goes on where it was.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import tempfile
from pathlib import Path

import tamis
from tests.framework.index.pbtree.changes import Changes, event
from tests.killing import killed_once

PROGRAM = "tests.framework.index.pbtree.writing"
_PER_INDEX = 25
_EVENTS = 10


class Lost(AssertionError):
    """What was committed is not there after a kill."""


def changes_made(said: bytes, done: int) -> int:
    """Returns how many changes were made, by what a process said."""
    lines = map(json.loads, said[: said.rfind(b"\n") + 1].splitlines())
    return max([done, *(int(line["did"]) for line in lines if "did" in line)])


def check(folder: Path, seed: str, done: int, chance: random.Random) -> int:
    """Opens what a kill left; returns how many changes are in it: those made, or one more."""
    changes = Changes(seed, named=True)
    for _ in range(done):
        changes.next()
    index = tamis.index.build("pbtree", [], folder=str(folder))
    try:
        for _ in range(2):
            if len(index) == len(changes.rows) and all(id in index for id in changes.rows):
                for _ in range(_EVENTS):
                    document = event(chance)
                    if set(index.match(document).tolist()) != changes.matching(document):
                        raise Lost(f"{document} finds something else after {changes.count} changes")
                return changes.count
            changes.next()
    finally:
        index.close()
    raise Lost(f"after {done} changes of {seed} something else is there")


def kill(times: int, seed: int, place: Path | None = None) -> int:
    """Kills so many times; returns how many changes were made."""
    folder = place or Path(tempfile.mkdtemp())
    folder.mkdir(parents=True, exist_ok=True)
    notes = folder / "progress.json"
    progress = {"seed": seed, "kills": 0, "changes": 0, "all": 0}
    if notes.exists():
        progress = json.loads(notes.read_text())
        print(f"going on after {progress['kills']} kills, seed {progress['seed']}")
    while progress["kills"] < times:
        number = progress["kills"]
        chance, name = random.Random(f"{progress['seed']} {number}"), f"{number // _PER_INDEX}"
        changing = f"{progress['seed']}.{name}"
        if number % _PER_INDEX == 0:
            shutil.rmtree(folder / name, ignore_errors=True)
            progress["changes"] = 0
        before = progress["changes"]
        (folder / f"{name}.json").write_text(json.dumps({"seed": changing, "done": before}))
        said = killed_once(PROGRAM, folder / name, chance)
        done = changes_made(said, before)
        there = check(folder / name, changing, done, chance)
        progress["all"] += there - before
        progress |= {"kills": number + 1, "changes": there}
        notes.write_text(json.dumps(progress))
        if progress["kills"] % _PER_INDEX == 0:
            shutil.rmtree(folder / name)
            print(f"{progress['kills']} of {times} kills", flush=True)
    made = int(progress["all"])
    if place is None:
        shutil.rmtree(folder)
    return made


def main() -> None:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=20)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    parser.add_argument("--folder", type=Path)
    chosen = parser.parse_args()
    print(f"seed {chosen.seed}")
    made = kill(chosen.times, chosen.seed, chosen.folder)
    print(f"{chosen.times} kills, nothing lost of {made} changes")


if __name__ == "__main__":
    main()
