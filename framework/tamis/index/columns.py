"""Boxes of numbers in columns: what programs hand to an index without making objects of it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tamis.index.clauses import Clause, predicate_of
from tamis.language.predicate import AttributePredicate
from tamis.language.values import canonical_number

_LARGE = 2.0**53
_PART = 1 << 14


class Columns:
    """Ids with closed ranges of numbers.

    `ids[i]` has the predicates from `start[i]` to `start[i + 1]`, each one `low <= value <= high`
    of the attribute `attributes[attribute]`. Bounds may be infinite; ids are integers or strings.

    >>> import tamis.index
    >>> boxes = Columns(
    ...     ids=[7, 8], attributes=["altitude", "speed"], start=[0, 2, 3],
    ...     attribute=[0, 1, 0], low=[50, 10, 400], high=[400, 20, 900],
    ... )
    >>> sorted(tamis.index.build("lanes", boxes).match({"altitude": 400, "speed": 15}).tolist())
    [7, 8]
    """

    def __init__(
        self,
        ids: Sequence[int | str] | NDArray[Any],
        attributes: Sequence[str],
        start: ArrayLike,
        attribute: ArrayLike,
        low: ArrayLike,
        high: ArrayLike,
    ) -> None:
        self.ids = ids
        self.attributes = list(attributes)
        self.start = np.ascontiguousarray(start, np.int64)
        self.attribute = np.ascontiguousarray(attribute, np.int64)
        self.low = np.ascontiguousarray(low, np.float64)
        self.high = np.ascontiguousarray(high, np.float64)
        self._check()

    def _check(self) -> None:
        predicates = len(self.attribute)
        if len(self.start) != len(self.ids) + 1:
            raise ValueError(f"start has {len(self.ids) + 1} places, one more than ids")
        if not len(self.low) == len(self.high) == predicates:
            raise ValueError("attribute, low and high are of one length")
        if self.start[0] != 0 or self.start[-1] != predicates or (np.diff(self.start) < 0).any():
            raise ValueError(f"start ascends from 0 to the number of predicates, {predicates}")
        if predicates and not 0 <= self.attribute.min() <= self.attribute.max() < len(
            self.attributes
        ):
            raise ValueError(f"attribute holds places in attributes, 0 to {len(self.attributes)}")
        if len(set(self.attributes)) != len(self.attributes) or not all(
            isinstance(name, str) and name for name in self.attributes
        ):
            raise ValueError("attributes are names, each once")
        if np.isnan(self.low).any() or np.isnan(self.high).any():
            raise ValueError("a bound is a number, not NaN")

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def has_large_bounds(self) -> bool:
        """True if a bound is so large that not every integer near it is a double."""
        for first in range(0, len(self.low), _PART):  # what fits into a cache
            low, high = self.low[first : first + _PART], self.high[first : first + _PART]
            if ((np.abs(low) >= _LARGE) & (low != -math.inf)).any():
                return True
            if ((np.abs(high) >= _LARGE) & (high != math.inf)).any():
                return True
        return False

    def clauses(self) -> Iterator[tuple[Any, list[Clause]]]:
        """Yields the same as clauses, one id after the other."""
        starts, attributes = self.start.tolist(), self.attribute.tolist()
        bounds = zip(self.low.tolist(), self.high.tolist(), strict=True)
        ranges = [_range(low, high) for low, high in bounds]
        for place, id in enumerate(np.asarray(self.ids, object).tolist()):
            span = range(starts[place], starts[place + 1])
            yield id, [(self.attributes[attributes[at]], *ranges[at]) for at in span]

    def predicates(self) -> Iterator[list[AttributePredicate]]:
        """Yields the same as predicates, without the ids."""
        for _, clauses in self.clauses():
            yield [predicate_of(clause) for clause in clauses]


def _range(low: float, high: float) -> tuple[str, Any]:
    """Returns the op and the value of a closed range; infinite bounds do not bound."""
    if high == math.inf:
        return ">=", low
    if low == -math.inf:
        return "<=", high
    return "between", (canonical_number(low), canonical_number(high))
