"""Derives attributes from the `time` of an event: RFC 3339, by the event's own offset."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from typing import NamedTuple

from tamis.event import DerivedAttribute, Event

_RFC_3339 = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})[Tt ]([0-9]{2}):([0-9]{2}):([0-9]{2})(\.[0-9]+)?"
    r"(?:[Zz]|([+-])([0-9]{2}):([0-9]{2}))?"
)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Moment(NamedTuple):
    """What a time says, on its own clock."""

    epoch: int | float
    hour: int
    weekday: int


def moment(text: object) -> Moment | None:
    """The moment that a text in RFC 3339 or a `datetime` names, UTC where it has no offset."""
    if isinstance(text, datetime):
        text = text.isoformat()
    return _named(text) if isinstance(text, str) else None


@lru_cache(maxsize=1024)  # an event is asked for each of its parts
def _named(text: str) -> Moment | None:
    matched = _RFC_3339.fullmatch(text)
    if matched is None:
        return None
    year, month, day, hour, minute, second = (int(each) for each in matched.groups()[:6])
    fraction, sign, hours, minutes = matched.groups()[6:]
    offset = timedelta(hours=int(hours or 0), minutes=int(minutes or 0))
    if second > 60 or int(hours or 0) > 23 or int(minutes or 0) > 59:
        return None
    leap = second == 60
    try:
        local = datetime(year, month, day, hour, minute, second - leap, tzinfo=UTC)
        weekday = date(year, month, day).isoweekday()
    except ValueError:
        return None
    whole = (local - _EPOCH) // timedelta(seconds=1) + leap
    whole += int(offset.total_seconds()) * (1 if sign == "-" else -1)
    epoch = whole + float(fraction) if fraction and float(fraction) else whole
    return Moment(epoch, hour, weekday)


def _part(name: str, description: str) -> DerivedAttribute:
    def derive(event: Event) -> int | float | None:
        found = moment(event.value("time"))
        if found is None:
            return None
        value: int | float = getattr(found, name)
        return value

    return DerivedAttribute(f"time.{name}", derive, description, inputs=("time",))


_SAYS = {
    "epoch": "seconds since 1970-01-01T00:00:00Z",
    "hour": "the hour of the day, 0 to 23, by the event's own offset",
    "weekday": "the day of the week by the event's own offset; Monday is 1",
}
TIME_ATTRIBUTES = tuple(_part(name, _SAYS[name]) for name in Moment._fields)
TIME_NAMES = tuple(each.name for each in TIME_ATTRIBUTES)
"""As the parts of a moment follow."""
