"""Gives events what their files do not hold: the values of folders, and new names of keys."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.files.naming import EventDefaults, Renamed, namings_of
from tamis.files.parquet import dicts
from tamis.files.reading import Events, ReadingError

arrow = pytest.importorskip("pyarrow")


def typed(*texts: str) -> list[object]:
    """What the folders of a key say, as they are typed together."""
    names = {text: f"h/k={quote(text, safe='')}/f.jsonl" for text in texts}
    return [dict(each.partitions).get("k") for each in namings_of(names).values()]


@pytest.mark.parametrize(
    ("texts", "values"),
    [
        (("2026-01-15", "2026-01-16"), ["2026-01-15", "2026-01-16"]),
        (("01", "2", "-3"), [1, 2, -3]),
        (("1", "2.5", "1e3"), [1, 2.5, 1000.0]),
        (("1", "x"), ["1", "x"]),
        (("3000000000", "2.5"), ["3000000000", "2.5"]),  # as Spark: neither holds both
        (("3000000000", "2"), [3000000000, 2]),
        (("1", "__HIVE_DEFAULT_PARTITION__"), [1, None]),
        (("a b/c=d", "é"), ["a b/c=d", "é"]),
        (("true", "NaN"), ["true", "NaN"]),
        (("1_000", "2"), ["1_000", "2"]),
    ],
)
def test_types(texts: tuple[str, ...], values: list[object]) -> None:
    found = typed(*texts)
    assert found == values
    assert [type(each) is str for each in found] == [type(each) is str for each in values]


def test_two_folders_of_one_key_are_refused() -> None:
    with pytest.raises(ReadingError, match="two folders of day"):
        namings_of({"f": os.path.join("day=1", "x", "day=2", "f.jsonl")})


@pytest.mark.parametrize(
    ("naming", "document", "expected"),
    [
        (EventDefaults(), [1], [1]),
        (EventDefaults((("a", "b"),)), [1], [1]),
        (EventDefaults((("a", "b"),)), {"a": 1, "b": 2}, {"b": 1}),
        (EventDefaults((("a", "b"), ("b", "a"))), {"a": 1, "b": 2}, {"b": 1, "a": 2}),
        (EventDefaults((("a", "b"),)), {"b": 2}, {"b": 2}),
        (EventDefaults((("m.t", "time"),)), {"m": {"t": 3}}, {"m": {"t": 3}, "time": 3}),
        (EventDefaults((("m.t", "time"),)), {"m": 3}, {"m": 3}),
        (EventDefaults((("m.t", "time"),)), {"m.t": 4, "m": {"t": 3}}, {"m": {"t": 3}, "time": 4}),
        (EventDefaults((), (("day", 1),)), {"day": 2}, {"day": 1}),
        (
            EventDefaults((), (("day", 1),)),
            {"specversion": "1.0", "data": {"a": 3}},
            {"specversion": "1.0", "data": {"a": 3, "day": 1}},
        ),
    ],
)
def test_documents(naming: EventDefaults, document: Any, expected: Any) -> None:
    assert naming.document(document) == expected


KEYS = st.sampled_from(("a", "b", "c", "m", "m.x", "data"))
PAIRS = st.lists(
    st.tuples(KEYS, KEYS), max_size=3, unique_by=(lambda each: each[0], lambda each: each[1])
)
VALUES = st.none() | st.integers(-5, 5)
ROWS = st.lists(
    st.fixed_dictionaries({"a": VALUES, "b": VALUES, "m": st.fixed_dictionaries({"x": VALUES})}),
    min_size=1,
    max_size=4,
)


@given(
    ROWS,
    PAIRS.map(tuple),
    st.lists(st.tuples(KEYS, VALUES | st.just("x")), max_size=2, unique_by=lambda each: each[0]),
)
def test_a_batch_is_named_as_its_rows(rows: list[Any], renamed: Renamed, said: list[Any]) -> None:
    naming = EventDefaults(renamed, tuple(said))
    named = naming.batch(arrow.RecordBatch.from_pylist(rows))
    assert (named is None) == any("." in name for name, _ in renamed)
    if named is not None:
        assert dicts(named) == [naming.document(row) for row in rows]


def test_folders_of_a_pattern_and_of_one_file(tmp_path: Path) -> None:
    for day in (1, 2):
        (tmp_path / f"day={day}").mkdir()
        (tmp_path / f"day={day}" / "e.jsonl").write_text('{"a": 1}\n[2]\n')
    whole = [line.document for line in Events([str(tmp_path)])]
    assert whole == [{"a": 1, "day": 1}, [2], {"a": 1, "day": 2}, [2]]
    assert [line.document for line in Events([str(tmp_path / "day=*")])] == whole
    one = Events([str(tmp_path / "day=2" / "e.jsonl")], (("a", "b"),))
    assert [line.document for line in one] == [{"b": 1, "day": 2}, [2]]
