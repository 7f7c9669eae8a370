"""Says what a predicate index over one attribute is, for the growth of PB+tree's Table 1.

What such an index does is counted, not timed: `steps` are the nodes that it has looked at, `cells`
the subscriptions and nodes that it holds. So the language that it is written in does not matter,
and the figures are the same on every machine.
"""

from __future__ import annotations

import math
from typing import Protocol

Asked = float | tuple[float, float]
OPERATORS = ("<", "<=", "=", ">=", ">")


class OneDimension(Protocol):
    """Predicates of one attribute, each with the number of its row, inserted and deleted one at a
    time."""

    steps: int
    """The nodes that it has looked at since it was made."""

    def insert(self, row: int, op: str, asked: Asked) -> None:
        """Adds a predicate."""

    def delete(self, row: int) -> None:
        """Removes a predicate, which must be there."""

    def match(self, value: float) -> list[int]:
        """Returns the rows whose predicates hold, in any order."""

    @property
    def cells(self) -> int:
        """Counts what it holds: nodes, and subscriptions as often as they stand somewhere."""


def closed(op: str, asked: Asked) -> tuple[float, float]:
    """Returns a predicate as a closed interval of doubles."""
    if isinstance(asked, tuple):
        return asked
    low = {"=": asked, ">=": asked, ">": math.nextafter(asked, math.inf)}.get(op, -math.inf)
    high = {"=": asked, "<=": asked, "<": math.nextafter(asked, -math.inf)}.get(op, math.inf)
    return low, high
