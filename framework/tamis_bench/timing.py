"""Times what is compared in turns, so that what disturbs the machine disturbs all of it.

Methods match the events of a workload: everything is compiled and every answer compared before
anything is timed, and the fastest run of each event counts. A method that is slow takes fewer of
the events. Each pass begins at another event, so that none is always the one that finds the caches
cold.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Name = TypeVar("Name")

_BUDGET_SECONDS = 6.0
"""The seconds of a method in all passes, beyond which it takes fewer events."""
_FEWEST = 3
_QUICK_SECONDS, _MOST_REPEATS = 0.1, 50
"""A pass that is quicker than this is repeated, so that more runs find the machine undisturbed."""


class PassTimes(NamedTuple):
    """The seconds of every pass of something, and what it gave."""

    seconds: list[float]
    result: Any

    @property
    def least(self) -> float:
        """Returns the seconds of the fastest pass."""
        return min(self.seconds)


def alternating(
    works: Mapping[Name, Callable[[], object]], passes: int, *, warm: bool = False
) -> dict[Name, PassTimes]:
    """Times works in turns; where they are not warm yet, after a pass that does not count."""
    taken: dict[Name, list[float]] = {name: [] for name in works}
    results: dict[Name, object] = {}
    for number in range(warm, passes + 1):
        for name, work in works.items():
            with _undisturbed():
                begun = time.perf_counter()
                results[name] = work()
                seconds = time.perf_counter() - begun
            if number:
                taken[name].append(seconds)
    return {name: PassTimes(taken[name], results[name]) for name in works}


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Holds the collection of garbage back."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


@dataclass
class Method:
    """Something that matches the events of a workload, by their numbers."""

    match: Callable[[int], Ints]
    named: Callable[[Ints], Ints] | None = None
    """Makes ids of what `match` gives; `None` where it gives ids."""
    events: int = 0
    seconds: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    """The fastest run of each of its events."""
    repeats: int = 1
    always: bool = True
    """True if all its answers are compared, however long that takes."""

    def answer(self, at: int) -> Ints:
        """Returns the ids that match an event, ascending."""
        found = self.match(at)
        return np.sort(found if self.named is None else self.named(found))

    def figures(self) -> dict[str, float]:
        """Returns what is told of its seconds."""
        mean = float(self.seconds.mean())
        return {
            "median_us": 1e6 * float(np.median(self.seconds)),
            "mean_us": 1e6 * mean,
            "p99_over_mean": float(np.quantile(self.seconds, 0.99)) / mean,
            "events": self.events,
        }

    def times(self, scan: Method) -> float:
        """Returns how many times as long a scan takes for the same events."""
        both = min(scan.events, self.events)
        return float(scan.seconds[:both].mean() / self.seconds[:both].mean())


def check(methods: Mapping[str, Method], expected: Sequence[Ints], passes: int, words: str) -> int:
    """Compares answers, and finds how many events each method will be timed on; returns how many
    answers were compared."""
    compared = 0
    for name, method in methods.items():
        begun = time.perf_counter()
        for at, answer in enumerate(expected):
            compare(name, method.answer(at), answer, at, words)
            compared += 1
            late = (time.perf_counter() - begun) * passes > _BUDGET_SECONDS
            if at < _FEWEST or not late:
                method.events = at + 1
            elif not method.always:
                break
        quick = int(_QUICK_SECONDS / max(1e-9, time.perf_counter() - begun))
        method.repeats = min(_MOST_REPEATS, 1 + quick)
    return compared


def compare(name: str, answer: Ints, expected: Ints, at: int, words: str) -> None:
    """Raises `AssertionError` where an answer is not the expected one."""
    if not np.array_equal(answer, expected):
        lacking = np.setdiff1d(expected, answer)[:3].tolist()
        wrong = np.setdiff1d(answer, expected)[:3].tolist()
        raise AssertionError(
            f"{name} is wrong on event {at} of {words}: it lacks {len(lacking) or 'none'}"
            f" such as {lacking}, and gives {wrong} that do not match"
        )


def time_all(methods: Mapping[str, Method], passes: int) -> None:
    """Times every method, taking turns."""
    for method in methods.values():
        method.seconds = np.full(method.events, np.inf)
    with _undisturbed():
        for number in range(passes):
            for method in methods.values():
                for repeat in range(method.repeats):
                    _pass(method, number * method.repeats + repeat, passes * method.repeats)


def _pass(method: Method, number: int, passes: int) -> None:
    first = number * method.events // passes
    match, clock, best = method.match, time.perf_counter, method.seconds
    for step in range(method.events):
        at = (first + step) % method.events
        begun = clock()
        match(at)
        spent = clock() - begun
        if spent < best[at]:
            best[at] = spent


def beyond(kernel: Method, whole: Method, passes: int) -> float:
    """Returns how many seconds more the one takes than the other, for an event in the middle; they
    take turns at each event."""
    clock = time.perf_counter
    more = []
    for at in range(min(kernel.events, whole.events)):
        fastest = [np.inf, np.inf]
        for _ in range(passes * min(kernel.repeats, whole.repeats)):
            for place, method in enumerate((kernel, whole)):
                begun = clock()
                method.match(at)
                fastest[place] = min(fastest[place], clock() - begun)
        more.append(fastest[1] - fastest[0])
    return float(np.median(more))
