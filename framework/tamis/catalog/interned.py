"""Numbers things that are shared: each distinct one once, counted by its users."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Generic, Protocol, TypeVar

from tamis.numeric.growing import GrowingArray
from tamis.numeric.types import Ints


class Internable(Protocol):
    """Something with a key, that keeps its number."""

    @property
    def key(self) -> tuple[object, ...]:
        """Equal for equal things."""

    number: int


T = TypeVar("T", bound=Internable)


class NumberedThings(list[T]):
    """Things that are in use, with their numbers and with serials, which are never given again."""

    def __init__(self, things: Iterable[T], numbers: Ints, serials: Ints) -> None:
        super().__init__(things)
        self.numbers = numbers
        self.serials = serials


class SharedThings(Generic[T]):
    """The shared things of one sort; O(1) to take and to leave one."""

    def __init__(self) -> None:
        self._things = GrowingArray(object)
        """By number, `None` where nothing has it; an array, from which many are taken at once."""
        self._by_key: dict[tuple[object, ...], T] = {}
        self._uses: list[int] = []
        self._free: list[int] = []

    def known(self, key: tuple[object, ...]) -> T | None:
        """Returns the thing of that key, if it is in use."""
        return self._by_key.get(key)

    def thing(self, number: int) -> T:
        """Returns the thing of a number that is in use."""
        thing: T = self._things[number]
        return thing

    def things(self, numbers: Ints) -> list[T]:
        """Returns the things of numbers that are in use."""
        found: list[T] = self._things.view.take(numbers).tolist()
        return found

    def take(self, thing: T) -> bool:
        """Counts a user; whether it is the first. An equal thing must be this very one."""
        there = self._by_key.get(thing.key)
        if there is not None:
            assert there is thing
            self._uses[thing.number] += 1
            return False
        if self._free:
            thing.number = self._free.pop()
            self._things[thing.number] = thing
            self._uses[thing.number] = 1
        else:
            thing.number = self._things.append(thing)
            self._uses.append(1)
        self._by_key[thing.key] = thing
        return True

    def swap(self, thing: T) -> T:
        """Puts a thing in the place of an equal one that is in use, and returns that one."""
        there = self._by_key[thing.key]
        thing.number = there.number
        self._things[thing.number] = self._by_key[thing.key] = thing
        return there

    def put(self, number: int, thing: T, users: int) -> None:
        """Puts back, when new, a thing that had so many users; numbers ascend."""
        self._free.extend(range(len(self._things), number))
        self._things.extend([None] * (number - len(self._things)))
        self._uses.extend([0] * (number - len(self._uses)))
        thing.number = self._things.append(thing)
        self._uses.append(users)
        self._by_key[thing.key] = thing

    def __iter__(self) -> Iterator[T]:
        """Yields all things by their numbers."""
        return (thing for thing in self._things.view.tolist() if thing is not None)

    def leave(self, thing: T) -> bool:
        """Counts a user off; whether it was the last."""
        self._uses[thing.number] -= 1
        if self._uses[thing.number]:
            return False
        del self._by_key[thing.key]
        self._things[thing.number] = None
        self._free.append(thing.number)
        return True

    def users(self, thing: T) -> int:
        """Counts the users of a thing."""
        return self._uses[thing.number]

    def __len__(self) -> int:
        return len(self._by_key)
