"""Kills a match server at random moments of whatever its clients do, and looks what is left.

`python -m tests.server.server_kills --times N [--seed S --start N]`:
subscriptions of several predicates with `or` and policies come, change, are renewed, expire and go
while events are published, of which some have the operator raise or hang, and are evaluated again.
All that was answered is there; what is delivered is what a plain model
makes of the order in the log; what is due to webhooks, whose receiver is moody, comes at least once
with the id that the log has.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

import httpx

import tamis
from tamis.server.reading import LogReaders, delivery_id
from tamis.server.service import ServerSettings
from tamis.server.serving import Server
from tamis.server.webhooks.addresses import networks_of
from tamis.server.webhooks.dispatch import WebhookSettings
from tests.killing import commanded, killed
from tests.server import counting
from tests.server.receivers import Receiver, receiving
from tests.server.replayed import Replay

ROOT = Path(__file__).resolve().parents[2]
_A_PLACE = 5
_CLIENTS = 3
_STILL_SECONDS = 0.5
_LEAST_SAID = 15
_WHERE = "(a > {0} and peopleCount(?n) and ?n > {1}) or (b = {2} and not peopleCount(3))"
_POLICIES: list[Any] = [None, {"once": True}, {"of": [2, 3]}]
_PROGRAM = """
import sys
from tamis.cli import main
from tamis.server import policies
policies._EVENTS_BETWEEN = 5
from tamis.server.webhooks import dispatch
dispatch.Dispatch._delay = lambda self, before: 0.05
sys.exit(main())
"""
"""The server, which writes the state of policies often and is impatient with webhooks."""
_ADMIN = {"Authorization": "Bearer admin"}


class Customer:
    """Does something random to a server until it is gone."""

    def __init__(self, url: str, seed: str, said: list[dict[str, Any]], hook: str = "") -> None:
        self.client = httpx.Client(base_url=url, timeout=10)
        self.chance = random.Random(seed)
        self.seed = seed
        self.said = said
        self.hook = hook
        self.mine: list[tuple[str, dict[str, str]]] = []
        self.count = 0

    def run(self) -> None:
        works = [self.subscribe, self.change, self.renew, self.end]
        works += [self.publish] * 6 + [self.evaluate]
        works += [] if self.hook else [self.acknowledge]
        try:
            while True:
                self.chance.choice(works)()
        except httpx.TransportError:
            self.client.close()

    def wanted(self) -> dict[str, Any]:
        numbers = [self.chance.randrange(4) for _ in range(3)]
        deliver = self.chance.choice(_POLICIES)
        more = {} if deliver is None else {"deliver": deliver}
        more |= {"webhook": self.hook} if self.hook else {}
        return {"where": _WHERE.format(*numbers), "numbers": numbers, **more}

    def ask(self, method: str, address: str, body: Any, **more: Any) -> Any:
        while True:
            answer = self.client.request(method, address, json=body, **more)
            if answer.status_code != 429:
                break
            time.sleep(0.05)  # the server says that it has too much to do
        assert answer.status_code in (200, 201, 202, 204, 404), answer.text
        return None if answer.status_code == 404 else answer.content and answer.json()

    def subscribe(self) -> None:
        wanted = {**self.wanted(), "validity": self.chance.choice([0.5, 1000])}
        made = self.ask("POST", "/subscriptions", wanted)
        ticket = {"Authorization": f"Bearer {made['ticket']}"}
        self.mine.append((f"/subscriptions/{made['id']}", ticket))
        self.said.append({"did": "subscribe", "id": made["id"], "numbers": wanted["numbers"]})

    def change(self) -> None:
        if self.mine:
            address, ticket = self.chance.choice(self.mine)
            self.ask("PUT", address, self.wanted(), headers=ticket)

    def renew(self) -> None:
        if self.mine:
            address, ticket = self.chance.choice(self.mine)
            self.ask("POST", f"{address}/renew", {"validity": 1000}, headers=ticket)

    def end(self) -> None:
        if len(self.mine) > 1:
            address, ticket = self.mine.pop(self.chance.randrange(len(self.mine)))
            if self.ask("DELETE", address, None, headers=ticket) is not None:
                self.said.append({"did": "end", "id": address.rpartition("/")[2]})

    def publish(self) -> None:
        events = []
        for _ in range(self.chance.randint(1, 3)):
            self.count += 1
            parts = {name: self.chance.randrange(5) for name in ("a", "b", "people")}
            mood = self.chance.choice(counting.MOODS)
            events.append({"id": f"{self.seed}-{self.count}", "mood": mood, **parts})
        address = self.chance.choice(["/events", "/events?wait=true"])
        ids = self.ask("POST", address, events)["ids"]
        self.said.append({"did": "publish", "ids": ids})

    def acknowledge(self) -> None:
        if self.mine:
            address, ticket = self.chance.choice(self.mine)
            found = self.ask("GET", f"{address}/matches?wait=0", None, headers=ticket)
            if found:
                id = self.chance.choice(found)["id"]
                self.ask("POST", f"{address}/ack", {"id": id}, headers=ticket)
                self.said.append({"did": "acknowledge", "id": address.rpartition("/")[2], "to": id})

    def evaluate(self) -> None:
        if self.mine:
            address, ticket = self.chance.choice(self.mine)
            done = self.ask("POST", f"{address}/undetermined/evaluate", {}, headers=ticket)
            if done is not None:
                id = address.rpartition("/")[2]
                self.said += [{"did": "evaluate", "id": id, "of": each} for each in done["events"]]


class ServerTrial:
    """What a server answered, and whether it is left after it was killed."""

    def __init__(self) -> None:
        self.said: list[dict[str, Any]] = []
        self._stack = contextlib.ExitStack()
        self.receiver = self._stack.enter_context(receiving())
        moods = random.Random(1)
        self.receiver.answer = lambda got: (moods.choice([204, 204, 204, 500]), {}, b"")

    def kill_once(self, folder: Path, chance: random.Random) -> None:
        """Starts a server, lets clients at it, and kills it."""
        process = subprocess.Popen(
            [
                *(sys.executable, "-c", _PROGRAM, "serve", "--port", "0", "--data", str(folder)),
                *("--operators", "tests.server.counting", "--webhook-allow", "127.0.0.0/8"),
            ],
            cwd=ROOT,
            stderr=subprocess.PIPE,
            text=True,
            env=dict(os.environ),
        )
        assert process.stderr is not None
        threads: list[threading.Thread] = []
        if chance.random() < 0.2:  # while it recovers, more or less
            time.sleep(chance.uniform(0.5, 2.5))
        else:
            line = process.stderr.readline()
            found = re.search(r"http://\S+(?=,)", line)
            assert found is not None, line + process.stderr.read()
            threads = [
                threading.Thread(target=each.run) for each in self._customers(found[0], chance)
            ]
            for thread in threads:
                thread.start()
            self._wait(chance.uniform(0.1, 2.0))
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stderr.close()
        for thread in threads:
            thread.join()

    def _wait(self, seconds: float) -> None:
        """Waits so long, and longer where everything is slow, so that something is done."""
        ends, least = time.monotonic() + 30, len(self.said) + _LEAST_SAID
        time.sleep(seconds)
        while len(self.said) < least and time.monotonic() < ends:
            time.sleep(0.01)

    def _customers(self, url: str, chance: random.Random) -> list[Customer]:
        seed = f"{chance.getrandbits(32):x}"
        hooks = [self.receiver.url, *[""] * (_CLIENTS - 1)]
        return [Customer(url, f"{seed}.{each}", self.said, hook) for each, hook in enumerate(hooks)]

    def end(self, folder: Path) -> Counter[str]:
        with self._stack:
            counts = Counter(deliveries=audit(folder, self.said, self.receiver))
        counts["webhooks"] = len(self.receiver.got)
        counts.update(each["did"] for each in self.said)
        return counts


def audit(folder: Path, said: list[dict[str, Any]], receiver: Receiver) -> int:
    """Compares what is delivered with the model; how many deliveries."""
    counting.calm = True  # what is open comes to an end
    matcher = tamis.Matcher(operators=[counting.peopleCount])
    hooks = WebhookSettings(networks=networks_of(["127.0.0.0/8"]), delays=(0.01,))
    settings = ServerSettings(folder, admin_key="admin", webhooks=hooks)
    with Server(settings, lambda: matcher) as server:
        server.wait_ready()
        reading = server.service.log.reading
        while True:
            position = _wait_still(reading)
            try:
                return _compare(server, position, said, receiver)
            except AssertionError:
                if reading.state().position == position:
                    raise  # else something was evaluated again meanwhile, or expired


def _compare(server: Server, position: int, said: list[dict[str, Any]], receiver: Receiver) -> int:
    """Compares a server that is at rest with the model of its entries up to a position."""
    reading = server.service.log.reading
    entries = reading.entries(0, position)
    replay = Replay()
    for entry in entries:
        verdict = reading.verdict(entry.position)
        assert verdict is not None or entry.kind not in ("publish", "evaluate"), entry
        replay.take(entry, verdict or {})
    published = {entry.id for entry in entries if entry.kind == "publish"}
    made = {entry.id for entry in entries if entry.kind == "subscribe"}
    gone = {entry.id for entry in entries if entry.kind == "unsubscribe"}
    again = {(entry.id, entry.born) for entry in entries if entry.kind == "evaluate"}
    standings = {each.id: each for each in reading.standings()}
    for each in said:
        match each["did"]:
            case "publish":
                assert set(each["ids"]) <= published
            case "subscribe":
                assert each["id"] in made
            case "end":
                assert each["id"] in gone
                assert each["id"] not in standings
            case "evaluate" if each["id"] in standings:
                assert (each["of"], standings[each["id"]].born) in again
            case "acknowledge" if each["id"] in standings:
                number = int(each["to"].rpartition("-")[2])
                assert standings[each["id"]].acknowledged >= number
    with httpx.Client(base_url=server.url, headers=_ADMIN) as admin:
        for id, standing in standings.items():
            query = f"?wait=0&after={standing.born}-0&limit=1000"
            found = admin.get(f"/subscriptions/{id}/matches{query}").json()
            replay.check(standing.born, [(each["event"], each["type"]) for each in found], id)
            open_ = {each.position for each in reading.open_verdicts(born=standing.born)}
            assert open_ <= replay.opened.get(standing.born, set()), id
    audit_webhooks(server, receiver)
    return sum(standing.due for standing in standings.values())


def _wait_still(reading: LogReaders) -> int:
    """Waits until all is decided, and nothing is evaluated again; where that is."""
    ends, before, since = time.monotonic() + 60, -1, time.monotonic()
    while time.monotonic() - since < _STILL_SECONDS:
        assert time.monotonic() < ends, "the log does not come to rest"
        state = reading.state()
        if state.position != before or state.cursor < state.position:
            before, since = state.position, time.monotonic()
        time.sleep(0.02)
    return before


def audit_webhooks(server: Server, receiver: Receiver) -> None:
    """Waits until all that is due to webhooks was sent, and compares it."""
    reading = server.service.log.reading
    ends = time.monotonic() + 60
    while [each for each in reading.standings() if each.webhook and each.pending]:
        assert time.monotonic() < ends
        time.sleep(0.02)
    came = {(got.id, json.loads(got.body)["subject"]) for got in receiver.got}
    for each in reading.standings():
        if each.webhook is not None:
            assert (each.delivered, each.dead, each.gap) == (each.due, 0, 0)
            wanted = {
                (delivery_id(each.born, one.number), one.body["event"])
                for one in reading.deliveries(each.born, 0, 1_000_000)
            }
            assert wanted <= came, each


def kill(times: int, seed: int, start: int = 0) -> Counter[str]:
    """Kills so many times; how often what was answered."""
    return killed(times, seed, ServerTrial, a_place=_A_PLACE, start=start)


if __name__ == "__main__":
    commanded(__doc__, kill)
