"""Events over HTTP: in which forms they come, what is refused, and what became of them."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import queue
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

import tamis
from tamis.server import bodies, database, matching
from tamis.server.changes import Retain
from tamis.server.database import open_database
from tamis.server.log import Log
from tamis.server.overload import Lateness
from tests.server.conftest import Client, Serving, until
from tests.server.test_deliveries import streamed
from tests.server.test_subscriptions import ADMIN, problem


def test_one_an_array_or_lines(client: Client) -> None:
    one = client.post("/events", json={"id": "one", "a": 1})
    assert (one.status_code, one.json()) == (202, {"ids": ["one"]})
    assert client.post("/events", json=[{"id": "x1"}, {"id": "x2"}]).json() == {"ids": ["x1", "x2"]}
    lines = '{"id": "l1"}\n\n{"id": "l2"}\r\n{"id": "l3"}'
    assert client.post("/events", content=lines).json() == {"ids": ["l1", "l2", "l3"]}
    typed = {"Content-Type": "application/x-ndjson"}
    assert client.post("/events", content='{"id": "l4"}', headers=typed).json() == {"ids": ["l4"]}
    made_up = client.post("/events", json={"a": 1}).json()["ids"][0]
    assert made_up.startswith("event-")
    assert client.post("/events", json=[]).json() == {"ids": []}


def test_cloud_events_are_opened(client: Client) -> None:
    client.subscribed('type = "seen" and speed = 5', id="clouds")
    envelope = {"specversion": "1.0", "id": "c1", "source": "/cameras", "type": "seen"}
    whole = {**envelope, "data": {"speed": 5}}
    answer = client.post(
        "/events?wait=true",
        content=json.dumps(whole),
        headers={"Content-Type": "application/cloudevents+json"},
    )
    assert answer.json()["events"][0]["matches"] == ["clouds"]
    batch = [{**whole, "id": "c2"}, {**whole, "id": "c3", "data": {"speed": 6}}]
    assert client.published(*batch) == ["clouds", ""]
    headers = {f"ce-{name}": value for name, value in {**envelope, "id": "c4"}.items()}
    binary = client.post("/events?wait=true", json={"speed": 5}, headers=headers)
    assert binary.json()["events"] == [{"event": "c4", "matches": ["clouds"], "undetermined": []}]
    written = {**headers, "ce-id": "caf%C3%A9%20%25"}
    assert client.post("/events", json={"speed": 5}, headers=written).json() == {"ids": ["café %"]}


def test_a_picture_comes_as_a_part(client: Client) -> None:
    client.subscribed('drone = "d1" and image starts with "data:image/png;base64,"', id="pictures")
    event = json.dumps({"id": "p1", "drone": "d1"})
    picture = b"\x89PNG\r\n--not the boundary\r\n\r\n" + bytes(range(256)) * 100
    files = {
        "event": (None, event, "application/json"),
        "image": ("a.png", picture, "image/png"),
    }
    answer = client.post("/events?wait=true", files=files, headers=ADMIN)  # type: ignore[arg-type]
    match = answer.json()["events"][0]
    assert match["matches"][0]["subscription"] == "pictures"
    whole = f"data:image/png;base64,{base64.b64encode(picture).decode()}"
    again = client.post("/events", json={"id": "p1", "drone": "d1", "image": whole})
    assert again.status_code == 202  # the very same event


@pytest.mark.parametrize(
    "event",
    [
        {"image": "/etc/passwd"},
        {"image": "frame.png"},
        {"image": "http://127.0.0.1/x.png"},
        {"image": "file:///etc/passwd"},
        {"facts": "../secrets.ttl"},
        {"facts": "https://example.org/graph.ttl"},
        {"specversion": "1.0", "id": "c", "data": {"image": "/etc/passwd"}},
    ],
)
def test_an_event_names_no_file_and_no_address(client: Client, event: dict[str, object]) -> None:
    document = problem(client.post("/events", json=event), 400, "bad-event")
    assert "names no file and no address" in document["detail"]
    assert client.post("/events", json={"image": "data:,x", "facts": "<a> <b> <c> ."}).is_success


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("", "not valid JSON"),
        ("{", "line 1, column 2"),
        ("3", "an event is an object, and this is a number"),
        ('[{"id": 1}, "x"]', "event 2: an event is an object"),
        ('{"id": [1]}', "the id of an event is a string or a number"),
        ('{"id": ""}', "not empty"),
        ('{"id": "\\ud800"}', "printable"),
        ('{"id": "' + "x" * 300 + '"}', "200 letters at most"),
        ('{"a": 1}\n{"a"', "line 2"),
        ("[" * 200_000, "nested too deep"),
    ],
)
def test_what_is_no_event_is_told(client: Client, body: str, said: str) -> None:
    answer = client.post("/events", content=body)
    assert answer.status_code == 400
    assert said in answer.json()["detail"]


def test_an_id_again_is_taken_once(client: Client) -> None:
    client.subscribed("again = 1", id="again")
    assert client.published({"id": "same", "again": 1}) == ["again"]
    assert client.published({"again": 1, "id": "same"}) == ["again"]
    assert client.get("/subscriptions/again", headers=ADMIN).json()["due"] == 1
    answer = client.post("/events", json={"id": "same", "again": 2})
    assert "'same'" in problem(answer, 409, "other-content")["detail"]


def test_verdicts_are_ids_and_more_for_the_admin(client: Client) -> None:
    client.subscribed("peopleCount(?n), ?n > 3, said = 1", id="counting", color="red")
    events = [{"id": "v1", "said": 1, "people": 7}, {"id": "v2", "said": 1, "people": "broken"}]
    plain = client.post("/events?wait=true", json=events).json()["events"]
    assert [each["matches"] for each in plain] == [["counting"], []]
    assert [each["undetermined"] for each in plain] == [[], ["counting"]]
    whole = client.post("/events?wait=true", json=events, headers=ADMIN).json()["events"]
    assert whole[0]["matches"] == [
        {"subscription": "counting", "bindings": [{"n": 7}], "data": {"color": "red"}}
    ]
    assert "the camera is broken" in whole[1]["undetermined"][0]["reason"]


def test_a_key_again_publishes_once(client: Client) -> None:
    key = {"Idempotency-Key": "publish-1"}
    first, second = (client.post("/events", json={"n": 1}, headers=key) for _ in range(2))
    assert first.json() == second.json()
    assert client.post("/events", json={"n": 1}).json() != first.json()


def test_the_log_is_followed_by_the_admin(client: Client) -> None:
    problem(client.get("/events"), 401, "key-refused")
    client.published({"id": "followed", "level": 3})
    with client.stream("GET", "/events?after=0", headers=ADMIN) as stream:
        kinds = set()
        for line in stream.iter_lines():
            kinds |= {line} if line.startswith("event: ") else set()
            if '"id": "followed"' in line:
                entry = json.loads(line.removeprefix("data: "))
                break
    assert "event: subscribe" in kinds
    assert entry["event"] == {"id": "followed", "level": 3}
    assert entry["account"]["events"] == 1


def test_who_follows_from_below_the_floor_is_told_of_the_gap(serving: Serving) -> None:
    with serving(keep_bytes=0, admin_key="the admin key") as client:
        client.published(*({"id": f"e{number}"} for number in range(3)))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(matching, "_TIDY_SECONDS", 0.0)
            ends = time.monotonic() + 60
            while "tamis_floor 4.0" not in client.get("/metrics").text:
                time.sleep(0.05)
                assert time.monotonic() < ends
        client.published({"id": "e3"})
        for after, missing in (("0", 3), ("1", 2), ("-7", 3), ("3", 0)):
            with client.stream("GET", f"/events?after={after}", headers=ADMIN) as stream:
                found = streamed(stream)
                assert next(found)["id"] == str(max(0, int(after)))
                if missing:
                    gap = next(found)
                    assert (gap["id"], gap["event"]) == ("3", "gap")
                    assert json.loads(gap["data"]) == {"missing": missing}
                entry = next(found)
                assert (entry["id"], json.loads(entry["data"])["id"]) == ("4", "e3")
        beyond = {**ADMIN, "Last-Event-ID": "9" * 30}
        with client.stream("GET", "/events", headers=beyond) as stream:
            assert next(streamed(stream))["id"] == "4"


def test_who_follows_from_below_the_floor_is_told_what_is_decided_alone(
    serving: Serving, tmp_path: Path
) -> None:
    """Each entry once, with its verdict, however many are gone below it."""
    goes_on, told = threading.Event(), queue.Queue[dict[str, str]]()

    @tamis.operator(inputs=("a",))
    def held(event: object) -> bool:
        goes_on.wait(60)
        return True

    def follow(base: httpx.URL) -> None:
        with (
            Client(base_url=base, timeout=30) as other,
            other.stream("GET", "/events?after=0", headers=ADMIN) as stream,
        ):
            for each in streamed(stream):
                told.put(each)

    def make() -> tamis.Matcher:
        return tamis.Matcher(operators=[held])

    with serving(make=make) as client:
        client.subscribed("held()", id="all")
        client.published({"id": "e0"}, {"id": "e1"})
    with Log(tmp_path / "data") as log:
        log.submit(Retain(None, 0, log.state.cursor)).result()
        assert (log.state.floor, log.state.cursor) == (4, 3)
    with serving(admin_key="the admin key", make=make) as client:
        assert client.post("/events", json=[{"id": f"h{n}", "a": n} for n in range(5)]).is_success
        threading.Thread(target=follow, args=[client.base_url], daemon=True).start()
        assert [told.get(timeout=60)["id"] for _ in range(2)] == ["0", "3"]
        with pytest.raises(queue.Empty):
            told.get(timeout=0.5)
        goes_on.set()
        found = [told.get(timeout=60) for _ in range(5)]
    assert [each["id"] for each in found] == ["4", "5", "6", "7", "8"]
    verdicts = [json.loads(each["data"]) for each in found]
    assert [each["matches"][0]["subscription"] for each in verdicts] == ["all"] * 5


def test_publishing_may_need_a_key(serving: Serving) -> None:
    with serving(publish_key="secret") as client:
        problem(client.post("/events", json={"a": 1}), 401, "key-refused")
        wrong = {"Authorization": "Bearer other"}
        problem(client.post("/events", json={"a": 1}, headers=wrong), 403, "wrong-key")
        right = {"Authorization": "Bearer secret"}
        assert client.post("/events", json={"a": 1}, headers=right).status_code == 202


def test_what_is_too_large_is_refused(serving: Serving) -> None:
    with serving(most_bytes=1_000, most_events=3) as client:
        assert problem(client.post("/events", json={"a": "x" * 2_000}), 413, "too-large")
        parts = (b"x" * 500 for _ in range(5))
        assert problem(client.post("/events", content=parts), 413, "too-large")
        assert problem(client.post("/events", json=[{}] * 4), 413, "too-large")
        assert client.post("/events", json=[{}] * 3).status_code == 202


def test_more_than_can_wait_is_shed_and_counted(serving: Serving) -> None:
    goes_on = threading.Event()

    @tamis.operator(inputs=("people",))
    def held(event: object) -> bool:
        return goes_on.wait(60)

    with serving(most_behind=1, make=lambda: tamis.Matcher(operators=[held])) as client:
        client.subscribed("held()")
        until(lambda: client.sample("tamis_cursor") == client.sample("tamis_position"))
        answers: list[httpx.Response] = []

        def publish() -> None:
            with Client(base_url=client.base_url) as other:
                answers.extend(other.post("/events", json={"people": 5}) for _ in range(40))

        threads = [threading.Thread(target=publish) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        goes_on.set()
        shed = [answer for answer in answers if answer.status_code == 429]
        assert {answer.status_code for answer in answers} == {202, 429}
        assert all(int(answer.headers["retry-after"]) >= 1 for answer in shed)
        problem(shed[0], 429, "overloaded")
        metrics = client.get("/metrics").text
        assert 'tamis_events_total{outcome="offered"} 160.0' in metrics
        assert f'tamis_events_total{{outcome="shed"}} {len(shed)}.0' in metrics
        assert f'tamis_events_total{{outcome="accepted"}} {160 - len(shed)}.0' in metrics


def test_events_of_more_bytes_than_can_wait_are_shed(
    serving: Serving, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of those that are accepted is in the log, once, and no other."""
    monkeypatch.setattr(database, "_BUSY_MILLISECONDS", 60_000)
    event = {"text": "x" * 60_000}
    with serving(most_waiting_bytes=100_000, admin_key="a") as client:
        statuses: list[int] = []
        holding = open_database(tmp_path / "data")
        holding.execute("BEGIN IMMEDIATE")  # the writer waits for it

        def publish() -> None:
            with Client(base_url=client.base_url) as other:
                for _ in range(15):
                    statuses.append(other.post("/events", json=event).status_code)

        threads = [threading.Thread(target=publish) for _ in range(6)]
        for thread in threads:
            thread.start()
        until(lambda: 429 in statuses)
        holding.execute("ROLLBACK")
        holding.close()
        for thread in threads:
            thread.join()
        accepted, shed = statuses.count(202), statuses.count(429)
        assert accepted + shed == 90
        assert shed
        metrics = client.get("/metrics").text
        assert f'tamis_events_total{{outcome="accepted"}} {accepted}.0' in metrics
        assert f'tamis_events_total{{outcome="shed"}} {shed}.0' in metrics
        assert f"tamis_position {accepted}.0" in metrics
        assert client.post("/events", json={"text": "x" * 200_000}).status_code == 202  # alone


def test_bodies_that_are_still_being_sent_wait_within_bytes(serving: Serving) -> None:
    with serving(most_waiting_bytes=200_000) as client:
        began, goes_on = threading.Event(), threading.Event()

        def slowly() -> Iterator[bytes]:
            yield b'{"text": "' + b"x" * 150_000
            began.set()
            goes_on.wait(60)
            yield b'"}'

        slow: list[int] = []
        with Client(base_url=client.base_url) as other:
            send = threading.Thread(
                target=lambda: slow.append(other.post("/events", content=slowly()).status_code)
            )
            send.start()
            began.wait(60)
            ends = time.monotonic() + 60
            while "tamis_queue_bytes 150010.0" not in client.get("/metrics").text:
                assert time.monotonic() < ends
            for address in ("/events", "/subscriptions"):
                answer = client.post(address, json={"where": "a = 1", "text": "x" * 60_000})
                problem(answer, 429, "overloaded")
            assert client.post("/events", json={"text": "x" * 40_000}).status_code == 202
            goes_on.set()
            send.join()
        assert slow == [202]
        metrics = client.get("/metrics").text
        assert "tamis_queue_bytes 0.0" in metrics
        for outcome, count in (("offered", 3.0), ("accepted", 2.0), ("shed", 1.0)):
            assert f'tamis_events_total{{outcome="{outcome}"}} {count}' in metrics


@pytest.mark.parametrize(("first", "pause"), [(10, 0.05), (160_000, 20.0)])
def test_a_body_that_comes_too_slowly_is_waited_for_no_longer(
    serving: Serving, monkeypatch: pytest.MonkeyPatch, first: int, pause: float
) -> None:
    """Whether it stops or trickles; what was held of it is let go."""
    monkeypatch.setattr(bodies, "_PATIENCE_SECONDS", 0.5)
    with (
        serving(most_waiting_bytes=200_000) as client,
        socket.create_connection((client.base_url.host, client.base_url.port or 0)) as slow,
    ):
        slow.sendall(b"POST /events HTTP/1.1\r\nHost: here\r\nContent-Length: 190000\r\n\r\n")
        slow.sendall(b'{"text": "'.ljust(first, b"x"))
        slow.settimeout(pause)
        answer, ends = b"", time.monotonic() + 8  # what came would give the rest ten seconds
        while time.monotonic() < ends:
            try:
                answer += (part := slow.recv(65_536))
            except TimeoutError:
                slow.sendall(b"x")
            else:
                if not part:
                    break
        head, _, body = answer.partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 408 ")
        assert json.loads(body)["type"] == "urn:tamis:problem:too-slow"
        assert "tamis_queue_bytes 0.0" in client.get("/metrics").text
        parts = (b'{"text": "', *(b"x" * 16_384 for _ in range(8)), b'"}')

        def steadily() -> Iterator[bytes]:
            for part in parts:
                time.sleep(0.1)
                yield part

        def is_taken() -> bool:
            with contextlib.suppress(httpx.TransportError):
                return client.post("/events", content=steadily()).status_code == 202
            return False

        until(is_taken)  # once the machine lets it come as steadily as it is sent


def test_who_is_shed_is_told_when_there_is_room(serving: Serving) -> None:
    """As long as what waits takes, as it went lately."""

    goes_on = threading.Event()

    @tamis.operator(inputs=("a",))
    def slow(event: Any) -> bool:
        return event["a"] == 0 or goes_on.wait(60)

    with serving(most_behind=40, make=lambda: tamis.Matcher(operators=[slow])) as client:
        client.subscribed("slow()")
        client.published({"a": 0})
        for _ in range(200):
            answer = client.post("/events", json=[{"a": 1}] * 10)
            if answer.status_code == 429:
                break
        goes_on.set()
        assert 1 <= int(answer.headers["retry-after"]) <= 60
        assert "lag_seconds" in client.get("/metrics").text


@pytest.mark.slow
def test_what_waits_for_longer_than_it_may_is_shed_unread(serving: Serving) -> None:
    """A hundred may wait however long; one that is not read counts as one event."""

    goes_on = threading.Event()

    @tamis.operator(inputs=("a",))
    def slow(event: Any) -> bool:
        time.sleep(0.02)
        return event["a"] == "first" or goes_on.wait(60)

    with serving(most_lag_seconds=0.5, make=lambda: tamis.Matcher(operators=[slow])) as client:
        client.subscribed("slow()")
        client.published({"a": "first"})
        assert client.post("/events", json=[{"a": n} for n in range(50)]).status_code == 202
        assert client.post("/events", json=[{"a": -n} for n in range(100)]).status_code == 202
        answer = client.post("/events", content="this is no event")
        problem(answer, 429, "overloaded")
        assert int(answer.headers["retry-after"]) >= 1
        metrics = client.get("/metrics").text
        for outcome, count in (("offered", 152), ("accepted", 151), ("shed", 1)):
            assert f'tamis_events_total{{outcome="{outcome}"}} {count}.0' in metrics
        goes_on.set()
        ends = time.monotonic() + 60
        while client.post("/events", json={"a": 99}).status_code == 429:
            assert time.monotonic() < ends
            time.sleep(0.05)


class Loop:
    """An event loop that is held up for as long as a test says."""

    def __init__(self) -> None:
        self.now = self.due = 0.0
        self.call: Callable[[], None] = lambda: None

    def time(self) -> float:
        return self.now

    def call_later(self, seconds: float, call: Callable[[], None]) -> None:
        self.due, self.call = self.now + seconds, call

    def run(self, seconds: float) -> None:
        """Does what is due, now and after so long."""
        for step in (0.0, seconds):
            self.now += step
            if self.now >= self.due:
                self.call()


def test_a_loop_is_late_when_it_is_so_again(monkeypatch: pytest.MonkeyPatch) -> None:
    loop, found = Loop(), []
    monkeypatch.setattr(asyncio, "get_running_loop", lambda: loop)
    lateness = Lateness()
    for seconds in (0.0, 0.3, 0.3, 0.0, 0.0):
        loop.now += seconds  # held up
        found.append(lateness.seconds)
        loop.run(0.06 if seconds == 0.0 else 0.01)
    at_first, once, again, then, last = found
    assert max(at_first, once) < 0.1
    assert again > 0.2
    assert then < 0.1
    assert last < 0.1


def test_what_is_offered_is_accepted_refused_or_shed(serving: Serving) -> None:
    with serving() as client:
        key = {"Idempotency-Key": "one"}
        for body, headers in (
            ([{"id": "o1"}, {"id": "o2"}], {}),
            ([{"id": "o1", "a": 1}], {}),
            ([{"image": "/etc/passwd"}, {}], {}),
            ([{"id": "o3"}], key),
            ([{"id": "o4"}], key),
        ):
            client.post("/events", json=body, headers=headers)
        metrics = client.get("/metrics").text
    for outcome, count in (("offered", 7), ("accepted", 3), ("refused", 4), ("shed", 0)):
        assert f'tamis_events_total{{outcome="{outcome}"}} {count}.0' in metrics


def test_large_payloads_are_files_of_their_content(serving: Serving, tmp_path: Path) -> None:
    picture = "data:image/png;base64," + "A" * 100_000
    with serving() as client:
        client.subscribed(f'image ends with "{"A" * 20}"', id="long")
        events = [{"id": f"b{number}", "image": picture} for number in range(3)]
        assert client.published(*events) == ["long"] * 3
    files = [path for path in (tmp_path / "data" / "payloads").rglob("*") if path.is_file()]
    assert [file.stat().st_size for file in files] == [len(picture)]
