"""How long methods take for an event: alternating passes, the fastest of an event's runs.

Everything is compiled and every answer compared before anything is timed. A method that is slow
takes fewer of the events. Each pass begins at another event, so that none is always the one that
finds the caches cold; what disturbs the machine for a moment disturbs one run of an event.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from tamis_bench.draws import Floats, Ints

Matching = Callable[[int], Ints]

_BUDGET_SECONDS = 6.0
"""What a method may take in all passes before it takes fewer events."""
_FEWEST = 3
_QUICK_SECONDS, _MOST_REPEATS = 0.02, 5
"""A pass that is quicker than this is repeated, so that more runs find the machine undisturbed."""


@dataclass
class Method:
    """Something that matches the events of a workload, by their numbers."""

    match: Matching
    named: Callable[[Ints], Ints] | None = None
    """Makes ids of what `match` gives; `None` where it gives ids."""
    events: int = 0
    seconds: Floats = field(default_factory=lambda: np.zeros(0))
    """The fastest run of each of its events."""
    repeats: int = 1
    always: bool = True
    """Whether all its answers are compared, however long that takes."""

    def answer(self, at: int) -> Ints:
        """The ids that match an event, ascending."""
        found = self.match(at)
        return np.sort(found if self.named is None else self.named(found))


def check(methods: Mapping[str, Method], expected: Sequence[Ints], passes: int, words: str) -> int:
    """Compares answers, and finds how many events each method will be timed on; how many
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
    """`AssertionError` where an answer is not the expected one."""
    if not np.array_equal(answer, expected):
        lacking = np.setdiff1d(expected, answer)[:3].tolist()
        wrong = np.setdiff1d(answer, expected)[:3].tolist()
        raise AssertionError(
            f"{name} is wrong on event {at} of {words}: it lacks {len(lacking) or 'none'}"
            f" such as {lacking}, and gives {wrong} that do not match"
        )


def time_all(methods: Mapping[str, Method], passes: int) -> None:
    """The seconds of every method, taking turns."""
    for method in methods.values():
        method.seconds = np.full(method.events, np.inf)
    gc.collect()
    gc.disable()
    try:
        for number in range(passes):
            for method in methods.values():
                for repeat in range(method.repeats):
                    _pass(method, number * method.repeats + repeat, passes * method.repeats)
    finally:
        gc.enable()


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
    """How many seconds more the one takes than the other, for an event in the middle; they take
    turns at each event."""
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


def times(scan: Method, method: Method) -> float:
    """How many times as long the scan takes for the same events."""
    both = min(scan.events, method.events)
    return float(scan.seconds[:both].mean() / method.seconds[:both].mean())


def figures(method: Method) -> dict[str, float]:
    """What is reported of a method's seconds."""
    mean = float(method.seconds.mean())
    return {
        "us": 1e6 * float(np.median(method.seconds)),
        "mean_us": 1e6 * mean,
        "p99_over_mean": float(np.quantile(method.seconds, 0.99)) / mean,
        "events": method.events,
    }
