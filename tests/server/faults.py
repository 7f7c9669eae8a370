"""Lets the n-th call that writes or syncs fail, for each n, and looks what was acknowledged.

`python -m tests.server.faults --calls N [--seed S]`: an I/O error once, or a disk that is full from
that call on for a while. Whoever asked hears an error or an acknowledgement, and what was
acknowledged is there when the log is opened again; after a full disk it goes on by itself.
"""

from __future__ import annotations

import argparse
import contextlib
import errno
import json
import os
import random
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.power import Op
from tests.server.shim import SYNCS, Shim

if TYPE_CHECKING:
    from tamis.server.log import Log

FULL, BROKEN = "full", "broken"
_CHANGES = 40
_PATIENCE_SECONDS = 60
_SHARED_MEMORY = Path("/dev/shm")


class Fault:
    """What fails: the n-th call, or all from there on that need room."""

    def __init__(self) -> None:
        self.kind = FULL
        self.left = -1
        self.hits = 0

    def set(self, kind: str, number: int) -> None:
        self.kind, self.left, self.hits = kind, number, 0

    def before(self, op: Op) -> None:
        import apsw

        is_about = self.left >= 0 and not (self.kind == FULL and op.kind in SYNCS)
        if not is_about:
            return
        if self.left:
            self.left -= 1
            return
        self.hits += 1
        if self.kind == BROKEN:
            self.left = -1
        number = errno.ENOSPC if self.kind == FULL else errno.EIO
        if "log.sqlite" in op.path:
            raise apsw.FullError("full") if self.kind == FULL else apsw.IOError("broken")
        raise OSError(number, os.strerror(number), op.path)


def _worked(log: Log, seed: str, auditor: Any, counts: Counter[str]) -> None:
    """Changes things, and takes down what was acknowledged."""
    from tamis.server.errors import LogError, Refusal
    from tests.server import writing
    from tests.server.follower import Follower

    writing.say = lambda **what: auditor.hear(json.dumps(what).encode() + b"\n")
    customer = writing.Customer(log, seed)
    works: list[Callable[[], object]] = [
        *(customer.subscribe, customer.replace, customer.renew, customer.unsubscribe),
        *(customer.publish, customer.publish, customer.publish, customer.acknowledge),
        lambda: Follower(log).decide(),
    ]
    for _ in range(_CHANGES):
        try:
            customer.chance.choice(works)()
            counts["acknowledged"] += 1
        except Refusal:
            counts["refused"] += 1
        except LogError as told:
            counts["told" if "cannot be written" in str(told) else str(told)] += 1


def spoil(calls: int, seed: int, shim: Shim, fault: Fault, *, aloud: bool = False) -> Counter[str]:
    """Lets each of so many calls fail; what came of it."""
    import apsw

    from tamis.server.changes import Publish
    from tamis.server.errors import LogError
    from tamis.server.log import Log
    from tests.server.kills import Auditor

    chance = random.Random(seed)
    counts: Counter[str] = Counter()
    number = 0
    for turn in range(calls):
        folder = Path(shim.folder) / str(turn)
        kind, auditor = (FULL, BROKEN)[turn % 2], Auditor()
        fault.set(kind, number)
        number += turn % 2
        try:
            log = Log(folder)
        except (LogError, OSError, apsw.Error):
            counts["not opened"] += 1
        else:
            _worked(log, f"{chance.getrandbits(40):x}", auditor, counts)
            hits, fault.left = fault.hits, -1
            if kind == FULL:
                id = f"after {turn}"
                assert log.submit(Publish([{"id": id, "level": 1}])).result(60).ids == [id]
            elif log.writer.broken is not None:
                counts["broken"] += 1
                with contextlib.suppress(LogError):
                    log.submit(Publish([{"level": 1}]))
                    raise AssertionError("what is broken goes on")
            counts["hit"] += bool(hits)
            number = number if hits else 0  # behind the last call it begins anew
            log.close()
        fault.left = -1
        auditor.audit(folder)
        shutil.rmtree(folder)
        counts["calls"] += 1
        if aloud and counts["calls"] % 500 == 0:
            print(f"{counts['calls']:,} of {calls:,} calls: {dict(counts)}", flush=True)
    return counts


def main() -> None:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=2_000)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    chosen = parser.parse_args()
    print(f"seed {chosen.seed}")
    place = _SHARED_MEMORY if _SHARED_MEMORY.is_dir() else None
    folder, fault = tempfile.mkdtemp(dir=place), Fault()
    try:
        shim = Shim(folder, fault.before, lambda op: None)
        counts = spoil(chosen.calls, chosen.seed, shim, fault, aloud=True)
    finally:
        shutil.rmtree(folder)
    print(f"{chosen.calls:,} calls failed, nothing false acknowledged: {json.dumps(counts)}")


if __name__ == "__main__":
    main()
