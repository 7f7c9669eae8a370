"""Measures calls in worker processes, compared with inline calls, and how late a kill comes.

Figures are medians of calls of one gateway, with both kinds in turns: about the same event, whose
inputs the worker has, and about a new event each time, whose input of so many bytes is sent too. A
call that hangs is measured from its deadline until its answer is there; by then its worker is
killed, and another one makes the next call.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Annotated, Any

import numpy as np

from tamis import Limits, OperatorRecord, Specification
from tamis.calling.event_calls import EventCalls
from tamis.calling.gateway import Gateway
from tamis.event import Event
from tamis.operators import FunctionOperator, record_of
from tamis.operators.asking import Call
from tamis.operators.specification import Parameter
from tamis_bench.options import count
from tamis_bench.report import Row, progress

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


def measured(
    *,
    calls: Annotated[int, count("Calls of each kind.")] = 2_000,
    kills: Annotated[int, count("Calls that hang.")] = 40,
) -> Iterator[Row]:
    """Yields a row for each kind of call, and for kills."""
    few = max(20, calls // 20)
    kinds: list[tuple[str, int, Callable[[], object]]]
    kinds = [("same event, no input sent", calls, bytes)]
    kinds += [(f"new event, {size:,} bytes", calls, partial(bytes, size)) for size in SIZES]
    kinds += [
        (f"array of {size:,} bytes, new event", few, partial(np.asarray, np.zeros(size, np.uint8)))
        for size in LARGE
    ]
    for what, number, content in kinds:
        progress(what)
        over = _over(number, content, same=what.startswith("same"))
        part = "A call in a worker process, over the same inline, median"
        yield {"part": part, "what": what, "over_inline_us": over}
    progress("calls that hang")
    for what, late in _kills(kills).items():
        part = "An answer after the deadline of a hung call"
        yield {"part": part, "what": what, "after_deadline_ms": late}


def _over(calls: int, content: Callable[[], object], same: bool) -> float:
    """Returns the microseconds that a call in a worker takes more than one in this thread."""
    inline, isolated = _operator(shown, "inline"), _operator(shown, "process")
    gateway = Gateway(Limits(), records=[isolated])
    gateway.expect(isolated)
    kinds = [(_call(record), list[float]()) for record in (inline, isolated)]
    try:
        event_calls = EventCalls(_event(content(), 0))
        for at in range(calls + calls // 10):
            if not same:
                event_calls = EventCalls(_event(content(), at))
            for call, seconds in kinds:
                begun = time.perf_counter()
                answer = gateway.call(call, event_calls)
                seconds.append(time.perf_counter() - begun)
                assert answer.failure is None, answer.failure
    finally:
        gateway.close()
    here, there = (statistics.median(seconds[calls // 10 :]) for _, seconds in kinds)
    return (there - here) * 1e6


def _kills(kills: int) -> dict[str, float]:
    """Returns the milliseconds from the deadline of a hung call to its answer."""
    record = _operator(hung, "process", timeout=_DEADLINE_SECONDS)
    gateway = Gateway(Limits(failures_in_a_row=kills + 2), records=[record])
    gateway.expect(record)
    call, late = _call(record), []
    try:
        for at in range(kills + 1):
            answer = gateway.call(call, EventCalls(_event(b"", at)))
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
