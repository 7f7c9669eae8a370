"""Finds which of many regular expressions match a value, all at once.

Exactly `searcher(pattern)(value)` for each. A set of RE2 runs one automaton for many patterns; the
wider the set, the more states it meets, so that sets are bounded. An automaton that runs out of
memory answers with nothing and no error: every set has a pattern that is always found, and an
answer without it is none. What a set cannot evaluate is evaluated one by one.
Cost: O(value + found) a set; sets are about half full or better, but for the last few.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property
from itertools import islice

from tamis.index.layered import Group, TextLayers
from tamis.language.comparison import searcher

_WIDEST_SET = 64
_GROWTH = 3
_SET_MEMORY = 1 << 20
_WARM_BYTES = 7_000
_ALWAYS_FOUND, _ITS_PLACE = b"", 0

Match = Callable[[bytes], list[int] | None]


class Patterns(TextLayers):
    """Distinct regular expressions under numbers, found valid before by `searcher`."""

    def find(self, value: str) -> list[int]:
        """Returns the numbers of the patterns found anywhere in a value, each once."""
        data = value.encode("utf-8", "surrogatepass")
        return [number for group in self._groups for number in group.find(data)]

    def _longest_wait(self, has_groups: bool) -> int:
        return 0

    def _joins(self, group: int, waiting: int) -> bool:
        return group <= _GROWTH * waiting and group + waiting <= _WIDEST_SET

    def _grouped(self, texts: dict[int, str]) -> list[Group]:
        numbered = iter(texts.items())
        groups: list[Group] = []
        while some := dict(islice(numbered, _WIDEST_SET)):
            groups += _together(some)
        return groups


def _together(texts: dict[int, str]) -> list[Group]:
    """Returns as few groups as automata can be made for; a pattern that none takes is alone."""
    match = _match(texts.values())
    if match:
        return [_Set(texts, match)]
    if len(texts) == 1:
        return [_OneByOne(texts)]
    numbered = list(texts.items())
    middle = len(numbered) // 2
    return _together(dict(numbered[:middle])) + _together(dict(numbered[middle:]))


def _match(patterns: Iterable[str]) -> Match | None:
    """Makes a function that gives the places of the patterns found; `None` if they are too many."""
    import re2

    options = re2.Options()
    options.log_errors = False
    options.max_mem = _SET_MEMORY
    made = re2.Set.SearchSet(options)
    made.Add(_ALWAYS_FOUND)
    for pattern in patterns:
        made.Add(pattern.encode("utf-8", "surrogatepass"))
    try:
        made.Compile()
    except re2.error:
        return None
    match: Match = made.Match
    return match


class _Set(Group):
    """Patterns that one automaton looks for."""

    def __init__(self, texts: dict[int, str], match: Match) -> None:
        super().__init__(texts)
        self._numbers = [_ITS_PLACE, *texts]
        self._match = match

    def _find(self, data: bytes) -> list[int]:
        places = self._match(data) or ()
        if _ITS_PLACE not in places:
            return self._one_by_one.find(data)
        return [self._numbers[place] for place in places if place != _ITS_PLACE]

    @cached_property
    def _one_by_one(self) -> _OneByOne:
        return _OneByOne(self.texts)

    @property
    def nbytes(self) -> int:
        return _WARM_BYTES * len(self._numbers)


class _OneByOne(Group):
    """Patterns that are looked for each on its own."""

    def __init__(self, texts: dict[int, str]) -> None:
        super().__init__(texts)
        self._searchers = {number: searcher(text) for number, text in texts.items()}

    def _find(self, data: bytes) -> list[int]:
        value = data.decode("utf-8", "surrogatepass")
        return [number for number, found in self._searchers.items() if found(value)]

    @property
    def nbytes(self) -> int:
        return _WARM_BYTES * len(self._searchers)
