"""How fast the engine starts, loads and calls: the figures of the path outside indexes.

`tamis bench engine` prints minimum and median of several passes.
"""

from __future__ import annotations

import argparse
import hashlib
import random
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tamis import Matcher, operator
from tamis.language import Language
from tamis_bench.workloads import UNIFORM, Shape, Workload

PASSES = 7
_HEAVY = ("numba", "cv2", "shapely", "rdflib", "pyspark", "fastapi", "networkx")


def main(arguments: Sequence[str] | None = None) -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(prog="tamis bench engine", description=__doc__)
    parser.parse_args(arguments)
    threads = statistics.median(two_threads())
    rows = [
        ("import tamis", "s", 0.15, measure(lambda: started("import tamis"))),
        ("tamis --help", "s", 0.3, measure(lambda: started_command("--help"))),
        ("around a call that does nothing", "us", 15.0, around_a_call()),
        ("subscription texts, read", "us each", 50.0, texts(Language().parse)),
        ("the same subscribed, index included", "us each", 50.0, texts()),
        ("20,000 over 5,000 operators loaded", "s", 3.0, loading()),
        *sub_order(),
    ]
    print(f"{'':<38}{'minimum':>10}{'median':>10}{'goal':>10}")
    for name, unit, goal, passes in rows:
        low, middle = min(passes), statistics.median(passes)
        mark = "" if low <= goal else f", missed by {low / goal - 1:.0%}"
        print(f"{name:<38}{low:>10.4g}{middle:>10.4g}{goal:>10.4g}  {unit}{mark}")
    print(f"two threads over one, matches a second: {threads:.2f} times")
    heavy = subprocess.run(
        [
            sys.executable,
            "-c",
            f"import sys, tamis; print([m for m in {_HEAVY} if m in sys.modules])",
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    print(f"heavy libraries after import tamis: {heavy.stdout.strip()}")


def measure(run: Callable[[], float]) -> list[float]:
    """The results of several passes, after one that does not count."""
    run()
    return [run() for _ in range(PASSES)]


def started(statement: str) -> float:
    """The seconds a statement takes in a fresh process."""
    program = f"import time; t = time.perf_counter(); {statement}; print(time.perf_counter() - t)"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    return float(done.stdout)


def started_command(*arguments: str) -> float:
    """The seconds a whole command takes."""
    begun = time.perf_counter()
    subprocess.run([sys.executable, "-m", "tamis", *arguments], capture_output=True, check=True)
    return time.perf_counter() - begun


@operator
def nothing(event: Any, number: int) -> bool:
    """Does nothing."""
    return True


def around_a_call(calls: int = 100, matches: int = 200) -> list[float]:
    """Microseconds a call of a match of many calls, less the bare function."""
    matcher = Matcher(operators=[nothing])
    for first in range(0, calls, 10):
        matcher.subscribe(" and ".join(f"nothing({first + at})" for at in range(10)))
    event = {"id": "e"}

    def run() -> float:
        begun = time.perf_counter()
        for _ in range(matches):
            made = len(matcher.match(event).calls)
        matched = time.perf_counter()
        for number in range(calls * matches):
            nothing.solve(event, number)
        bare = time.perf_counter() - matched
        assert made == calls
        return (matched - begun - bare) / (calls * matches) * 1e6

    return measure(run)


@operator(inputs=("frame",))
def digest(event: Any, number: int) -> bool:
    """Works on the frame without the interpreter lock, as image operators do."""
    return hashlib.sha256(event["frame"]).digest()[0] != number


def two_threads(matches: int = 60) -> list[float]:
    """How many times more matches a second two threads make than one."""
    matcher = Matcher(operators=[digest])
    matcher.subscribe_many({"where": f"digest({at}), digest({at + 1})"} for at in range(20))
    event = {"frame": bytes(1 << 18)}

    def many() -> None:
        for _ in range(matches):
            matcher.match(event)

    def run() -> float:
        begun = time.perf_counter()
        many()
        many()
        one = time.perf_counter() - begun
        threads = [threading.Thread(target=many) for _ in range(2)]
        begun = time.perf_counter()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return one / (time.perf_counter() - begun)

    return measure(run)


def texts(read: Callable[[str], object] | None = None, count: int = 20_000) -> list[float]:
    """Microseconds a text of five predicates, read or subscribed: its constants nearly all new."""
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
        begun = time.perf_counter()
        if read is None:
            matcher.subscribe_many(entries)
        else:
            for entry in entries:
                read(entry["where"])
        return (time.perf_counter() - begun) / count * 1e6

    return measure(run)


def sub_order(inserted: int = 500) -> list[tuple[str, str, float, list[float]]]:
    """Seconds to order 80,000 chains over 40,000 predicates, milliseconds to insert one more."""
    workload = Workload(Shape(40_000, 80_000, zipf=UNIFORM), seed=1)
    known = workload.statistics()
    matcher = Matcher(workload.operators(), planner="suborder", statistics=known)
    entries = list(workload.subscriptions())
    matcher.subscribe_many(entries)
    ordering, inserting = [], []
    for number in range(3):
        begun = time.perf_counter()
        matcher.statistics = known
        ordered = time.perf_counter()
        for at in range(inserted):
            matcher.subscribe(entries[at]["where"], id=f"n{number}-{at}")
        inserting.append((time.perf_counter() - ordered) / inserted * 1e3)
        ordering.append(ordered - begun)
    return [
        ("80,000 chains over 40,000, ordered", "s", 10.0, ordering),
        ("one more inserted", "ms", 1.0, inserting),
    ]


def loading(subscriptions: int = 20_000, predicates: int = 5_000) -> list[float]:
    """Seconds to load subscriptions of three to five operator predicates, Zipf popularity."""
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
        begun = time.perf_counter()
        matcher.subscribe_many(entries)
        return time.perf_counter() - begun

    return measure(run)
