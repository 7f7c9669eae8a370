"""A process that subscribes in a database until it is killed, and says what it does.

`python -m tests.framework.index.dbms.writing PATH SEED`: a line of JSON before each change, and one
after it. Which database and which way of matching is chosen by the number of the place.
"""

from __future__ import annotations

import json
import os
import random
import sys
from pathlib import Path
from typing import Any

import tamis

IDS = [f"s{number}" for number in range(12)]
DATABASES = "sqlite", "duckdb"
TEXTS = (
    "a = {0} and b < {1}",
    "a >= {0} or name starts with 'x{1}'",
    "tags has any {{{0}, {1}}} and not exists(c)",
    "b in [{0}, 30) and name matches 'x{1}$'",
)


def options_of(path: Path) -> dict[str, object]:
    """The database of a place: one and the same for all processes there."""
    number = int(path.name.removeprefix("log-"))
    method = ("grouping", "sequential")[number // 2 % 2]
    return {"database": DATABASES[number % 2], "path": str(path), "method": method}


def say(**what: object) -> None:
    """Says something at once, whole: a pipe takes a short line in one piece."""
    os.write(1, json.dumps(what).encode() + b"\n")


def change_of(chance: random.Random) -> dict[str, Any]:
    """What a change ends, and what it subscribes, in one transaction each."""
    if chance.random() < 0.3:
        return {"gone": chance.choice(IDS)}
    ids = chance.sample(IDS, chance.choice([1, 1, 4]))
    numbers = chance.randrange(20), chance.randrange(20)
    return {"put": {id: chance.choice(TEXTS).format(*numbers) for id in ids}}


def main(path: str, seed: str) -> None:
    say(opening=seed)
    matcher = tamis.Matcher([], index="dbms", index_options=options_of(Path(path)))
    say(opened=seed)
    chance = random.Random(seed)
    while True:
        change = change_of(chance)
        if change.get("gone", IDS[0]) not in matcher and "gone" in change:
            continue
        say(will=change)
        if "gone" in change:
            matcher.unsubscribe(change["gone"])
        else:
            entries = [{"id": id, "where": where} for id, where in change["put"].items()]
            matcher.subscribe_many(entries, replace=True)
        say(did=change)


if __name__ == "__main__":
    main(*sys.argv[1:])
