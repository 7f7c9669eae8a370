"""Judges what the texts of papers state as results, by the figures of a run.

A claim names the experiment that decides it, and how: no verdict stands anywhere but in the
figures. Why a claim does not hold is said beside it, and shown only where it does not.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from tamis_bench.report import Row, cell

Told = tuple[str, bool]
"""The figure in words, and whether the claim holds by it."""
Line = dict[str, float]
HELD, FAILED, UNKNOWN = "held", "not held", "not measured"
_CLOSE = 1.25
"""Up to what ratio two figures of time are as good as the same: runs differ by as much."""


class UnmeasuredError(Exception):
    """A figure that a claim is about, which this run does not have."""


class Figures:
    """The figures of a run, by experiment, method and column, in the order of their places."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self._lines: dict[tuple[str, str, str], Line] = {}
        for row in rows:
            if "figure" not in row or "method" not in row:
                continue
            for column, value in row.items():
                if isinstance(value, int | float):
                    key = row["figure"], row["method"], column
                    self._lines.setdefault(key, {})[row["at"]] = float(value)

    def line(self, experiment: str, method: str, column: str = "mean_us") -> Line:
        """Returns the values of a method along an experiment."""
        line = self._lines.get((experiment, method, column))
        if not line:
            raise UnmeasuredError(f"{method} in {experiment}")
        return line

    def value(self, experiment: str, method: str, column: str = "mean_us", at: int = -1) -> float:
        """Returns the value at one place, the last one unless another is named."""
        return list(self.line(experiment, method, column).values())[at]

    def growth(self, experiment: str, method: str, column: str = "mean_us") -> float:
        """Returns how many times the first value of a method its last one is."""
        first, *_, last = [*self.several(experiment, method, column).values()]
        return last / max(1e-12, first)

    def several(self, experiment: str, method: str, column: str) -> Line:
        """Returns the values of a method, which must be there for several places."""
        line = self.line(experiment, method, column)
        if len(line) < 2:
            raise UnmeasuredError(f"one place of {experiment}")
        return line


@dataclass(frozen=True)
class Claim:
    """A result that a paper's text states, in other words."""

    where: str
    """The section, figure or table that states it."""
    words: str
    told: Callable[[Figures], Told]
    why: str = ""
    """Why it does not hold, where it does not."""


def judged(claims: Sequence[Claim], figures: Figures) -> Iterator[Row]:
    """Yields a row for each claim."""
    for claim in claims:
        row: Row = {"where": claim.where, "claim": claim.words}
        try:
            row["ours"], holds = claim.told(figures)
        except UnmeasuredError as lacking:
            yield {**row, "ours": str(lacking), "verdict": UNKNOWN}
            continue
        yield {**row, "verdict": HELD if holds else FAILED, "why": "" if holds else claim.why}


def times(
    experiment: str, slow: str, fast: str, least: float,
    most: float = math.inf, column: str = "mean_us", at: int = -1,
) -> Callable[[Figures], Told]:  # fmt: skip
    """Holds where one method takes so many times as much as another."""

    def told(figures: Figures) -> Told:
        ratio = figures.value(experiment, slow, column, at) / figures.value(
            experiment, fast, column, at
        )
        return f"{slow} {cell(ratio)} times {fast}", least <= ratio <= most

    return told


def everywhere(
    experiment: str, slow: Sequence[str], fast: str, column: str = "mean_us"
) -> Callable[[Figures], Told]:
    """Holds where a method is at least as good as all others at every place."""

    def told(figures: Figures) -> Told:
        best, worst = figures.line(experiment, fast, column), ("", math.inf)
        for name in slow:
            line = figures.line(experiment, name, column)
            ratio = min(line[at] / best[at] for at in best if at in line)
            worst = min(worst, (name, ratio), key=lambda each: each[1])
        return f"{worst[0]} at least {cell(worst[1])} times {fast}", worst[1] >= 1 / _CLOSE

    return told


def grows(
    experiment: str, methods: Sequence[str], least: float = 1.0,
    most: float = math.inf, column: str = "mean_us",
) -> Callable[[Figures], Told]:  # fmt: skip
    """Holds where the last value of each method is so many times its first one."""

    def told(figures: Figures) -> Told:
        ratios = {name: figures.growth(experiment, name, column) for name in methods}
        words = ", ".join(f"{name} ×{cell(ratio)}" for name, ratio in ratios.items())
        return words, all(least <= ratio <= most for ratio in ratios.values())

    return told


def steady(
    experiment: str, methods: Sequence[str], column: str = "mean_us", within: float = 2.0
) -> Callable[[Figures], Told]:
    """Holds where no method's last value is far from its first one."""
    return grows(experiment, methods, 1 / within, within, column)


def grows_less(
    experiment: str, slower: Sequence[str], faster: Sequence[str], column: str = "mean_us"
) -> Callable[[Figures], Told]:
    """Holds where some methods grow by a smaller factor than each of some others."""

    def told(figures: Figures) -> Told:
        both = [
            {name: figures.growth(experiment, name, column) for name in names}
            for names in (slower, faster)
        ]
        words = "; ".join(
            ", ".join(f"{name} ×{cell(ratio)}" for name, ratio in each.items()) for each in both
        )
        return words, max(both[0].values()) <= min(both[1].values())

    return told


def ranked(experiment: str, methods: Sequence[str]) -> Callable[[Figures], Told]:
    """Holds where methods come in this order, the best one first."""

    def told(figures: Figures) -> Told:
        values = {name: figures.value(experiment, name, "mean_us", -1) for name in methods}
        order = sorted(values, key=values.__getitem__)
        return ", ".join(f"{name} {cell(values[name])}" for name in order), order == list(methods)

    return told


def best(
    experiment: str, method: str, others: Sequence[str], column: str = "mean_us", at: int = -1
) -> Callable[[Figures], Told]:
    """Holds where a method has the least value of all."""

    def told(figures: Figures) -> Told:
        values = {name: figures.value(experiment, name, column, at) for name in (method, *others)}
        least = min(values, key=values.__getitem__)
        return f"{least} {cell(values[least])}, {method} {cell(values[method])}", least == method

    return told


def saved(
    experiment: str, method: str, other: str, share: float, column: str = "mean_us", at: int = -1
) -> Callable[[Figures], Told]:
    """Holds where a method saves about that share of another one's value, or more."""

    def told(figures: Figures) -> Told:
        less = 1 - figures.value(experiment, method, column, at) / figures.value(
            experiment, other, column, at
        )
        return f"{method} {less:.0%} less than {other}", less >= share - 0.05

    return told


def exponent(
    experiment: str, method: str, column: str, least: float, most: float
) -> Callable[[Figures], Told]:
    """Holds where values grow with the places' sizes to a power between two."""

    def told(figures: Figures) -> Told:
        line = figures.several(experiment, method, column)
        sizes = [math.log(float(at.replace(",", ""))) for at in line]
        logs = [math.log(max(value, 1e-12)) for value in line.values()]
        middle, mean = sum(sizes) / len(sizes), sum(logs) / len(logs)
        above = sum((x - middle) * (y - mean) for x, y in zip(sizes, logs, strict=True))
        power = above / sum((x - middle) ** 2 for x in sizes)
        return f"{method} n^{power:.2f}", least <= power <= most

    return told


def lately(
    experiment: str, method: str, column: str, least: float, most: float
) -> Callable[[Figures], Told]:
    """Holds where, between the last two places, values grow to a power between two."""

    def told(figures: Figures) -> Told:
        *_, before, last = figures.several(experiment, method, column).items()
        sizes = [float(at.replace(",", "")) for at, _ in (before, last)]
        power = math.log(last[1] / before[1]) / math.log(sizes[1] / sizes[0])
        return f"{method} n^{power:.2f}", least <= power <= most

    return told


def both(*tellers: Callable[[Figures], Told]) -> Callable[[Figures], Told]:
    """Holds where all of several do."""

    def told(figures: Figures) -> Told:
        every = [teller(figures) for teller in tellers]
        return "; ".join(words for words, _ in every), all(holds for _, holds in every)

    return told


def unbuilt(what: str) -> Callable[[Figures], Told]:
    """Says that nothing of the kind is measured, and why."""

    def told(figures: Figures) -> Told:
        raise UnmeasuredError(what)

    return told
