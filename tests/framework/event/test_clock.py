"""What `time` says: epoch, hour and weekday by the event's own offset."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis import Event
from tamis.event.clock import TIME_ATTRIBUTES, Moment, moment


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1970-01-01T00:00:00Z", (0, 0, 4)),
        ("2024-02-29T23:59:59Z", (1709251199, 23, 4)),
        ("2024-03-01T05:30:00+02:00", (1709263800, 5, 5)),
        ("2024-03-01T00:30:00+02:00", (1709245800, 0, 5)),
        ("2024-03-03T22:00:00-05:30", (1709523000, 22, 7)),
        ("2024-03-04t05:30:00z", (1709530200, 5, 1)),
        ("2024-03-04 05:30:00Z", (1709530200, 5, 1)),
        ("2024-03-04T05:30:00", (1709530200, 5, 1)),
        ("2024-03-04T05:30:00.25Z", (1709530200.25, 5, 1)),
        ("2024-03-04T05:30:00.000Z", (1709530200, 5, 1)),
        ("1969-12-31T23:59:59Z", (-1, 23, 3)),
        ("2016-12-31T23:59:60Z", (1483228800, 23, 6)),
        ("0001-01-01T00:00:00Z", (-62135596800, 0, 1)),
        ("9999-12-31T23:59:59Z", (253402300799, 23, 5)),
    ],
)
def test_times(text: str, expected: tuple[float, int, int]) -> None:
    found = moment(text)
    assert found == Moment(*expected)
    assert isinstance(found, Moment)
    assert type(found.epoch) is type(expected[0])


@pytest.mark.parametrize(
    "text",
    [
        *("", "now", "2024-03-01", "05:30", "2024-13-01T00:00:00Z", "2024-02-30T00:00:00Z"),
        *("2023-02-29T00:00:00Z", "2024-03-01T24:00:00Z", "2024-03-01T00:60:00Z"),
        *("2024-03-01T00:00:61Z", "2024-03-01T00:00Z", "2024-03-01T00:00:00+0200"),
        *("2024-03-01T00:00:00+24:00", "2024-03-01T00:00:00 Z", " 2024-03-01T00:00:00Z"),
        *("2024-03-01T00:00:00Z\n", "2024-3-1T00:00:00Z", "٢٠٢٤-03-01T00:00:00Z"),
        *(None, 1709251199, True, ["2024-03-01T00:00:00Z"]),
    ],
)
def test_what_is_no_time(text: object) -> None:
    assert moment(text) is None


@given(st.datetimes(min_value=datetime(2, 1, 1), max_value=datetime(9998, 1, 1)), st.data())
def test_any_moment(local: datetime, data: st.DataObject) -> None:
    minutes = data.draw(st.integers(-23 * 60 - 59, 23 * 60 + 59))
    aware = local.replace(microsecond=0, tzinfo=timezone(timedelta(minutes=minutes)))
    sign = "-" if minutes < 0 else "+"
    offset = f"{sign}{abs(minutes) // 60:02}:{abs(minutes) % 60:02}"
    found = moment(f"{aware:%Y-%m-%dT%H:%M:%S}".zfill(19) + offset)
    epoch = (aware - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(seconds=1)
    assert found == (epoch, local.hour, local.isoweekday())


def test_they_are_attributes_of_the_event() -> None:
    derived = {each.name: each for each in TIME_ATTRIBUTES}
    event = Event({"time": "2024-03-03T22:15:00-05:00"}, "e", derived)
    assert {name: event.scalar(name) for name in derived} == {
        "time.epoch": 1709522100,
        "time.hour": 22,
        "time.weekday": 7,
    }


def test_a_key_of_the_very_name_wins() -> None:
    derived = {each.name: each for each in TIME_ATTRIBUTES}
    event = Event({"time": "2024-03-03T22:15:00Z", "time.hour": 3}, "e", derived)
    assert event.scalar("time.hour") == 3
    assert Event({"time": {"hour": 4}}, "e", derived).scalar("time.hour") == 4
    assert Event({}, "e", derived).scalar("time.hour") is None
