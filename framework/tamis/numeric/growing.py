"""Arrays that grow at their end, in amortized constant time."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

_FIRST = 16


class GrowingArray:
    """A NumPy array with room to grow; `view` is the part in use."""

    __slots__ = ("room", "size")

    def __init__(self, dtype: DTypeLike, content: NDArray[Any] | None = None) -> None:
        self.room: NDArray[Any] = np.zeros(_FIRST, dtype) if content is None else content
        """The elements, and behind them room for more."""
        self.size = 0 if content is None else len(content)

    @property
    def view(self) -> NDArray[Any]:
        """The elements; valid until the next growth, shared with it before."""
        return self.room[: self.size]

    @property
    def nbytes(self) -> int:
        """The memory it holds."""
        return self.room.nbytes

    def reserve(self, extra: int) -> int:
        """Makes room for more elements at the end, and says where they begin."""
        start, needed = self.size, self.size + extra
        if needed > len(self.room):
            length = max(needed + needed // 8, 2 * len(self.room), _FIRST)
            room = np.zeros(length, self.room.dtype)  # of which nothing is taken before it is used
            room[:start] = self.room[:start]
            self.room = room
        self.size = needed
        return start

    def append(self, value: object) -> int:
        """Adds one element, and says where."""
        place = self.reserve(1)
        self.room[place] = value
        return place

    def put(self, place: int, value: object) -> None:
        """Sets an element, which may lie beyond the end."""
        if place >= self.size:
            if place >= len(self.room):
                self.reserve(place + 1 - self.size)
            self.size = place + 1
        self.room[place] = value

    def extend(self, values: Any) -> int:
        """Adds elements, and says where they begin."""
        start, count = self.reserve(len(values)), len(values)
        if count == 1:  # in a tenth of the time
            self.room[start] = values[0]
        else:
            self.room[start : self.size] = values
        return start

    def __getitem__(self, place: Any) -> Any:
        return self.room[place]

    def __setitem__(self, place: Any, value: object) -> None:
        self.room[place] = value

    def __len__(self) -> int:
        return self.size
