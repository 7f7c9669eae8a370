"""Webhooks: what is sent, how often, by whom it is signed, and how it is counted."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Iterator
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from cloudevents.core.bindings.http import HTTPMessage, from_http_event
from standardwebhooks import Webhook, WebhookVerificationError

from tamis.server.changes import Attempt
from tamis.server.errors import LogError
from tamis.server.log import Log
from tamis.server.webhooks import dispatch
from tamis.server.webhooks.addresses import networks_of
from tamis.server.webhooks.dispatch import WebhookSettings
from tamis.server.webhooks.sending import Sender, SendOutcome
from tests.server.conftest import Client, Serving
from tests.server.receivers import Answer, Got, Receiver, receiving
from tests.server.test_subscriptions import ADMIN, problem

HERE = networks_of(["127.0.0.0/8"])
QUICK = WebhookSettings(networks=HERE, delays=(0.05,), give_up_seconds=0.4, timeout_seconds=5)
PATIENT = WebhookSettings(networks=HERE, delays=(0.05,))
SECRET = "whsec_" + base64.b64encode(b"a secret of thirty-two bytes too").decode()


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as receiver:
        yield receiver


def refused(got: Got) -> Answer:
    return 500, {}, b"no"


def subscribed(client: Client, receiver: Receiver, **more: Any) -> tuple[str, dict[str, str], str]:
    """Subscribes with a webhook: the address, the ticket's header, and the secret."""
    wanted = {"where": "a > 3", "webhook": receiver.url, **more}
    answer = client.post("/subscriptions", json=wanted)
    assert answer.status_code == 201, answer.text
    made = answer.json()
    ticket = {"Authorization": f"Bearer {made['ticket']}"}
    return f"/subscriptions/{made['id']}", ticket, made["webhook"].get("secret", "")


def shown(client: Client, address: str, ticket: dict[str, str]) -> dict[str, Any]:
    """A subscription, of which all that is due is accounted for."""
    found: dict[str, Any] = client.get(address, headers=ticket).json()
    accounted = [found[name] for name in ("delivered", "pending", "dead", "gap")]
    assert found["due"] == sum(accounted), found
    assert min(accounted) >= 0
    return found


def until(client: Client, address: str, ticket: dict[str, str], **wanted: Any) -> dict[str, Any]:
    """Waits until a subscription stands as wanted."""
    ends = time.monotonic() + 60
    while time.monotonic() < ends:
        found = shown(client, address, ticket)
        if all(found[name] == value for name, value in wanted.items()):
            return found
        time.sleep(0.01)
    raise AssertionError(found)


def test_the_official_verifiers_take_what_is_sent(serving: Serving, receiver: Receiver) -> None:
    with serving(webhooks=PATIENT) as client:
        address, ticket, secret = subscribed(client, receiver, id="höhe")
        client.published({"id": "e1", "a": 5, "time": "2026-01-15T12:00:00Z"}, {"id": "e2", "a": 9})
        first, second = receiver.wait(2)
        until(client, address, ticket, delivered=2, pending=0)
    assert Webhook(secret).verify(first.body, first.headers)["data"]["event"] == "e1"
    with pytest.raises(WebhookVerificationError):
        Webhook(SECRET).verify(first.body, first.headers)
    event = from_http_event(HTTPMessage(first.headers, first.body))
    assert (event.get_id(), event.get_type()) == (first.id, "tamis.match")
    assert event.get_subject() == "e1"
    assert event.get_source() == "/subscriptions/h%C3%B6he"
    assert str(event.get_time()) == "2026-01-15 12:00:00+00:00"
    data: Any = event.get_data()
    assert (data["subscription"], data["events"], data["bindings"]) == ("höhe", ["e1"], [{}])
    assert (first.id, second.id) == ("1-1", "1-2")
    assert first.path == "/hook"
    assert len(receiver.connections) == 1


def test_what_is_not_taken_comes_again_with_its_id(serving: Serving, receiver: Receiver) -> None:
    def moody(got: Got) -> Answer:
        return (503 if len(receiver.got) < 4 else 200), {}, b""

    receiver.answer = moody
    with serving(webhooks=PATIENT) as client:
        address, ticket, secret = subscribed(client, receiver, webhook={"url": receiver.url})
        client.published({"id": "e1", "a": 5})
        got = receiver.wait(4)
        found = until(client, address, ticket, delivered=1)
    assert {each.id for each in got} == {"1-1"}
    assert len({each.body for each in got}) == 1
    assert found["webhook"] == {"url": receiver.url, "state": "active", "failures": 0}
    for each in got:
        Webhook(secret).verify(each.body, each.headers)


def test_one_that_is_never_taken_is_dead_and_holds_up_nobody(
    serving: Serving, receiver: Receiver
) -> None:
    def poisoned(got: Got) -> Answer:
        return (500 if b'"e2"' in got.body else 200), {}, b""

    receiver.answer = poisoned
    with serving(webhooks=QUICK, admin_key="the admin key") as client:
        address, ticket, _ = subscribed(client, receiver)
        client.published(*({"id": f"e{number}", "a": 5} for number in range(1, 6)))
        until(client, address, ticket, delivered=4, dead=1)
        (dead,) = client.get(f"{address}/dead", headers=ticket).json()
        assert (dead["id"], dead["event"], dead["type"]) == ("1-2", "e2", "match")
        assert dead["reason"] == "HTTP 500: not taken"
        assert dead["tries"] > 1
        assert client.get(f"{address}/dead", headers=ADMIN).json() == [dead]
        assert client.get(f"{address}/dead?after=1-2", headers=ticket).json() == []
        assert 'tamis_deliveries{state="dead"} 1.0' in client.get("/metrics").text
        again = f"{address}/dead/1-2/redeliver"
        problem(client.post(again, headers=ADMIN), 403, "wrong-ticket")
        problem(client.post(f"{address}/dead/1-1/redeliver", headers=ticket), 400, "malformed")
        receiver.answer = lambda got: (200, {}, b"")
        assert client.post(again, headers=ticket).status_code == 202
        until(client, address, ticket, delivered=5, dead=0)
        assert receiver.got[-1].id == "1-2"
        assert client.get(f"{address}/dead", headers=ticket).json() == []


def test_a_receiver_that_is_away_gets_all_later_in_order(
    serving: Serving, receiver: Receiver
) -> None:
    receiver.answer = refused
    with serving(webhooks=PATIENT) as client:
        address, ticket, _ = subscribed(client, receiver)
        client.published(*({"id": f"e{number}", "a": 5} for number in range(50)))
        receiver.wait(8)
        found = shown(client, address, ticket)
        assert (found["webhook"]["state"], found["pending"]) == ("failing", 50)
        assert found["webhook"]["reason"] == "HTTP 500: not taken"
        assert len({each.id for each in receiver.got}) <= 4  # the others wait for it
    before = len(receiver.got)
    receiver.answer = lambda got: (200, {}, b"")
    with serving(webhooks=PATIENT) as client:
        until(client, address, ticket, delivered=50, pending=0)
    taken = [each.id for each in receiver.got[before:]]
    assert sorted(taken) == sorted(f"1-{number}" for number in range(1, 51))
    late = [each for each in taken if int(each[2:]) > 4]
    assert late == [f"1-{number}" for number in range(5, 51)]


def test_one_that_cannot_be_written_down_comes_again(
    serving: Serving, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    refusals = ["the log cannot be written: the disk is full"]

    def submit(log: Log, change: Any) -> Any:
        if isinstance(change, Attempt) and refusals:
            raise LogError(refusals.pop())
        return real(log, change)

    real = Log.submit
    monkeypatch.setattr(Log, "submit", submit)
    monkeypatch.setattr(dispatch, "_UNWRITTEN_SECONDS", 0.05)
    with serving(webhooks=PATIENT) as client:
        address, ticket, _ = subscribed(client, receiver)
        client.published({"a": 5})
        until(client, address, ticket, delivered=1)
    assert [each.id for each in receiver.got] == ["1-1", "1-1"]


def test_what_no_library_can_call_is_a_failure_with_its_reason(
    serving: Serving, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def send(sender: Sender, url: str, *more: Any) -> SendOutcome:
        if url.endswith("/bad"):
            raise ValueError("of a library")
        return await real(sender, url, *more)

    real = Sender._send
    monkeypatch.setattr(Sender, "_send", send)
    with serving(webhooks=QUICK) as client:
        bad, ticket, _ = subscribed(client, receiver, webhook=f"{receiver.url}/bad")
        good, other, _ = subscribed(client, receiver)
        client.published({"a": 5})
        until(client, good, other, delivered=1)
        until(client, bad, ticket, dead=1)
        (dead,) = client.get(f"{bad}/dead", headers=ticket).json()
        assert dead["reason"] == "cannot be called: ValueError"


def test_a_webhook_that_takes_nothing_for_long_is_disabled_until_it_is_enabled(
    serving: Serving, receiver: Receiver
) -> None:
    receiver.answer = refused
    settings = WebhookSettings(networks=HERE, delays=(0.05,), disable_seconds=0.2)
    with serving(webhooks=settings) as client:
        address, ticket, _ = subscribed(client, receiver)
        client.published({"a": 5}, {"a": 6})
        ends = time.monotonic() + 60
        while shown(client, address, ticket)["webhook"]["state"] != "disabled":
            assert time.monotonic() < ends
        count = len(receiver.got)
        client.published({"a": 7})
        assert "tamis_webhooks_disabled 1.0" in client.get("/metrics").text
    receiver.answer = lambda got: (200, {}, b"")
    with serving(webhooks=settings) as client:
        time.sleep(0.3)
        assert len(receiver.got) == count
        assert shown(client, address, ticket)["pending"] == 3
        problem(client.post(f"{address}/webhook/enable"), 401, "ticket-required")
        assert client.post(f"{address}/webhook/enable", headers=ticket).status_code == 200
        until(client, address, ticket, delivered=3)


def test_gone_disables_at_once_and_what_is_busy_is_left_alone(
    serving: Serving, receiver: Receiver
) -> None:
    moments: list[float] = []

    def busy(got: Got) -> Answer:
        moments.append(time.monotonic())
        return ((429, {"retry-after": "2"}) if len(moments) == 1 else (200, {})) + (b"",)

    receiver.answer = lambda got: (410, {}, b"")
    with serving(webhooks=PATIENT) as client:
        address, ticket, _ = subscribed(client, receiver)
        client.published({"a": 5})
        ends = time.monotonic() + 60
        while shown(client, address, ticket)["webhook"]["state"] != "disabled":
            assert time.monotonic() < ends
        receiver.answer = busy
        client.post(f"{address}/webhook/enable", headers=ticket)
        until(client, address, ticket, delivered=1)
    first, again = moments
    assert again - first > 1.9


def test_a_webhook_is_not_judged_by_what_the_one_before_it_says(
    serving: Serving, receiver: Receiver
) -> None:
    is_moved = Event()

    def answer(got: Got) -> Answer:
        if got.path == "/hook/new":
            return 204, {}, b""
        assert is_moved.wait(20)
        return 410, {}, b""

    receiver.answer = answer
    with serving(webhooks=WebhookSettings(networks=HERE)) as client:
        address, ticket, _ = subscribed(client, receiver)
        client.published({"a": 5})
        receiver.wait(1)
        moved = {"where": "a > 3", "webhook": receiver.url + "/new"}
        client.put(address, headers=ticket, json=moved)
        is_moved.set()
        found = until(client, address, ticket, delivered=1)
        assert (found["webhook"]["state"], found["webhook"]["failures"]) == ("active", 0)
        assert [each.path for each in receiver.got] == ["/hook", "/hook/new"]


def test_a_secret_gives_way_to_another_and_both_sign(serving: Serving, receiver: Receiver) -> None:
    with serving(webhooks=PATIENT) as client:
        wanted = {"url": receiver.url, "secret": SECRET}
        address, ticket, told = subscribed(client, receiver, webhook=wanted)
        assert told == ""
        rotate = f"{address}/webhook/rotate"
        same = {**ticket, "Idempotency-Key": "k"}
        (made, again) = (client.post(rotate, headers=same).json() for _ in range(2))
        assert made == again
        client.published({"a": 5})
        (first,) = receiver.wait(1)
        for secret in (SECRET, made["secret"]):
            Webhook(secret).verify(first.body, first.headers)
        client.post(rotate, headers=ticket, json={"secret": SECRET, "overlap": 0.01})
        time.sleep(0.05)
        client.published({"a": 6})
        second = receiver.wait(2)[1]
        Webhook(SECRET).verify(second.body, second.headers)
        with pytest.raises(WebhookVerificationError):
            Webhook(made["secret"]).verify(second.body, second.headers)
        for bad in ("x", "whsec_", "whsec_" + "A" * 8, 7):
            refusal = client.post(rotate, headers=ticket, json={"secret": bad})
            problem(refusal, 422, "bad-subscription")
        problem(client.post(rotate, headers=ADMIN), 403, "wrong-ticket")


def test_put_keeps_the_secret_and_takes_a_webhook_away(
    serving: Serving, receiver: Receiver
) -> None:
    receiver.answer = refused
    with serving(webhooks=PATIENT) as client:
        address, ticket, secret = subscribed(client, receiver)
        moved = {"where": "a > 3", "webhook": {"url": receiver.url + "/moved"}}
        answer = client.put(address, headers=ticket, json=moved).json()
        assert answer["webhook"] == {"url": receiver.url + "/moved"}
        client.published({"a": 5})
        first = receiver.wait(1)[0]
        assert first.path == "/hook/moved"
        Webhook(secret).verify(first.body, first.headers)
        while not shown(client, address, ticket)["webhook"]["failures"]:
            time.sleep(0.01)  # until it is in the log that it was not taken
        client.put(address, headers=ticket, json={"where": "a > 3"})
        found = until(client, address, ticket, dead=1)
        assert "webhook" not in found
        (dead,) = client.get(f"{address}/dead", headers=ticket).json()
        assert dead["reason"] == "the webhook was removed"
        again = client.post(f"{address}/dead/{dead['id']}/redeliver", headers=ticket)
        problem(again, 404, "not-found")
        client.post(f"{address}/ack", headers=ticket, json={"id": dead["id"]})
        until(client, address, ticket, dead=0, delivered=1)


def test_secrets_are_told_once_and_nowhere_else(serving: Serving, receiver: Receiver) -> None:
    with serving(webhooks=PATIENT, admin_key="the admin key") as client:
        same = {"Idempotency-Key": "s"}
        wanted = {"where": "a > 3", "webhook": receiver.url}
        first, second = (
            client.post("/subscriptions", json=wanted, headers=same).json() for _ in range(2)
        )
        assert (first["ticket"], first["webhook"]) == (second["ticket"], second["webhook"])
        secret = first["webhook"]["secret"]
        ticket = {"Authorization": f"Bearer {first['ticket']}"}
        everything = [
            client.get(f"/subscriptions/{first['id']}", headers=ticket).text,
            client.get("/subscriptions", headers=ADMIN).text,
            client.post("/events?wait=true", json={"a": 5}, headers=ADMIN).text,
        ]
        with client.stream("GET", "/events?after=0", headers=ADMIN) as answer:
            for line in answer.iter_lines():
                everything.append(line)
                if '"matches"' in line:
                    break
    assert len(everything) > 5
    assert not [text for text in everything if secret in text or "whsec_" in text]


@pytest.mark.parametrize(
    ("webhook", "said"),
    [
        (7, "an address, or"),
        ({}, "an address, or"),
        ({"url": "https://x", "sceret": "y"}, "did you mean secret?"),
        ({"url": "https://x", "secret": "hunter2"}, "whsec_ and 24 to 64 bytes"),
        ("ftp://x/y", "it begins with https://HOST"),
        ("https://", "it begins with https://HOST"),
        ("https://x:99999/", "it begins with https://HOST"),
        ("https://[::1", "it begins with https://HOST"),
        ("https://user:word@x/", "leave out what is before @"),
        ("https://x/#y", "what is behind #"),
        ("https://x/\r\nHost: y", "write other letters as %XX"),
        ("https://ü.de/", "write other letters as %XX"),
        ("https://x/" + "y" * 3_000, "text of up to 2,048 letters"),
        ("http://10.0.0.1/", "this server does not call 10.0.0.1"),
        ("http://2130706434/", "this server does not call 2130706434"),
    ],
)
def test_what_is_no_webhook_is_told(serving: Serving, webhook: Any, said: str) -> None:
    with serving(webhooks=WebhookSettings()) as client:
        answer = client.post("/subscriptions", json={"where": "a = 1", "webhook": webhook})
        assert said in problem(answer, 422, "bad-subscription")["errors"][0]["detail"]
        assert "hunter2" not in answer.text


def test_what_retention_removed_is_a_gap_that_is_sent(
    serving: Serving, receiver: Receiver, tmp_path: Path
) -> None:
    receiver.answer = refused
    settings = WebhookSettings(networks=HERE, delays=(0.05,), disable_seconds=0.1)
    with serving(webhooks=settings) as client:
        address, ticket, _ = subscribed(client, receiver)
        client.published(*({"a": 5} for _ in range(6)))
        ends = time.monotonic() + 60
        while shown(client, address, ticket)["webhook"]["state"] != "disabled":
            assert time.monotonic() < ends
    from tamis.server.changes import Retain

    with Log(tmp_path / "data") as log:
        log.submit(Retain(most_bytes=0)).result()
        standing = log.reading.standing("subscription-1")
        assert standing is not None
        counts = standing.due, standing.delivered, standing.pending, standing.dead, standing.gap
        assert counts == (6, 0, 0, 0, 6)
    receiver.answer = lambda got: (200, {}, b"")
    count = len(receiver.got)
    with serving(webhooks=settings) as client:
        client.post(f"{address}/webhook/enable", headers=ticket)
        client.published({"a": 5})
        gap, match = (json.loads(each.body) for each in receiver.wait(count + 2)[count:])
        assert (gap["type"], match["type"], match["id"]) == ("tamis.gap", "tamis.match", "1-7")
        assert gap["data"]["missing"] >= 3
        until(client, address, ticket, delivered=1, gap=6)
