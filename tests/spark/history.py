"""History for tests: events of every kind, lines that are none, operators that fail."""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path
from typing import Any

from tamis import Statistics
from tamis.spark.streaming import MATCHES

OPERATORS = """
import tamis

@tamis.operator(inputs=("loudness",), version="3")
def louderThan(event, level):
    if event["loudness"] > 95:
        raise ValueError("the microphone is broken")
    return event["loudness"] > level

@tamis.operator(inputs=("people",), outputs=("count",), deterministic=True)
def crowdCount(event, count):
    return list(range(event["people"]))
"""
SUBSCRIPTIONS = [
    'altitude < 400 and camera = "uav-1"',
    "altitude in [50, 900) or altitude in {1, 2, 3} or altitude != 7",
    "altitude >= 9007199254740993 or armed = true or armed != true",
    'camera starts with "uav" or camera ends with "2" or camera contains "av-"',
    'camera matches "[0-9]$" or camera in {"uav-2", 3, true} or not camera = "uav-2"',
    'camera not in {"uav-1", 4} or camera between "a" and "u" or camera < "uav-2"',
    "tags has fire or tags has any {smoke, fire} or tags has all {fire, smoke}",
    "tags has none {fire} or exists(camera) or not exists(camera)",
    "time.hour in [6, 18) or time.weekday = 3 or meta.speed > 60km/h",
    "louderThan(3) and not louderThan(60) and altitude > 3",
    "crowdCount(?n), ?n > 2, altitude < 500",
    "crowdCount(?n), ?n > $limit",
    "crowdCount(4) or crowdCount(?x) and louderThan(90)",
    'people <= 3 or people in (4, 6] or not people < 7 or camera <= "uav-1"',
]


def documents(count: int, seed: int = 1) -> list[dict[str, Any]]:
    """Events with absent attributes, values of mixed kinds, paths, arrays, and times."""
    chance = random.Random(seed)
    values: list[tuple[str, Any]] = [
        ("altitude", lambda: chance.choice([chance.randrange(1000), chance.uniform(0, 1000)])),
        ("altitude", lambda: chance.choice([2**53 + 1, 2**53, -(10**30), 1e300, "high", None])),
        ("camera", lambda: chance.choice(["uav-1", "uav-2", "north", "", 3, True])),
        ("armed", lambda: chance.choice([True, False, 1, None])),
        ("tags", lambda: chance.choice([["fire"], ["smoke", "fire"], [], [1, None], "fire"])),
        ("meta", lambda: chance.choice([{"speed": chance.randrange(200)}, {}, 4])),
        ("time", lambda: f"2026-01-{chance.randrange(1, 29):02}T{chance.randrange(24):02}:00:00Z"),
        ("loudness", lambda: chance.randrange(100)),
        ("people", lambda: chance.choice([*range(8), "many"])),
        ("limit", lambda: chance.randrange(8)),
    ]
    found = []
    for at in range(count):
        event = {name: make() for name, make in values if chance.random() < 0.7}
        if chance.random() < 0.5:
            event["id"] = chance.choice([f"e{at}", at])
        found.append(event)
    return found


BROKEN = ["{", "[1, 2]", "7", '{"id": [1]}', '{"a": tru}']


def write_history(folder: Path, count: int = 300) -> list[dict[str, Any]]:
    """Three files of lines, one of them packed, with broken ones; the events that they hold."""
    found = documents(count)
    folder.mkdir(parents=True)
    lines = [json.dumps(each) for each in found]
    for at, bad in enumerate(BROKEN):
        lines.insert((at + 1) * len(lines) // 7, bad)
    lines.insert(3, "")
    third = len(lines) // 3
    (folder / "a.jsonl").write_text("\n".join(lines[:third]) + "\n")
    with gzip.open(folder / "b.jsonl.gz", "wt") as packed:
        packed.write("\n".join(lines[third : 2 * third]) + "\n")
    (folder / "c.jsonl").write_text("\n".join(lines[2 * third :]))
    return found


def flat(count: int) -> list[dict[str, Any]]:
    """Events as a table has them: columns of one kind each."""
    chance = random.Random(2)
    found: list[dict[str, Any]] = []
    for at in range(count):
        whole = {
            "id": f"e{at}",
            "altitude": chance.choice([chance.randrange(1000), 2**53 + 1, 2**53]),
            "wind": chance.choice([chance.uniform(0, 30), float("nan"), -0.0]),
            "camera": chance.choice(["uav-1", "uav-2", "north", ""]),
            "armed": chance.choice([True, False]),
            "tags": chance.choice([["fire"], ["smoke", "fire"], []]),
            "time": f"2026-01-{chance.randrange(1, 29):02}T{chance.randrange(24):02}:00:00Z",
            "loudness": chance.randrange(100),
            "people": chance.randrange(8),
            "limit": chance.randrange(8),
        }
        row = {name: value if chance.random() < 0.9 else None for name, value in whole.items()}
        found.append(row)
    return found


def facts(learned: Statistics) -> dict[str, Any]:
    """All that statistics hold, but for what things cost."""
    sample = learned.sample
    return {
        "events": (learned.events, learned.rejects),
        "predicates": {
            text: (found.kind, *found.counts) for text, found in sorted(learned.predicates.items())
        },
        "attributes": learned.attributes,
        "answers": {text: sorted(each) for text, each in sorted(learned.answers.items())},
        "sample": sample
        and (sample.predicates, sample.truths().tolist(), sample.knowns().tolist()),
    }


def read_lines(output: str, what: str = MATCHES) -> list[dict[str, Any]]:
    """The JSON lines of all batches that are there, in the order of the batches."""
    folders = sorted(
        Path(output, what).glob("batch=*"), key=lambda each: int(each.name.partition("=")[2])
    )
    return [
        json.loads(line)
        for folder in folders
        for part in sorted(folder.glob("part-*.json*"))
        for line in part.read_text(encoding="utf-8").splitlines()
    ]
