"""Cuts the power at any moment of a run of changes, and looks what is left on disk.

`python -m tests.framework.index.pbtree.power --points N [--seed S] [--unsynced]`: every cut leaves
all that was committed, and of the change that it fell into all or nothing. `--unsynced` is the
control: without a sync, something is lost.
"""

from __future__ import annotations

import argparse
import copy
import random
import shutil
import tempfile
from collections import Counter
from pathlib import Path
from unittest.mock import patch

import numpy as np

from tamis.errors import IndexFolderError
from tamis.event import Event
from tamis.index.clauses import predicate_of
from tamis.index.pbtree.index import PBTree
from tamis.index.pbtree.tree import Sizes
from tests.framework.index.pbtree.changes import Changes, event
from tests.power import Disk, Op, TracedDisk

_PER_TRACE = 250
_SHARED_MEMORY = Path("/dev/shm")
_CHANGES = 60
_SIZES = Sizes(inner=8, leaf=8, run=600)


class Lost(AssertionError):
    """What was committed is not there after a cut."""


def traced(seed: str, folder: Path, *, is_synced: bool) -> tuple[list[Op | int], list[Changes]]:
    """Makes changes in a folder; returns what was written and how many were done, in order, and
    what there was after each."""
    trace: list[Op | int] = []
    changes = Changes(seed, largest=150)
    after = [copy.deepcopy(changes)]
    # a short log begins anew often, and a small pool spills
    with patch("tamis.index.pbtree.store._LOG_BYTES", 300_000):
        index = PBTree(folder, 0, TracedDisk(trace.append, is_synced=is_synced), _SIZES)
        for _ in range(_CHANGES):
            added, gone = changes.next()
            entries = [(int(id), [predicate_of(one) for one in each]) for id, each in added.items()]
            if entries:
                index.build(entries)
            if gone:
                index.delete_many(np.array(gone, np.int64))
            trace.append(changes.count)
            after.append(copy.deepcopy(changes))
        index.close()
    return trace, after


def check(folder: Path, after: list[Changes], done: int, chance: random.Random) -> str:
    """Opens what a cut left; says whether the change that it fell into is there."""
    try:
        index = PBTree(folder, 0, None, _SIZES)
    except IndexFolderError as failure:
        raise Lost(f"after {done} changes: {failure}") from failure
    try:
        there = {row for row, _ in index._records.items()}
        for word, changes in (("without", after[done]), ("with", after[min(done + 1, _CHANGES)])):
            if changes.rows.keys() == there == set(changes.rows) and len(index) == len(there):
                for _ in range(3):
                    document = event(chance)
                    found = set(index.match(Event.of(document, str, {})).tolist())
                    if found != changes.matching(document):
                        raise Lost(f"after {done} changes: {document} finds {sorted(found)}")
                return word
        raise Lost(f"after {done} changes there are {sorted(there)}")
    except IndexFolderError as failure:
        raise Lost(f"after {done} changes: {failure}") from failure
    finally:
        index.close()


def cut(points: int, seed: int, *, is_synced: bool = True, shown: bool = False) -> Counter[str]:
    """Cuts at so many points; says how often the change that a cut fell into was there."""
    chance = random.Random(seed)
    counts: Counter[str] = Counter()
    while counts.total() < points:
        place = Path(tempfile.mkdtemp(dir=_SHARED_MEMORY if _SHARED_MEMORY.is_dir() else None))
        folder = place / "index"
        try:
            trace, after = traced(f"{seed}.{counts.total()}", folder, is_synced=is_synced)
            some = min(_PER_TRACE, points - counts.total())
            places = Counter(chance.randint(0, len(trace)) for _ in range(some))
            disk, left, done = Disk(), place / "left", 0
            for at, each in enumerate([*trace, done]):
                for _ in range(places[at]):
                    disk.cut(chance, str(folder), left)
                    counts[check(left, after, done, chance)] += 1
                    shutil.rmtree(left)
                if isinstance(each, Op):
                    disk.take(each)
                else:
                    done = each
        finally:
            shutil.rmtree(place)
        if shown:
            print(f"{counts.total()} of {points} cuts", flush=True)
    return counts


def main() -> None:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--points", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    parser.add_argument("--unsynced", action="store_true")
    chosen = parser.parse_args()
    print(f"seed {chosen.seed}")
    counts = cut(chosen.points, chosen.seed, is_synced=not chosen.unsynced, shown=True)
    print(f"{counts.total()} power cuts, nothing lost; the change they fell into: {dict(counts)}")


if __name__ == "__main__":
    main()
