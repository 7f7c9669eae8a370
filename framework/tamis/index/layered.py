"""Groups texts that are evaluated together: a few wait, the others are in groups.

A group is built once; what is dropped from it is masked. Waiting texts that become too many make
a new group together with the latest groups that are worth joining, and a group most of which was
dropped is taken apart. Invariant: a number is either waiting or in one group. Only changes settle
anything, so that several threads may read while nobody changes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping


class Group(ABC):
    """Texts evaluated together; `texts` are those not dropped since."""

    def __init__(self, texts: dict[int, str]) -> None:
        self.texts = texts
        self._size = len(texts)

    def find(self, data: bytes) -> list[int]:
        """Returns the numbers of the texts that a value in UTF-8 satisfies."""
        found = self._find(data)
        if self.dropped:
            return [number for number in found if number in self.texts]
        return found

    @property
    def dropped(self) -> int:
        """The number of texts that are masked."""
        return self._size - len(self.texts)

    @abstractmethod
    def _find(self, data: bytes) -> list[int]: ...

    @property
    @abstractmethod
    def nbytes(self) -> int:
        """The memory it holds, without the texts."""


class TextLayers(ABC):
    """Texts in groups of decreasing size."""

    def __init__(self) -> None:
        self._waiting: dict[int, str] = {}
        self._groups: list[Group] = []

    def add(self, number: int, text: str) -> None:
        """Takes a text under a number that is free."""
        self.add_many({number: text})

    def add_many(self, texts: Mapping[int, str]) -> None:
        """Takes several at once, which settles them at most once."""
        self._wait(texts, self._groups)

    def drop(self, number: int) -> None:
        """Forgets a text; `KeyError` if there is none."""
        if self._waiting.pop(number, None) is not None:
            return
        for group in self._groups:
            if number in group.texts:
                del group.texts[number]
                if group.dropped > len(group.texts):
                    self._wait(group.texts, [each for each in self._groups if each is not group])
                return
        raise KeyError(number)

    def _wait(self, texts: Mapping[int, str], groups: list[Group]) -> None:
        """Lets texts wait beside some groups, or makes a group of all that waits."""
        waiting = {**self._waiting, **texts}
        if len(waiting) > self._longest_wait(bool(groups)):
            groups = groups.copy()
            while groups and self._joins(len(groups[-1].texts), len(waiting)):
                waiting |= groups.pop().texts
            groups += self._grouped(waiting)
            waiting = {}
        self._waiting, self._groups = waiting, groups

    @abstractmethod
    def find(self, value: str) -> list[int]:
        """Returns the numbers of the texts that a value satisfies, each once."""

    @abstractmethod
    def _longest_wait(self, has_groups: bool) -> int:
        """Returns how many may wait, beside groups or where there is none yet."""

    @abstractmethod
    def _joins(self, group: int, waiting: int) -> bool:
        """Returns whether a group of one size is built again with so many that wait."""

    @abstractmethod
    def _grouped(self, texts: dict[int, str]) -> list[Group]: ...

    def __len__(self) -> int:
        return len(self._waiting) + sum(len(group.texts) for group in self._groups)

    @property
    def nbytes(self) -> int:
        """The memory it holds, without the texts."""
        sizes = [self._waiting.__sizeof__()]
        sizes += [group.nbytes + group.texts.__sizeof__() for group in self._groups]
        return sum(sizes)
