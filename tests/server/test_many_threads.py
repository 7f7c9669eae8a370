"""Everything at once, by many threads: nothing fails, and every verdict is that of a model."""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

import tamis
from tamis.server.service import ServerSettings
from tamis.server.serving import Server
from tests.server.conftest import Client, peopleCount
from tests.server.test_subscriptions import ADMIN

SECONDS, THREADS = 6.0, 8
Verdict = bool | None
Atom = tuple[str, Callable[[dict[str, Any]], Verdict]]


@tamis.operator(inputs=("near",), deterministic=True)
def isNear(event: Any, level: float) -> bool:
    return bool(event["near"] >= level)


@tamis.operator(inputs=("near",), timeout=20.0)
def isFar(event: Any, level: float) -> bool:
    time.sleep(0.001)
    return bool(event["near"] < level)


def people(level: int) -> Callable[[dict[str, Any]], Verdict]:
    return lambda event: None if event["people"] == "broken" else event["people"] > level


def atom(draw: random.Random) -> Atom:
    level = draw.randint(0, 4)
    return draw.choice(
        [
            (f"a = {level}", lambda event: event["a"] == level),
            (f"a > {level}", lambda event: event["a"] > level),
            (f"isNear({level})", lambda event: event["near"] >= level),
            (f"not isFar({level})", lambda event: event["near"] >= level),
            (f"(peopleCount(?n) and ?n > {level})", people(level)),
            (f"{{peopleCount(?n), ?n>{level})}}", people(level)),  # is repaired, with a warning
        ]
    )


def verdict(atoms: list[Atom], event: dict[str, Any]) -> Verdict:
    found = [holds(event) for _, holds in atoms]
    return False if False in found else None if None in found else True


class Users:
    """What threads share: what they subscribed and published, by the texts and the ids."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.texts: dict[str, list[Atom]] = {}
        self.subscribed: dict[str, dict[str, str]] = {}
        self.events: dict[str, dict[str, Any]] = {}
        self.closest: list[tuple[str, set[str]]] = []

    def text(self, draw: random.Random) -> str:
        atoms = [atom(draw) for _ in range(draw.randint(1, 2))]
        if any(text.startswith("{") for text, _ in atoms):
            atoms = [each for each in atoms if each[0].startswith("{")][:1]
        text = " and ".join(text for text, _ in atoms)
        self.texts[text] = atoms
        return text

    def run(self, number: int) -> None:
        draw, ends = random.Random(number), time.monotonic() + SECONDS
        with Client(base_url=self.url, timeout=60) as client:
            at = 0
            while time.monotonic() < ends:
                at += 1
                answer = self.step(client, draw, f"{number}-{at}")
                assert answer.status_code < 500 or "not decided" in answer.text, answer.text

    def step(self, client: Client, draw: random.Random, name: str) -> httpx.Response:
        event = draw.choice([*self.events] or ["none"])
        id, ticket = draw.choice([*self.subscribed.items()] or [("none", {})])
        match draw.randrange(10):
            case 0 | 1:
                forecast = draw.choice(["true", "false"])
                wanted = {"where": self.text(draw), "id": name}
                made = client.post(f"/subscriptions?forecast={forecast}", json=wanted)
                self.subscribed[name] = {"Authorization": f"Bearer {made.json()['ticket']}"}
                return made
            case 2:
                wanted = {"where": self.text(draw)}
                return client.put(f"/subscriptions/{id}", headers=ticket, json=wanted)
            case 3:
                self.subscribed.pop(id, None)
                return client.delete(f"/subscriptions/{id}", headers=ticket)
            case 4 | 5:
                new = {
                    f"{name}-{at}": {
                        "a": draw.randint(0, 4),
                        "near": draw.randint(0, 4),
                        "people": draw.choice([1, 3, "broken"]),
                    }
                    for at in range(draw.randint(1, 5))
                }
                listed = [{"id": id, **content} for id, content in new.items()]
                self.events |= new
                return client.post(f"/events?wait={draw.choice(['true', 'false'])}", json=listed)
            case 6:
                wanted = {"where": self.text(draw)}
                return client.post("/subscriptions?dry_run=true&calls=9", json=wanted)
            case 7:
                return client.get(f"/events/{event}/why?subscription={id}", headers=ADMIN)
            case 8:
                told = client.get(f"/events/{event}/why?limit=100", headers=ADMIN)
                if told.status_code == 200:
                    close = {each["subscription"] for each in told.json()["closest"]}
                    self.closest.append((event, close))
                return told
            case _:
                more = draw.choice(["/operators/accounts", "/metrics", f"/events/{event}/calls"])
                return client.get(more, headers=ADMIN)

    def check(self, entries: list[tuple[Any, dict[str, Any]]]) -> int:
        """Compares the verdicts of the log with those of the model; how many events it has."""
        live: dict[str, str] = {}
        missed: dict[str, set[str]] = {}
        events = 0
        for entry, said in entries:
            if entry.kind in ("subscribe", "replace"):
                live[entry.id] = entry.body["where"]
            elif entry.kind == "unsubscribe":
                del live[entry.id]
            elif entry.kind == "publish":
                events += 1
                wanted = {
                    id: verdict(self.texts[text], self.events[entry.id])
                    for id, text in live.items()
                }
                missed[entry.id] = {id for id, each in wanted.items() if not each}
                for name, truth in (("matches", True), ("undetermined", None)):
                    found = sorted(each["subscription"] for each in said[name])
                    assert found == sorted(id for id, each in wanted.items() if each is truth)
        for event, close in self.closest:
            assert close <= missed[event]
        return events


@pytest.fixture(autouse=True)
def impatient() -> Iterator[None]:
    """Lets threads take turns more often than they do."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


@pytest.mark.long
def test_many_threads_at_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    def made() -> tamis.Matcher:
        return tamis.Matcher([peopleCount, isNear, isFar])

    settings = ServerSettings(tmp_path, admin_key="the admin key", most_lag_seconds=600)
    with Server(settings, made) as server:
        server.wait_ready()
        users = Users(server.url)
        with ThreadPoolExecutor(THREADS) as threads:
            assert not [*filter(None, threads.map(users.run, range(THREADS)))]
        with Client(base_url=server.url, timeout=60) as client:
            last = {"a": 1, "near": 1, "people": 1}
            users.events["last"] = last
            client.published({"id": "last", **last})
        log = server.service.log
        assert users.check(log.reading.decided(0, 100_000)) == len(users.events)
    assert [each.getMessage() for each in caplog.records if each.exc_info] == []
