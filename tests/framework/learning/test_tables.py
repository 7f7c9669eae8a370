"""A batch of a table is counted as its rows would be, one by one."""

from __future__ import annotations

import datetime
from typing import Any

import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tamis
from tamis.files.parquet import dicts
from tamis.files.reading import FileLine
from tamis.learning.learner import Learner, TimeStretch
from tamis.learning.lesson import Lesson
from tamis.learning.tables import learn_batch

from .test_counting import shown

COLUMNS: dict[str, tuple[Any, Any]] = {
    "id": ("string", st.sampled_from(["e1", "", "e2"])),
    "altitude": ("double", st.sampled_from([0.0, -0.0, 2.5, 400.0, 2.0**53, 1e300, float("nan")])),
    "speed": ("int64", st.sampled_from([0, 3, 2**53 + 1, 2**62, -(2**53) - 1])),
    "small": ("int8", st.integers(-3, 3)),
    "large": ("uint64", st.sampled_from([0, 2**63 + 1, 2**53])),
    "camera": ("string", st.sampled_from(["", "a", "uav-1", "fire"])),
    "armed": ("bool", st.booleans()),
    "tags": (pyarrow.list_(pyarrow.string()), st.lists(st.sampled_from(["fire", "a", None]))),
    "meta": (pyarrow.struct({"speed": "int64"}), st.just({"speed": 1}) | st.just({"speed": 3})),
    "time": ("string", st.sampled_from(["2024-03-01T05:30:00Z", "2024-03-01", ""])),
    "time.hour": ("int64", st.integers(0, 5)),
    "position": (
        pyarrow.list_(pyarrow.float64()),
        st.sampled_from([[3.0, 4.0], [286.1, 40.8], [180.0, 1.0], [1.0], []]),
    ),
    "position.west": ("double", st.just(2.5)),
    "day": ("date32", st.just(datetime.date(2024, 3, 1))),
    "at": (pyarrow.timestamp("ns"), st.just(datetime.datetime(2024, 3, 1, 5, 30))),
    "specversion": ("string", st.just("1.0")),
    "data": (pyarrow.struct({"altitude": "int64"}), st.just({"altitude": 3})),
}  # fmt: skip
ASKED = [
    "altitude > 2 or altitude != 0 or speed >= 9007199254740993 or speed < 4",
    "small in {1, 2} or large > 9007199254740992 or camera starts with \"u\" or armed = true",
    "tags has fire or exists(tags) or not exists(meta) or camera matches \"[a-f]\"",
    "position.west < 3 or position.north > 4",
    "time.hour < 6 or time.weekday = 5 or time.epoch > 3",
]  # fmt: skip
PATH = ["meta.speed < 2"]


@tamis.operator(inputs=("altitude",))
def higherThan(event: Any, metres: float) -> bool:
    return bool(event["altitude"] > metres)


@st.composite
def batches(draw: st.DrawFn) -> Any:
    names = draw(st.lists(st.sampled_from(sorted(COLUMNS)), unique=True))
    count = draw(st.integers(0, 5))
    arrays, fields = [], []
    for name in names:
        kind, values = COLUMNS[name]
        column = draw(st.lists(st.none() | values, min_size=count, max_size=count))
        kind = pyarrow.type_for_alias(kind) if isinstance(kind, str) else kind
        arrays.append(pyarrow.array(column, kind))
        fields.append((name, kind))
    return pyarrow.RecordBatch.from_arrays(arrays, schema=pyarrow.schema(fields))


@pytest.mark.parametrize("asked", [ASKED, [*ASKED, *PATH]])
@given(batch=batches(), is_bounded=st.booleans(), sample=st.sampled_from([0.5, 1.0]))
def test_a_batch_is_its_rows(asked: list[str], batch: Any, is_bounded: bool, sample: float) -> None:
    window = TimeStretch(since=1.0) if is_bounded else TimeStretch()
    lesson = Lesson([*asked, "higherThan(3)"], [higherThan], window=window, sample=sample)
    learner, other = Learner(lesson.task), Learner(lesson.task)
    rejects = list(learn_batch(learner, batch, name="t.parquet"))
    for number, row in enumerate(dicts(batch), 1):
        other.line(FileLine("", number, row, None, None), default_id=f"t.parquet:{number}")
    counts, expected = learner.finish(), other.finish()
    assert len(rejects) == counts.rejects == expected.rejects
    assert (counts.events, counts.passed_over) == (expected.events, expected.passed_over)
    there = {name for name, spaces in expected.attributes.items() if spaces.kinds.present}
    for each in (counts, expected):
        each.attributes = {name: each.attributes[name] for name in there}
    assert shown(counts) == shown(expected)
    assert counts.calls is not None
    assert expected.calls is not None
    assert counts.calls.tested == expected.calls.tested
    assert counts.calls.test_satisfied.tolist() == expected.calls.test_satisfied.tolist()
