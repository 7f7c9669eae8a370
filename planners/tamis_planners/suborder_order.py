"""Orders the chains of subscriptions as §4.2.5 does, kept up as chains come and go.

The order is a linked list with a rank a chain. A new chain is put next to the partner with which
it saves most, a removed one is unlinked: local work (§4.2.1). How good the order is, is measured by
what the paper maximizes: the savings between neighbors, on average. When local work has let
it sink a tenth below its value after the last full ordering, all is ordered anew, in a thread.
Cost: O(partners · d³) to add a chain, O(1) to remove one, O(n log n) to order n anew.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from tamis.kit import Floats, GrowingArray, Ints
from tamis.planning import Standing
from tamis_planners.suborder_kernels import Chains, ordered, saved_before

PARTNERS = 16
AGED = 0.9
MOST_INTERPRETED = 512
"""Chains up to which the interpreter serves; what it costs: `tamis bench forms`."""
_NONE = -1
_FEW = 64
_STEP = 1.0


class ChainOrder:
    """The chains, by slots of its own, in order."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._chance = random.Random(0)
        self.rebuilds = 0
        self.rank = GrowingArray(np.float64)
        """By the key of the alternative: smaller is earlier."""
        self._rebuilding: threading.Thread | None = None
        self._is_large = False
        self._clear()

    def _clear(self) -> None:
        self._nodes: dict[tuple[int, int], int] = {}
        self._passes = GrowingArray(np.float64)
        self._costs = GrowingArray(np.float64)
        self._holders: list[list[int]] = []
        self._held: list[int] = []
        self._slots: dict[int, int] = {}
        self._keys: list[int] = []
        self._start = GrowingArray(np.int64)
        self._length = GrowingArray(np.int64)
        self._chain = GrowingArray(np.int64)
        self._following = GrowingArray(np.int64)
        self._preceding = GrowingArray(np.int64)
        self._last = _NONE
        self._neighborly = 0.0
        self._fresh = 0.0
        self._changes = 0
        self._era = getattr(self, "_era", 0) + 1

    def __len__(self) -> int:
        return len(self._slots)

    @property
    def score(self) -> float:
        """The saving between neighbors, a chain on average."""
        return self._neighborly / max(1, len(self._slots))

    def keys(self) -> list[int]:
        """Returns the keys of all chains in order."""
        with self._lock:
            return sorted(self._slots, key=lambda key: float(self.rank[key]))

    # changes

    def reset(self, standing: Standing) -> None:
        """Forgets everything and orders these chains."""
        with self._lock:
            self._clear()
            self._take_in(standing)
            self._order_anew()

    def add(self, standing: Standing) -> None:
        """Adds chains: few one by one, many by ordering anew."""
        with self._lock:
            many = len(standing.key) > _FEW + len(self._slots) // 4
            slots = self._take_in(standing)
            if many:
                self._order_anew()
                return
            for slot in slots:
                self._insert(slot)
            self._notice_age()

    def remove(self, keys: Sequence[int]) -> None:
        """Removes chains; alternatives that ask nothing have none."""
        with self._lock:
            for key in keys:
                slot = self._slots.pop(key, _NONE)
                if slot != _NONE:
                    self._unlink(slot)
                    self._let_go(slot)
            self._notice_age()

    def join(self) -> None:
        """Waits for a full ordering that is under way."""
        thread = self._rebuilding
        if thread is not None:
            thread.join()

    def _take_in(self, standing: Standing) -> list[int]:
        """Chains as nodes, the most promising first: increasing c/(1-p), then popularity."""
        slots = []
        starts = standing.start.tolist()
        nodes = [
            self._node(*each)
            for each in zip(
                standing.test.tolist(),
                standing.sign.tolist(),
                standing.selectivity.tolist(),
                standing.cost.tolist(),
                strict=True,
            )
        ]
        for node in nodes:
            self._held[node] += 1
        effort = self._costs.view / np.maximum(1e-12, 1.0 - self._passes.view)
        for at, key in enumerate(standing.key.tolist()):
            mine = list(dict.fromkeys(nodes[starts[at] : starts[at + 1]]))
            mine.sort(key=lambda node: (effort[node], -self._held[node]))
            slot = self._start.append(self._chain.extend(mine))
            self._length.append(len(mine))
            self._following.append(_NONE)
            self._preceding.append(_NONE)
            self._keys.append(key)
            self._slots[key] = slot
            for node in mine:
                self._holders[node].append(slot)
            slots.append(slot)
        most = max(standing.key.tolist(), default=-1)
        self.rank.reserve(max(0, most + 1 - len(self.rank)))
        self._is_large = self._is_large or len(self._slots) > MOST_INTERPRETED
        return slots

    def _node(self, test: int, sign: int, selectivity: float, cost: float) -> int:
        node = self._nodes.get((test, sign))
        if node is None:
            node = self._nodes[test, sign] = self._passes.append(0.0)
            self._costs.append(0.0)
            self._holders.append([])
            self._held.append(0)
        self._passes[node] = selectivity if sign > 0 else 1.0 - selectivity
        self._costs[node] = cost
        return node

    def _let_go(self, slot: int) -> None:
        """Counts a chain off its nodes; lists of holders are cleared of the gone now and then."""
        start = int(self._start[slot])
        for node in self._chain[start : start + int(self._length[slot])].tolist():
            self._held[node] -= 1
            if len(self._holders[node]) > 2 * self._held[node] + PARTNERS:
                self._holders[node] = [each for each in self._holders[node] if self._is_live(each)]

    def _is_live(self, slot: int) -> bool:
        return self._slots.get(self._keys[slot]) == slot

    # local work

    def _insert(self, slot: int) -> None:
        """Puts a chain next to the partner with which it saves most, else at the end."""
        others = self._partners(slot)
        saved = self._savings(slot, others)
        best = int(np.argmax(np.abs(saved))) if len(saved) else _NONE
        if best == _NONE or saved[best] == 0.0:
            before, after = self._last, _NONE
        elif saved[best] > 0.0:
            after = int(others[best])
            before = int(self._preceding[after])
        else:
            before = int(others[best])
            after = int(self._following[before])
        self._neighborly -= self._between(before, after)
        self._neighborly += self._between(before, slot) + self._between(slot, after)
        self._set(before, slot)
        self._set(slot, after)
        self._rank_between(before, slot, after)
        self._changes += 1

    def _unlink(self, slot: int) -> None:
        before, after = int(self._preceding[slot]), int(self._following[slot])
        self._neighborly -= self._between(before, slot) + self._between(slot, after)
        self._neighborly += self._between(before, after)
        self._set(before, after)
        if before == after == _NONE:
            self._last = _NONE
        self._changes += 1

    def _set(self, before: int, after: int) -> None:
        if before != _NONE:
            self._following[before] = after
        if after != _NONE:
            self._preceding[after] = before
        else:
            self._last = before

    def _partners(self, slot: int) -> Ints:
        """Returns the sampled chains that share a node with this one and are in the order."""
        start = int(self._start[slot])
        found: set[int] = set()
        for node in self._chain[start : start + int(self._length[slot])].tolist():
            holders = self._holders[node]
            some = (
                holders
                if len(holders) <= PARTNERS
                else (self._chance.choice(holders) for _ in range(PARTNERS))
            )
            found.update(each for each in some if each != slot and self._is_live(each))
        linked = [each for each in found if self._is_linked(each)]
        return np.array(sorted(linked), np.int64)

    def _is_linked(self, slot: int) -> bool:
        return slot == self._last or int(self._following[slot]) != _NONE

    def _savings(self, slot: int, others: Ints) -> Floats:
        chains = Chains(
            self._start.view,
            self._length.view,
            self._chain.view,
            self._passes.view,
            self._costs.view,
        )
        return saved_before(chains, slot, others, self._is_large)

    def _between(self, before: int, after: int) -> float:
        if _NONE in (before, after):
            return 0.0
        return float(self._savings(before, np.array([after], np.int64))[0])

    def _rank_between(self, before: int, slot: int, after: int) -> None:
        low = self._rank_of(before) if before != _NONE else None
        high = self._rank_of(after) if after != _NONE else None
        if low is None and high is None:
            rank = 0.0
        elif low is None:
            assert high is not None
            rank = high - _STEP
        elif high is None:
            rank = low + _STEP
        else:
            rank = (low + high) / 2
            if not low < rank < high:
                self._rank_anew()
                return
        self.rank[self._keys[slot]] = rank

    def _rank_of(self, slot: int) -> float:
        return float(self.rank[self._keys[slot]])

    def _rank_anew(self) -> None:
        """Spreads the ranks evenly, when there is no number left between two of them."""
        slot, rank = self._last, 0.0
        while slot != _NONE:
            self.rank[self._keys[slot]] = rank
            slot, rank = int(self._preceding[slot]), rank - _STEP

    # all anew

    def _notice_age(self) -> None:
        """Starts ordering anew when enough was changed and the order is measurably worse."""
        enough = self._changes > _FEW + len(self._slots) // 16
        if enough and self._rebuilding is None and self.score < AGED * self._fresh:
            live = sorted(self._slots.values())
            self._rebuilding = threading.Thread(
                target=self._order_in_background,
                args=(self._era, live, self._compacted(live)),
                name="tamis-suborder",
                daemon=True,
            )
            self._rebuilding.start()

    def _compacted(self, live: list[int]) -> Chains:
        """Returns the live chains as arrays of their own."""
        slots = np.array(live, np.int64)
        length = self._length.view[slots]
        ends = np.cumsum(length)
        start = ends - length
        total = int(ends[-1]) if len(ends) else 0
        places = np.repeat(self._start.view[slots] - start, length) + np.arange(total)
        nodes = self._chain.view[places]
        return Chains(start, length, nodes, self._passes.view.copy(), self._costs.view.copy())

    def _order_in_background(self, era: int, live: list[int], chains: Chains) -> None:
        order = ordered(chains, PARTNERS, 0, self._is_large)
        with self._lock:
            self._rebuilding = None
            if era == self._era:
                self._link_up([live[at] for at in order.tolist()])

    def _order_anew(self) -> None:
        live = sorted(self._slots.values())
        order = ordered(self._compacted(live), PARTNERS, 0, self._is_large)
        self._era += 1
        self._link_up([live[at] for at in order.tolist()])

    def _link_up(self, order: list[int]) -> None:
        """Makes this the order; chains that came meanwhile are put in by local work."""
        order = [slot for slot in order if self._is_live(slot)]
        placed = set(order)
        late = [slot for slot in self._slots.values() if slot not in placed]
        for slot in late:
            self._following[slot] = self._preceding[slot] = _NONE
        slots = np.array(order, np.int64)
        self._following.view[slots] = np.append(slots[1:], _NONE)
        self._preceding.view[slots] = np.append(_NONE, slots[:-1])[: len(slots)]
        self._last = order[-1] if order else _NONE
        self.rank.view[[self._keys[slot] for slot in order]] = np.arange(len(order)) * _STEP
        self._neighborly = sum(self._between(before, after) for before, after in pairwise(order))
        for slot in late:
            self._insert(slot)
        self._fresh = self.score
        self._changes = 0
        self.rebuilds += 1
