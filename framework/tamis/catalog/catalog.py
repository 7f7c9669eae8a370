"""Keeps what is subscribed as numbers: subscriptions, alternatives, the tests and calls they share.

Rows of subscriptions and alternatives are small integers that are used again; an alternative's
tests are a stretch of one edge array. Nothing is kept of an attribute predicate: the index has it.
Invariant: every alternative row belongs to one live subscription row, and every test and call has
as many users as alternatives (tests) that hold it.
Cost of adding and removing: O(size of the subscription), amortized.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis.catalog.arena import Arena
from tamis.catalog.epochs import Epochs
from tamis.catalog.implied import Implications
from tamis.catalog.interned import SharedThings
from tamis.catalog.joins import JoinPlan
from tamis.catalog.policies import SubscribedPolicies
from tamis.catalog.resolve import ResolvedAlternative
from tamis.catalog.traits import Traits
from tamis.language.policies import Policy
from tamis.limits import DEFAULT_LIMITS
from tamis.numeric.growing import GrowingArray
from tamis.numeric.types import Ints
from tamis.operators.asking import Call, EventConstraint, Test

ASKS, CONDITIONAL, BINDS, DECLARES = 1, 2, 4, 8
DELIVER = "deliver"
_NONE = -1
_SMALL = 4_096
_ROOM = 16


@dataclass(frozen=True)
class CatalogSubscription:
    """A subscription as it was handed in."""

    id: str
    text: str
    data: Mapping[str, Any]
    deliver: object = None
    """Its delivery policies, as they were written."""


class Catalog:
    """Everything that is subscribed. One writer at a time, and no reader beside it."""

    def __init__(self, most_implications: int = DEFAULT_LIMITS.implications) -> None:
        self.version = 0
        self.rows: dict[str, int] = {}
        self.epochs = Epochs()
        self.tests: SharedThings[Test] = SharedThings()
        self.calls: SharedThings[Call] = SharedThings()
        self.traits = Traits()
        self.implications = Implications(most_implications)
        self.declared_names: Counter[str] = Counter()
        """The derived attributes that declarations read, and by how many tests."""
        self.policies = SubscribedPolicies()
        self.plans: dict[int, JoinPlan] = {}
        self.conditions: dict[int, tuple[EventConstraint, ...]] = {}
        self.alternative_subscription = GrowingArray(np.int32)
        self.alternative_flags = GrowingArray(np.uint8)
        self.edge_start = GrowingArray(np.int64)
        self.edge_count = GrowingArray(np.int32)
        self.edge_test = GrowingArray(np.int32)
        self.edge_sign = GrowingArray(np.int8)
        self._ids: list[str] = []
        self._texts = Arena()
        self._data: dict[int, str] = {}
        self._first = GrowingArray(np.int32)
        self._next = GrowingArray(np.int32)
        self._added = GrowingArray(np.int64)
        self._free_rows: list[int] = []
        self._free_alternatives: list[int] = []
        self._dead_edges = 0

    def __len__(self) -> int:
        return len(self.rows)

    def add(
        self,
        id: str,
        text: str,
        data: str | None,
        alternatives: Sequence[ResolvedAlternative],
        policies: tuple[Policy, ...] = (),
    ) -> list[tuple[int, ResolvedAlternative]]:
        """Adds a subscription whose id is free, its other keys as JSON; its alternatives' rows."""
        row = self._new_row(id)
        self._texts.set(row, text)
        if data is not None:
            self._data[row] = data
        # ascending rows: the order of a subscription's alternatives is that of its text
        if len(alternatives) > 1:
            while len(self._free_alternatives) < len(alternatives):
                self._make_room()
            self._free_alternatives[-len(alternatives) :] = sorted(
                self._free_alternatives[-len(alternatives) :], reverse=True
            )
        added = [(self._add_alternative(row, asked), asked) for asked in alternatives]
        following = _NONE
        for alternative, _ in reversed(added):
            self._next[alternative] = following
            following = alternative
        self._first.put(row, following)
        self.rows[id] = row
        self.version += 1
        self._added.put(row, self.version)
        self.policies.put(id, policies, self.version)
        return added

    def remove(self, id: str, *, replaced: bool = False) -> list[int]:
        """Removes a subscription, or what another one of its id replaces; the rows its alternatives
        had. `KeyError` if it is unknown."""
        row = self.rows.pop(id)
        removed = list(self.alternatives_of(row))
        for alternative in removed:
            self._remove_alternative(alternative)
        self._first[row] = _NONE
        self.epochs.retire(row)
        self.version += 1
        if not replaced:
            self.policies.put(id, (), self.version)
        if self._dead_edges > _SMALL + len(self.edge_test) // 2:
            self._compact_edges()
        return removed

    def alternatives_of(self, row: int) -> Iterable[int]:
        """Yields the alternative rows of a subscription row."""
        alternative = int(self._first[row])
        while alternative != _NONE:
            yield alternative
            alternative = int(self._next[alternative])

    def asking(self) -> list[int]:
        """Returns the rows of all alternatives that the index alone does not decide."""
        return [
            alternative
            for row in self.rows.values()
            for alternative in self.alternatives_of(row)
            if self.alternative_flags[alternative]
        ]

    def asking_some(self, names: Container[str]) -> list[str]:
        """Returns the ids of subscriptions that ask some operators, in their order."""
        rows = {
            int(self.alternative_subscription[alternative])
            for alternative in self.asking()
            for start in [int(self.edge_start[alternative])]
            for test in self.tests.things(
                self.edge_test[start : start + int(self.edge_count[alternative])]
            )
            if test.call.specification.name in names
        }
        return [id for id, row in self.rows.items() if row in rows]

    @property
    def subscription_rows(self) -> int:
        """The number of rows for subscriptions, in use or free."""
        return len(self._ids)

    def id_of(self, row: int) -> str:
        """Returns the id of a subscription row that is in use or under a lease."""
        return self._ids[row]

    def text_of(self, row: int) -> str:
        """Returns the text of a subscription row."""
        return self._texts.get(row)

    def data_of(self, row: int) -> dict[str, Any]:
        """Returns the other keys it was handed in with, but for `deliver`."""
        return {name: value for name, value in self._entry(row).items() if name != DELIVER}

    def added_at(self, row: int) -> int:
        """Returns the version of the catalog since which the row is what it is."""
        return int(self._added[row])

    def versions_of(self, rows: NDArray[Any]) -> NDArray[Any]:
        """Returns the same of many rows."""
        return self._added[rows]  # type: ignore[no-any-return]

    def subscribed(self, id: str) -> CatalogSubscription:
        """Returns a live subscription; `KeyError` if it is unknown."""
        row = self.rows[id]
        return CatalogSubscription(
            id, self.text_of(row), self.data_of(row), self._entry(row).get(DELIVER)
        )

    def _entry(self, row: int) -> dict[str, Any]:
        """Returns the entry that it was handed in with, but for its id and condition."""
        data = self._data.get(row)
        known: dict[str, Any] = {} if data is None else json.loads(data)
        return known

    @property
    def nbytes(self) -> int:
        """The memory of arrays and texts."""
        return sum(array.nbytes for array in self.columns().values()) + self._texts.nbytes

    def columns(self) -> dict[str, GrowingArray]:
        """Returns the arrays by the names of their attributes."""
        return {name: each for name, each in vars(self).items() if isinstance(each, GrowingArray)}

    def _new_row(self, id: str) -> int:
        for row in self.epochs.reclaimed():
            self._texts.free(row)
            self._data.pop(row, None)
            self._free_rows.append(row)
        if self._free_rows:
            row = self._free_rows.pop()
            self._ids[row] = id
            return row
        self._ids.append(id)
        return len(self._ids) - 1

    def _add_alternative(self, row: int, asked: ResolvedAlternative) -> int:
        if not self._free_alternatives:
            self._make_room()
        alternative = self._free_alternatives.pop()
        self.alternative_subscription.room[alternative] = row
        self.alternative_flags.room[alternative] = (
            (ASKS if asked.edges else 0)
            | (CONDITIONAL if asked.conditions else 0)
            | (BINDS if asked.atoms else 0)
            | (DECLARES if asked.necessary else 0)
        )
        self.edge_start.room[alternative] = self.edge_test.size
        self.edge_count.room[alternative] = len(asked.edges)
        tests, signs = zip(*asked.edges, strict=True) if asked.edges else ((), ())
        for test in dict.fromkeys(tests):
            if self.tests.take(test):
                self.declared_names.update(test.necessary.names)
                if self.calls.take(test.call):
                    self.implications.add(test.call)
                    self.traits.put_call(test.call)
                self.traits.put_test(test)
        self.edge_test.extend([test.number for test in tests])
        self.edge_sign.extend(signs)
        if asked.conditions:
            self.conditions[alternative] = asked.conditions
        if asked.atoms:
            self.plans[alternative] = JoinPlan(asked.atoms, asked.constraints)
        return alternative

    def _make_room(self) -> None:
        """Makes room for more alternatives, the first of the rows to be taken first."""
        count = max(_ROOM, len(self.edge_count) // 8)
        for column in (
            self.alternative_subscription,
            self.alternative_flags,
            self.edge_start,
            self.edge_count,
            self._next,
        ):
            start = column.reserve(count)
        self._free_alternatives.extend(range(start + count - 1, start - 1, -1))

    def _remove_alternative(self, alternative: int) -> None:
        start, count = int(self.edge_start[alternative]), int(self.edge_count[alternative])
        for number in dict.fromkeys(self.edge_test[start : start + count].tolist()):
            test = self.tests.thing(number)
            if self.tests.leave(test):
                self.declared_names -= Counter(test.necessary.names)
                if self.calls.leave(test.call):
                    self.implications.drop(test.call)
        self.plans.pop(alternative, None)
        self.conditions.pop(alternative, None)
        self.edge_count[alternative] = 0
        self._dead_edges += count
        self._free_alternatives.append(alternative)

    def _compact_edges(self) -> None:
        """Closes the holes that removed alternatives left in the edge arrays."""
        starts, counts = self.edge_start.view, self.edge_count.view
        kept = stretches(starts, counts)
        self.edge_test = GrowingArray(np.int32, self.edge_test.view[kept])
        self.edge_sign = GrowingArray(np.int8, self.edge_sign.view[kept])
        self.edge_start = GrowingArray(np.int64, np.cumsum(counts) - counts)
        self._dead_edges = 0


def stretches(starts: NDArray[Any], counts: NDArray[Any]) -> Ints:
    """Returns the places `start … start + count` of every stretch, one after the other."""
    if np.count_nonzero(counts == 1) == len(counts):
        return starts.astype(np.int64)
    ends = np.cumsum(counts, dtype=np.int64)
    total = int(ends[-1]) if len(ends) else 0
    return np.repeat(starts - (ends - counts), counts) + np.arange(total)
