"""An index alone, under the ids of its user: every op, every error, saving and opening."""

from __future__ import annotations

import json
import math
import random
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tamis
from tamis import EventError, IndexFolderError
from tamis.index.clauses import Clause
from tamis.testing import clauses, events, satisfies

Asking = dict[str | int, list[Clause]]


def build(asking: Mapping[Any, list[Clause]]) -> Any:
    return tamis.index.build("scan", list(asking.items()))


@pytest.mark.parametrize(
    ("op", "value", "yes", "no"),
    [
        ("=", 3, [3, 3.0], [True, "3", None]),
        ("!=", 3, [4], [3, "4", None]),
        ("<", 3, [2], [3, "2"]),
        ("<=", 3, [3], [4]),
        (">", "a", ["b"], ["a", 3]),
        (">=", 2**53 + 1, [2**53 + 1, math.inf], [2**53, float(2**53)]),
        ("in", [1, "a", True], [1, "a", True], [2, "b", False]),
        ("not in", [1, "a"], [2, "b"], [1, True, None]),
        ("between", (1, 3), [1, 3], [0.9, 3.1]),
        ("between", ["a", "c"], ["b"], ["d", 1]),
        ("starts with", "ab", ["abc"], ["ba"]),
        ("ends with", "ab", ["cab"], ["abc"]),
        ("contains", "ab", ["xaby"], ["axb"]),
        ("matches", "^a+$", ["aa"], ["ab"]),
        ("has", 1, [[1, 2]], [[2], 1]),
        ("has any", {1, 2}, [[2, 3]], [[3]]),
        ("has all", (1, 2), [[1, 2, 3]], [[1]]),
        ("has none", [1], [[2], []], [[1], 2]),
        ("exists", None, [1, [], {}], [None, math.nan]),
        ("not exists", None, [None, math.nan], [0, ""]),
    ],
)
def test_every_op(op: str, value: Any, yes: list[Any], no: list[Any]) -> None:
    index = build({"asks": [("a", op, value)]})
    assert [each for each in yes if len(index.match({"a": each})) != 1] == []
    assert [each for each in no if len(index.match({"a": each})) != 0] == []
    assert len(index.match({})) == (op == "not exists")


def test_ids_are_strings_or_integers() -> None:
    index = build({1: [("a", "=", 1)], 10**30: [("a", "=", 1)], "x": [("a", "=", 1)], -5: []})
    assert set(index.match({"a": 1}).tolist()) == {1, 10**30, "x", -5}
    assert isinstance(index.match({"a": 1}), np.ndarray)
    assert build({1: [], 2: []}).match({}).dtype == np.int64
    for id in (True, 1.5, None, ("a",)):
        with pytest.raises(ValueError, match="an id is a string or an integer"):
            index.insert(id, [])
    assert len(index) == 4


def test_inserting_and_deleting() -> None:
    index = build({})
    index.insert("a", [("x", ">", 3), ("x", "<", 9)])
    index.insert("b", [])
    assert sorted(index.match({"x": 5})) == ["a", "b"]
    with pytest.raises(ValueError, match="the id 'a' is taken"):
        index.insert("a", [])
    index.delete("a")
    with pytest.raises(KeyError):
        index.delete("a")
    assert (list(index.match({"x": 5})), len(index), "a" in index) == (["b"], 1, False)


def test_building_is_all_or_nothing() -> None:
    with pytest.raises(ValueError, match="taken"):
        tamis.index.build("scan", [("a", []), ("a", [])])
    index = build({"a": []})
    with pytest.raises(ValueError, match="unknown op"):
        index.insert("b", [("x", "=", 1), ("x", "~", 1)])
    assert len(index) == 1


@pytest.mark.parametrize(
    ("clause", "says"),
    [
        (("a", "starts wiht", "x"), "did you mean starts with"),
        (("a", "="), "a clause is"),
        ("a = 3", "a clause is"),
        (("", "=", 1), "a name"),
        ((3, "=", 1), "a name"),
        (("a", "=", None), "takes a number, a string or a boolean"),
        (("a", "=", math.nan), "takes a number, a string or a boolean"),
        (("a", "=", [1]), "takes a number, a string or a boolean"),
        (("a", "<", True), "no order"),
        (("a", "in", 3), "takes a list of values"),
        (("a", "in", "abc"), "takes a list of values"),
        (("a", "in", []), "at least one value"),
        (("a", "in", [None]), "takes a number"),
        (("a", "between", (1,)), "two bounds"),
        (("a", "between", (1, 2, 3)), "two bounds"),
        (("a", "between", (1, "b")), "two numbers"),
        (("a", "between", (True, False)), "two numbers"),
        (("a", "contains", 3), "takes a string"),
        (("a", "matches", "["), "."),
    ],
)
def test_a_bad_clause_is_a_value_error(clause: Any, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        build({"x": [clause]})


def test_an_event_is_an_object() -> None:
    index = build({"x": []})
    for event in (3, "a", None, [("a", 1)]):
        with pytest.raises(EventError):
            index.match(event)


def test_an_envelope_is_accepted_wherever_an_event_is() -> None:
    index = build({"x": [("a", "=", 3)], "y": [("source", "=", "/camera")]})
    envelope = {"specversion": "1.0", "id": "1", "source": "/camera", "data": {"a": 3}}
    assert sorted(index.match(envelope)) == ["x", "y"]


def test_derived_attributes() -> None:
    index = build({"night": [("time.hour", "<", 6)], "sunday": [("time.weekday", "=", 7)]})
    assert list(index.match({"time": "2024-03-01T05:30:00+02:00"})) == ["night"]
    assert list(index.match({"time.hour": 3})) == ["night"]


def test_numpy_values() -> None:
    index = build({"x": [("a", ">", np.float64(2.5)), ("b", "has", np.int64(3))]})
    assert list(index.match({"a": np.int32(3), "b": np.array([1, 3])})) == ["x"]


ASKING = st.dictionaries(st.one_of(st.text(max_size=3), st.integers()), clauses(), max_size=6)


@given(ASKING, st.lists(events(operators=False), max_size=4), st.data())
def test_answers_are_exact_and_survive_saving(
    asking: Asking, documents: list[dict[str, Any]], data: st.DataObject
) -> None:
    index = build(asking)
    for id in (
        data.draw(st.lists(st.sampled_from(sorted(asking, key=str)), unique=True)) if asking else []
    ):
        index.delete(id)
        del asking[id]
    right = [
        {id for id, asked in asking.items() if satisfies(document, asked)} for document in documents
    ]
    assert [set(ids.tolist()) for ids in index.match_many(documents)] == right
    assert [set(index.match(document).tolist()) for document in documents] == right


def test_saving_and_opening(tmp_path: Path) -> None:
    index = build({"a": [("x", "in", [1, "é", True])], "b": [("x", ">", 10**400)], "c": []})
    index.delete("b")
    index.save(tmp_path / "deep" / "folder")
    index.insert("later", [])
    again = tamis.index.open(tmp_path / "deep" / "folder")
    assert len(again) == 2
    assert set(again.match({"x": "é"})) == {"a", "c"}
    again.insert("b", [("x", "=", 1)])
    again.delete("c")
    assert set(again.match({"x": 1})) == {"a", "b"}
    again.save(tmp_path / "deep" / "folder")
    assert len(tamis.index.open(str(tmp_path / "deep" / "folder"))) == 2


@pytest.mark.parametrize(
    "value",
    [math.inf, -math.inf, 10**400, 2**53 + 1, 1e308, -0.0, True, "\ud800", "a\nb", ""],
)
def test_every_constant_survives_saving(tmp_path: Path, value: Any) -> None:
    build({"a": [("x", "=", value), ("x", "in", [value, "other"])]}).save(tmp_path)
    assert list(tamis.index.open(tmp_path).match({"x": value})) == ["a"]


def test_a_folder_that_cannot_be_used(tmp_path: Path) -> None:
    with pytest.raises(IndexFolderError, match="no saved index"):
        tamis.index.open(tmp_path)
    build({"a": [("x", "=", 1)]}).save(tmp_path)
    manifest = tmp_path / "manifest.json"
    text = json.loads(manifest.read_text())
    for damage, says in (
        ("{", "damaged"),
        ("[]", "damaged"),
        (json.dumps({**text, "format_version": 99}), "format 99"),
        (json.dumps({**text, "rows": 7}), "damaged"),
    ):
        manifest.write_text(damage)
        with pytest.raises(IndexFolderError, match=says):
            tamis.index.open(tmp_path)
    manifest.write_text(json.dumps({**text, "index": "zzz"}))
    with pytest.raises(tamis.TamisError, match="zzz"):
        tamis.index.open(tmp_path)
    manifest.write_text(json.dumps(text))
    for file in tmp_path.iterdir():
        if file != manifest:
            whole = file.read_bytes()
            file.write_bytes(whole[: len(whole) // 2])
            with pytest.raises(IndexFolderError):
                tamis.index.open(tmp_path)
            file.write_bytes(whole)
    assert len(tamis.index.open(tmp_path)) == 1


def test_many_threads() -> None:
    index = build({number: [("a", ">=", number)] for number in range(50)})
    wrong: list[object] = []

    def match() -> None:
        for number in range(100):
            found = set(index.match({"a": number % 50}).tolist())
            wrong.extend(each for each in range(number % 50 + 1) if each not in found)

    def change() -> None:
        for number in range(100):
            index.insert(f"more {number}", [("a", "<", 0)])
            index.delete(f"more {number}")

    threads = [threading.Thread(target=work) for work in (match, match, change)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_an_id_is_not_there_before_all_of_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    index = build({"a": []})
    seen: list[bool] = []
    looks = threading.Thread(target=lambda: seen.append("b" in index))

    def fails(entries: object) -> None:
        looks.start()
        looks.join(0.2)
        raise MemoryError

    monkeypatch.setattr(index._index, "build", fails)
    with pytest.raises(MemoryError):
        index.insert_many([("b", []), ("c", [])])
    looks.join()
    assert seen == [False]


@pytest.mark.parametrize("kinds", [["s"], ["i"], ["s", "i", "large"]])
def test_ids_of_all_kinds_come_and_go(kinds: list[str]) -> None:
    chance = random.Random(7)
    index = tamis.index.build("scan", [])
    there: set[int | str] = set()
    for first in range(0, 1_000, 10):
        kind = chance.choice(kinds)
        new: list[int | str] = []
        for each in range(first, first + 10):
            if first % 20:
                kind = chance.choice(kinds)
            named: dict[str, int | str] = {"s": f"s{each}", "i": each, "large": 10**30 + each}
            new.append(named[kind])
        index.insert_many((id, []) for id in new)
        there.update(new)
        gone = chance.sample(sorted(there, key=str), chance.randrange(min(len(there), 18)))
        index.delete_many(gone)
        there.difference_update(gone)
        found = index.match({}).tolist()
        assert sorted(found, key=str) == sorted(there, key=str)
        assert {type(id) for id in found} <= {int, str}
    assert len(index) == len(there) > 0


def test_nbytes_grows_with_what_is_held() -> None:
    small = build({"a": [("x", "=", 1)]}).nbytes
    large = build({number: [("x", "=", number)] for number in range(1_000)}).nbytes
    assert 0 < small < large


@pytest.mark.parametrize("step", [1, 3])
def test_ids_of_columns_with_and_without_gaps(step: int) -> None:
    def boxes(first: int, count: int) -> tamis.index.Columns:
        ids = first + step * np.arange(count)
        return tamis.index.Columns(
            ids, ["a"], np.arange(count + 1), [0] * count, np.arange(count), [99] * count
        )

    index = tamis.index.build("lanes", boxes(10, 50))
    with pytest.raises(KeyError):
        index.delete_many(np.array([10, 9]))
    with pytest.raises(KeyError):
        index.delete_many(np.array([10 + 50 * step]))
    with pytest.raises(ValueError, match="taken"):
        index.insert_many(boxes(10 + 49 * step, 2))
    index.delete_many(np.array([10, 10 + 49 * step]))
    index.insert_many(boxes(10 + 49 * step, 2))
    assert 10 not in index
    assert sorted(index.match({"a": 1}).tolist()) == [10 + step, 10 + 49 * step, 10 + 50 * step]


def test_a_folder_of_other_things_is_not_written_into(tmp_path: Path) -> None:
    index = build({"a": [("x", "=", 1)]})
    index.save(tmp_path / "new")
    index.save(tmp_path / "new")
    for name in ("manifest.json", "notes.txt"):
        folder = tmp_path / name.partition(".")[0]
        folder.mkdir()
        (folder / name).write_text("{}")
        with pytest.raises(IndexFolderError, match="is not a saved index"):
            index.save(folder)
        assert [path.name for path in folder.iterdir()] == [name]


@pytest.mark.parametrize("name", ["pstbloom", "lanes", "scan", "auto"])
def test_columns_without_rows_make_an_empty_index(name: str) -> None:
    nothing = np.zeros(0, np.int64)
    columns = tamis.index.Columns(nothing, ["a"], np.zeros(1, np.int64), nothing, nothing, nothing)
    index = tamis.index.build(name, columns)
    assert len(index) == 0
    assert len(index.match({"a": 1})) == 0
    index.insert(3, [("a", "=", 1)])
    assert list(index.match({"a": 1})) == [3]


@pytest.mark.parametrize("name", ["lanes", "opindex"])
def test_numbers_beyond_all_doubles(name: str) -> None:
    asked: list[tuple[str, list[Clause]]] = [
        ("more", [("a", ">", 5)]),
        ("less", [("a", "<", 5), ("b", "<", 5)]),
        ("some", [("b", "between", (1, 2))]),
    ]
    options: dict[str, Any] = {"scan_up_to": 0} if name == "lanes" else {}
    index = tamis.index.build(name, asked, **options)
    assert sorted(index.match({"a": 10**400, "b": 1})) == ["more", "some"]
    assert sorted(index.match({"a": -(10**400), "b": 1.0})) == ["less", "some"]
    assert sorted(index.match({"a": 2**60, "b": True})) == ["more"]
    assert sorted(index.match({"id": "x", "a": 7, "b": math.nan, "c": "y"})) == ["more"]


@pytest.mark.parametrize("seed", range(4))
def test_ids_in_arrays_that_go_on_come_and_go(seed: int) -> None:
    """Some ascend from the last, some do not, some were there before, and some are no integers."""
    chance = random.Random(seed)
    index = tamis.index.build("scan", [])
    there: set[int | str] = set()
    last = 0
    for step in range(300):
        size = chance.choice((1, 2, 30))
        if chance.random() < 0.7:
            ids = last + np.cumsum([chance.choice((1, 1, 5)) for _ in range(size)])
            last = int(ids[-1])
        else:
            ids = np.array(chance.sample(range(-50, last + 50), size))
        taken = sorted(there.intersection(ids.tolist()), key=str)
        empty = tamis.index.Columns(ids, [], np.zeros(size + 1), [], [], [])
        if taken:
            with pytest.raises(ValueError, match="taken"):
                index.insert_many(empty)
        else:
            index.insert_many(empty)
            there.update(ids.tolist())
        if step % 3 == 0:
            index.insert(f"s{step}", [])
            there.add(f"s{step}")
        some = [each for each in there if isinstance(each, int) and chance.random() < step % 4 / 4]
        index.delete_many(np.array(some, np.int64) if step % 2 else some)
        there.difference_update(some)
        if step % 50 == 49:
            whole = sorted(there, key=str)
            index.delete_many(whole[: len(whole) // (1 + step % 100 // 50)])
            there.difference_update(whole[: len(whole) // (1 + step % 100 // 50)])
        assert sorted(index.match({}).tolist(), key=str) == sorted(there, key=str)
        unknown = chance.randrange(-50, last + 50)
        assert (unknown in index) == (unknown in there)
