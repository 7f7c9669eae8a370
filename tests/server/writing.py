"""A process that writes a log until it is killed, and says what was acknowledged to it.

`python -m tests.server.writing FOLDER SEED`: a line of JSON on standard output for each.
"""

from __future__ import annotations

import json
import os
import random
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

from tamis.server import changes
from tamis.server.errors import Refusal
from tamis.server.log import Log
from tests.server.follower import Follower

_WRITERS = 4


def say(**what: object) -> None:
    """Says something at once, whole: a pipe takes a short line in one piece."""
    os.write(1, json.dumps(what).encode() + b"\n")


class Customer:
    """Does something random, again and again."""

    def __init__(self, log: Log, seed: str) -> None:
        self.log = log
        self.seed = seed
        self.chance = random.Random(seed)
        self.count = 0
        self.mine: list[int] = []

    def run(self) -> None:
        works: list[Callable[[], None]] = [
            *(self.subscribe, self.replace, self.renew, self.unsubscribe),
            *(self.publish, self.publish, self.publish, self.acknowledge, self.evaluate),
        ]
        while True:
            work = self.chance.choice(works)
            try:
                work()
            except Refusal as refusal:
                say(refused=type(refusal).__name__)

    def does(self, change: Any) -> Any:
        return self.log.submit(change).result()

    def tag(self) -> dict[str, str]:
        self.count += 1
        return {"where": str(self.chance.randrange(10)), "tag": f"{self.seed}-{self.count}"}

    def one(self) -> int:
        return self.chance.choice(self.mine or [1])

    def subscribe(self) -> None:
        document, seconds = self.tag(), self.chance.choice([0.2, 5.0, 1000.0])
        done = self.does(changes.Subscribe(document, bytes(32), None, seconds))
        self.mine.append(done.born)
        say(did="subscribe", born=done.born, **document)

    def replace(self) -> None:
        born, document = self.one(), self.tag()
        self.does(changes.Replace(born, document))
        say(did="replace", born=born, **document)

    def renew(self) -> None:
        done = self.does(changes.Renew(self.one(), 1000 + self.chance.random()))
        say(did="renew", born=done.born, expires=done.expires)

    def unsubscribe(self) -> None:
        born = self.one()
        self.does(changes.Unsubscribe(born))
        say(did="unsubscribe", born=born)

    def publish(self) -> None:
        count = self.chance.randint(1, 3)
        events = []
        for _ in range(count):
            large = {"image": "data:" + self.seed * 4_000} if self.chance.random() < 0.05 else {}
            tag = self.tag()["tag"]
            fails = {"fails": self.chance.choice([1, 2])} if self.chance.random() < 0.2 else {}
            events.append({"id": tag, "level": self.chance.randrange(10), **fails, **large})
        done = self.does(changes.Publish(events))
        levels = [event["level"] for event in events]
        say(did="publish", ids=done.ids, positions=done.positions, levels=levels)

    def acknowledge(self) -> None:
        standing = self.log.reading.standings()
        if standing:
            each = self.chance.choice(standing)
            number = self.does(changes.Acknowledge(each.born, self.chance.randint(0, each.due)))
            say(did="acknowledge", born=each.born, number=number)

    def evaluate(self) -> None:
        found = self.log.reading.open_verdicts(tries=10)
        if found:
            each = self.chance.choice(found)
            born = self.chance.choice([each.born, None])
            ids = self.does(changes.Evaluate([each.position], born))
            say(did="evaluate", of=each.position, born=born or 0, count=len(ids))


def main(folder: str, seed: str) -> None:
    say(opening=seed)
    log = Log(folder)
    log.writer.most_together = random.Random(f"{seed} together").choice([1, 2, 1_024])
    follower = Follower(log)
    say(opened=seed)
    for number in range(_WRITERS):
        customer = Customer(log, f"{seed}.{number}")
        threading.Thread(target=customer.run, daemon=True).start()
    while True:
        log.writer.wait_beyond(follower.cursor, 1)
        follower.decide(50)
        time.sleep(0.002)


if __name__ == "__main__":
    main(*sys.argv[1:])
