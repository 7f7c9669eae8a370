"""Decides what a name is in an event, of what kind a value is, and how two values compare.

Straight from the contract, sections 1 and 2 (meaning 1 and 2); no cleverness, no caches.
"""

from __future__ import annotations

import datetime
import math
import operator
from collections.abc import Callable, Mapping
from typing import Any

Scalar = bool | int | float | str

EXACT_BELOW = 10**1000
"""Integers of up to 1,000 digits are exact; longer ones are infinite."""

_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)

_COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def is_absent(value: object) -> bool:
    """Whether a value counts as not there: null and NaN."""
    return value is None or (isinstance(value, float) and math.isnan(value))


def settle(value: object) -> object:
    """The value as it compares: an integer of more than 1,000 digits is infinite."""
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= EXACT_BELOW:
        return math.inf if value > 0 else -math.inf
    return value


def kind(value: object) -> str | None:
    """`boolean`, `number` or `string`; None for what is absent or no scalar."""
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, (int, float)):
        return None if is_absent(value) else "number"
    if isinstance(value, str):
        return "string"
    return None


def key(value: object) -> tuple[str, object]:
    """A hashable that two scalars share exactly when they are equal by value."""
    found = kind(value)
    return (found, value) if found is not None else ("no scalar", repr(value))


def same(left: object, right: object) -> bool:
    """Whether two scalars are one value: 1 is 1.0, true is never 1."""
    return kind(left) is not None and kind(left) == kind(right) and left == right


def compare(comparison: str, left: object, right: object) -> bool:
    """One comparison of two values; across kinds, and on what is no scalar, it is false."""
    left, right = settle(left), settle(right)
    found = kind(left)
    if found is None or found != kind(right):
        return False
    if found == "boolean" and comparison not in ("=", "!="):
        return False
    return bool(_COMPARISONS[comparison](left, right))


def open_event(event: Mapping[str, object]) -> dict[str, object]:
    """The event proper: a CloudEvents envelope opened, a number in `id` taken as its text."""
    opened = dict(event)
    if "specversion" in event and "data" in event:
        data = event["data"]
        assert isinstance(data, dict)
        opened = dict(data)
        for name in ("type", "source", "subject"):
            if name in event and name not in opened:
                opened[name] = event[name]
        for name in ("id", "time"):
            if name in event:
                opened[name] = event[name]
    identity = opened.get("id")
    if kind(identity) == "number":
        opened["id"] = str(identity)
    return opened


def look_up(event: Mapping[str, object], name: str) -> object:
    """The value of a name in an opened event: the key, else the path, else derived, else None."""
    value = event.get(name)
    if not is_absent(value):
        return settle(value)
    node: object = event
    for part in name.split("."):
        node = node.get(part) if isinstance(node, Mapping) else None
    if not is_absent(node):
        return settle(node)
    return _derived(event, name)


def _derived(event: Mapping[str, object], name: str) -> object:
    time = event.get("time")
    if not isinstance(time, str) or not name.startswith("time."):
        return None
    moment = datetime.datetime.fromisoformat(time.upper())
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=datetime.UTC)
    if name == "time.epoch":
        whole, rest = divmod(moment - _EPOCH, datetime.timedelta(seconds=1))
        return whole + rest / datetime.timedelta(seconds=1) if rest else whole
    return {"time.hour": moment.hour, "time.weekday": moment.isoweekday()}.get(name)


def elements(value: object) -> list[object] | None:
    """The elements that `has` sees, or None where the value is no array of scalars."""
    if not isinstance(value, list):
        return None
    present = [settle(element) for element in value if not is_absent(element)]
    return present if all(kind(element) is not None for element in present) else None
