"""Checks epoch, hour and weekday of `time`, by the event's own offset or in a zone."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis import Event, Matcher, WrongOption
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
        ("2024-03-01", (1709251200, 0, 5)),
        ("2024:03:04 05:30:00", (1709530200, 5, 1)),
        (0, (0, 0, 4)),
        (-1, (-1, 23, 3)),
        (1709530200.25, (1709530200.25, 5, 1)),
        (99_999_999_999, (99_999_999_999, 9, 3)),
        (100_000_000_000, (100_000_000, 9, 6)),
        (1709530200123, (1709530200.123, 5, 1)),
        (np.int64(1709530200), (1709530200, 5, 1)),
        (np.datetime64("2024-03-04T05:30:00.25"), (1709530200.25, 5, 1)),
        (date(2024, 3, 1), (1709251200, 0, 5)),
        (datetime(2024, 3, 4, 5, 30), (1709530200, 5, 1)),
        (datetime(2024, 3, 4, 5, 30, tzinfo=timezone(timedelta(hours=2))), (1709523000, 5, 1)),
    ],
)
def test_times(text: object, expected: tuple[float, int, int]) -> None:
    found = moment(text)
    assert found == Moment(*expected)
    assert isinstance(found, Moment)
    assert type(found.epoch) is type(expected[0])


@pytest.mark.parametrize(
    "text",
    [
        *("", "now", "20240301", "05:30", "2024-13-01T00:00:00Z", "2024-02-30T00:00:00Z"),
        *("2023-02-29T00:00:00Z", "2024-03-01T24:00:00Z", "2024-03-01T00:60:00Z"),
        *("2024-03-01T00:00:61Z", "2024-03-01T00:00Z", "2024-03-01T00:00:00+0200"),
        *("2024-03-01T00:00:00+24:00", "2024-03-01T00:00:00 Z", " 2024-03-01T00:00:00Z"),
        *("2024-03-01T00:00:00Z\n", "2024-3-1T00:00:00Z", "٢٠٢٤-03-01T00:00:00Z"),
        *("2024-03-01T", "2024:03-01", "2024-02-30", "01.03.2024", "1709251199"),
        *(None, True, ["2024-03-01T00:00:00Z"], math.inf, math.nan, 10**400, 10**1001),
        *(1709251199_000_000, -62135596800001, np.datetime64("NaT")),
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


ZONES = ("UTC", "America/New_York", "Europe/Amsterdam", "Asia/Kolkata", "Pacific/Apia")
LOCAL = st.datetimes(datetime(2, 1, 1), datetime(9998, 1, 1))
OWN = st.none() | st.integers(-1439, 1439).map(lambda each: timezone(timedelta(minutes=each)))


@given(LOCAL, OWN, st.none() | st.sampled_from(ZONES), st.sampled_from(("T", " ")), st.booleans())
def test_texts_and_datetimes_in_a_zone(
    local: datetime, own: timezone | None, name: str | None, between: str, is_text: bool
) -> None:
    zone = None if name is None else ZoneInfo(name)
    given_ = local.replace(tzinfo=own)
    aware = given_ if own is not None else local.replace(tzinfo=zone or UTC)
    shown = aware if zone is None else aware.astimezone(zone)
    found = moment(given_.isoformat(between) if is_text else given_, zone)
    assert found is not None
    assert found[1:] == (shown.hour, shown.isoweekday())
    assert found.epoch == pytest.approx(aware.timestamp(), abs=1e-4)


@given(st.integers(-62135596800, 253402300799), st.none() | st.sampled_from(ZONES[1:3]))
def test_numbers_in_a_zone(seconds: int, name: str | None) -> None:
    zone = None if name is None else ZoneInfo(name)
    found = moment(seconds if abs(seconds) < 10**11 else seconds * 1000, zone)
    try:
        shown = (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)).astimezone(
            zone or UTC
        )
    except OverflowError:
        assert found is None
    else:
        assert found == (seconds, shown.hour, shown.isoweekday())


def test_equal_moments_are_of_their_own_clocks() -> None:
    utc = datetime(2024, 3, 4, 5, 30, tzinfo=UTC)
    hours = [moment(utc.astimezone(ZoneInfo(zone)))[1] for zone in ZONES[:3]]  # type: ignore[index]
    assert hours == [5, 0, 6]


def test_a_matcher_goes_by_its_zone() -> None:
    event = {"time": "2026-06-01T22:10:00Z"}
    asked = {
        "evening": "time.hour = 18",
        "night": "time.hour = 22",
        "then": "time.epoch = 1780351800",
    }
    for zone, expected in (("America/New_York", ["evening", "then"]), (None, ["night", "then"])):
        matcher = Matcher([], time_zone=zone)
        matcher.subscribe_many({"id": id, "where": where} for id, where in asked.items())
        assert [each.subscription for each in matcher.match(event).matches] == expected


@pytest.mark.parametrize("name", ["America/NewYork", "", "America", "../x"])
def test_a_zone_that_is_none(name: str) -> None:
    with pytest.raises(WrongOption, match="there is no time zone"):
        Matcher([], time_zone=name)


def test_a_time_that_cannot_be_read_is_said_as_that() -> None:
    matcher = Matcher([])
    matcher.subscribe("time.hour > 3", id="s")
    found = matcher.match({"time": "01.03.2024"})
    assert 'time.hour is absent: the time "01.03.2024" cannot be read' in str(found.explain("s"))
    assert "time.hour is absent)" in str(matcher.match({}).explain("s"))


def test_a_derived_attribute_that_cannot_be_made_says_of_what() -> None:
    matcher = Matcher([])
    matcher.subscribe("position.west < 0", id="s")
    said = str(matcher.match({"position": [999, 99]}).explain("s"))
    assert "(position.west is absent: the position [999, 99] gives none)" in said
    assert "(position.west is absent)" in str(matcher.match({}).explain("s"))


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
