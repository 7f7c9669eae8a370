"""Every installed index obeys the index law, and a broken one is caught by a short history."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

from tamis.event import Event
from tamis.indexing import Entry, Index, Rows
from tamis.language.comparison import Comparison
from tamis.language.predicate import AttributePredicate
from tamis.plugins.loader import installed
from tamis.testing import check_index, index_machine


@pytest.mark.parametrize("name", sorted(installed().indexes))
def test_installed_index_obeys_the_law(name: str) -> None:
    check_index(name)


@pytest.mark.parametrize("scanned", [pytest.param(0, marks=pytest.mark.slow), 5])
@pytest.mark.parametrize("name", ["lanes", "opindex", "pstbloom", "psthash"])
def test_an_index_obeys_the_law_compiled_and_while_it_grows(name: str, scanned: int) -> None:
    record = installed().index(name)
    check_index(lambda: record.made({"scan_up_to": scanned}), examples=settings().max_examples // 2)


SAVED: dict[Path, dict[int, Sequence[AttributePredicate]]] = {}


class Plain(Index):
    """The simplest index that can be: one predicate after the other."""

    def __init__(self) -> None:
        self.rows: dict[int, Sequence[AttributePredicate]] = {}

    def build(self, entries: Iterable[Entry]) -> None:
        for row, predicates in entries:
            self.insert(row, predicates)

    def insert(self, row: int, predicates: Sequence[AttributePredicate]) -> None:
        self.rows[row] = predicates

    def delete(self, row: int) -> None:
        del self.rows[row]

    def match(self, event: Event) -> Rows:
        return np.array(
            [
                row
                for row, predicates in self.rows.items()
                if all(self.holds(each, event) for each in predicates)
            ],
            np.int64,
        )

    def holds(self, predicate: AttributePredicate, event: Event) -> bool:
        comparison, name = predicate.comparison, predicate.attribute
        read = {"array": event.array, "presence": event.present, "scalar": event.scalar}
        return comparison.compiled()(read[comparison.reads](name))

    def match_many(self, events: Sequence[Event]) -> list[Rows]:
        return [self.match(event) for event in events]

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def nbytes(self) -> int:
        return 0

    def save(self, folder: Path) -> None:
        SAVED[folder] = dict(self.rows)

    def load(self, folder: Path) -> None:
        self.rows = SAVED.pop(folder)


def test_a_plain_index_obeys_the_law() -> None:
    check_index(Plain)


class KeepsDeleted(Plain):
    """Forgets to delete rows that ask for nothing."""

    def delete(self, row: int) -> None:
        if self.rows[row]:
            super().delete(row)


class OpenBounds(Plain):
    """Leaves out the bounds of `between`."""

    def holds(self, predicate: AttributePredicate, event: Event) -> bool:
        comparison = predicate.comparison
        if comparison.op == "between":
            predicate = AttributePredicate(
                predicate.attribute, Comparison("in ()", comparison.value)
            )
        return super().holds(predicate, event)


class BlindToKinds(Plain):
    """Takes `true` for 1, as Python does."""

    def holds(self, predicate: AttributePredicate, event: Event) -> bool:
        if predicate.comparison.op == "=":
            return event.scalar(predicate.attribute) == predicate.comparison.value
        return super().holds(predicate, event)


class AllDoubles(Plain):
    """Compares large integers as doubles."""

    def holds(self, predicate: AttributePredicate, event: Event) -> bool:
        value, constant = event.scalar(predicate.attribute), predicate.comparison.value
        if predicate.comparison.op == ">" and type(value) is int and type(constant) is int:
            return _double(value) > _double(constant)
        return super().holds(predicate, event)


def _double(value: int) -> float:
    return float(value) if abs(value) < 10**300 else 1e300 * (1 if value > 0 else -1)


class NoDerived(Plain):
    """Knows nothing of time."""

    def holds(self, predicate: AttributePredicate, event: Event) -> bool:
        if predicate.attribute.startswith("time."):
            event = Event(event.content, event.id)
        return super().holds(predicate, event)


class NoPaths(Plain):
    """Knows keys alone."""

    def holds(self, predicate: AttributePredicate, event: Event) -> bool:
        if predicate.attribute == "meta.speed":
            event = Event({"meta.speed": event.content.get("meta.speed")}, event.id)
        return super().holds(predicate, event)


class AbsentIsUnequal(Plain):
    """Takes an absent attribute for another value."""

    def holds(self, predicate: AttributePredicate, event: Event) -> bool:
        absent = event.scalar(predicate.attribute) is None
        return super().holds(predicate, event) or (absent and predicate.comparison.op == "not in")


class Twice(Plain):
    """Gives a row for every predicate that holds."""

    def match(self, event: Event) -> Rows:
        rows = super().match(event)
        return np.repeat(rows, [max(1, len(self.rows[row])) for row in rows.tolist()])


class ForgetsOnSave(Plain):
    """Saves rows, and not what the last of several asks."""

    def save(self, folder: Path) -> None:
        super().save(folder)
        if len(self.rows) > 1:
            SAVED[folder][max(self.rows)] = []


class OneOfMany(Plain):
    """Gives the first answer to every event."""

    def match_many(self, events: Sequence[Event]) -> list[Rows]:
        return [self.match(events[0])] * len(events) if events else []


@pytest.mark.parametrize(
    "index",
    [
        *(KeepsDeleted, OpenBounds, BlindToKinds, AllDoubles, NoDerived, NoPaths),
        *(AbsentIsUnequal, Twice, ForgetsOnSave, OneOfMany),
    ],
)
@pytest.mark.usefixtures("unshrunk")
def test_a_broken_index_is_caught(index: Callable[[], Index]) -> None:
    with pytest.raises(AssertionError, match=r"is missing|is given|len of"):
        check_index(index, examples=1000)


@pytest.mark.long
def test_the_history_that_catches_is_shown() -> None:
    with pytest.raises(AssertionError, match=r"len of the index is \d+ with \d+ rows in") as caught:
        check_index(KeepsDeleted)
    assert "state = IndexMachine()\nstate." in "\n".join(caught.value.__notes__)


TestScanAsAMachine = index_machine("scan").TestCase
TestScanAsAMachine.settings = settings(max_examples=5)
