"""Tests what every compiled index does, on both paths, beyond what the law tries."""

from __future__ import annotations

import random
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import settings

import tamis
from tamis.errors import IndexFolderError
from tamis.event import Event
from tamis.index import AttributeIndex, Columns
from tamis.index.buckets.bits import has_vectors
from tamis.index.buckets.store import MOST_CELLS, SLOTS, TOPS
from tamis.index.lanes import LanesIndex
from tamis.index.pstbloom import PSTBloom, SignedPSTBloom
from tamis.index.psthash import PSTHash
from tamis.testing import check_index, satisfies

FORMS: list[tuple[str, dict[str, Any]]] = [
    ("lanes", {"vector": False}),
    ("lanes", {}),
    ("pstbloom", {"vector": False}),
    ("psthash", {"accesses": 2, "look_up_rows": 0}),
    ("psthash", {"accesses": 3, "look_up_rows": 0.1, "vector": False}),
    ("pstbloom", {"scan_up_to": 40}),
    ("pstbloom", {"signature": "row", "vector": False}),
    ("pstbloom", {"signature": "block"}),
    ("opindex", {}),
    ("opindex", {"segments": 1}),
]
Clauses = list[tuple[str, str, Any]]


def build(name: str, clauses: Any, **options: Any) -> AttributeIndex:
    """An index that is compiled from its first row on, unless it is said to be a scan at first."""
    if name != "scan":
        options.setdefault("scan_up_to", 0)
    return tamis.index.build(name, clauses, **options)


@pytest.fixture(params=FORMS, ids=lambda form: "-".join(map(str, (form[0], *form[1].values()))))
def form(request: pytest.FixtureRequest) -> tuple[str, dict[str, Any]]:
    chosen: tuple[str, dict[str, Any]] = request.param
    return chosen


@pytest.mark.parametrize(
    "index",
    [
        lambda: LanesIndex(vector=False),
        pytest.param(lambda: PSTBloom(vector=False), marks=pytest.mark.slow),
        lambda: SignedPSTBloom(signature="row"),
        pytest.param(
            lambda: SignedPSTBloom(signature="block", vector=False), marks=pytest.mark.slow
        ),
        pytest.param(lambda: PSTHash(accesses=2, look_up_rows=0), marks=pytest.mark.slow),
        lambda: PSTHash(accesses=3, look_up_rows=0.05, vector=False),
    ],
)
def test_the_law_holds_on_both_paths_and_for_several_accesses(index: Any) -> None:
    check_index(index, examples=settings().max_examples // 3)


def drawn_clauses(chance: random.Random, attributes: int, values: int) -> Clauses:
    """A row of the kinds of predicates that have a path of their own."""
    row: Clauses = []
    for number in chance.sample(range(attributes), chance.randint(1, min(6, attributes))):
        name, low = f"a{number}", chance.randrange(values)
        row.append(
            chance.choice(
                [
                    (name, "=", low),
                    (name, "between", (low, low + chance.randrange(values))),
                    (name, ">=", low),
                    (name, "<", low),
                    (name, "!=", low),
                    (name, "in", [low, low + 2, low + 5]),
                    (name, "not in", [low, low + 1]),
                    (name, "starts with", str(low)),
                    (name, "ends with", str(low)[-1]),
                    (name, "contains", str(low)[:1]),
                    (name, "has any", [low, low + 1]),
                    (name, "has none", [low, low + 1]),
                ]
            )
        )
    return row


def drawn_event(chance: random.Random, attributes: int, values: int) -> dict[str, Any]:
    event: dict[str, Any] = {}
    for number in chance.sample(range(attributes), chance.randint(0, min(20, attributes))):
        value = chance.randrange(values)
        event[f"a{number}"] = chance.choice(
            [value, value, str(value), [value, value + 3], value + 0.5]
        )
    return event


@pytest.mark.parametrize(("attributes", "values"), [(8, 20), (8, 5_000), (300, 10)])
def test_long_histories_are_those_of_direct_evaluation(
    form: tuple[str, dict[str, Any]], attributes: int, values: int
) -> None:
    """Few attributes and values, more values than codes, more attributes than slots."""
    assert values > MOST_CELLS or values <= 20
    assert attributes > SLOTS or attributes == 8
    chance = random.Random(attributes * values)
    index = build(form[0], [], **form[1])
    rows: dict[int, Clauses] = {}
    for number in range(60):
        fresh = {1_000 * number + at: drawn_clauses(chance, attributes, values) for at in range(40)}
        rows |= fresh
        if number % 3:
            index.insert_many(fresh.items())
        else:
            for id, clauses in fresh.items():
                index.insert(id, clauses)
        gone = chance.sample(sorted(rows), min(len(rows) - 1, chance.choice((0, 5, 45))))
        index.delete_many(gone)
        for id in gone:
            del rows[id]
        events = [drawn_event(chance, attributes, values) for _ in range(3)]
        for event, found in zip(events, index.match_many(events), strict=True):
            right = sorted(id for id, clauses in rows.items() if satisfies(event, clauses))
            assert sorted(found.tolist()) == right
    assert len(index) == len(rows)


def test_rows_with_more_predicates_than_lanes(form: tuple[str, dict[str, Any]]) -> None:
    long: Clauses = [(f"a{number}", ">=", number) for number in range(150)]
    index = build(form[0], [("long", long), ("short", [("a0", "=", 0)])], **form[1])
    event = {f"a{number}": number for number in range(150)}
    assert sorted(index.match(event)) == ["long", "short"]
    for number in (1, 70, 149):
        assert sorted(index.match({**event, f"a{number}": number - 1})) == ["short"]
    index.delete("long")
    assert list(index.match(event)) == ["short"]


def test_columns_are_the_same_as_their_clauses(form: tuple[str, dict[str, Any]]) -> None:
    chance = np.random.default_rng(5)
    count = 400
    start = np.concatenate([[0], np.cumsum(chance.integers(0, 5, count))])
    low = chance.integers(-3, 9, start[-1]).astype(np.float64)
    high = low + chance.integers(-1, 6, start[-1])
    low[chance.random(len(low)) < 0.1] = -np.inf
    high[chance.random(len(low)) < 0.1] = np.inf
    high[chance.random(len(low)) < 0.05] = 2.0**60
    columns = Columns(
        np.arange(count) * 7,
        ["x", "y", "z", "w"],
        start,
        chance.integers(0, 4, start[-1]),
        low,
        high,
    )
    inside, peer = build(form[0], columns, **form[1]), build("scan", columns.clauses())
    for _ in range(60):
        event = {name: float(chance.integers(-5, 15)) for name in "xyzw" if chance.random() < 0.8}
        assert sorted(inside.match(event)) == sorted(peer.match(event))
    for value in (2**60, 2**60 + 1, 10**400, float("inf"), -(10**400)):
        assert sorted(inside.match({"x": value})) == sorted(peer.match({"x": value}))


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"start": [0, 1]}, "start has 3 places"),
        ({"low": [1.0]}, "of one length"),
        ({"start": [0, 2, 1]}, "ascends"),
        ({"attribute": [0, 5]}, "places in attributes"),
        ({"attributes": ["x", "x"]}, "each once"),
        ({"high": [float("nan"), 2.0]}, "NaN"),
    ],
)
def test_columns_that_cannot_be(wrong: dict[str, Any], said: str) -> None:
    right: dict[str, Any] = {
        "ids": [1, 2],
        "attributes": ["x", "y"],
        "start": [0, 1, 2],
        "attribute": [0, 1],
        "low": [0.0, 1.0],
        "high": [1.0, 2.0],
    }
    assert len(Columns(**right)) == 2
    with pytest.raises(ValueError, match=said):
        Columns(**{**right, **wrong})


def test_strings_in_any_order_of_insertion(form: tuple[str, dict[str, Any]]) -> None:
    """Neighbors are put between each other until their labels have to move."""
    index = build(form[0], [("last", [("s", "=", "b")]), ("first", [("s", ">=", "a")])], **form[1])
    names = [f"a{number:05}" for number in range(1_500)]
    for name in names:
        index.insert(name, [("s", "=", name)])
    for name in random.Random(1).sample(names, 60):
        assert sorted(index.match({"s": name})) == [name, "first"]
    assert sorted(index.match({"s": "b"})) == ["first", "last"]
    assert sorted(index.match({"s": "a00000x"})) == ["first"]


def test_statistics_choose_and_change_no_answer(form: tuple[str, dict[str, Any]]) -> None:
    chance = random.Random(9)
    history = [drawn_event(chance, 8, 20) for _ in range(300)]
    rows = {number: drawn_clauses(chance, 8, 20) for number in range(300)}
    index = build(
        form[0], rows.items(), statistics=tamis.Statistics.from_events(history), **form[1]
    )
    index.inform(tamis.Statistics())
    index.inform(tamis.Statistics.from_events(history[:3]))
    for event in history[:40]:
        right = sorted(id for id, clauses in rows.items() if satisfies(event, clauses))
        assert sorted(index.match(event).tolist()) == right


def test_rows_of_many_attributes_meet_in_few_pairs() -> None:
    """Rows that could lie in any of 435 pairs lie in so few that an event looks into fewer."""
    chance = random.Random(4)
    rows = {
        number: [(f"a{at}", "<", 1 + chance.randrange(9)) for at in chance.sample(range(30), 5)]
        for number in range(20_000)
    }
    index = build("lanes", rows.items())
    inside: Any = index._index
    roots, nodes = 30, int(inside._store.tops[0]["nodes"])
    assert nodes - 1 - roots < 435 / 2
    event = {f"a{at}": chance.randrange(9) for at in chance.sample(range(30), 15)}
    right = sorted(id for id, clauses in rows.items() if satisfies(event, clauses))
    assert right
    assert sorted(index.match(event).tolist()) == right


def test_replacing_rows_in_batches_takes_little_memory() -> None:
    """Full segments move, and are packed where room ends."""
    chance = random.Random(5)
    rows = {number: drawn_clauses(chance, 20, 40) for number in range(8_000)}
    index = build("lanes", rows.items())
    fresh = index.nbytes
    for batch in range(8):
        gone = np.array(list(rows)[: 500 + batch])
        index.delete_many(gone)
        for id in gone.tolist():
            del rows[id]
        new = {100_000 * (batch + 1) + at: drawn_clauses(chance, 20, 40) for at in range(len(gone))}
        index.insert_many(new.items())
        rows |= new
    assert index.nbytes < 2 * fresh
    for _ in range(20):
        event = drawn_event(chance, 20, 40)
        right = sorted(id for id, clauses in rows.items() if satisfies(event, clauses))
        assert sorted(index.match(event).tolist()) == right


@pytest.mark.parametrize("name", ["lanes", "opindex", "pstbloom", "psthash", "scan"])
def test_saved_is_what_is_opened(name: str, tmp_path: Path) -> None:
    chance = random.Random(7)
    rows = {f"id-{number}": drawn_clauses(chance, 8, 20) for number in range(300)}
    index = build(name, rows.items())
    index.delete_many(["id-5", "id-77"])
    del rows["id-5"], rows["id-77"]
    index.save(tmp_path / "kept")
    one, other = tamis.index.open(tmp_path / "kept"), tamis.index.open(tmp_path / "kept")
    one.insert("new", [("a1", "exists", None)])
    events = [drawn_event(chance, 8, 20) for _ in range(40)]
    for event in events:
        right = {id for id, clauses in rows.items() if satisfies(event, clauses)}
        assert set(other.match(event)) == right
        assert set(one.match(event)) == right | ({"new"} if "a1" in event else set())
    assert len(tamis.index.open(tmp_path / "kept")) == len(rows)


def test_options_are_kept_with_an_index(tmp_path: Path) -> None:
    build("psthash", [("a", [("x", "=", 1)])], accesses=3, vector=False).save(tmp_path)
    assert tamis.index.open(tmp_path).options == {
        "accesses": 3,
        "vector": False,
        "scan_up_to": 0,
    }


@pytest.mark.parametrize("name", ["lanes", "pstbloom", "scan"])
def test_a_damaged_folder_is_refused(name: str, tmp_path: Path) -> None:
    chance = random.Random(2)
    index = build(name, ((number, drawn_clauses(chance, 8, 20)) for number in range(100)))
    index.save(tmp_path)
    for path in sorted(tmp_path.iterdir()):
        content = path.read_bytes()
        harmed: list[bytes | None] = [None, content + b"x"]
        if content:
            middle = len(content) // 2
            flipped = content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]
            harmed += [content[:middle], b"", flipped]
        for harm in harmed if path.name != "manifest.json" else harmed[:4]:
            path.unlink() if harm is None else path.write_bytes(harm)
            with pytest.raises(IndexFolderError):
                tamis.index.open(tmp_path)
            path.write_bytes(content)
    assert len(tamis.index.open(tmp_path)) == 100


@pytest.mark.parametrize("name", ["lanes", "pstbloom"])
def test_an_opened_index_is_saved_over_its_own_folder(name: str, tmp_path: Path) -> None:
    rows = [(number, [("a", "=", number % 50), ("b", "<", number)]) for number in range(2_000)]
    build(name, rows).save(tmp_path)
    index, other = tamis.index.open(tmp_path), tamis.index.open(tmp_path)
    index.insert(-1, [("a", "=", 3)])
    index.delete_many(list(range(1_000)))
    index.save(tmp_path)
    event = {"a": 3, "b": 5}
    assert len(index.match(event)) == len(tamis.index.open(tmp_path).match(event)) == 21
    build(name, rows[:5]).save(tmp_path)
    assert len(other.match(event)) == 39
    assert len(tamis.index.open(tmp_path)) == 5


def test_what_fails_leaves_the_index_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    index = build("pstbloom", [("x", [("s", "contains", "ort")]), ("y", [("a", "=", 1)])])
    event = {"s": "north", "a": 1}

    def fail(*_: object) -> None:
        raise MemoryError

    with monkeypatch.context() as patched:
        patched.setattr("tamis.index.buckets.bulk.in_order", fail)
        with pytest.raises(MemoryError):
            index.inform(tamis.Statistics.from_events([event]))
        with pytest.raises(MemoryError):
            index.insert_many((number, [("a", "=", number)]) for number in range(9))
        assert sorted(index.match(event)) == ["x", "y"]
        assert len(index) == 2
    index.insert_many((number, [("a", "=", number)]) for number in range(9))
    index.inform(tamis.Statistics.from_events([event]))
    assert set(index.match(event)) == {"x", "y", 1}


def test_boxes_at_infinity(form: tuple[str, dict[str, Any]]) -> None:
    infinity = float("inf")
    bounds = [(infinity, infinity), (-infinity, -infinity), (-infinity, infinity), (3.0, 4.0)]
    bounds += [(float(number), float(number + 5)) for number in range(40)]
    low, high = zip(*bounds, strict=True)
    count = len(bounds)
    boxes = Columns(np.arange(count), ["a"], np.arange(count + 1), [0] * count, low, high)
    index, peer = build(form[0], boxes, **form[1]), build("scan", boxes.clauses())
    for value in (infinity, -infinity, 10**400, -(10**400), 3, -5, 1e308):
        assert sorted(index.match({"a": value})) == sorted(peer.match({"a": value}))


def test_only_strings_and_integers_are_ids() -> None:
    index = build("lanes", [(1, [])])
    assert 1 in index
    assert np.int32(1) in index
    for other in (True, 1.0, "1", [1]):
        assert other not in index
        with pytest.raises(KeyError):
            index.delete(other)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["lanes", "opindex", "pstbloom", "psthash"])
def test_matching_while_another_inserts(name: str) -> None:
    """What is always there is always found, what is never there never."""
    steady = {number: [("x", "between", (number, number + 50))] for number in range(300)}
    index: AttributeIndex = build(name, steady.items())
    stopped, wrong = threading.Event(), []

    def match() -> None:
        chance = random.Random(threading.get_ident())
        while not stopped.is_set():
            value = chance.randrange(350)
            found = {id for id in index.match({"x": value, "y": 1}).tolist() if id < 1_000}
            if found != {number for number in steady if number <= value <= number + 50}:
                wrong.append(value)

    readers = [threading.Thread(target=match) for _ in range(2)]
    for reader in readers:
        reader.start()
    for number in range(40):
        ids = range(1_000 + 100 * number, 1_100 + 100 * number)
        index.insert_many((id, [("x", ">", id % 300), (f"z{id % 150}", "=", id)]) for id in ids)
        index.delete_many(list(ids)[:90])
    stopped.set()
    for reader in readers:
        reader.join()
    assert not wrong
    assert len(index) == 300 + 40 * 10


def test_unknown_options_are_named() -> None:
    with pytest.raises(
        ValueError, match="no option 'colour': it takes accesses, look_up_rows, vector, scan_up_to"
    ):
        build("psthash", [], colour="red")
    with pytest.raises(ValueError, match="accesses is from 1"):
        build("psthash", [], accesses=0)


def test_the_path_is_chosen_by_the_processor() -> None:
    assert LanesIndex()._vector is has_vectors()
    assert LanesIndex(vector=False)._vector is False


def test_what_nobody_asks_for_is_forgotten() -> None:
    index = build("lanes", [("stays", [("s", "=", "x")])])
    for number in range(30):
        ids = [f"{number}-{at}" for at in range(400)]
        index.insert_many((id, [(f"b{id}", "=", id), ("s", "starts with", id)]) for id in ids)
        index.delete_many(ids)
    dimensions: Any = index._index._dimensions  # type: ignore[attr-defined]
    assert len(dimensions) < 30 * 400 / 2
    assert list(index.match({"s": "x"})) == ["stays"]


@pytest.mark.parametrize("name", ["lanes", "opindex", "pstbloom", "psthash"])
def test_memory_stays_in_proportion_after_shrinking_and_growing(name: str) -> None:
    chance = random.Random(0)
    index = build(name, [])

    def insert(id: int) -> None:
        row = [("a", "<", chance.randrange(100)), ("b", ">", chance.randrange(100))]
        index.insert(id, row if id % 2 else row[1:])

    for id in range(2_200):
        insert(id)
    for id in range(2_050):
        index.delete(id)
    for id in range(2_200, 4_200):
        insert(id)
        assert index.nbytes < 20_000_000


@pytest.mark.parametrize("vector", [False, None])
def test_signatures_rule_out_chunks_whose_rows_need_what_the_event_lacks(
    vector: bool | None,
) -> None:
    """Every row hangs in the same node, and needs one of a hundred other attributes."""
    rows = [
        (row, [("a", "between", (0, 1)), (f"b{row % 100}", "between", (row % 7, 50))])
        for row in range(10_000)
    ]
    event, right = {"a": 1, "b3": 20}, [row for row, _ in rows if row % 100 == 3]
    checked = {}
    for signature in ("none", "row", "block"):
        index = build("pstbloom", rows, signature=signature, vector=vector)
        index.inform(tamis.Statistics.from_events([{"a": 1}, {f"b{at}": 9 for at in range(100)}]))
        for gone in (0, 1_000, 2_500):
            index.delete_many([row for row, _ in rows[:gone] if row in index])
            assert sorted(index.match(event).tolist()) == [row for row in right if row >= gone]
        index.insert_many(rows[:2_500])
        found = index._index.search(Event.of(event, str, {}))
        assert sorted(index.match(event).tolist()) == right
        checked[signature] = found.checked
    assert checked["block"] < checked["none"] / 2, checked
    assert checked["row"] < checked["none"], checked


def test_a_folder_from_before_signatures_is_one_without(tmp_path: Path) -> None:
    index = build("pstbloom", [(row, [("a", "=", row % 9)]) for row in range(500)])
    index.save(tmp_path)
    tops = np.load(tmp_path / "tops.npy")
    np.save(tmp_path / "tops.npy", tops[: (TOPS.names or ()).index("signed")])
    again = PSTBloom()
    again.load(tmp_path)
    found = again.match(Event.of({"a": 3}, str, {}))
    assert sorted(found.tolist()) == list(range(3, 500, 9))


def test_signatures_are_saved(tmp_path: Path) -> None:
    rows = [(row, [("a", "<", 50), (f"b{row % 40}", ">", row % 7)]) for row in range(5_000)]
    for signature in ("row", "block"):
        build("pstbloom", rows, signature=signature).save(tmp_path / signature)
        again = tamis.index.open(tmp_path / signature)
        again.delete_many(range(0, 5_000, 3))
        for event in ({"a": 1, "b3": 5}, {"a": 1}, {"b3": 5, "b4": 9, "a": 7}):
            right = [row for row, asked in rows if row % 3 and satisfies(event, asked)]
            assert sorted(again.match(event).tolist()) == right


@pytest.mark.parametrize("name", ["lanes", "pstbloom"])
@pytest.mark.parametrize("known", [3, 100, 240, 400])
def test_attributes_that_come_one_at_a_time(name: str, known: int, tmp_path: Path) -> None:
    """Numbers and bags, past the slots and past what has a place for each pair."""
    rows: dict[int, Clauses] = {row: [(f"a{row}", "<", 5), ("z", ">", 1)] for row in range(known)}
    index = build(name, rows.items())
    for row in range(known, known + 60):
        op = "has" if row % 3 == 0 else "<"
        rows[row] = [(f"a{row}", op, 5), (f"a{row - 3}", "<", 7)]
        index.insert(row, rows[row])
    index.save(tmp_path)
    for each in (index, tamis.index.open(tmp_path)):
        each.insert("last", [("b", "has", 1), ("z", ">", 1)])
        for row in range(known + 60):
            event = {f"a{row}": [5] if row % 3 == 0 else 4, f"a{row - 3}": 4, "z": 2, "b": [1]}
            right = [id for id, asked in rows.items() if satisfies(event, asked)]
            assert sorted(each.match(event).tolist(), key=str) == sorted([*right, "last"], key=str)
