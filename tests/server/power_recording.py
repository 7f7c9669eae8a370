"""A process that writes a log for a while, and records each write, sync and acknowledgement.

`python -m tests.server.power_recording FOLDER SEED OPERATIONS SYNCHRONOUS`: a pickle of operations
and acknowledgements, in order, on standard output.
"""

from __future__ import annotations

import os
import pickle
import sys
import threading
import time
from typing import Any

from tests.power import Op
from tests.server.shim import Shim

_PAGES = 24
"""After so many the write-ahead log is brought into the database: sooner than by itself, so that
a short trace has it too."""


def main(folder: str, seed: str, count: str, synchronous: str) -> None:
    trace: list[Op | dict[str, Any]] = []
    Shim(folder, lambda op: None, trace.append)
    from tamis.server import database, log
    from tamis.server.log import Log
    from tests.server import writing
    from tests.server.follower import Follower

    def opened(*arguments: Any, **more: Any) -> Any:
        found = database.open_database(*arguments, **more, synchronous=synchronous)
        found.wal_autocheckpoint(_PAGES)
        return found

    vars(log)["open_database"] = opened
    if synchronous != "FULL":
        vars(log)["check_settings"] = lambda *arguments: None
    writing.say = lambda **what: trace.append(what)
    with_trace = Log(folder)
    follower = Follower(with_trace)
    for number in range(2):
        customer = writing.Customer(with_trace, f"{seed}-{number}")
        threading.Thread(target=customer.run, daemon=True).start()
    while len(trace) < int(count):
        follower.decide(50)
        time.sleep(0.002)
    sys.stdout.buffer.write(
        pickle.dumps(
            [tuple(each) if isinstance(each, Op) else each for each in trace[: int(count)]]
        )
    )
    sys.stdout.buffer.flush()
    os._exit(0)


if __name__ == "__main__":
    main(*sys.argv[1:])
