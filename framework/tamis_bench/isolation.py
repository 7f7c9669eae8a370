"""What a call in a worker process costs over one in the calling thread, and how late a kill comes.

`tamis bench isolation [--json]` prints medians of calls of one gateway, in turns of both
kinds: about the same event (what it needs is there), and about a new event each time, whose input
of so many bytes travels too. A call of an operator that is hung is measured from its deadline on
until the answer is there; then its worker has been killed, and the next call is made by another
one.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tamis import Limits, Specification
from tamis.calling.gateway import Asking, Gateway
from tamis.event import Event
from tamis.operators import FunctionOperator, OperatorRecord, record_of
from tamis.operators.asking import Call
from tamis.operators.specification import Parameter

GOAL_US, GOAL_KILL_MS = 60.0, 100.0
CALLS, KILLS = 2_000, 40
SIZES = (0, 1_000, 16_000, 60_000)
LARGE = (1_000_000, 6_220_800)
_DEADLINE_SECONDS = 0.02
_FOREVER_SECONDS = 1_000.0


def shown(event: Any, level: int) -> bool:
    """Looks at an input, and no more."""
    return len(event["shot"]) > level


def hung(event: Any, level: int) -> bool:
    """Never comes back."""
    time.sleep(_FOREVER_SECONDS)
    return True


def main(arguments: Sequence[str] | None = None) -> None:
    """Prints the table, or the figures as JSON."""
    parser = argparse.ArgumentParser(prog="tamis bench isolation", description=__doc__)
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    parser.add_argument("--calls", type=int, default=CALLS)
    parser.add_argument("--kills", type=int, default=KILLS)
    given = parser.parse_args(arguments)
    figures = measured(given.calls, given.kills)
    if given.json:
        print(json.dumps(figures, indent=2))
        return
    print(f"{'a call in a worker process, over the same inline':<58}{'median us':>10}{'goal':>8}")
    for name, microseconds in figures["over_inline_us"].items():
        large = name.startswith("array")
        print(f"  {name:<56}{microseconds:>10.1f}{'' if large else f'{GOAL_US:>8.0f}'}")
    late = figures["kill_after_deadline_ms"]
    print(f"{'an answer after the deadline of a hung call':<58}{'ms':>10}{'goal':>8}")
    for name in ("median", "worst"):
        print(f"  {name:<56}{late[name]:>10.2f}{GOAL_KILL_MS:>8.0f}")


def measured(calls: int = CALLS, kills: int = KILLS) -> dict[str, Any]:
    """The figures."""
    over = {"same event, no input sent": _over(calls, lambda at: b"", same=True)}
    for size in SIZES:
        over[f"new event, {size:,} bytes"] = _over(calls, lambda at, n=size: b"x" * n)  # type: ignore[misc]
    for size in LARGE:
        array = np.zeros(size, np.uint8)
        name = f"array of {size:,} bytes, new event"
        over[name] = _over(max(20, calls // 20), lambda at, array=array: array)  # type: ignore[misc]
    return {"over_inline_us": over, "kill_after_deadline_ms": _kills(kills)}


def _over(calls: int, content: Callable[[int], object], same: bool = False) -> float:
    """Microseconds that a call in a worker process takes more than one in this thread."""
    inline, isolated = _operator(shown, "inline"), _operator(shown, "process")
    gateway = Gateway(Limits(), records=[isolated])
    gateway.expect(isolated)
    kinds = [(_call(record), list[float]()) for record in (inline, isolated)]
    try:
        asking = Asking(_event(content(0), 0))
        for at in range(calls + calls // 10):
            if not same:
                asking = Asking(_event(content(at), at))
            for call, seconds in kinds:
                begun = time.perf_counter()
                answer = gateway.call(call, asking)
                seconds.append(time.perf_counter() - begun)
                assert answer.failure is None, answer.failure
    finally:
        gateway.close()
    here, there = (statistics.median(seconds[calls // 10 :]) for _, seconds in kinds)
    return (there - here) * 1e6


def _kills(kills: int) -> dict[str, float]:
    """Milliseconds from the deadline of a hung call to its answer."""
    record = _operator(hung, "process", timeout=_DEADLINE_SECONDS)
    gateway = Gateway(Limits(failures_in_a_row=kills + 2), records=[record])
    gateway.expect(record)
    call, late = _call(record), []
    try:
        for at in range(kills + 1):
            answer = gateway.call(call, Asking(_event(b"", at)))
            assert answer.failure is not None
            late.append((answer.seconds - _DEADLINE_SECONDS) * 1e3)
    finally:
        gateway.close()
    return {"median": statistics.median(late[1:]), "worst": max(late[1:])}


def _operator(
    function: Callable[..., bool], isolation: str, timeout: float | None = None
) -> OperatorRecord:
    specification = Specification(
        name=f"{function.__name__}_{isolation}",
        parameters=(Parameter("level"),),
        inputs=("shot",),
        isolation=isolation,
        timeout=timeout,
    )
    return record_of(FunctionOperator(function, specification))


def _call(record: OperatorRecord) -> Call:
    return Call((), record.factory(), record.specification, (0,), 0, record.specification.name)


def _event(content: object, at: int) -> Event:
    return Event({"id": f"e{at}", "shot": content}, f"e{at}")
