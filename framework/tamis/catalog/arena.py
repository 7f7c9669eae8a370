"""Keeps texts in one byte array with offsets, compacted when half of it is garbage."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis.numeric.growing import GrowingArray

_SMALL = 1 << 16


class Arena:
    """Strings by row; amortized O(length) to set or free one."""

    def __init__(self) -> None:
        self._bytes: bytearray | memoryview = bytearray()
        self._start = GrowingArray(np.int64)
        self._length = GrowingArray(np.int64)
        self._garbage = 0

    def set(self, row: int, text: str) -> None:
        """Stores the text of a row that has none."""
        letters = text.encode("utf-8", "surrogatepass")
        if not isinstance(self._bytes, bytearray):  # mapped from a file
            self._bytes = bytearray(self._bytes)
        self._start.put(row, len(self._bytes))
        self._length.put(row, len(letters))
        self._bytes += letters

    def get(self, row: int) -> str:
        """Returns the text of a row."""
        start = int(self._start[row])
        return str(self._bytes[start : start + int(self._length[row])], "utf-8", "surrogatepass")

    def free(self, row: int) -> None:
        """Forgets the text of a row."""
        self._garbage += int(self._length[row])
        self._length[row] = 0
        if self._garbage > _SMALL + len(self._bytes) // 2:
            self._compact()

    def _compact(self) -> None:
        starts, lengths = self._start.view, self._length.view
        kept = bytearray()
        for row in np.argsort(starts, kind="stable").tolist():
            start, length = int(starts[row]), int(lengths[row])
            starts[row] = len(kept)
            kept += self._bytes[start : start + length]
        self._bytes = kept
        self._garbage = 0

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Returns the arrays to save."""
        return {
            "bytes": np.frombuffer(self._bytes, np.uint8),
            "start": self._start.view,
            "length": self._length.view,
        }

    @classmethod
    def of(cls, arrays: Mapping[str, NDArray[Any]]) -> Arena:
        """Makes an arena of these arrays, which may be mapped from files; texts stay in place."""
        arena = cls()
        arena._bytes = memoryview(arrays["bytes"])  # type: ignore[arg-type]
        arena._start = GrowingArray(np.int64, arrays["start"])
        arena._length = GrowingArray(np.int64, arrays["length"])
        arena._garbage = len(arena._bytes) - int(arrays["length"].sum())
        return arena

    @property
    def nbytes(self) -> int:
        """The memory it holds."""
        return len(self._bytes) + self._start.nbytes + self._length.nbytes
