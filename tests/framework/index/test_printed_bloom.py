"""PSTBloom as printed: the law, the example of its paper, many rows on all trees, what it keeps."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import tamis
from tamis import Event, IndexFolderError, Statistics
from tamis.index.clauses import Clause, predicate_of
from tamis.index.columns import Columns
from tamis.index.printed_bloom import PrintedBloom
from tamis.index.printed_bloom_store import BITS, DEAD, LAID_OUT_ROWS, STALE, TOP_LISTS
from tamis.testing import check_index

NAMES = ["a", "b", "c", "d"]


class Boxes:
    """Rows of closed ranges, and what a scan of all of them says."""

    def __init__(
        self, rows: int, widest: float, seed: int = 1, *, whole: bool = False, points: float = 0.1
    ) -> None:
        chance = np.random.default_rng(seed)
        self.low = chance.random((rows, 4)) * 100
        self.high = self.low + chance.random((rows, 4)) * widest
        if whole:
            self.low, self.high = np.floor(self.low), np.floor(self.high)
        point = chance.random((rows, 4)) < points
        self.high[point] = self.low[point]
        self.used = chance.random((rows, 4)) < 0.7
        self.there = np.zeros(rows, np.bool_)
        self.whole, self.chance = whole, chance

    def columns(self, rows: NDArray[np.int64]) -> Columns:
        used = self.used[rows]
        start = np.concatenate([[0], np.cumsum(used.sum(axis=1))])
        low, high = self.low[rows][used], self.high[rows][used]
        return Columns(rows, NAMES, start, np.nonzero(used)[1], low, high)

    def put(self, index: PrintedBloom, rows: NDArray[np.int64], batch: int) -> None:
        for first in range(0, len(rows), batch):
            some = rows[first : first + batch]
            index.build_columns(some, self.columns(some))
            self.there[some] = True

    def take(self, index: PrintedBloom, rows: NDArray[np.int64]) -> None:
        index.delete_many(rows)
        self.there[rows] = False

    def check(self, index: PrintedBloom, events: int = 40) -> None:
        assert len(index) == self.there.sum()
        for _ in range(events):
            event = self.chance.random(4) * 110 - 5
            if self.chance.random() < 0.5:
                # at bounds answers turn
                place = self.chance.integers(len(self.low))
                event = np.where(self.chance.random(4) < 0.5, self.low[place], self.high[place])
            event = np.floor(event) if self.whole else event
            has = self.chance.random(4) < 0.8
            holds = (self.low <= event) & (event <= self.high) & has
            right = np.flatnonzero((holds | ~self.used).all(axis=1) & self.there)
            content = {NAMES[at]: float(event[at]) for at in np.flatnonzero(has).tolist()}
            assert np.sort(index.match(Event(content, ""))).tolist() == right.tolist()


def index_of(*rows: list[Clause]) -> PrintedBloom:
    index = PrintedBloom()
    index.build((at, [predicate_of(each) for each in row]) for at, row in enumerate(rows))
    return index


def accesses(index: PrintedBloom) -> dict[int, str]:
    """The attribute that gives access to each row."""
    found = {}
    for row in np.flatnonzero(index._places >= 0).tolist():
        record = int(index._places[row])
        term = record + 1 + 3 * int(index._records[record] & 0xFFFFFFFF)
        found[row] = index._dimensions.keys[int(index._records[term]) >> 6][0]
    return found


def test_it_obeys_the_law() -> None:
    check_index(PrintedBloom)


def test_the_option_of_pstbloom_is_this_one() -> None:
    index = tamis.index.build("pstbloom", [("x", [("a", "=", 1)])], signature="bloom", scan_up_to=0)
    assert isinstance(index._index, PrintedBloom)
    assert index.match({"a": 1}).tolist() == ["x"]


def test_the_example_of_section_5_1() -> None:
    """Figure 3: S1 hangs on [1, 5] of the second attribute, S2 and S3 on [-5, -1] of the first."""
    index = index_of(
        [("attr1", "<", -5), ("attr2", "between", (1, 5))],
        [("attr1", "between", (-5, -1)), ("attr2", "<", 1)],
        [("attr1", "between", (-5, -1)), ("attr2", ">", 5)],
    )
    assert accesses(index) == {0: "attr2", 1: "attr1", 2: "attr1"}
    answers = {(-6, 3): [0], (-5, 0): [1], (-1, 6): [2], (-5, 1): [], (0, 3): []}
    for (first, second), rows in answers.items():
        assert index.match(Event({"attr1": first, "attr2": second}, "")).tolist() == rows


def test_without_statistics_operators_rank() -> None:
    index = index_of(
        [("x", "!=", 3), ("y", ">", 4)],
        [("x", "between", (1, 9)), ("y", ">", 4)],
        [("x", "between", (1, 9)), ("y", "in", [1, 2, 3])],
        [("x", "=", 3), ("y", "in", [1, 2, 3])],
        [("x", "between", (1, 5)), ("y", "between", (1, 10)), ("y", "<=", 10)],
        [("flag", "=", True), ("y", "in", [1, 2, 3])],
        [("flag", "exists", None), ("y", ">", 7)],
    )
    assert list(accesses(index).values()) == ["y", "x", "y", "x", "x", "y", "y"]


def test_with_statistics_events_decide() -> None:
    rows: list[list[Clause]] = [
        [("usual", "=", 7), ("seldom", "exists", None)],
        [("usual", "=", 7), ("spread", "between", (10, 20))],
        [("usual", "=", 3), ("spread", "between", (10, 20))],
        [("name", "=", "north"), ("spread", "between", (0, 90))],
        [("name", "=", "south"), ("spread", "between", (0, 10))],
    ]
    events = [{"usual": 7, "spread": at, "name": "south"} for at in range(100)]
    events.append({"seldom": 1})
    statistics = Statistics.from_events(events)
    before = PrintedBloom()
    before.inform(statistics)
    before.build((at, [predicate_of(each) for each in row]) for at, row in enumerate(rows))
    after = index_of(*rows)
    after.inform(statistics)
    for index in (before, after):
        assert list(accesses(index).values()) == ["seldom", "spread", "usual", "name", "spread"]
        event = Event({"usual": 7, "spread": 10.0, "name": "south"}, "")
        assert sorted(index.match(event).tolist()) == [1, 4]
    one = predicate_of(("spread", "=", 1)), predicate_of(("usual", "=", 7))
    after.insert(9, one)
    assert accesses(after)[9] == "spread"


@pytest.mark.parametrize("batch", [1, 700, 6_000])
@pytest.mark.parametrize(
    ("widest", "whole"),
    [(100.0, False), (0.5, False), (60.0, True)],
    ids=["wide", "narrow", "whole"],
)
def test_many_rows(batch: int, widest: float, whole: bool) -> None:
    """Rows on fine, middle and coarse trees come and go, singly and in bulk."""
    rows = 2_500 if batch == 1 else 6_000
    boxes, index = Boxes(rows, widest, whole=whole), PrintedBloom()
    order = boxes.chance.permutation(rows)
    boxes.put(index, order, batch)
    boxes.check(index)
    gone = boxes.chance.permutation(order)[: rows // 3]
    boxes.take(index, gone)
    boxes.check(index)
    boxes.put(index, gone[: rows // 6], batch)
    boxes.check(index)
    boxes.take(index, np.flatnonzero(boxes.there))
    boxes.check(index, 3)


def test_memory_is_linear_when_all_bounds_are_distinct() -> None:
    each = []
    for rows in (4_000, 16_000):
        boxes, index = Boxes(rows, 30.0, points=0.0), PrintedBloom()
        boxes.put(index, np.arange(rows), rows)
        each.append(index.nbytes / rows)
    assert each[1] < 1.1 * each[0]
    assert each[1] < 300


def test_wide_rows_put_in_singly_stay_in_proportion() -> None:
    boxes, index = Boxes(6_000, 30.0, points=0.0), PrintedBloom()
    boxes.put(index, np.arange(3_000), 3_000)
    boxes.put(index, np.arange(3_000, 6_000), 1)
    assert index.nbytes / 6_000 < 600


def test_half_of_the_bits_are_of_rows_that_are_there() -> None:
    boxes, index = Boxes(8_000, 50.0), PrintedBloom()
    boxes.put(index, np.arange(8_000), 8_000)
    for first in range(0, 6_000, 100):
        boxes.take(index, np.arange(first, first + 100))
        assert 2 * index._tops[STALE] <= index._tops[BITS] + 1_024
    assert index._tops[LAID_OUT_ROWS] < 8_000
    boxes.check(index)


def test_rows_that_nothing_or_everything_satisfies() -> None:
    index = index_of([], [("a", "in ()", (3, 3))], [("a", "=", 3)])
    assert len(index) == 3
    assert sorted(index.match(Event({"a": 3}, "")).tolist()) == [0, 2]
    for row in (0, 1):
        index.delete(row)
        index.insert(row + 10, [])
    assert sorted(index.match(Event({}, "")).tolist()) == [10, 11]
    assert len(index) == 3


def test_a_row_that_several_elements_lead_to_is_given_once() -> None:
    index = index_of([("tags", "has any", ["a", "b", "c"]), ("x", "<", 5)])
    event = Event({"tags": ["c", "b", "z", "a"], "x": 1}, "")
    assert index.match(event).tolist() == [0]


def test_what_is_saved_is_mapped_and_goes_on(tmp_path: Path) -> None:
    boxes, index = Boxes(3_000, 20.0), PrintedBloom()
    boxes.put(index, np.arange(2_000), 2_000)
    index.save(tmp_path)
    opened = PrintedBloom()
    opened.load(tmp_path)
    boxes.check(opened)
    boxes.put(opened, np.arange(2_000, 3_000), 50)
    boxes.take(opened, np.arange(0, 1_500))
    boxes.check(opened)
    again = PrintedBloom()
    again.load(tmp_path)
    assert len(again) == 2_000


@pytest.mark.parametrize("name", ["lists", "records", "fine_tree_keys"])
def test_a_damaged_folder_is_refused(tmp_path: Path, name: str) -> None:
    clauses: list[tuple[int, list[Clause]]] = [(at, [("a", "<", at)]) for at in range(9)]
    tamis.index.build("pstbloom", clauses, signature="bloom", scan_up_to=0).save(tmp_path)
    assert len(tamis.index.open(tmp_path)) == 9
    path = tmp_path / f"{name}.npy"
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    with pytest.raises(IndexFolderError, match="damaged"):
        tamis.index.open(tmp_path)


def test_threads_match_at_once() -> None:
    boxes, index = Boxes(2_000, 40.0), PrintedBloom()
    boxes.put(index, np.arange(2_000), 2_000)
    events = [Event(dict.fromkeys(NAMES, float(at)), "") for at in range(40)]
    right = [sorted(rows.tolist()) for rows in index.match_many(events)]
    wrong: list[Any] = []

    def match(one_by_one: Callable[[int], Any]) -> None:
        for at in range(40):
            found = sorted(one_by_one(at).tolist())
            if found != right[at]:
                wrong.append((at, found))

    threads = [threading.Thread(target=match, args=(index.reader(events),)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_it_says_how_many_rows_it_looked_at() -> None:
    index = index_of([("a", "=", 1)], [("a", "=", 1), ("b", "=", 2)], [("a", "=", 3)])
    index.match(Event({"a": 1}, ""))
    assert index.tested[0] == 2
    assert index._tops[DEAD] == 0
    assert index._tops[TOP_LISTS] == 3
