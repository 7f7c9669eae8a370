"""Measures the time of matching besides operator calls: starting, reading texts, subscribing.

Every figure is the minimum of several passes, with the median after it. Only public names are used,
so that other versions can be measured too.
"""

from __future__ import annotations

import hashlib
import itertools
import random
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tamis import Matcher, Statistics, operator
from tamis_bench import changing, subscribing
from tamis_bench.options import Passes, Scale, Seed
from tamis_bench.report import Row, progress
from tamis_bench.workloads import UNIFORM, Shape, Workload

_HEAVY = ("numba", "cv2", "shapely", "rdflib", "pyspark", "fastapi", "networkx")
_MANY = 2_100
"""Subscriptions with which everything is compiled."""
_CALLS = 100
_INSERTED = 500
_OWN = ("tamis", "tamis_planners")
_LISTED = f"import sys, tamis; print(sum(each in sys.modules for each in {_HEAVY}))"


def measured(*, passes: Passes = 7, scale: Scale = 1.0, seed: Seed = 1) -> Iterator[Row]:
    """Yields a row for each figure; `scale` makes what is subscribed fewer."""
    yield from changing.measured(scale, seed)
    yield from subscribing.measured(scale, seed)
    figures: dict[str, tuple[str, Callable[[], float]]] = {
        "import tamis": ("s", lambda: _seconds_of("import tamis")),
        "tamis --help": ("s", lambda: _seconds(lambda: _run("-m", "tamis", "--help"))),
        "heavy libraries after import tamis": ("", lambda: float(_run("-c", _LISTED))),
        "modules switched by an event of three calls": ("", _switches),
        "around a call that does nothing": ("µs", _around_a_call(_MANY, round(200 * scale) or 1)),
        "the same, few subscriptions": ("µs", _around_a_call(0, round(200 * scale) or 1)),
        "two threads over one, matches a second": ("times", two_threads(round(60 * scale) or 1)),
        "a subscription text, read": ("µs", _texts(round(20_000 * scale), are_read=True)),
        "the same subscribed, index included": ("µs", _texts(round(20_000 * scale))),
        f"a join of {20_000 * scale:,.0f} by {20_000 * scale:,.0f} solutions": (
            "s",
            _join(round(20_000 * scale)),
        ),
        f"{20_000 * scale:,.0f} over {5_000 * scale:,.0f} operators loaded": (
            "s",
            _loading(round(20_000 * scale), round(5_000 * scale)),
        ),
    }
    for what, (unit, run) in figures.items():
        progress(what)
        run()
        yield _row(what, unit, [run() for _ in range(passes)])
    yield from _chains(round(40_000 * scale), min(3, passes))


def _row(what: str, unit: str, figures: list[float]) -> Row:
    least, median = min(figures), statistics.median(figures)
    return {"part": "Engine", "what": what, "minimum": least, "median": median, "unit": unit}


def _run(*arguments: str) -> str:
    """Returns what a fresh process prints."""
    done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=True)
    return done.stdout


def _seconds(work: Callable[[], object]) -> float:
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


def _seconds_of(statement: str) -> float:
    """Returns the seconds of a statement in a fresh process."""
    clock = "time.perf_counter()"
    return float(_run("-c", f"import time; t = {clock}; {statement}; print({clock} - t)"))


@operator
def nothing(event: Any, number: int) -> bool:
    """Does nothing."""
    return True


def _around_a_call(others: int, matches: int) -> Callable[[], float]:
    """Measures the microseconds of a call in a match of a hundred, less the bare function.

    With many other subscriptions, which are no candidates, planner and engine are compiled."""
    matcher = Matcher(operators=[nothing])
    matcher.subscribe_many({"where": f"other = {at} and nothing({at})"} for at in range(others))
    for first in range(0, _CALLS, 10):
        matcher.subscribe(" and ".join(f"nothing({first + at})" for at in range(10)))
    event = {"id": "e"}

    def run() -> float:
        begun = time.perf_counter()
        for _ in range(matches):
            made = len(matcher.match(event).calls)
        matched = time.perf_counter()
        for number in range(_CALLS * matches):
            nothing.solve(event, number)
        bare = time.perf_counter() - matched
        assert made == _CALLS
        return (matched - begun - bare) / (_CALLS * matches) * 1e6

    return run


def _switches() -> float:
    """Counts how often an event of three calls goes from one module to another, and back."""
    matcher = Matcher(operators=[nothing])
    matcher.subscribe_many({"where": f"other = {at} and nothing({at})"} for at in range(_MANY))
    matcher.subscribe("altitude < 400 and nothing(1) and nothing(2) and nothing(3)")
    modules: list[str] = []

    def note(frame: Any, what: str, argument: object) -> None:
        seen = frame.f_back if what == "return" else frame
        if seen is not None and what in ("call", "return"):
            modules.append(seen.f_globals.get("__name__", ""))

    event = {"id": "e", "altitude": 100}
    for _ in range(5):
        matcher.match(event)
    sys.setprofile(note)
    try:
        matcher.match(event)
    finally:
        sys.setprofile(None)
    own = [each for each in modules if each.partition(".")[0] in _OWN]
    return float(sum(one != other for one, other in itertools.pairwise(own)))


@operator(inputs=("frame",))
def digest(event: Any, number: int) -> bool:
    """Works on the frame without the interpreter lock, as image operators do."""
    return hashlib.sha256(event["frame"]).digest()[0] != number


def two_threads(matches: int) -> Callable[[], float]:
    """Measures how many times more matches a second two threads make than one."""
    matcher = Matcher(operators=[digest])
    matcher.subscribe_many({"where": f"digest({at}), digest({at + 1})"} for at in range(20))
    event = {"frame": bytes(1 << 18)}

    def many() -> None:
        for _ in range(matches):
            matcher.match(event)

    def at_once() -> None:
        threads = [threading.Thread(target=many) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    return lambda: 2 * _seconds(many) / _seconds(at_once)


def _texts(count: int, *, are_read: bool = False) -> Callable[[], float]:
    """Measures the microseconds of a text of five predicates, read or subscribed: its constants
    nearly all new."""
    chance = random.Random(1)

    def run() -> float:
        matcher = Matcher(operators=[nothing])
        entries = [
            {
                "where": f"altitude < {chance.random() * 1000:.3f}"
                f" and camera = uav{chance.randrange(99)} and speed"
                f" in [{chance.randrange(50)}, {50 + chance.randrange(50)}]"
                f" and nothing({chance.randrange(5000)}) and region = r{chance.randrange(500)}"
            }
            for _ in range(count)
        ]
        if are_read:
            from tamis.language.condition import Language

            parse = Language().parse
            taken = _seconds(lambda: sum(parse(entry["where"]) is None for entry in entries))
        else:
            taken = _seconds(lambda: matcher.subscribe_many(entries))
        return taken / count * 1e6

    return run


def _join(solutions: int) -> Callable[[], float]:
    """Measures the seconds of a match in which the solutions of two calls are joined."""
    sides = [(at, at + 1) for at in range(solutions)], [(at, -at) for at in range(solutions)]

    @operator(outputs=("here", "there"))
    def left(event: Any, here: Any, there: Any) -> Any:
        return sides[0]

    @operator(outputs=("here", "there"))
    def right(event: Any, here: Any, there: Any) -> Any:
        return sides[1]

    matcher = Matcher(operators=[left, right])
    matcher.subscribe(f"left(?x, ?y) and right(?y, ?z) and ?z < {9 - solutions}")

    def match() -> None:
        assert len(matcher.match({}).matches[0].bindings) == min(9, solutions) - 1

    return lambda: _seconds(match)


def _loading(subscriptions: int, predicates: int) -> Callable[[], float]:
    """Measures the seconds of loading subscriptions of three to five operator predicates, of Zipf
    popularity."""
    chance = np.random.default_rng(1)
    weights = 1 / np.arange(1, predicates + 1)
    weights /= weights.sum()
    entries = [
        {
            "where": " and ".join(
                f"nothing({number})"
                for number in chance.choice(predicates, length, replace=False, p=weights)
            )
        }
        for length in chance.integers(3, 6, subscriptions)
    ]

    def run() -> float:
        matcher = Matcher(operators=[nothing])
        return _seconds(lambda: matcher.subscribe_many(entries))

    return run


def _chains(predicates: int, passes: int) -> Iterator[Row]:
    """Measures the seconds of ordering chains, and the milliseconds of inserting one more."""
    workload = Workload(Shape(predicates, 2 * predicates, zipf=UNIFORM), seed=1)
    known: Statistics = workload.statistics()
    entries = list(workload.subscriptions())
    matcher = Matcher(workload.operators(), planner="suborder", statistics=known)
    progress("ordering chains")
    matcher.subscribe_many(entries)
    ordering, inserting = [], []
    for number in range(passes):
        begun = time.perf_counter()
        matcher.statistics = known
        ordered = time.perf_counter()
        for at in range(_INSERTED):
            matcher.subscribe(entries[at % len(entries)]["where"], id=f"n{number}-{at}")
        inserting.append((time.perf_counter() - ordered) / _INSERTED * 1e3)
        ordering.append(ordered - begun)
    yield _row(f"{2 * predicates:,} chains over {predicates:,}, ordered", "s", ordering)
    yield _row("one more inserted", "ms", inserting)
