"""Random events, few names and few values, so that conditions meet them; and the odd ones.

Odd are: absent values, the wrong kind under a name, integers beyond doubles, infinities, arrays
with nulls or objects in them, paths that are keys too, envelopes, ids that are numbers.
"""

from __future__ import annotations

import json
import math
import random
from collections.abc import Mapping

NUMBERS = ("a", "b", "c", "altitude", "speed", "limit", "loudness", "people", "größe")
STRINGS = ("s", "camera", "model", "Camera ID")
BOOLEANS = ("flag", "in")
ARRAYS = ("tags", "codes")
PATHS = ("meta.speed", "meta.kind", "meta.deep.level")
DERIVED = ("time.hour", "time.weekday", "time.epoch")
CONVENTIONS = ("id", "time", "type", "source", "subject")

STRING_VALUES = (
    *("uav", "uav-1", "fire", "smoke", "http://x.org/a", "h1", "Bronx", "\U0001f525", "\uffee"),
    *("a b", 'it"s', "it's", "back\\slash", "é", "e\u0301", "x.y", "Uav", "10", "7", "", "true"),
    *("e7", "ce-1", "t1", "two\nlines", "and"),
)
HUGE = (
    *(2**53, 2**53 + 1, 2**53 - 1, float(2**53), 10**20, 1e20, 10**20 + 1, -(2**53) - 1),
    *(10**400, -(10**400), 10**999, 10**1000, -(10**1000), math.inf, -math.inf, 1e308),
)
TIMES = (
    *("2024-03-05T13:45:10Z", "2024-03-05T13:45:10.5+05:30", "2023-12-31T23:59:59-08:00"),
    *("2024-03-10T05:00:00", "2024-02-29t00:00:00z", "1969-12-31T23:00:00Z"),
)


def number(rng: random.Random) -> int | float:
    """A number, mostly small."""
    if rng.random() < 0.1:
        return rng.choice(HUGE)
    if rng.random() < 0.25:
        return rng.choice([0.5, 1.0, 2.5, 3.0, 5.0, -2.5, 10.0, 0.1])
    return rng.choice([0, 0, 1, 2, 3, 3, 4, 5, 5, 6, 7, 9, 10, -3, 90, 5000])


def string(rng: random.Random) -> str:
    """A string, mostly a short ordinary one."""
    return rng.choice(STRING_VALUES[:9] if rng.random() < 0.6 else STRING_VALUES)


def array(rng: random.Random, oddities: bool = True) -> list[object]:
    """An array, mostly of scalars."""
    found: list[object] = []
    for _ in range(rng.choice([0, 1, 2, 3, 3, 4])):
        chance = rng.random()
        if chance < 0.55:
            found.append(string(rng))
        elif chance < 0.8:
            found.append(number(rng))
        elif chance < 0.9:
            found.append(rng.choice([True, False]))
        elif oddities:
            found.append(rng.choice([None, math.nan, None, {"a": 1}, ["fire"]]))
    return found


def anything(rng: random.Random) -> object:
    """A value of any kind, or one that is absent, or content."""
    return rng.choice(
        [
            number(rng),
            string(rng),
            rng.choice([True, False]),
            None,
            math.nan,
            array(rng),
            {"speed": 3},
            rng.choice(HUGE),
        ]
    )


def _body(rng: random.Random) -> dict[str, object]:
    body: dict[str, object] = {}
    for names, usual in ((NUMBERS, number), (STRINGS, string), (ARRAYS, array)):
        for name in names:
            chance = rng.random()
            if chance < 0.85:
                body[name] = usual(rng)
            elif chance < 0.93:
                body[name] = anything(rng)
    for name in BOOLEANS:
        if rng.random() < 0.85:
            body[name] = rng.choice([True, True, False]) if rng.random() < 0.9 else anything(rng)
    if rng.random() < 0.8:
        body["meta"] = _meta(rng)
    for name in PATHS:
        if rng.random() < 0.1:
            body[name] = anything(rng)
    if rng.random() < 0.7:
        body["time"] = rng.choice(TIMES)
    if rng.random() < 0.05:
        body["time.hour"] = rng.choice([None, 5, "noon"])
    return body


def _meta(rng: random.Random) -> object:
    if rng.random() < 0.1:
        return anything(rng)
    meta: dict[str, object] = {}
    if rng.random() < 0.8:
        meta["speed"] = number(rng)
    if rng.random() < 0.8:
        meta["kind"] = string(rng)
    if rng.random() < 0.7:
        meta["deep"] = {"level": number(rng)} if rng.random() < 0.9 else anything(rng)
    if rng.random() < 0.1:
        meta["deep.level"] = number(rng)
    return meta


def random_event(rng: random.Random) -> dict[str, object]:
    """An event as it is given: bare or in an envelope, some by way of their JSON text."""
    event = _body(rng)
    chance = rng.random()
    if chance < 0.15:
        event = _envelope(rng, event)
    elif chance < 0.7:
        event["id"] = rng.choice(["e1", "e7", "7", 7, 10, 2**53 + 1])
    elif chance < 0.75:
        event["id"] = None
    if rng.random() < 0.3:
        return through_json(rng, event)
    if rng.random() < 0.1:
        event["blob"] = b"\x00\x01"
    return event


def _envelope(rng: random.Random, data: dict[str, object]) -> dict[str, object]:
    envelope: dict[str, object] = {
        "specversion": "1.0",
        "id": rng.choice(["ce-1", "7"]),
        "source": rng.choice(["/x", "uav"]),
        "type": rng.choice(["t1", "fire"]),
    }
    if rng.random() < 0.5:
        envelope["subject"] = rng.choice(["Bronx", "smoke"])
    if "time" in data:
        envelope["time"] = rng.choice(TIMES)
        if rng.random() < 0.7:
            del data["time"]
    if rng.random() < 0.2:
        data["id"] = "e1"
    if rng.random() < 0.3:
        data["type"] = rng.choice([3, "h1"])
    envelope["data"] = data
    return envelope


def through_json(rng: random.Random, event: Mapping[str, object]) -> dict[str, object]:
    """The event that a JSON line gives; there, infinity is written as a number too large."""
    text = json.dumps(event, ensure_ascii=rng.random() < 0.5)
    loaded = json.loads(text.replace("Infinity", rng.choice(["1e400", "2.5E+999"])))
    assert isinstance(loaded, dict)
    return loaded
