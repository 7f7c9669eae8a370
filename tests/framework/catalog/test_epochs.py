"""Rows are used again when no result that could read them is alive, and not before."""

from __future__ import annotations

import gc
import random

from tamis.catalog.epochs import Epochs, Lease


def test_without_leases_a_row_is_free_at_once() -> None:
    epochs = Epochs()
    epochs.retire(3)
    epochs.retire(5)
    assert epochs.reclaimed() == [3, 5]
    assert epochs.reclaimed() == []


def test_a_lease_keeps_what_is_retired_after_it_was_taken() -> None:
    epochs = Epochs()
    epochs.retire(1)
    lease: Lease | None = epochs.lease()
    epochs.retire(2)
    assert epochs.reclaimed() == [1]
    assert epochs.reclaimed() == []
    del lease
    gc.collect()
    assert epochs.reclaimed() == [2]


def test_a_later_lease_keeps_nothing_that_was_retired_before() -> None:
    epochs = Epochs()
    early: Lease | None = epochs.lease()
    epochs.retire(1)
    late = epochs.lease()
    early = None
    assert early is None
    assert epochs.reclaimed() == [1]
    epochs.retire(2)
    assert epochs.reclaimed() == []
    del late


def test_any_order_of_leases_and_rows() -> None:
    chance = random.Random(0)
    epochs = Epochs()
    live: list[tuple[Lease, set[int]]] = []
    retired: set[int] = set()
    used: set[int] = set(range(50))
    for step in range(3_000):
        match chance.randrange(4):
            case 0:
                live.append((epochs.lease(), set(used)))
            case 1 if live:
                live.pop(chance.randrange(len(live)))
            case 2 if used:
                row = chance.choice(sorted(used))
                used.discard(row)
                retired.add(row)
                epochs.retire(row)
            case 3:
                for row in epochs.reclaimed():
                    assert row in retired
                    assert not any(row in readable for _, readable in live), step
                    retired.discard(row)
                    used.add(row)
    live.clear()
    assert set(epochs.reclaimed()) == retired
