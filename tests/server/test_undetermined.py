"""Verdicts that operators left open are evaluated again, and delivered once."""

from __future__ import annotations

import contextlib
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import tamis
from tamis.server import open_verdicts
from tamis.server.service import ServerSettings
from tamis.server.serving import Server
from tests.server.conftest import Client
from tests.server.test_subscriptions import ADMIN, problem

PATIENCE_SECONDS = 60.0


class Camera:
    """An operator that is down now and then, and counts its calls."""

    def __init__(self) -> None:
        self.is_down = False
        self.calls: list[str] = []

    def matcher(self) -> tamis.Matcher:
        @tamis.operator(inputs=("people", "name"), outputs=("count",))
        def peopleCount(event: Any, count: object) -> list[object]:
            self.calls.append(event["name"])
            if self.is_down or event["people"] < 0:
                raise RuntimeError("the camera is broken")
            return [event["people"]]

        @tamis.operator(inputs=("people", "name"))
        def isSeen(event: Any) -> bool:
            self.calls.append(f"seen {event['name']}")
            return True

        return tamis.Matcher(operators=[peopleCount, isSeen])


@pytest.fixture
def camera() -> Camera:
    return Camera()


@pytest.fixture
def serving(tmp_path: Path, camera: Camera) -> Callable[[], Any]:
    @contextlib.contextmanager
    def served() -> Iterator[Client]:
        settings = ServerSettings(tmp_path / "data", admin_key="the admin key")
        with Server(settings, camera.matcher) as server:
            server.wait_ready()
            with Client(base_url=server.url, timeout=30) as client:
                yield client

    return served


def event(name: str, people: int, **more: object) -> dict[str, object]:
    return {"id": name, "name": name, "people": people, **more}


def page(client: Client, address: str, ticket: dict[str, str]) -> list[tuple[str, str]]:
    found = client.get(f"{address}/matches?wait=0", headers=ticket).json()
    return [(each["type"], each["event"]) for each in found]


def wait_for(found: Callable[[], object], expected: object) -> None:
    ends = time.monotonic() + PATIENCE_SECONDS
    while found() != expected and time.monotonic() < ends:
        time.sleep(0.02)
    assert found() == expected


def test_on_request_and_exactly_once(serving: Any, camera: Camera) -> None:
    with serving() as client:
        address, ticket = client.subscribed("isSeen() and peopleCount(?n) and ?n > 5", id="s1")
        camera.is_down = True
        client.published(event("e1", 7), event("e2", 3))
        listed = client.get(f"{address}/undetermined", headers=ADMIN).json()
        assert listed == [
            {"event": "e1", "operators": ["peopleCount"], "tries": 0},
            {"event": "e2", "operators": ["peopleCount"], "tries": 0},
        ]
        asked = client.post(f"{address}/undetermined/evaluate", headers=ticket)
        assert (asked.status_code, asked.json()) == (202, {"events": ["e1", "e2"]})
        wait_for(
            lambda: [
                each["tries"]
                for each in client.get(f"{address}/undetermined", headers=ticket).json()
            ],
            [1, 1],
        )
        camera.is_down = False
        key = ticket | {"Idempotency-Key": "once"}
        for _ in range(3):
            asked = client.post(
                f"{address}/undetermined/evaluate", headers=key, json={"event": "e1"}
            )
            assert asked.json() == {"events": ["e1"]}
        client.post(f"{address}/undetermined/evaluate", headers=ticket)
        wait_for(lambda: client.get(f"{address}/undetermined", headers=ticket).json(), [])
        expected = [("undetermined", "e1"), ("undetermined", "e2"), ("match", "e1")]
        assert page(client, address, ticket) == expected
        assert [each for each in camera.calls if each == "seen e1"] == ["seen e1"]
        shown = client.get(address, headers=ticket).json()
        assert (shown["matched"], shown["due"]) == (1, 3)
        why = client.get("/events/e1/why?subscription=s1", headers=ticket).json()
        assert (why["verdict"], why["now"]) == ("undetermined", "matched")
        assert "by what it said later it is matched" in why["because"]
    with serving() as client:
        assert page(client, address, ticket) == expected


def test_when_the_operator_is_back(serving: Any, camera: Camera) -> None:
    with serving() as client:
        address, ticket = client.subscribed("peopleCount(?n) and ?n > 5", id="s1")
        camera.is_down = True
        client.published(event("e1", 7), event("broken", -1))
        camera.is_down = False
        client.published(event("e2", 8))
        wait_for(lambda: ("match", "e1") in page(client, address, ticket), True)
        for at in range(30):
            client.published(event(f"more {at}", 0))
        left = client.get(f"{address}/undetermined", headers=ticket).json()
        assert [each["event"] for each in left] == ["broken"]
        assert left[0]["tries"] == open_verdicts.MOST_TRIES
        assert camera.calls.count("broken") == 1 + open_verdicts.MOST_TRIES
        assert page(client, address, ticket).count(("match", "e1")) == 1


def test_one_is_tried_now_and_then(
    serving: Any, camera: Camera, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tamis.server import matching

    monkeypatch.setattr(open_verdicts, "_PROBE_SECONDS", 0.01)
    monkeypatch.setattr(matching, "_TIDY_SECONDS", 0.01)
    camera.is_down = True
    with serving() as client:
        address, ticket = client.subscribed("peopleCount(?n) and ?n > 5", id="s1")
        client.published(event("e1", 7))
        camera.is_down = False
        wait_for(lambda: ("match", "e1") in page(client, address, ticket), True)


def test_what_waits_survives_the_process_and_the_policy_counts_it(
    serving: Any, camera: Camera, tmp_path: Path
) -> None:
    with serving() as client:
        address, ticket = client.subscribed(
            "peopleCount(?n) and ?n > 5", id="s1", deliver={"of": [2, 2]}
        )
        camera.is_down = True
        client.published(event("e1", 7, time="2026-01-15T12:00:00Z"))
        camera.is_down = False
    with serving() as client:
        client.post(f"{address}/undetermined/evaluate", headers=ticket)
        wait_for(lambda: client.get(f"{address}/undetermined", headers=ticket).json(), [])
    shutil.rmtree(tmp_path / "data" / "policies")  # so that it is made again from the log
    with serving() as client:
        client.published(event("e2", 7, time="2026-01-15T12:01:00Z"))
        assert page(client, address, ticket) == [("undetermined", "e1"), ("match", "e2")]


def test_another_text_or_none_is_not_evaluated(serving: Any, camera: Camera) -> None:
    with serving() as client:
        address, ticket = client.subscribed("peopleCount(?n) and ?n > 5", id="s1")
        other, others = client.subscribed("peopleCount(?n) and ?n > 4", id="s2")
        camera.is_down = True
        client.published(event("e1", 7))
        client.put(address, headers=ticket, json={"where": "peopleCount(?n) and ?n > 1"})
        same = {"where": "peopleCount(?n) and ?n > 4", "deliver": {"once": True}}
        client.put(other, headers=others, json=same)
        camera.is_down = False
        assert client.get(f"{address}/undetermined", headers=ticket).json() == []
        asked = client.post(f"{address}/undetermined/evaluate", headers=ticket)
        assert asked.json() == {"events": []}
        client.post(f"{other}/undetermined/evaluate", headers=others)
        wait_for(lambda: page(client, other, others)[1:], [("match", "e1")])
        assert page(client, address, ticket) == [("undetermined", "e1")]


def test_who_may_ask(serving: Any) -> None:
    with serving() as client:
        address, ticket = client.subscribed("people = 1", id="s1")
        evaluate = f"{address}/undetermined/evaluate"
        problem(client.post(evaluate), 401, "ticket-required")
        problem(client.post(evaluate, headers=ADMIN), 403, "wrong-ticket")
        problem(client.post(evaluate, headers=ticket, json={"event": "no"}), 404, "not-found")
        problem(client.post(evaluate, headers=ticket, json={"event": 3}), 404, "not-found")


def test_an_event_that_is_evaluated_again_is_nothing_to_other_policies(
    serving: Callable[[], Any], camera: Camera
) -> None:
    """Neither to one that came after it, nor to one of which it stays open."""
    with serving() as client:
        camera.is_down = True
        first, ticket = client.subscribed("peopleCount(?n) and ?n > 3", id="first")
        once, own = client.subscribed(
            "peopleCount(?n) and ?n > 4", id="once", deliver={"once": True}
        )
        client.published({"id": "e1", "people": 5, "name": "e1"})
        later, third = client.subscribed("a = 1", id="later", deliver={"of": [2, 3]})
        client.published({"id": "e2", "a": 1})
        for _ in range(2):
            asked = client.post(f"{first}/undetermined/evaluate", json={}, headers=ticket)
            assert asked.json() == {"events": ["e1"]}
        client.published({"id": "e3", "a": 1})
        found = client.get(f"{later}/matches?wait=0", headers=third).json()
        assert [each["event"] for each in found] == ["e3"]
        camera.is_down = False
        for address, key in ((first, ticket), (once, own)):
            client.post(f"{address}/undetermined/evaluate", json={}, headers=key)
            client.published({"id": f"after {address}"})
        for address, key in ((first, ticket), (once, own)):
            found = client.get(f"{address}/matches?wait=0", headers=key).json()
            assert [each["type"] for each in found] == ["undetermined", "match"]
