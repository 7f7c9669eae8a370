"""Finds which of the things that predicates ask for an event has, by their numbers.

Cost: O(1) an element, one evaluation of each odd predicate, and that of `Needles` and `Patterns`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import Any

from tamis.index.layered import TextLayers
from tamis.language.comparison import Comparison
from tamis.language.values import Scalar

Key = Any


class Bag:
    """Things under numbers that are used again once nobody asks for the thing."""

    def __init__(self) -> None:
        self.numbers: dict[Key, int] = {}
        self._free: list[int] = []

    def number(self, thing: Any) -> int:
        """Returns the number of a thing, a new one if it is new."""
        key = self.key(thing)
        number = self.numbers.get(key)
        if number is None:
            number = self._free.pop() if self._free else len(self.numbers)
            self.numbers[key] = number
            self.added(number, thing)
        return number

    def keep(self, used: Collection[int]) -> None:
        """Forgets the things whose numbers are not used."""
        for key, number in list(self.numbers.items()):
            if number not in used:
                del self.numbers[key]
                self._free.append(number)
                self.dropped(number)

    def find(self, value: Any) -> Iterable[int]:
        """Returns the numbers of what a value has, each once."""
        return [self.numbers[value]] if value in self.numbers else []

    def key(self, thing: Any) -> Key:
        """Returns a key that is equal for equal things."""
        return thing

    def added(self, number: int, thing: Any) -> None:
        """Hears of a new thing."""

    def dropped(self, number: int) -> None:
        """Hears that a thing is gone."""

    def contents(self) -> list[tuple[int, Any]]:
        """Returns everything there is, under its number."""
        return self.things()

    def things(self) -> list[tuple[int, Any]]:
        """Returns everything there is, as JSON can hold it, for `restore`."""
        return [(number, key) for key, number in self.numbers.items()]

    def restore(self, things: Iterable[tuple[int, Any]]) -> None:
        """Takes what `things` gave."""
        for number, thing in things:
            self.numbers[self.key(thing)] = number
            self.added(number, thing)
        there = set(self.numbers.values())
        self._free = [each for each in range(max(there, default=-1)) if each not in there]

    @property
    def nbytes(self) -> int:
        """About the memory it holds."""
        return 100 * len(self.numbers)


class Elements(Bag):
    """The elements of an array."""

    def key(self, thing: Scalar) -> Key:
        """Returns the kind with the value: `true` is not 1."""
        return type(thing) is bool, thing

    def things(self) -> list[tuple[int, Any]]:
        """Returns the elements themselves."""
        return [(number, thing) for (_, thing), number in self.numbers.items()]

    def find(self, value: Iterable[Scalar]) -> Iterable[int]:
        """Returns the numbers of the elements."""
        keys = {(type(element) is bool, element) for element in value}
        return [self.numbers[key] for key in keys if key in self.numbers]


class Strings(Bag):
    """The needles that a string contains, or the patterns that it matches."""

    def __init__(self, finder: TextLayers) -> None:
        super().__init__()
        self._finder = finder

    def added(self, number: int, thing: str) -> None:
        """Adds a needle or a pattern to find."""
        self._finder.add(number, thing)

    def dropped(self, number: int) -> None:
        """Drops one that is no longer to be found."""
        self._finder.drop(number)

    def find(self, value: str) -> Iterable[int]:
        """Returns the numbers of those that the value satisfies."""
        return self._finder.find(value)

    @property
    def nbytes(self) -> int:
        """About the memory it holds."""
        return super().nbytes + self._finder.nbytes


class Odd(Bag):
    """The comparisons that hold of a scalar, each evaluated by itself."""

    def __init__(self) -> None:
        super().__init__()
        self._tests: dict[int, tuple[Comparison, Callable[[Any], bool]]] = {}

    def key(self, thing: Comparison) -> Key:
        """Returns the key of the comparison."""
        return thing.key

    def added(self, number: int, thing: Comparison) -> None:
        """Adds a comparison to evaluate."""
        self._tests[number] = thing, thing.compiled()

    def dropped(self, number: int) -> None:
        """Drops one that is no longer to be evaluated."""
        del self._tests[number]

    def find(self, value: Scalar) -> Iterable[int]:
        """Returns the numbers of those that hold."""
        return [number for number, (_, holds) in self._tests.items() if holds(value)]

    def contents(self) -> list[tuple[int, Any]]:
        """Returns the comparisons."""
        return [(number, test) for number, (test, _) in self._tests.items()]

    def things(self) -> list[tuple[int, Any]]:
        """Returns their operators and constants."""
        return [(number, [test.op, test.value]) for number, (test, _) in self._tests.items()]

    def restore(self, things: Iterable[tuple[int, Any]]) -> None:
        """Takes what `things` gave, through JSON or not."""
        super().restore(
            (number, Comparison(op, tuple(value) if isinstance(value, list) else value))
            for number, (op, value) in things
        )
