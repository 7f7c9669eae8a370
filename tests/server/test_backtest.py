"""A dry run says what a text would have matched over the log."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

import tamis
from tamis.server import backtest
from tamis.server.changes import Retain
from tamis.server.payloads import LARGE_LETTERS
from tamis.server.service import ServerSettings
from tamis.server.serving import Server
from tests.server.conftest import Client, Serving
from tests.server.test_subscriptions import ADMIN, problem


def tried(client: Client, where: str, query: str = "", **more: object) -> Any:
    address = f"/subscriptions?dry_run=true{query}"
    answer = client.post(address, json={"where": where, **more})
    assert answer.status_code == 200, answer.text
    return answer.json()


def events(count: int, **more: object) -> list[dict[str, object]]:
    return [{"id": f"e{at}", "people": at, "parity": at % 2, **more} for at in range(count)]


def test_attributes_alone_and_nothing_is_kept(serving: Serving) -> None:
    with serving(admin_key="the admin key") as client:
        client.published(*events(10))
        told = tried(client, "parity = 1", id="s1")
        assert [each["event"] for each in told["matches"]] == ["e1", "e3", "e5", "e7", "e9"]
        assert (told["events"], told["matched"], told["delivered"]) == (10, 5, 5)
        assert (told["complete"], told["gap"]) == (True, False)
        assert told["forecast"]["calls_per_event"] == 0
        assert client.get("/subscriptions", headers=ADMIN).json() == []
        assert tried(client, "parity = 1", "&limit=2")["matches"] == told["matches"][:2]


def test_the_policy_is_applied(serving: Serving) -> None:
    with serving() as client:
        times = ("12:00", "12:05", "12:10", "12:11")
        client.published(*({"time": f"2026-01-15T{at}:00Z", "a": 1} for at in times))
        told = tried(client, "a = 1", deliver={"cooldown": "10min"})
        assert (told["matched"], told["delivered"]) == (4, 2)
        assert [each["time"][11:16] for each in told["deliveries"]] == ["12:00", "12:10"]


def test_kept_answers_first_then_so_many_calls(serving: Serving) -> None:
    with serving() as client:
        client.published(*events(5))  # nobody asks anything of these
        client.subscribed("peopleCount(?n) and ?n > 100", id="asks")
        client.published(*({"id": f"f{at}", "people": at} for at in range(5)))
        told = tried(client, "peopleCount(?n) and ?n >= 3")
        assert [(each["event"], each["bindings"]) for each in told["matches"]] == [
            ("f3", [{"n": 3}]), ("f4", [{"n": 4}]),
        ]  # fmt: skip
        assert told["calls"] == {"kept": 5, "made": 0, "lacking": 5}
        assert [each["event"] for each in told["undetermined"]] == ["e0", "e1", "e2", "e3", "e4"]
        more = tried(client, "peopleCount(?n) and ?n >= 3", "&calls=4")
        assert [each["event"] for each in more["matches"]] == ["e3", "f3", "f4"]
        assert more["calls"] == {"kept": 5, "made": 4, "lacking": 1}
        assert (more["open"], more["matched"]) == (1, 3)


def test_it_begins_at_a_time(serving: Serving) -> None:
    now = [1_000.0]
    with serving(clock=lambda: now[0]) as client:
        for at in range(5):
            now[0] += 100
            client.published({"id": f"e{at}", "a": 1})
        for since, first in (("1200", 1), ("1970-01-01T00:20:01Z", 2), ("9999", 5), ("0", 0)):
            told = tried(client, "a = 1", f"&since={since}")
            assert [each["event"] for each in told["matches"]] == [
                f"e{at}" for at in range(first, 5)
            ]
        assert told["until"] == "1970-01-01T00:25:00Z"


def test_what_retention_removed_is_a_gap(serving: Serving, monkeypatch: pytest.MonkeyPatch) -> None:
    from tamis.server import matching

    with serving() as client:
        client.published(*events(20))
        assert tried(client, "parity = 1")["gap"] is False
    monkeypatch.setattr(matching, "_TIDY_SECONDS", 0.0)
    with serving(keep_bytes=0) as client:
        ends = time.monotonic() + 60
        while not (told := tried(client, "parity = 1"))["gap"] and time.monotonic() < ends:
            client.published({"a": 1})
        assert (told["gap"], told["matched"]) == (True, 0)
        now = tried(client, "parity = 1", f"&since={time.time() + 60}")
        assert (now["gap"], now["events"], now["until"]) == (False, 0, None)


def test_what_retention_removes_meanwhile_is_a_gap(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backtest, "_TOGETHER", 2)
    with Server(ServerSettings(tmp_path), tamis.Matcher) as server:
        server.wait_ready()
        log = server.service.log
        read = log.reading.traces

        def removed(first: int, last: int) -> object:
            if last == 4:
                log.submit(Retain(most_bytes=0, up_to=5)).result()
            return read(first, last)

        with Client(base_url=server.url, timeout=30) as client:
            large = [
                {**each, "text": str(at) * (LARGE_LETTERS + 1)} for at, each in enumerate(events(8))
            ]
            client.published(*large)
            monkeypatch.setattr(log.reading, "traces", removed)
            told = tried(client, "people >= 0")
        assert [each["event"] for each in told["matches"]] == ["e0", "e1", "e5", "e6", "e7"]
        assert (told["gap"], told["complete"]) == (True, True)


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("dry_run=maybe", "dry_run"),
        ("dry_run=true&since=soon", "since is a time"),
        ("since=2026-01-15", "since is of a dry run"),
        ("dry_run=true&calls=1001", "calls"),
        ("dry_run=true&limit=-1", "limit"),
    ],
)
def test_what_cannot_be_tried_is_told(client: Client, query: str, said: str) -> None:
    answer = client.post(f"/subscriptions?{query}", json={"where": "a = 1"})
    assert said in problem(answer, 400, "malformed")["detail"]


def test_a_bad_text_is_told_as_ever(client: Client) -> None:
    answer = client.post("/subscriptions?dry_run=true", json={"where": "nobody(3)"})
    assert "unknown operator" in problem(answer, 422, "bad-subscription")["detail"]
