"""Places values of any order on a line of doubles: labels in the order of the values.

Strings have labels in the order of their code points, integers too large for a double in theirs.
Invariant: labels are integers at least 2 apart, so that `label + 1` lies strictly between a value
and the next one, and stands for every value there. A label moves only when there is no room left
between two neighbors; all are spread anew then, and `add` says how.
Cost: O(log n) a value, and O(n) each time labels are spread.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
from sortedcontainers import SortedDict

from tamis.index.terms import OUTSIDE, TermColumns
from tamis.numeric.types import Floats, Ints

_REACH = 2.0**51
_STEP = 2.0**30
_RUN = 64
"""Into how many parts a gap is cut by a value that goes on where the last one was put."""


Value = Any


class ChangedLabels(NamedTuple):
    """Labels that are no longer what they were, in ascending order."""

    old: Floats
    new: Floats

    def lower(self, bounds: Floats) -> Floats:
        """Returns lower bounds (a label, or just above one), moved."""
        return self._moved(bounds, np.searchsorted(self.old, bounds, side="right") - 1)

    def upper(self, bounds: Floats) -> Floats:
        """Returns upper bounds (a label, or just below one), moved."""
        return self._moved(bounds, np.searchsorted(self.old, bounds))

    def _moved(self, bounds: Floats, near: Ints) -> Floats:
        """Returns bounds, moved as the labels near them."""
        near = np.clip(near, 0, len(self.old) - 1)
        moved = self.new[near] + (bounds - self.old[near])
        return np.where(np.isinf(bounds), bounds, moved)


class Labels:
    """The values that bound predicates of one dimension, each with its label."""

    def __init__(self) -> None:
        self._labels = SortedDict()
        self._last: Value | None = None

    def __len__(self) -> int:
        return len(self._labels)

    def __getitem__(self, value: Value) -> float:
        """Returns the label of a value that was added."""
        label: float = self._labels[value]
        return label

    def place(self, value: Value) -> float:
        """Returns the label of a value, or that of all values between its neighbors."""
        label: float | None = self._labels.get(value)
        if label is not None:
            return label
        above = self._labels.bisect_left(value)
        if above:
            return float(self._labels.peekitem(above - 1)[1]) + 1.0
        return float(self._labels.peekitem(0)[1]) - 1.0 if self._labels else 0.0

    def add(self, values: Iterable[Value]) -> ChangedLabels | None:
        """Labels for new values; what became of the others when they had to move."""
        new = sorted(value for value in set(values) if value not in self._labels)
        old = list(self._labels.items())
        if len(new) <= len(old):
            for place, value in enumerate(new):
                label = self._between(value)
                if label is None:
                    new = new[place:]
                    break
                self._labels[value] = label
                self._last = value
            else:
                return None
        if new:
            self._spread(sorted([*self._labels, *new]))
        if not new or not old:
            return None
        return ChangedLabels(
            np.array([label for _, label in old]),
            np.array([self._labels[value] for value, _ in old]),
        )

    def _between(self, value: Value) -> float | None:
        """Returns a label for one new value, none when there is no room."""
        labels = self._labels
        above = labels.bisect_left(value)
        if not labels:
            return 0.0
        if above in (0, len(labels)):
            label = float(
                labels.peekitem(-1)[1] + _STEP if above else labels.peekitem(0)[1] - _STEP
            )
            return label if abs(label) < _REACH else None
        left, low = labels.peekitem(above - 1)
        right, high = labels.peekitem(above)
        if high - low < 4:
            return None
        parts = _RUN if self._last in (left, right) else 2
        step = max(2.0, (high - low) // parts)
        return float(high - step if self._last == right else low + step)

    def _spread(self, ordered: list[Value]) -> None:
        step = max(4.0, min(_STEP, 2 * _REACH // (len(ordered) + 2)))
        first = -step * (len(ordered) // 2)
        self._labels = SortedDict(
            (value, first + step * place) for place, value in enumerate(ordered)
        )

    def keep(self, used: Floats) -> None:
        """Forgets the values whose labels are in no way used."""
        near = set(used.tolist())
        for value, label in list(self._labels.items()):
            if near.isdisjoint((label, label - 1, label + 1)):
                del self._labels[value]

    def items(self) -> list[tuple[Value, float]]:
        """Returns the values and their labels, in order."""
        return list(self._labels.items())

    def restore(self, items: Iterable[tuple[Value, float]]) -> None:
        """Takes what `items` gave."""
        self._labels = SortedDict(items)


def relabeled(terms: TermColumns, moved: Mapping[int, ChangedLabels]) -> TermColumns:
    """Terms whose labels have moved."""
    for number, move in moved.items():
        bounds = np.flatnonzero((terms.dimension == number) & (terms.op <= OUTSIDE))
        terms.low[bounds] = move.lower(terms.low[bounds])
        terms.high[bounds] = move.upper(terms.high[bounds])
        for term in np.flatnonzero((terms.dimension == number) & (terms.op > OUTSIDE)):
            members = slice(int(terms.low[term]), int(terms.low[term] + terms.high[term]))
            terms.members[members] = move.lower(terms.members[members])
    return terms
