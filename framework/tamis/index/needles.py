"""Finds which of many strings a value contains, all at once.

Exactly `needle in value` for each. Few needles are looked for one by one, which compiles nothing;
more of them by automata over UTF-8, where a string is contained exactly when its bytes are.
Cost: O(value + found) a layer, and at most 64 needles one by one (1,000 where there is no layer
yet); the layers are O(log needles).
"""

from __future__ import annotations

import numpy as np

from tamis.index.layered import Group, TextLayers
from tamis.waiting import COMPILING, waiting_for

MOST_ONE_BY_ONE = 1_000
"""Needles that are looked for one by one before anything is compiled; see `tamis bench forms`."""
_GROWTH = 3


class Needles(TextLayers):
    """Distinct strings under numbers."""

    def find(self, value: str) -> list[int]:
        """Returns the numbers of the needles contained in a value, each once."""
        found = [number for number, needle in self._waiting.items() if needle in value]
        if self._groups:
            data = value.encode("utf-8", "surrogatepass")
            for group in self._groups:
                found += group.find(data)
        return found

    def _longest_wait(self, has_groups: bool) -> int:
        return 64 if has_groups else MOST_ONE_BY_ONE

    def _joins(self, group: int, waiting: int) -> bool:
        return group <= _GROWTH * waiting

    def _grouped(self, texts: dict[int, str]) -> list[Group]:
        return [_Automaton(texts)]


def exercise() -> None:
    """Looks for so many needles that everything is compiled."""
    Needles().add_many({number: str(number) for number in range(MOST_ONE_BY_ONE + 1)})


class _Automaton(Group):
    """Needles that are looked for in one pass."""

    def __init__(self, texts: dict[int, str]) -> None:
        from tamis.index.needle_kernels import automaton, contained

        super().__init__(texts)
        if len(set(texts.values())) < len(texts):
            raise ValueError("the same needle has two numbers")
        needles = sorted((text.encode("utf-8", "surrogatepass"), at) for at, text in texts.items())
        joined = b"".join(needle for needle, _ in needles)
        lengths = np.fromiter((len(needle) for needle, _ in needles), np.int64, len(needles))
        start = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
        numbers = np.fromiter((number for _, number in needles), np.int64, len(needles))
        self._contained = contained
        with waiting_for(COMPILING):
            self._arrays = (*automaton(joined, start), numbers)
            self._find(b"")

    def _find(self, data: bytes) -> list[int]:
        found: list[int] = self._contained(data, *self._arrays).tolist()
        return found

    @property
    def nbytes(self) -> int:
        return sum(array.nbytes for array in self._arrays)
