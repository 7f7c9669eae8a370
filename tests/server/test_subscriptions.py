"""Subscriptions over HTTP: what is taken, what is refused, and who may change it."""

from __future__ import annotations

import json
import logging
import secrets
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import tamis
from tamis.testing import FakeClock
from tests.server.conftest import Client, Serving

ADMIN = {"Authorization": "Bearer the admin key"}


def problem(answer: Any, status: int, name: str) -> dict[str, Any]:
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    document: dict[str, Any] = answer.json()
    assert document["type"] == f"urn:tamis:problem:{name}"
    assert document["status"] == status
    assert document["title"]
    return document


def left(expires: str) -> float:
    return (datetime.fromisoformat(expires) - datetime.now(UTC)).total_seconds()


def test_a_subscription_is_a_ticket_an_end_and_a_forecast(client: Client) -> None:
    answer = client.post("/subscriptions", json={"where": "peopleCount(?n), ?n > 3", "team": "x"})
    made = answer.json()
    assert answer.status_code == 201
    assert answer.headers["location"] == f"/subscriptions/{made['id']}"
    assert len(made["ticket"]) == 43
    assert 86_000 < left(made["expires"]) <= 86_400
    assert made["forecast"]["calls"] == {"peopleCount(?1)": 1.0}
    shown = client.get(
        answer.headers["location"], headers={"Authorization": f"Bearer {made['ticket']}"}
    ).json()
    assert shown["where"] == "peopleCount(?n), ?n > 3"
    assert (shown["team"], shown["live"], shown["matched"], shown["due"]) == ("x", True, 0, 0)
    assert made["ticket"] not in json.dumps(shown)


def test_who_makes_many_leaves_the_forecast_of_each_out(client: Client) -> None:
    answer = client.post("/subscriptions?forecast=false", json={"where": "peopleCount(?n), ?n > 3"})
    assert answer.status_code == 201
    assert "forecast" not in answer.json()
    with tamis.Client(str(client.base_url)) as other:
        assert other.subscribe("peopleCount(?n), ?n > 3", forecast=False).forecast is None
        assert other.subscribe("peopleCount(?n), ?n > 3").forecast is not None


@pytest.mark.parametrize(("validity", "seconds"), [(60, 60), ("PT1H", 3600), ("10min", 600)])
def test_validity_is_seconds_or_a_duration(
    client: Client, validity: object, seconds: float
) -> None:
    made = client.post("/subscriptions", json={"where": "a = 1", "validity": validity}).json()
    assert seconds - 10 < left(made["expires"]) <= seconds


def test_every_error_is_told_at_once_with_its_caret(client: Client) -> None:
    where = "peopelCount(?n), ?n > 3 and\nnowhere(x)"
    wanted = {"where": where, "deliver": {"cooldwn": 1}, "validity": "soon", "webhook": {}}
    document = problem(client.post("/subscriptions", json=wanted), 422, "bad-subscription")
    details = [each["detail"] for each in document["errors"]]
    assert details[0].startswith("validity: ")
    assert details[1].startswith("webhook: ")
    assert details[2] == "unknown operator peopelCount; did you mean peopleCount?"
    assert details[4].startswith("deliver: unknown policy 'cooldwn'; did you mean cooldown?")
    fourth = document["errors"][3]
    assert (fourth["line"], fourth["column"]) == (2, 1)
    assert fourth["excerpt"] == "    nowhere(x)\n    ^"
    assert "did you mean peopleCount?" in document["detail"]
    unread = {"where": "a = ", "deliver": {"cooldwn": 1}}
    document = problem(client.post("/subscriptions", json=unread), 422, "bad-subscription")
    assert [each["detail"].split()[0] for each in document["errors"]] == ["expected", "deliver:"]


@pytest.mark.parametrize("wanted", [{"where": 3}, {}, {"where": "a = 1", "id": "x/y"}, {"id": 1}])
def test_what_is_no_subscription_is_told(client: Client, wanted: dict[str, object]) -> None:
    problem(client.post("/subscriptions", json=wanted), 422, "bad-subscription")


@pytest.mark.parametrize("body", ["", "[1]", "{", "\xff", '{"a":1}}', "[" * 100_000])
def test_what_is_no_json_object_is_told(client: Client, body: str) -> None:
    answer = client.post("/subscriptions", content=body.encode("latin-1"))
    problem(answer, *((422, "bad-subscription") if not body else (400, "malformed")))


def test_a_warning_is_told(client: Client) -> None:
    made = client.post("/subscriptions", json={"where": "a < 3 and a > 5"}).json()
    assert "never" in made["warnings"][0]
    named = {"id": "mine", "where": "a < 3 and a > 5", "webhok": "https://receiver.example"}
    never, key = client.post("/subscriptions", json=named).json()["warnings"]
    assert never.startswith("subscription 'mine' never matches")
    assert "webhok" in key
    assert "did you mean webhook?" in key


def test_an_id_is_taken_once(client: Client) -> None:
    client.subscribed("a = 1", id="taken")
    problem(client.post("/subscriptions", json={"where": "a = 2", "id": "taken"}), 409, "id-taken")


def test_who_has_no_ticket_or_another_one_is_refused(client: Client) -> None:
    address, ticket = client.subscribed("a = 1", id="guarded")
    _, foreign = client.subscribed("a = 2")
    cut = {"Authorization": ticket["Authorization"][:-1]}
    basic = {"Authorization": "Basic " + ticket["Authorization"][7:]}
    for method, path in (
        *(("GET", address), ("DELETE", address), ("PUT", address), ("GET", f"{address}/matches")),
        *(("POST", f"{address}/renew"), ("POST", f"{address}/ack")),
    ):
        answer = client.request(method, path, json={"where": "a = 3"})
        problem(answer, 401, "ticket-required")
        assert answer.headers["www-authenticate"] == "Bearer"
        problem(client.request(method, path, headers=basic), 401, "ticket-required")
        for wrong in (foreign, cut):
            answer = client.request(method, path, headers=wrong, json={"where": "a = 3"})
            problem(answer, 403, "wrong-ticket")
    problem(client.get("/subscriptions/nobody", headers=ticket), 404, "not-found")
    assert client.get(address, headers=ticket).json()["where"] == "a = 1"


def test_the_admin_reads_everything_and_changes_nothing(client: Client) -> None:
    address, _ = client.subscribed("a = 1", id="watched")
    assert client.get(address, headers=ADMIN).json()["id"] == "watched"
    assert client.get(f"{address}/matches?wait=0", headers=ADMIN).json() == []
    assert "watched" in [each["id"] for each in client.get("/subscriptions", headers=ADMIN).json()]
    for method, path in (
        *(("DELETE", address), ("PUT", address)),
        *(("POST", f"{address}/renew"), ("POST", f"{address}/ack")),
    ):
        answer = client.request(method, path, headers=ADMIN, json={"where": "a = 3"})
        problem(answer, 403, "wrong-ticket")
    problem(client.get("/subscriptions"), 401, "key-refused")
    wrong = {"Authorization": "Bearer another key"}
    problem(client.get("/subscriptions", headers=wrong), 403, "wrong-key")


def test_another_text_counts_at_once_and_keeps_what_was_delivered(client: Client) -> None:
    address, ticket = client.subscribed("level = 7", id="changing")
    assert client.published({"level": 7}) == ["changing"]
    end = client.get(address, headers=ticket).json()["expires"]
    problem(client.put(address, headers=ticket, json={"where": "level <"}), 422, "bad-subscription")
    problem(
        client.put(address, headers=ticket, json={"where": "a = 1", "id": "x"}), 400, "malformed"
    )
    answer = client.put(address, headers=ticket, json={"where": "level = 8"})
    assert answer.status_code == 200
    assert answer.json()["expires"] == end
    assert client.published({"level": 7}, {"level": 8}) == ["", "changing"]
    shown = client.get(address, headers=ticket).json()
    assert (shown["where"], shown["due"], shown["pending"]) == ("level = 8", 2, 2)


def test_renewing_and_ending(client: Client) -> None:
    address, ticket = client.subscribed("ending = 1", validity=100)
    renewed = client.post(f"{address}/renew", headers=ticket, json={"validity": "PT2H"}).json()
    assert 7_000 < left(renewed["expires"]) <= 7_200
    assert left(client.post(f"{address}/renew", headers=ticket).json()["expires"]) > 86_000
    bad = client.post(f"{address}/renew", headers=ticket, json={"validity": -1})
    problem(bad, 422, "bad-subscription")
    answer = client.delete(address, headers=ticket)
    assert (answer.status_code, answer.content) == (204, b"")
    problem(client.get(address, headers=ticket), 404, "not-found")
    assert client.published({"ending": 1}) == [""]


def test_what_is_over_matches_no_more_and_can_be_read(serving: Serving) -> None:
    clock = FakeClock(1_800_000_000.0)
    with serving(clock=clock) as client:
        look_at_what_is_over(client, clock)


def look_at_what_is_over(client: Client, clock: FakeClock) -> None:
    address, ticket = client.subscribed("short = 1", id="short", validity=0.4)
    assert client.published({"short": 1}) == ["short"]
    clock.advance(0.5)
    assert client.published({"short": 1}) == [""]
    shown = client.get(address, headers=ticket).json()
    assert (shown["live"], shown["due"]) == (False, 1)
    assert len(client.get(f"{address}/matches?wait=0", headers=ticket).json()) == 1
    problem(client.post(f"{address}/renew", headers=ticket), 404, "not-found")
    problem(client.put(address, headers=ticket, json={"where": "a = 1"}), 404, "not-found")
    other, _ = client.subscribed("short = 2", id="short")
    problem(client.get(other, headers=ticket), 403, "wrong-ticket")


def test_the_same_request_is_answered_alike(client: Client) -> None:
    key = {"Idempotency-Key": secrets.token_hex()}
    wanted = {"where": "a = 1"}
    first, second = (client.post("/subscriptions", json=wanted, headers=key) for _ in range(2))
    assert first.json() == second.json()
    other = client.post("/subscriptions", json={"where": "a = 2"}, headers=key)
    problem(other, 422, "key-used")
    elsewhere = client.post("/events", json={"x": 1}, headers=key)
    assert elsewhere.status_code == 202
    problem(
        client.post("/subscriptions", json=wanted, headers={"Idempotency-Key": ""}),
        *(400, "malformed"),
    )


def test_a_ticket_is_nowhere_on_disk_nor_in_a_log(
    serving: Serving, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    key = secrets.token_hex()
    with serving() as client:
        wanted, headers = {"where": "a = 1"}, {"Idempotency-Key": key}
        ticket = client.post("/subscriptions", json=wanted, headers=headers).json()["ticket"]
        client.get("/subscriptions/subscription-1", headers={"Authorization": f"Bearer {ticket}"})
    with serving() as client:
        again = client.post("/subscriptions", json=wanted, headers=headers).json()
        assert again["ticket"] == ticket
    for path in (tmp_path / "data").rglob("*"):
        content = path.read_bytes() if path.is_file() else b""
        assert ticket.encode() not in content, path
        assert key.encode() not in content, path
    assert ticket not in caplog.text


def test_forged_tickets_are_refused(client: Client) -> None:
    from tamis.server.tickets import fits, hash_of_ticket, new_ticket

    ticket = new_ticket()
    kept = hash_of_ticket(ticket)
    assert fits(ticket, kept)
    assert not any(fits(new_ticket(), kept) for _ in range(10_000))
    near = [ticket[:at] + letter + ticket[at + 1 :] for at in range(43) for letter in "Az-0"]
    assert not any(fits(each, kept) for each in near if each != ticket)
