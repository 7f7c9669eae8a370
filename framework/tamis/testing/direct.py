"""Decides clauses on an event one at a time, straight from their meaning.

The yardstick of indexes. It shares no code with the rest of tamis, on purpose: what both have wrong
would never be found.
"""

from __future__ import annotations

import calendar
import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from tamis.event import is_itself, plain_name

_TOO_LARGE = 10**1000
_DERIVED = {"time.epoch": 0, "time.hour": 1, "time.weekday": 2}


def satisfies(event: Mapping[str, Any], clauses: Iterable[tuple[str, str, Any]]) -> bool:
    """Returns whether an event satisfies every `(attribute, op, value)`.

    >>> satisfies({"a": 3}, [("a", ">=", 3), ("a", "!=", 4)])
    True
    >>> satisfies({"a": True}, [("a", "=", 1)]), satisfies({}, [("a", "!=", 1)])
    (False, False)
    """
    return all(_satisfies(event, *clause) for clause in clauses)


def _satisfies(event: Mapping[str, Any], attribute: str, op: str, value: Any) -> bool:
    found = look_up(event, attribute)
    if op == "exists":
        return not _is_absent(found)
    if op == "not exists":
        return _is_absent(found)
    if op == "has" or op.endswith(("has any", "has all", "has none")):
        return _has(op, found, [value] if op == "has" else list(value))
    return _compares(op, found, value)


# values


def _kind(value: object) -> str | None:
    """Returns the kind of a scalar; none of what is absent, or no scalar."""
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, str):
        return "string"
    return "number" if isinstance(value, int) or _is_number(value) else None


def _is_number(value: object) -> bool:
    return isinstance(value, float) and not math.isnan(value)


def _number(value: int | float) -> int | float:
    """Returns a number, infinite where it is too large."""
    if isinstance(value, int) and abs(value) >= _TOO_LARGE:
        return math.inf if value > 0 else -math.inf
    return value


def _is_absent(value: object) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def _same(one: Any, other: Any) -> bool:
    kind = _kind(one)
    if kind is None or kind != _kind(other):
        return False
    return bool(_number(one) == _number(other)) if kind == "number" else bool(one == other)


def look_up(event: Mapping[str, Any], name: str) -> object:
    """Returns the key of that name, else the path, else what is derived from `time`.

    What is derived is read itself, whatever the keys, where that is asked."""
    if is_itself(name):
        return look_up({"time": event.get("time")}, plain_name(name))
    if not _is_absent(event.get(name)):
        return event[name]
    found: Any = event
    for step in name.split("."):
        found = found.get(step) if isinstance(found, Mapping) else None
    if _is_absent(found) and name in _DERIVED:
        moment = _moment(event.get("time"))
        return None if moment is None else moment[_DERIVED[name]]
    return found


# comparisons


def _compares(op: str, found: Any, value: Any) -> bool:
    kind = _kind(found)
    if kind is None:
        return False
    if op in ("in", "not in"):
        members = [member for member in value if _kind(member) == kind]
        return bool(members) and any(_same(found, each) for each in members) == (op == "in")
    if op in ("between", "in [)", "in (]", "in ()"):
        low, high = value
        above = ">=" if op in ("between", "in [)") else ">"
        below = "<=" if op in ("between", "in (]") else "<"
        return _compares(above, found, low) and _compares(below, found, high)
    if kind != _kind(value):
        return False
    if op in ("=", "!="):
        return _same(found, value) == (op == "=")
    if op in ("<", "<=", ">", ">="):
        return _ordered(op, _number(found) if kind == "number" else found, value)
    return _affixed(op, found, value)


def _ordered(op: str, found: Any, value: Any) -> bool:
    bound = _number(value) if isinstance(value, int) else value
    if found == bound:
        return op in ("<=", ">=")
    return bool(found < bound) == (op in ("<", "<="))


def _affixed(op: str, found: str, value: str) -> bool:
    tests: dict[str, Callable[[], bool]] = {
        "starts with": lambda: found[: len(value)] == value,
        "ends with": lambda: not value or found[-len(value) :] == value,
        "contains": lambda: found.find(value) >= 0,
        "matches": lambda: _matches(found, value),
    }
    wanted = not op.startswith("not ")
    return tests[op.removeprefix("not ")]() == wanted


def _matches(found: str, pattern: str) -> bool:
    import re2

    return re2.search(pattern.encode(), found.encode("utf-8", "surrogatepass")) is not None


def _has(op: str, found: object, wanted: list[Any]) -> bool:
    """Returns whether an array of scalars has values; absent elements are none."""
    if not isinstance(found, (list, tuple)):
        return False
    elements = [each for each in found if not _is_absent(each)]
    if any(_kind(each) is None for each in elements):
        return False
    there = [any(_same(each, value) for each in elements) for value in wanted]
    if op == "has none":
        return not any(there)
    if op.endswith("has all"):
        return all(there) == (op == "has all")
    return any(there)


# time


def _moment(text: object) -> tuple[int | float, int, int] | None:
    """Returns epoch, hour and weekday of a time, UTC where it has no offset."""
    if _kind(text) == "number":
        return _counted(text)  # type: ignore[arg-type]
    if isinstance(text, str) and len(text) == 10:
        text = f"{text}T00:00:00"
    if isinstance(text, str) and text[4:5] == text[7:8] == ":":
        text = f"{text[:4]}-{text[5:7]}-{text[8:]}"
    if not isinstance(text, str) or len(text) < 19 or any(ord(each) > 127 for each in text):
        return None
    punctuation = text[4] + text[7] + text[10].upper() + text[13] + text[16]
    fields = [text[:4], text[5:7], text[8:10], text[11:13], text[14:16], text[17:19]]
    offset, fraction = _offset(text[19:])
    if (
        punctuation not in ("--T::", "-- ::")
        or offset is None
        or not all(each.isdigit() for each in fields)
    ):
        return None
    year, month, day, hour, minute, second = (int(each) for each in fields)
    if not (1 <= month <= 12 and 1 <= day <= calendar.monthrange(max(year, 1), month)[1]):
        return None
    if year < 1 or hour > 23 or minute > 59 or second > 60:
        return None
    whole = calendar.timegm((year, month, day, hour, minute, second)) - offset
    return whole + fraction, hour, calendar.weekday(year, month, day) + 1


def _counted(seconds: int | float) -> tuple[int | float, int, int] | None:
    """Returns the same of seconds since 1970, or of milliseconds where there are very many."""
    if not -62135596800000 <= seconds < 253402300800000:
        return None
    epoch = seconds / 1000 if abs(seconds) >= 1e11 else seconds
    days, left = divmod(math.floor(epoch), 86400)
    return epoch, left // 3600, (days + 3) % 7 + 1


def _offset(tail: str) -> tuple[int | None, float]:
    """Returns the seconds of an offset, and those of the fraction before it."""
    fraction = 0.0
    if tail.startswith("."):
        digits = len(tail[1:]) - len(tail[1:].lstrip("0123456789"))
        if not digits:
            return None, 0.0
        fraction, tail = float(f"0{tail[: digits + 1]}"), tail[digits + 1 :]
    if tail in ("", "Z", "z"):
        return 0, fraction
    hours, _, minutes = tail[1:].partition(":")
    if tail[0] not in "+-" or len(hours) != 2 or len(minutes) != 2:
        return None, 0.0
    if not (hours + minutes).isdigit() or int(hours) > 23 or int(minutes) > 59:
        return None, 0.0
    return (int(hours) * 3600 + int(minutes) * 60) * (-1 if tail[0] == "-" else 1), fraction
