"""Lends scratch to threads, and takes it back.

Invariant: no two threads have the same scratch; what one has counted stays with its successor when
it grows. Cost: O(1), O(rows) the first time a thread needs more than there is.
"""

from __future__ import annotations

from collections.abc import Iterator

from tamis.index.buckets.handles import handle_of
from tamis.index.buckets.scratch import Scratch, new_scratch
from tamis.index.buckets.store import LIVE, Store
from tamis.numeric.types import Ints

_SMALL = 1_024


class ScratchPool:
    """Holds scratch that no thread uses, each with its handle."""

    def __init__(self) -> None:
        self._free: list[tuple[Scratch, Ints]] = []

    def __iter__(self) -> Iterator[Scratch]:
        return (scratch for scratch, _ in self._free)

    def take(self, store: Store, events: int) -> tuple[Scratch, Ints]:
        """Returns scratch with room for so many events at once."""
        dimensions, rows = len(store.presence), int(store.tops[LIVE]) + 1
        before: Scratch | None = None
        try:
            before, handle = self._free.pop()
        except IndexError:
            pass
        else:
            has_room = len(before.values) >= dimensions
            if has_room and len(before.out) >= rows + (events > 1):
                return before, handle
        scratch = new_scratch(
            dimensions + dimensions // 4,
            (1 + (events > 1)) * rows + rows // 4 + _SMALL,
            len(store.cuts),
        )
        if before is not None:
            scratch = scratch._replace(tested=before.tested, seen=before.seen)
        return scratch, handle_of(scratch)

    def give_back(self, scratch: Scratch, handle: Ints) -> None:
        """Takes scratch back."""
        self._free.append((scratch, handle))

    def clear(self) -> None:
        """Forgets all scratch: cells are no longer what they were."""
        self._free = []
