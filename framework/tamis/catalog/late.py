"""Makes things by row when they are first asked for, of what was read from a folder.

Invariant: a row has a thing, or what one is made of, or neither; threads may read at once.
Cost: that of making, once a row that is met.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Generic, TypeVar

T = TypeVar("T")
Raw = TypeVar("Raw")


class Late(dict[int, T], Generic[T, Raw]):
    """A dict whose values come from raw ones."""

    def __init__(self, raw: Mapping[int, Raw], make: Callable[[Raw], T]) -> None:
        super().__init__()
        self._raw = dict(raw)
        self._make = make

    def __missing__(self, row: int) -> T:
        made = self._make(self._raw[row])
        return self.setdefault(row, made)

    def __contains__(self, row: object) -> bool:
        return super().__contains__(row) or row in self._raw

    def pop(self, row: int, *default: T | None) -> T | None:  # type: ignore[override]
        """Forgets a row."""
        self._raw.pop(row, None)
        return super().pop(row, *default)
