"""Declares what events are like: attributes, their kinds and domains (publication types).

Undeclared attributes pass. The value of a declared one must be of its kind and in its domain; only
required ones have to be there. A type can tell that a condition never holds.
Cost: O(declared attributes) an event, and O(domain) a predicate.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tamis.errors import EventError, TamisError
from tamis.event.event import Event
from tamis.language.comparison import ARRAY, PRESENCE, Comparison
from tamis.language.contradiction import contradictory
from tamis.language.predicate import AttributePredicate, parts_of
from tamis.language.values import BOOLEAN, NUMBER, STRING, Scalar, as_scalar, kind_of

_KINDS = {"number": NUMBER, "string": STRING, "boolean": BOOLEAN}
_ARRAY = "array"
_ANY = {
    "number": Comparison("between", (-math.inf, math.inf)),
    "string": Comparison(">=", ""),
    "boolean": Comparison("in", (False, True)),
}
_SHOWN = 5


class EventType:
    """The attributes that events of one type have.

    An attribute has a kind (`"number"`, `"string"`, `"boolean"` or `"array"`), or a kind and its
    domain: a pair of numbers for all between them, or a list of the values.

    >>> frame = EventType("frame", attributes={"altitude": ("number", (0, 500))})
    >>> frame.problem(Event({"altitude": 700}, "e1"))
    'altitude is 700, not from 0 to 500'
    """

    def __init__(
        self,
        name: str,
        attributes: Mapping[str, str | Sequence[Any]],
        required: Iterable[str] = (),
    ) -> None:
        if not isinstance(name, str) or not name:
            raise TamisError(f"the name of an event type is a text, not {name!r:.80}")
        self.name = name
        self.attributes = {each: _declared(name, each, how) for each, how in attributes.items()}
        self.required = tuple(required)
        for each in self.required:
            if each not in self.attributes:
                raise TamisError(f"the type {name} requires {each}, which it does not declare")

    def __repr__(self) -> str:
        return f"<event type {self.name}: {', '.join(self.attributes) or 'nothing declared'}>"

    def problem(self, event: Event) -> str | None:
        """Returns what keeps an event from being of this type, if anything does."""
        for name, (kind, within) in self.attributes.items():
            value = event.value(name)
            if value is None:
                if name in self.required:
                    return f"{name} is absent"
            elif kind == _ARRAY:
                if event.array(name) is None:
                    return f"{name} is not an array of scalars"
            else:
                scalar = event.scalar(name)
                if scalar is None or kind_of(scalar) != _KINDS[kind]:
                    return f"{name} is not a {kind}"
                if not within.compiled()(scalar):
                    return f"{name} is {scalar!r:.80}, not {_words(within)}"
        return None

    def allows(self, predicates: Iterable[AttributePredicate]) -> bool:
        """Returns whether an event of this type may satisfy attribute predicates all together."""
        asked: dict[str, list[Comparison]] = {}
        for predicate in predicates:
            parts = parts_of(predicate)
            if len(parts) == 1:
                asked.setdefault(parts[0].attribute, []).append(parts[0].comparison)
            elif not any(self._allows(part.attribute, [part.comparison]) for part in parts):
                return False
        return all(self._allows(name, mine) for name, mine in asked.items())

    def _allows(self, name: str, asked: list[Comparison]) -> bool:
        declared = self.attributes.get(name)
        if declared is None:
            return True
        kind, within = declared
        if any(each.op == "not exists" for each in asked):
            return name not in self.required and not contradictory(asked)
        asked = [each for each in asked if each.reads != PRESENCE]
        if kind == _ARRAY or any(each.reads == ARRAY for each in asked):
            return kind == _ARRAY and all(each.reads == ARRAY for each in asked)
        if within.op == "in":
            tests = [each.compiled() for each in asked]
            return any(all(test(value) for test in tests) for value in within.constants)
        return not contradictory([*asked, within])


Declared = tuple[str, Comparison]


def _declared(type_name: str, name: str, how: str | Sequence[Any]) -> Declared:
    """Returns the kind of an attribute, and what a value of it has to be."""
    kind, *rest = (how,) if isinstance(how, str) else tuple(how)
    where = f"{name} of the type {type_name}"
    if kind not in (*_KINDS, _ARRAY):
        raise TamisError(f"{where}: a kind is one of {', '.join(_KINDS)}, array, not {kind!r:.80}")
    if not rest:
        return kind, _ANY.get(kind, Comparison("exists"))
    if len(rest) > 1 or kind == _ARRAY or not isinstance(rest[0], (list, tuple, set, frozenset)):
        raise TamisError(f"{where}: a domain is two bounds or a list of values, not {rest!r:.80}")
    values = [_value(where, kind, value) for value in rest[0]]
    if kind == "number" and isinstance(rest[0], tuple):
        if len(values) != 2 or values[0] > values[1]:  # type: ignore[operator]
            raise TamisError(f"{where}: an interval is its lower and upper bound, not {rest[0]!r}")
        return kind, Comparison("between", tuple(values))
    if not values:
        raise TamisError(f"{where}: a domain has at least one value")
    return kind, Comparison("in", tuple(values))


def _value(where: str, kind: str, value: object) -> Scalar:
    scalar = as_scalar(value)
    if scalar is None or kind_of(scalar) != _KINDS[kind]:
        raise TamisError(f"{where}: {value!r:.80} of its domain is not a {kind}")
    return scalar


def _words(within: Comparison) -> str:
    if within.op == "between":
        low, high = within.constants
        return f"from {low} to {high}"
    some = ", ".join(repr(value) for value in within.constants[:_SHOWN])
    return f"one of {some}{', …' if len(within.constants) > _SHOWN else ''}"


def checked_types(types: Iterable[EventType]) -> tuple[EventType, ...]:
    """Returns event types, each with a name of its own."""
    taken = tuple(types)
    for each in taken:
        if not isinstance(each, EventType):
            raise TamisError(f"types are tamis.EventTypes, not {each!r:.80}")
    names = [each.name for each in taken]
    for name in names:
        if names.count(name) > 1:
            raise TamisError(f"two event types have the name {name}")
    return taken


def domains_of(types: Iterable[EventType]) -> dict[str, list[Scalar]]:
    """Returns the attributes of which types list the values, with all these values."""
    domains: dict[str, list[Scalar]] = {}
    for each in types:
        for name, (_, within) in each.attributes.items():
            if within.op == "in":
                domains.setdefault(name, []).extend(within.constants)
    return domains


def check_fits(types: Sequence[EventType], event: Event) -> None:
    """Raises `EventError` where there are types and an event fits none of them."""
    problems = []
    for each in types:
        problem = each.problem(event)
        if problem is None:
            return
        problems.append(f"it is not of type {each.name}: {problem}")
    if problems:
        raise EventError(f"the event fits no type: {'; '.join(problems)}")


def read_types(path: Path) -> list[EventType]:
    """Reads event types from a file of JSON: a list of objects, or one.

    An attribute is a kind, or a list of a kind and its domain, in which two numbers are bounds."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as bad:
        raise TamisError(f"{path} holds no event types: {bad}") from bad
    types = []
    for each in content if isinstance(content, list) else [content]:
        if not isinstance(each, dict) or not {"name"} <= each.keys() <= _KEYS:
            raise TamisError(f"{path}: an event type is an object of {', '.join(sorted(_KEYS))}")
        attributes = each.get("attributes", {})
        if not isinstance(attributes, dict):
            raise TamisError(f"{path}: attributes of a type are an object, not {attributes!r:.80}")
        declared = {name: _as_bounds(how) for name, how in attributes.items()}
        types.append(EventType(each["name"], declared, each.get("required", ())))
    return types


_KEYS = {"name", "attributes", "required"}


def _as_bounds(how: Any) -> Any:
    """Returns a declaration of JSON, two numbers as bounds."""
    if isinstance(how, list) and len(how) == 2 and how[0] == "number" and len(how[1]) == 2:
        return how[0], tuple(how[1])
    return how
