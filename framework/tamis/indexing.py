"""What an index promises: which rows have all their attribute predicates satisfied, exactly."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from tamis.event import Event
from tamis.predicate import AttributePredicate

Rows = NDArray[np.int64]
Entry = tuple[int, Sequence[AttributePredicate]]


class Index(Protocol):
    """An index over rows: small integers that the caller chooses and may use again.

    A row without predicates satisfies every event. The caller keeps writers from readers: `match`
    may run in several threads at once, never beside `insert` or `delete`."""

    def build(self, entries: Iterable[Entry]) -> None:
        """Inserts many rows at once."""

    def insert(self, row: int, predicates: Sequence[AttributePredicate]) -> None:
        """Adds a row, which must not be there."""

    def delete(self, row: int) -> None:
        """Removes a row, which must be there."""

    def match(self, event: Event) -> Rows:
        """The rows whose predicates the event satisfies, each once, in any order."""

    def match_many(self, events: Sequence[Event]) -> list[Rows]:
        """The same for several events."""

    def __len__(self) -> int:
        """How many rows there are."""

    @property
    def nbytes(self) -> int:
        """The memory it holds."""

    def save(self, folder: Path) -> None:
        """Writes its arrays into an existing folder."""

    def load(self, folder: Path) -> None:
        """Takes, when new, what `save` wrote, mapping arrays rather than reading them."""


@dataclass(frozen=True)
class IndexRecord:
    """An index to be: its name, and where its code comes from when first needed."""

    name: str
    factory: Callable[[], Index]
    description: str = ""
