"""Hangs, crashes and swells workers, and shows that nothing else is different for it.

`python -m tests.framework.calling.isolation.abuse --times N [--workers N]`: each event
hangs a worker, ends one (by exit, by a fault, by a signal, in turn) and makes one swell,
beside calls that are well. Every verdict, binding and unknown is compared with those of a matcher
in which the bad operators just raise; at the end no process and no descriptor may be left.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import signal
import time
import uuid
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import tamis
from tamis import Limits, Matcher, Preparation
from tamis_bench.report import progress
from tamis_bench.workloads import OrderedRun

MARK = "TAMIS_ABUSE"
MEMORY = 256 << 20
PATIENT = Limits(failures_in_a_row=1_000_000_000)
"""Limits with which no breaker opens."""


def _decoded(event: Any) -> list[int]:
    return [int(each) for each in event["shot"].split()]


def _found(event: Any) -> list[int]:
    return [each for each in event.prepared if each > 2]


FRAME = Preparation("frame", _decoded, inputs=("shot",), cost_seconds=0.001)
FOUND = Preparation("found", _found, inputs=(), cost_seconds=0.001, after=FRAME)


@tamis.operator(isolation="process", inputs=("height",))
def above(event: Any, level: int) -> bool:
    """Looks at an input."""
    return bool(event["height"] > level)


@tamis.operator(isolation="process", preparation=FOUND, inputs=(), outputs=("n",), concurrency=3)
def found(event: Any, n: Any) -> list[int]:
    """Gives what was prepared by two steps."""
    return list(event.prepared)


@tamis.operator(isolation="process", preparation=FRAME, inputs=())
def pixels(event: Any, n: int) -> bool:
    """Counts what was prepared."""
    return len(event.prepared) == n


@tamis.operator(isolation="process", preparation=FRAME, inputs=(), timeout=0.01)
def stuck(event: Any, n: int) -> bool:
    """Hangs beside a preparation that others share."""
    time.sleep(1_000)
    return True


@tamis.operator(isolation="process", timeout=0.01)
def hanging(event: Any, n: int) -> bool:
    """Hangs, and hears no signal."""
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.Signals)
    while True:
        time.sleep(1_000)


@tamis.operator(isolation="process", inputs=("number",))
def crashing(event: Any, n: int) -> bool:
    """Ends its worker, each time in another way."""
    how = (event["number"] + n) % 4
    if how == 0:
        os._exit(0)
    if how == 1:
        os._exit(7)
    if how == 2:
        ctypes.string_at(0)
    os.kill(os.getpid(), signal.SIGKILL)
    return True


@tamis.operator(isolation="process", memory_bytes=MEMORY)
def swelling(event: Any, n: int) -> bool:
    """Takes all the memory that it gets."""
    held = []
    while True:
        held.append(bytes(MEMORY // 4))


def _raising(name: str) -> tamis.Operator:
    def raises(event: Any, n: int) -> bool:
        raise ValueError("broken")

    return tamis.operator(name=name)(raises)


@tamis.operator
def inline(event: Any, n: int) -> bool:
    """Runs in the thread of the match."""
    return bool(event["height"] != n)


BAD = ("hanging", "crashing", "swelling", "stuck")
SOUND = [above, found, pixels, inline]
CONDITIONS = (
    "above(3)",
    "not above(5) and inline(4)",
    "found(?n), ?n > 3",
    "pixels(3) or pixels(4)",
    "hanging(1)",
    "not crashing(1)",
    "swelling(1)",
    "swelling(2) and above(100)",
    "swelling(1) and above(1)",
    "hanging(1) or above(4)",
    "crashing(1) and above(100)",
    "stuck(1) or found(?n)",
    "pixels(2) and not stuck(1)",
    "found(?n), ?n > 4, swelling(1)",
)


class CallsAtOnce:
    """A planner that asks for every call, as many at once as it may, in order."""

    def begin(self, problem: tamis.Problem) -> Any:
        """Starts on the problem of one event."""
        return OrderedRun(list(range(problem.calls)))


def matcher_of(*, isolated: bool, workers: int = 1) -> Matcher:
    """Returns a matcher whose bad operators do their worst, or just raise."""
    bad = [hanging, crashing, swelling, stuck] if isolated else [_raising(each) for each in BAD]
    matcher = Matcher([*SOUND, *bad], planner=CallsAtOnce(), workers=workers, limits=PATIENT)
    for at, condition in enumerate(CONDITIONS):
        matcher.subscribe(condition, id=f"s{at:02}")
    return matcher


def event_of(number: int) -> dict[str, Any]:
    """Returns an event."""
    shot = " ".join(str((number * 7 + at) % 6) for at in range(number % 4 + 1))
    return {"id": f"e{number}", "number": number, "height": number % 8, "shot": shot}


def outcome_of(result: tamis.Result) -> tuple[object, ...]:
    """Returns what must be the same."""
    return (
        [(each.subscription, each.bindings, each.incomplete) for each in result.matches],
        [each.subscription for each in result.undetermined],
    )


def run(calls: int, workers: int = 4) -> Counter[str]:
    """Matches so many events; returns how many calls failed, by operator and kind."""
    kinds: Counter[str] = Counter()
    with (
        matcher_of(isolated=False) as expected,
        matcher_of(isolated=True, workers=workers) as matcher,
    ):
        for number in range(calls):
            event = event_of(number)
            result = matcher.match(event)
            wanted, given = outcome_of(expected.match(event)), outcome_of(result)
            if given != wanted:
                raise AssertionError(f"{event}: {given}, not {wanted}")
            kinds.update(failures_of(result))
            if not (number + 1) % 500:
                progress(f"{number + 1:,} events: {dict(kinds)}")
    return kinds


def failures_of(result: tamis.Result) -> Iterator[str]:
    """Yields every operator that failed, with the kind of its failure, once an event."""
    seen = set()
    for each in result.undetermined:
        for reason in each.reason.split("; "):
            name, _, rest = reason.partition("(")
            seen.add(f"{name} {rest.partition(': ')[2].partition(':')[0]}")
    yield from seen


# what is left behind


@contextmanager
def marked() -> Iterator[str]:
    """Marks the processes that are begun meanwhile, and all that they begin."""
    mark, before = uuid.uuid4().hex, os.environ.get(MARK)
    os.environ[MARK] = mark
    try:
        yield mark
    finally:
        if before is None:
            del os.environ[MARK]
        else:
            os.environ[MARK] = before


def marked_processes(mark: str) -> list[int]:
    """Returns the processes that carry a mark, the dead that nobody has looked after too."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            environment = (entry / "environ").read_bytes()
        except OSError:
            continue
        if f"{MARK}={mark}".encode() in environment and int(entry.name) != os.getpid():
            found.append(int(entry.name))
    return found


def children() -> list[int]:
    """Returns the children of this process, the dead ones too."""
    return [
        int(each)
        for tasks in Path("/proc/self/task").iterdir()
        for each in (tasks / "children").read_text().split()
    ]


def descriptors() -> int:
    """Counts the open files of this process."""
    return len(list(Path("/proc/self/fd").iterdir()))


def left(mark: str, seconds: float = 20.0) -> list[int]:
    """Returns the marked processes that do not end within a patient while."""
    until = time.monotonic() + seconds
    while (found := marked_processes(mark)) and time.monotonic() < until:
        time.sleep(0.02)
    return found


def abuse(times: int, workers: int) -> Counter[str]:
    """Abuses workers at so many events, and looks what is left behind; which calls failed how."""
    with matcher_of(isolated=False) as matcher:
        matcher.match(event_of(0))  # what is begun once is begun
    before, others = descriptors(), children()
    with marked() as mark:
        kinds = run(times, workers)
        assert not left(mark)
    assert (len(children()), descriptors()) == (len(others), before)
    return kinds


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=100, metavar="N")
    parser.add_argument("--workers", type=int, default=4, metavar="N")
    for what, count in sorted(abuse(**vars(parser.parse_args())).items()):
        print(f"{count:,} {what}")
