"""Deliveries over HTTP: streams and pages from a cursor, policies, gaps, restarts."""

from __future__ import annotations

import json
import math
import threading
import time
from collections.abc import Iterator
from itertools import islice
from typing import Any

import httpx
import pytest

from tamis.testing import FakeClock
from tests.server.conftest import Client, Serving
from tests.server.test_subscriptions import problem

Headers = dict[str, str]


def page(client: Client, address: str, ticket: Headers, **more: Any) -> list[dict[str, Any]]:
    answer = client.get(f"{address}/matches", params={"wait": "0", **more}, headers=ticket)
    assert answer.status_code == 200, answer.text
    found: list[dict[str, Any]] = answer.json()
    return found


def streamed(answer: httpx.Response) -> Iterator[dict[str, Any]]:
    """The events of a stream, as a browser would see them."""
    event: dict[str, Any] = {}
    for line in answer.iter_lines():
        name, _, value = line.partition(": ")
        if line and name:
            event[name] = value
        elif event:
            yield event
            event = {}


def test_pages_go_on_from_a_cursor(client: Client) -> None:
    address, ticket = client.subscribed("pages = 1, peopleCount(?n)", id="pages")
    client.published(*({"id": f"g{n}", "pages": 1, "people": n} for n in range(5)))
    found = page(client, address, ticket)
    assert [each["event"] for each in found] == ["g0", "g1", "g2", "g3", "g4"]
    assert [each["bindings"] for each in found] == [[{"n": n}] for n in range(5)]
    assert {each["type"] for each in found} == {"match"}
    assert found[0]["time"].endswith("Z")
    assert page(client, address, ticket, after=found[1]["id"]) == found[2:]
    assert page(client, address, ticket, after=found[1]["id"], limit=1) == found[2:3]
    assert page(client, address, ticket, after=found[4]["id"]) == []
    answer = client.post(f"{address}/ack", json={"id": found[2]["id"]}, headers=ticket)
    assert answer.json() == {"cursor": found[2]["id"]}
    older = client.post(f"{address}/ack", json={"id": found[0]["id"]}, headers=ticket)
    assert older.json() == {"cursor": found[2]["id"]}
    assert page(client, address, ticket) == found[3:]
    shown = client.get(address, headers=ticket).json()
    counts = [shown[name] for name in ("due", "delivered", "pending", "dead", "gap")]
    assert counts == [5, 3, 2, 0, 0]


def test_an_open_digest_is_delivered_when_its_subscription_expires(serving: Serving) -> None:
    clock = FakeClock(1_800_000_000.0)
    with serving(clock=clock) as client:
        digest_of_what_expires(client, clock)


def digest_of_what_expires(client: Client, clock: FakeClock) -> None:
    digest = {"digest": "1h", "per": ["camera"]}
    address, ticket = client.subscribed("digest = 1", validity=1, deliver=digest)
    other, others = client.subscribed("digest = 1", deliver=digest)
    client.published(*({"id": f"d{n}", "digest": 1, "camera": n % 2} for n in range(3)))
    assert page(client, address, ticket) == []
    clock.advance(1.1)
    client.published({"id": "d3", "digest": 1, "camera": 0})
    found = page(client, address, ticket)
    assert [(each["type"], each["key"], each["events"]) for each in found] == [
        ("digest", [0], ["d0", "d2"]),
        ("digest", [1], ["d1"]),
    ]
    assert {each["event"] for each in found} == {None}
    shown = client.get(address, headers=ticket).json()
    assert (shown["matched"], shown["due"], shown["pending"]) == (3, 2, 2)
    assert page(client, other, others) == []


def test_what_is_no_delivery_is_refused(client: Client) -> None:
    address, ticket = client.subscribed("a = 1")
    other, foreign = client.subscribed("foreign = 1")
    client.published({"foreign": 1})
    id = page(client, other, foreign)[0]["id"]
    for wrong in (id, "x", "", 7, None):
        bad = client.post(f"{address}/ack", json={"id": wrong}, headers=ticket)
        problem(bad, 400, "malformed")
    for query in (f"after={id}", "limit=0", "limit=x", "wait=maybe"):
        problem(client.get(f"{address}/matches?wait=0&{query}", headers=ticket), 400, "malformed")


def test_a_stream_resumes_behind_the_last_id(client: Client) -> None:
    address, ticket = client.subscribed("stream = 1", id="stream")
    client.published({"id": "s0", "stream": 1}, {"id": "s1", "stream": 1})
    with client.stream("GET", f"{address}/matches", headers=ticket) as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        found = streamed(answer)
        first, one = next(found), next(found)
        assert first["retry"] == "2000"
        assert "data" not in first
        assert (one["event"], json.loads(one["data"])["event"]) == ("match", "s0")
        assert next(found)["id"] > one["id"]
        threading.Thread(target=client.published, args=({"id": "s2", "stream": 1},)).start()
        assert json.loads(next(found)["data"])["events"] == ["s2"]
    resumed = {**ticket, "Last-Event-ID": one["id"]}
    with client.stream("GET", f"{address}/matches", headers=resumed) as answer:
        found = streamed(answer)
        assert next(found)["id"] == one["id"]
        assert [json.loads(next(found)["data"])["event"] for _ in range(2)] == ["s1", "s2"]
    begun = f"{address}/matches?after=1-0"  # the address with which a browser resumes
    with client.stream("GET", begun, headers=resumed) as answer:
        assert next(streamed(answer))["id"] == one["id"]


def test_several_readers_see_the_same(client: Client) -> None:
    address, ticket = client.subscribed("shared = 1", id="shared")
    seen: list[list[str]] = [[], [], []]

    def read(into: list[str]) -> None:
        with (
            Client(base_url=client.base_url, timeout=30) as own,
            own.stream("GET", f"{address}/matches", headers=ticket) as answer,
        ):
            for event in streamed(answer):
                into.append(event["id"])
                if len(into) == 21:
                    return

    threads = [threading.Thread(target=read, args=(into,)) for into in seen]
    for thread in threads:
        thread.start()
    for _ in range(20):
        client.published({"shared": 1})
    for thread in threads:
        thread.join()
    assert seen[0] == seen[1] == seen[2]
    assert len(set(seen[0])) == 21


def test_a_stream_ends_with_its_subscription(client: Client) -> None:
    address, ticket = client.subscribed("brief = 1")
    with client.stream("GET", f"{address}/matches", headers=ticket) as answer:
        found = streamed(answer)
        next(found)
        client.published({"brief": 1})
        next(found)
        with Client(base_url=client.base_url) as other:
            assert other.delete(address, headers=ticket).status_code == 204
    problem(client.get(f"{address}/matches", headers=ticket), 404, "not-found")


def test_policies_decide_what_is_delivered(client: Client) -> None:
    deliver = {"on": "both", "per": ["camera"]}
    address, ticket = client.subscribed("policy > 3", id="policy", deliver=deliver)
    levels = [("c1", 5), ("c1", 6), ("c2", 7), ("c1", 1), ("c1", 9)]
    client.published(
        *(
            {"id": f"y{n}", "camera": camera, "policy": level, "time": f"2026-01-15T12:00:0{n}Z"}
            for n, (camera, level) in enumerate(levels)
        )
    )
    found = page(client, address, ticket)
    assert [(each["type"], each["event"], each["key"]) for each in found] == [
        ("enter", "y0", ["c1"]),
        ("enter", "y2", ["c2"]),
        ("exit", "y3", ["c1"]),
        ("enter", "y4", ["c1"]),
    ]
    shown = client.get(address, headers=ticket).json()
    assert (shown["matched"], shown["due"]) == (4, 4)


def test_what_stays_undetermined_is_delivered_with_its_reason(client: Client) -> None:
    address, ticket = client.subscribed("open = 1, peopleCount(?n), ?n > 2")
    client.published({"id": "u1", "open": 1, "people": "broken"})
    (found,) = page(client, address, ticket)
    assert (found["type"], found["event"]) == ("undetermined", "u1")
    assert "the camera is broken" in found["reason"]


def test_what_no_json_can_say_stands_in_no_answers_way(client: Client) -> None:
    """A lone surrogate, NaN and numbers beyond every double: of one subscriber, of an event."""
    admin = {"Authorization": "Bearer the admin key"}
    wanted = '{"id": "odd", "where": "odd = 1, peopleCount(?n)", "x": NaN, "y": "\\ud800", '
    wanted += '"deliver": {"cooldown": 1, "per": ["wide"]}}'
    made = client.post("/subscriptions", content=wanted)
    assert made.status_code == 201, made.text
    ticket = {"Authorization": f"Bearer {made.json()['ticket']}"}
    event = '{"id": "odd", "odd": 1, "people": 1e999, "wide": -1e999, "z": "\\udfff"}'
    answer = client.post("/events?wait=true", content=event, headers=admin)
    (said,) = answer.json()["events"][0]["matches"]
    assert said["bindings"] == [{"n": math.inf}]
    shown = client.get("/subscriptions/odd", headers=ticket).json()
    assert (shown["x"], shown["y"]) == (None, "\ud800")
    assert "odd" in [each["id"] for each in client.get("/subscriptions", headers=admin).json()]
    (found,) = page(client, "/subscriptions/odd", ticket)
    assert (found["bindings"], found["key"]) == ([{"n": math.inf}], [-math.inf])
    assert "Infinity" not in client.get("/subscriptions/odd/matches?wait=0", headers=ticket).text
    with client.stream("GET", "/subscriptions/odd/matches", headers=ticket) as stream:
        _, one = islice(streamed(stream), 2)
        assert json.loads(one["data"], parse_constant=pytest.fail)["key"] == [-math.inf]
    for address in ("content", "calls", "why", "why?subscription=odd"):
        answer = client.get(f"/events/odd/{address}", headers=admin)
        assert answer.status_code == 200
        json.loads(answer.text, parse_constant=pytest.fail)
    text = {**ticket, "Accept": "text/plain"}
    assert client.get("/events/odd/why?subscription=odd", headers=text).status_code == 200


def test_policies_and_cursors_go_on_after_a_restart(serving: Serving) -> None:
    def event(number: int) -> dict[str, object]:
        return {"id": f"r{number}", "a": 5, "time": f"2026-01-15T12:{number:02}:00Z"}

    with serving() as client:
        address, ticket = client.subscribed("a > 3", id="cooled", deliver={"cooldown": "10min"})
        every, other = client.subscribed("a > 3")
        client.published(*map(event, range(8)))
        client.post(f"{every}/ack", json={"id": page(client, every, other)[4]["id"]}, headers=other)
    with serving() as client:
        assert client.published(*map(event, range(8, 12))) == ["cooled,subscription-2"] * 4
        assert [each["event"] for each in page(client, address, ticket)] == ["r0", "r10"]
        assert [each["event"] for each in page(client, every, other)] == [
            f"r{number}" for number in range(5, 12)
        ]


def test_below_the_floor_there_is_a_gap_and_never_an_empty_page(serving: Serving) -> None:
    with serving() as client:
        address, ticket = client.subscribed("a > 3")
        client.published(*({"id": f"f{number}", "a": 5} for number in range(6)))
        found = page(client, address, ticket)
        client.post(f"{address}/ack", json={"id": found[1]["id"]}, headers=ticket)
    with serving(keep_bytes=0) as client:
        from tamis.server import matching

        before, matching._TIDY_SECONDS = matching._TIDY_SECONDS, 0.0
        try:
            client.published({"id": "f6", "a": 5})
            ends = time.monotonic() + 60
            while page(client, address, ticket)[0]["type"] != "gap" and time.monotonic() < ends:
                client.published({"a": 1})
        finally:
            matching._TIDY_SECONDS = before
        (gap, *rest) = page(client, address, ticket)
        assert (gap["type"], gap["events"], gap["event"]) == ("gap", [], None)
        assert gap["missing"] + len(rest) == 5
        (whole, *_) = page(client, address, ticket, after="1-0")
        assert whole["missing"] == gap["missing"] + 2
        assert page(client, address, ticket, after=gap["id"]) == rest
        assert page(client, address, ticket, limit=1) == [gap]
        with client.stream("GET", f"{address}/matches", headers=ticket) as answer:
            stream = streamed(answer)
            next(stream)
            assert next(stream)["event"] == "gap"
        shown = client.get(address, headers=ticket).json()
        assert shown["due"] == shown["delivered"] + shown["pending"] + shown["dead"] + shown["gap"]
        assert (shown["delivered"], shown["gap"]) == (2, gap["missing"])
        client.post(f"{address}/ack", json={"id": gap["id"]}, headers=ticket)
        assert page(client, address, ticket) == rest
