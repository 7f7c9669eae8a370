"""Requests that mean harm: they are refused with a word, and hold up nobody else."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import resource
import socket
import threading
import time
from pathlib import Path
from urllib.parse import unquote

import httpx
import pytest

from tamis.server import database
from tamis.server.changes import Publish, Retain, Subscribe
from tamis.server.database import open_database
from tamis.server.log import Log
from tamis.server.matching import MatchThread
from tamis.server.payloads import LARGE_LETTERS
from tamis.server.service import ServerSettings
from tamis.server.serving import Server
from tests.server.conftest import Client, Serving, matcher
from tests.server.follower import Follower
from tests.server.test_subscriptions import ADMIN, problem


@pytest.mark.parametrize(
    ("headers", "is_taken"),
    [
        ({}, True),
        ({"Sec-Fetch-Site": "same-origin"}, True),
        ({"Sec-Fetch-Site": "none"}, True),
        ({"Sec-Fetch-Site": "same-origin", "Origin": "http://a.proxy.example"}, True),
        ({"Sec-Fetch-Site": "cross-site"}, False),
        ({"Sec-Fetch-Site": "same-site"}, False),
        ({"Sec-Fetch-Site": "same-origin, none"}, False),
        ({"Origin": "http://SERVER"}, True),
        ({"Origin": "https://SERVER"}, True),
        ({"Origin": "http://evil.example"}, False),
        ({"Origin": "http://127.0.0.1:1"}, False),
        ({"Origin": "http://SERVER.evil.example"}, False),
        ({"Origin": "null"}, False),
        ({"Origin": "http://[::1"}, False),
        ({"Origin": ""}, False),
    ],
)
def test_pages_of_other_sites_change_nothing(
    client: Client, headers: dict[str, str], is_taken: bool
) -> None:
    """They can have a browser send what is text, a form, or has no body at all."""
    host = client.base_url.netloc.decode()
    headers = {name: value.replace("SERVER", host) for name, value in headers.items()}
    before = client.sample("tamis_position")
    address, ticket = client.subscribed("site = 5")
    for kind in ("text/plain", "application/x-www-form-urlencoded", "application/json"):
        sent = {**headers, "Content-Type": kind}
        taken = client.post("/events", content=b'{"a": 1}', headers=sent)
        made = client.post("/subscriptions", content=b'{"where": "a = 1"}', headers=sent)
        if is_taken:
            assert (taken.status_code, made.status_code) == (202, 201)
        else:
            problem(taken, 403, "other-site")
            problem(made, 403, "other-site")
    for method in ("PUT", "DELETE"):
        ended = client.request(method, address, headers={**headers, **ticket}, content=b"{}")
        assert (ended.status_code == 403) is not is_taken
    assert (client.sample("tamis_position") == before + 1) is not is_taken  # the subscription alone
    assert client.get("/healthz", headers=headers).status_code == 200


def test_a_request_of_very_many_events_or_parts_is_not_read_to_its_end(serving: Serving) -> None:
    """Sixteen MiB of the shortest ones took twelve seconds, in which nobody else was answered."""
    part = b'--b\r\ncontent-disposition: form-data; name="%d"\r\n\r\n1\r\n'
    parts = [part % number for number in range(101)]
    form = {"Content-Type": "multipart/form-data; boundary=b"}
    lines = {"Content-Type": "application/x-ndjson"}
    with serving(most_events=100) as client:
        for body, kind in (
            (b"{}\n" * 5_000_000, {}),
            (b"\n" * 1_000_000 + b"{}\n" * 101, lines),
            (b"[" + b"{}," * 100 + b"{}]", {}),
            (b"".join(parts) + b"--b--", form),
            (part % 1 * 300_000, form),
        ):
            problem(client.post("/events", content=body, headers=kind), 413, "too-large")
        assert client.post("/events", content=b"\n{}\n" * 100, headers=lines).status_code == 202
        whole = b"".join(parts[:100]) + b"--b--\r\n"
        assert client.post("/events", content=whole, headers=form).status_code == 202


def test_what_is_nested_too_deep_is_refused_everywhere(client: Client) -> None:
    """Between 900 and 1,000 levels some were taken that could not be written or told."""
    for levels in (201, 940, 960, 5_000):
        deep, long = "[" * levels + "]" * levels, "x" * 70_000
        for address, body in (
            ("/events", f'{{"a": {deep}}}'),
            ("/events", f'{{"a": "{long}", "b": {deep}}}'),
            ("/subscriptions", f'{{"where": "a = 1", "note": {deep}}}'),
        ):
            answer = client.post(address, content=body)
            assert "200 levels at most" in problem(answer, 400, "malformed")["detail"]
    deep = "[" * 199 + '"[[[["' + "]" * 199
    assert client.post("/events?wait=true", content=f'{{"a": {deep}}}').status_code == 200


def test_bodies_that_are_long_under_way_leave_room_for_small_ones(serving: Serving) -> None:
    with serving(most_waiting_bytes=600_000) as client:
        host, port = client.base_url.host, client.base_url.port or 0
        head = b"POST /events HTTP/1.1\r\nHost: here\r\nContent-Length: 300000\r\n\r\n"
        slow = [socket.create_connection((host, port)) for _ in range(4)]
        for each in slow:
            each.sendall(head + b'{"text": "'.ljust(140_000, b"x"))
        ends = time.monotonic() + 60
        while "tamis_queue_bytes 280000.0" not in (shown := client.get("/metrics").text):
            assert time.monotonic() < ends, shown
        problem(client.post("/events", json={"text": "x" * 100_000}), 429, "overloaded")
        for _ in range(3):
            assert client.post("/events", json={"text": "x" * 60_000}).status_code == 202
        for each in slow:
            each.close()


def test_bytes_count_from_their_coming_until_they_are_on_disk(
    serving: Serving, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also while they are read and checked, which large ones wait for."""
    monkeypatch.setattr(database, "_BUSY_MILLISECONDS", 60_000)
    statuses: list[int] = []
    body = json.dumps({"text": "x" * 120_000})
    with serving(most_waiting_bytes=600_000) as client:
        holding = open_database(tmp_path / "data")
        holding.execute("BEGIN IMMEDIATE")  # the writer waits for it

        def publish() -> None:
            with Client(base_url=client.base_url, timeout=30) as other:
                statuses.append(other.post("/events", content=body).status_code)

        threads = [threading.Thread(target=publish) for _ in range(2)]
        ends = time.monotonic() + 50  # the writer is patient for a minute
        for number, thread in enumerate(threads, 1):
            thread.start()
            while client.sample("tamis_queue_bytes") != number * len(body):
                assert time.monotonic() < ends
                time.sleep(0.01)
        publish()
        assert statuses == [429]
        assert client.sample("tamis_queue_bytes") == 2 * len(body)
        holding.execute("ROLLBACK")
        holding.close()
        for thread in threads:
            thread.join()
        assert statuses == [429, 202, 202]
        assert client.sample("tamis_queue_bytes") == 0


def test_a_request_that_is_broken_off_leaves_no_error(
    serving: Serving, caplog: pytest.LogCaptureFixture
) -> None:
    with serving() as client, caplog.at_level(logging.WARNING):
        for _ in range(3):
            with socket.create_connection((client.base_url.host, client.base_url.port or 0)) as one:
                one.sendall(b"POST /events HTTP/1.1\r\nHost: here\r\nContent-Length: 9\r\n\r\n{")
                time.sleep(0.05)
        ends = time.monotonic() + 60
        while "tamis_queue_bytes 0.0" not in client.get("/metrics").text:
            assert time.monotonic() < ends
        assert client.post("/events", json={"a": 1}).status_code == 202
    assert [each.getMessage() for each in caplog.records] == []


def test_a_subscription_that_is_told_with_each_match_is_short(client: Client) -> None:
    """One of fifteen MiB was written once for each event that it matched."""
    answer = client.post("/subscriptions", json={"where": "a = 1", "note": "x" * 70_000})
    assert "65,536 bytes" in problem(answer, 422, "bad-subscription")["detail"]
    client.subscribed("a = 1", note="x" * 60_000)


def test_an_id_of_a_subscription_is_an_address(client: Client) -> None:
    for id in ("a?b#c%2F d", "é ü", "plain"):
        made = client.post("/subscriptions", json={"where": "a = 1", "id": id})
        at = made.headers["location"]
        ticket = {"Authorization": f"Bearer {made.json()['ticket']}"}
        assert client.get(at, headers=ticket).json()["id"] == id
        assert unquote(at) == f"/subscriptions/{id}"


def test_a_position_of_thousands_of_digits_is_malformed(client: Client) -> None:
    headers = {**ADMIN, "Last-Event-ID": "9" * 5_000}
    problem(client.get("/events", headers=headers), 400, "malformed")


def test_ids_that_the_server_would_give_can_be_taken_before(tmp_path: Path) -> None:
    """Each is found at once, however many of those that follow are taken."""
    with Log(tmp_path) as log:
        log.submit(Publish([{"id": f"event-{number}"} for number in range(5_000)])).result()
        given = log.submit(Publish([{"a": number} for number in range(3)])).result().ids
        assert len(set(given)) == 3
        assert given[0] == "event-5001"
        more = log.submit(Publish([{"id": "event-5005"}, {"a": 3}])).result().ids
        assert more[1].startswith("event-5005-")


def test_an_entry_is_told_with_its_verdict_or_not_at_all(tmp_path: Path) -> None:
    """Retention removes both at any moment: who asked for one after the other found half."""
    with Log(tmp_path) as log:
        log.submit(Publish([{"id": f"e{number}", "level": 5} for number in range(40)])).result()
        Follower(log).decide(30)
        told = log.reading.decided(0, 100)
        assert [entry.position for entry, _ in told] == list(range(1, 31))
        assert all(verdict == {"level": 5} for _, verdict in told)
        log.submit(Retain(most_bytes=0, up_to=10)).result()
        assert [entry.position for entry, _ in log.reading.decided(0, 3)] == [11, 12, 13]


def test_a_server_whose_disk_is_full_goes_on_when_there_is_room(tmp_path: Path) -> None:
    """Also the thread that decides, whose verdicts find no room either."""
    with (
        Server(ServerSettings(tmp_path / "data"), matcher) as server,
        httpx.Client(base_url=server.url, timeout=60) as client,
    ):
        server.wait_ready()
        log = server.service.log
        ticket = client.post("/subscriptions", json={"where": "a > 1", "id": "s"}).json()["ticket"]
        database = log._database
        database.pragma("max_page_count", database.pragma("page_count") + 6)
        taken, status = 0, 202
        while status == 202:
            answer = client.post("/events", json={"a": 2, "text": "x" * 2_000})
            status = answer.status_code
            taken += status == 202
        assert "the disk is full" in problem(answer, 503, "not-ready")["detail"]
        time.sleep(1)
        assert client.get("/readyz").status_code == 200
        database.pragma("max_page_count", 1 << 30)
        assert client.post("/events?wait=true", json={"a": 3}).status_code == 200
        shown = client.get("/subscriptions/s", headers={"Authorization": f"Bearer {ticket}"}).json()
        assert (shown["matched"], shown["due"]) == (taken + 1, taken + 1)
    with Log(tmp_path / "data") as log:
        assert log.reading.state().cursor == log.reading.state().position


def test_subscriptions_are_bounded_in_number(serving: Serving) -> None:
    with serving(most_subscriptions=2) as client:
        first, ticket = client.subscribed("a = 1", id="first")
        client.published({"a": 1})  # what is undecided may be another one
        key = {"Idempotency-Key": "second"}
        wanted = {"where": "a = 2", "id": "second"}
        second = client.post("/subscriptions", json=wanted, headers=key)
        assert second.status_code == 201
        client.published({"a": 1})
        refused = client.post("/subscriptions", json={"where": "a = 3"})
        problem(refused, 429, "overloaded")
        assert int(refused.headers["Retry-After"]) == 60
        again = client.post("/subscriptions", json=wanted, headers=key)
        assert again.json()["ticket"] == second.json()["ticket"]
        assert client.put(first, json={"where": "a = 4"}, headers=ticket).status_code == 200
        assert client.delete(first, headers=ticket).status_code == 204
        client.published({"a": 1})
        client.subscribed("a = 3", id="third")


def test_a_server_with_too_many_open_files_goes_on_when_some_are_closed(tmp_path: Path) -> None:
    with Log(tmp_path / "log") as log:
        log.submit(Subscribe({"where": "a > 1"}, bytes(32), "s")).result()
        log.submit(Publish([{"id": "e", "a": 2, "text": "x" * LARGE_LETTERS + "x"}])).result()
        matching = MatchThread(log, matcher())
        limits = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(limits[0], 512), limits[1]))
        opened = []
        try:
            with contextlib.suppress(OSError), log.reading.database():
                while True:
                    opened.append(os.open(os.devnull, os.O_RDONLY))
            assert len(opened) > 10
            matching.start()
            time.sleep(0.6)
            assert matching.broken is None
            assert log.state.cursor == 0
        finally:
            for each in opened:
                os.close(each)
            resource.setrlimit(resource.RLIMIT_NOFILE, limits)
        deadline = time.monotonic() + 60
        while log.state.cursor < 2 and time.monotonic() < deadline:
            time.sleep(0.05)
        matching.close(5)
        assert matching.broken is None
        (standing,) = log.reading.standings()
        assert (standing.matched, standing.due) == (1, 1)
