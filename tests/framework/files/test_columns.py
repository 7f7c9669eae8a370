"""Columns of Arrow give what pyarrow gives value by value, as JSON would have it."""

from __future__ import annotations

import datetime
import decimal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tamis.files.columns import plain, values_of

TIMES = st.datetimes(datetime.datetime(1, 1, 2), datetime.datetime(9999, 12, 30))
ZONED = TIMES.map(lambda time: time.replace(tzinfo=datetime.UTC))
LEAVES: list[tuple[Any, st.SearchStrategy[Any]]] = [
    (pyarrow.int64(), st.integers(-(2**63), 2**63 - 1)),
    (pyarrow.uint8(), st.integers(0, 255)),
    (pyarrow.float64(), st.floats(allow_nan=False)),
    (pyarrow.float32(), st.floats(width=32, allow_nan=False)),
    (pyarrow.bool_(), st.booleans()),
    (pyarrow.string(), st.text(max_size=3)),
    (pyarrow.large_string(), st.text(max_size=3)),
    (pyarrow.binary(), st.binary(max_size=3)),
    (pyarrow.null(), st.none()),
    (pyarrow.date32(), st.dates()),
    (pyarrow.time64("us"), st.times()),
    (pyarrow.timestamp("us"), TIMES),
    (pyarrow.timestamp("us", "UTC"), ZONED),
    (pyarrow.timestamp("us", "America/New_York"), ZONED),
    (pyarrow.timestamp("s", "UTC"), ZONED.map(lambda time: time.replace(microsecond=0))),
    (pyarrow.timestamp("ms"), TIMES.map(lambda time: time.replace(microsecond=7000))),
    (pyarrow.duration("us"), st.timedeltas(datetime.timedelta(0), datetime.timedelta(9))),
    (pyarrow.decimal128(12, 2), st.decimals(-9999, 9999, places=2)),
]


def _nested(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    def object_of(given: list[tuple[Any, Any]]) -> tuple[Any, Any]:
        fields = [(f"k{at}", kind) for at, (kind, _) in enumerate(given)]
        values = st.fixed_dictionaries(
            {f"k{at}": value | st.none() for at, (_, value) in enumerate(given)}
        )
        return pyarrow.struct(fields), values

    def array_of(given: tuple[Any, Any]) -> tuple[Any, Any]:
        return pyarrow.list_(given[0]), st.lists(given[1] | st.none(), max_size=3)

    return st.lists(inner, min_size=1, max_size=3).map(object_of) | inner.map(array_of)


KINDS = st.recursive(st.sampled_from(LEAVES), _nested, max_leaves=4)


@settings(max_examples=200)
@given(st.data())
def test_a_column_gives_what_its_values_are(data: st.DataObject) -> None:
    kind, value = data.draw(KINDS)
    values = data.draw(st.lists(value | st.none(), max_size=6))
    column = pyarrow.array(values, kind)
    start = data.draw(st.integers(0, len(values)))
    column = column.slice(start, data.draw(st.integers(0, len(values) - start)))
    expected = [plain(each.as_py()) for each in column]
    assert repr(values_of(pyarrow, column)) == repr(expected)


def test_times_are_cut_to_microseconds_in_utc() -> None:
    first = pyarrow.array([1_700_000_000_123_456_789, None], pyarrow.int64())
    for zone, end in ((None, ""), ("Asia/Tokyo", "+00:00")):
        column = first.cast(pyarrow.timestamp("ns", zone))
        text = f"2023-11-14T22:13:20.123456{end}"
        assert values_of(pyarrow, column) == [text, None]
        nested = pyarrow.StructArray.from_arrays([column], ["at"])
        assert values_of(pyarrow, nested) == [{"at": text}, {"at": None}]


def test_a_year_that_python_lacks_is_said() -> None:
    column = pyarrow.array([2**62], pyarrow.int64()).cast(pyarrow.timestamp("s"), safe=False)
    with pytest.raises((ValueError, OverflowError, pyarrow.ArrowException)):
        values_of(pyarrow, column)


def test_decimals_are_numbers() -> None:
    column = pyarrow.array([decimal.Decimal("1.50"), decimal.Decimal("2.00"), None])
    assert values_of(pyarrow, column) == [1.5, 2, None]


_READS = """
import sys
from tamis.files.parquet import rows
assert len(list(rows(sys.argv[1]))) == 2
print("pandas" in sys.modules)
"""


def test_reading_a_table_imports_no_pandas(tmp_path: Path) -> None:
    moment = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)
    row = {"id": "a", "time": moment, "meta": {"at": moment, "speed": 1.5}, "tags": ["x"]}
    table = pyarrow.Table.from_pylist([row, {**row, "meta": None}])
    pyarrow.parquet.write_table(table, tmp_path / "events.parquet")
    told = subprocess.run(
        [sys.executable, "-c", _READS, str(tmp_path / "events.parquet")],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert told.stdout.strip() == "False"
