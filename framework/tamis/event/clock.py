"""Derives attributes from the `time` of an event, by its own offset or in the zone that is set.

A time is RFC 3339 text, a date, a date-time without an offset (also as cameras write it, with
colons in the date), seconds or milliseconds since 1970, a `datetime` or a `date`. A time
without an offset is of the zone that is set, else of UTC.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from functools import lru_cache, partial
from typing import NamedTuple
from zoneinfo import ZoneInfo, available_timezones

from tamis.errors import WrongOption
from tamis.event import DerivedAttribute, Event
from tamis.language.values import Scalar, as_scalar
from tamis.nearest import did_you_mean

_TEXT = re.compile(
    r"([0-9]{4})([:-])([0-9]{2})\2([0-9]{2})(?:[Tt ]([0-9]{2}):([0-9]{2}):([0-9]{2})(\.[0-9]+)?"
    r"(?:([Zz])|([+-][0-9]{2}):([0-9]{2}))?)?"
)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_SECOND = timedelta(seconds=1)
_MILLISECONDS = 100_000_000_000
"""Numbers from here on are milliseconds: March 1973, which in seconds is the year 5138."""


class Moment(NamedTuple):
    """The parts of a time, on its own clock or on that of a zone."""

    epoch: int | float
    hour: int
    weekday: int


def moment(time: object, zone: tzinfo | None = None) -> Moment | None:
    """Returns the moment of a time, by the clock of a zone where one is given; `None` where it
    cannot be read."""
    if getattr(getattr(time, "dtype", None), "kind", "") == "M":  # a numpy.datetime64
        time = time.astype("datetime64[us]").item()  # type: ignore[attr-defined]
    try:
        if isinstance(time, datetime):
            return _shown(time, time.microsecond / 1_000_000, zone)
        return _named(time.isoformat() if isinstance(time, date) else as_scalar(time), zone)
    except (ValueError, OverflowError):  # no such day, or none that calendars reach
        return None


@lru_cache(maxsize=1024, typed=True)  # an event is asked for each of its parts
def _named(time: Scalar | None, zone: tzinfo | None) -> Moment | None:
    if isinstance(time, str):
        return _of_text(time, zone)
    if time is None or isinstance(time, bool):
        return None
    epoch = time if abs(time) < _MILLISECONDS else time / 1000
    found = _shown(_EPOCH + timedelta(seconds=epoch // 1), 0, zone)
    return found if epoch == found.epoch else found._replace(epoch=epoch)


def _shown(local: datetime, more: float, zone: tzinfo | None) -> Moment:
    """Returns a moment of whole seconds and some more."""
    if local.tzinfo is None:
        local = local.replace(tzinfo=zone or UTC)
    clock = local if zone is None else local.astimezone(zone)
    whole = (local - _EPOCH) // _SECOND
    return Moment(whole + more if more else whole, clock.hour, clock.isoweekday())


def _of_text(text: str, zone: tzinfo | None) -> Moment | None:
    matched = _TEXT.fullmatch(text)
    if matched is None:
        return None
    year, _, month, day, hour, minute, second, fraction, utc, hours, minutes = matched.groups()
    own: tzinfo | None = UTC if utc else None
    if hours:
        if int(hours[1:]) > 23 or int(minutes) > 59:
            return None
        offset = timedelta(hours=int(hours[1:]), minutes=int(minutes))
        own = timezone(-offset if hours[0] == "-" else offset)
    leap = second == "60"
    days = int(year), int(month), int(day)
    clock = int(hour or 0), int(minute or 0), 59 if leap else int(second or 0)
    return _shown(datetime(*days, *clock, tzinfo=own), leap + (float(fraction or 0) or 0), zone)


def zone_of(name: str | None) -> tzinfo | None:
    """Returns the time zone of that name, as `America/New_York`; none of `None`."""
    if name is None:
        return None
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, TypeError, OSError):
        known = available_timezones()
    hint = did_you_mean(str(name), known) if known else ": pip install tzdata, which has them all"
    raise WrongOption(f"there is no time zone {name!r:.80}{hint}")


def derived_in(
    attributes: Mapping[str, DerivedAttribute], zone: tzinfo | None
) -> Mapping[str, DerivedAttribute]:
    """Returns the derived attributes as they are in a time zone."""
    if zone is None:
        return attributes
    return {**attributes, **{each.name: each for each in time_attributes(zone)}}


def unread_time(event: Event) -> object:
    """Returns the time of an event if its hour was asked for and it cannot be read; else `None`."""
    return event.value("time") if any(map(event.lacks, TIME_NAMES)) else None


def time_attributes(zone: tzinfo | None = None) -> tuple[DerivedAttribute, ...]:
    """Returns the attributes derived from `time`."""
    return tuple(
        DerivedAttribute(f"time.{name}", partial(_part, at, zone), says, inputs=("time",))
        for at, (name, says) in enumerate(zip(Moment._fields, _SAYS, strict=True))
    )


def _part(at: int, zone: tzinfo | None, event: Event) -> int | float | None:
    found = moment(event.value("time"), zone)
    return None if found is None else found[at]


_SAYS = (
    "seconds since 1970-01-01T00:00:00Z",
    "the hour of the day, 0 to 23, by the event's own offset or in the zone that is set",
    "the day of the week, by the same clock; Monday is 1",
)
TIME_ATTRIBUTES = time_attributes()
TIME_NAMES = tuple(each.name for each in TIME_ATTRIBUTES)
"""In the order of the parts of a moment."""
