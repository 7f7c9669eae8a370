"""A factory that is watched: the operators, the events, and what is subscribed; all from a seed.

Three sensors report what they noticed at a machine. Asking one takes a while, as a model would.
What they notice is skewed: three kinds in four are there nearly always (the hum of a running
machine), the fourth hardly ever. Nothing in the subscriptions says which is which.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterator, Mapping
from typing import Any

import tamis

KINDS = 40
OFTEN, SELDOM = 0.95, 0.03
NORTH = 0.9
"""The share of what comes from the north hall."""
SECONDS = {"hears": 0.0003, "feels": 0.0002, "sees": 0.0006}
INPUTS = {"hears": "sounds", "feels": "vibrations", "sees": "marks"}


def asked(sensor: str) -> tamis.Operator:
    """The operator that asks one sensor for one kind of thing."""
    key = INPUTS[sensor]

    @tamis.operator(name=sensor, inputs=(key,), cost_seconds=0.0004)
    def notices(event: Mapping[str, Any], kind: int) -> bool:
        time.sleep(SECONDS[sensor])
        return kind in event[key]

    return notices


OPERATORS = [asked(sensor) for sensor in SECONDS]


@tamis.hookimpl
def tamis_operators() -> list[tamis.Operator]:
    return OPERATORS


def is_rare(kind: int) -> bool:
    """What nobody knows beforehand."""
    return kind % 4 == 1


def events(count: int, seed: int) -> Iterator[dict[str, Any]]:
    """What came in."""
    chance = random.Random(seed)
    for number in range(count):
        found: dict[str, Any] = {
            "id": f"e{number}",
            "hall": "north" if chance.random() < NORTH else "south",
            "load": round(min(100.0, chance.expovariate(1 / 15)), 1),
        }
        for key in INPUTS.values():
            found[key] = [
                kind
                for kind in range(KINDS)
                if chance.random() < (SELDOM if is_rare(kind) else OFTEN)
            ]
        yield found


def subscriptions(count: int, seed: int) -> list[dict[str, str]]:
    """What is looked for: four things at a time, one of which is rare, in a hall at some load."""
    chance = random.Random(seed)
    found = []
    for number in range(count):
        first = 4 * chance.randrange(KINDS // 4)
        kinds = [first + at for at in range(4)]
        chance.shuffle(kinds)
        asks = [f"{chance.choice(list(SECONDS))}({kind})" for kind in kinds]
        where = " and ".join([*asks, 'hall = "north"', f"load > {chance.randrange(0, 40)}"])
        found.append({"id": f"s{number:03}", "where": where})
    return found
