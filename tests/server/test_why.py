"""Why an event of the log did or did not match, by what was kept of it."""

from __future__ import annotations

from typing import Any

import httpx

from tests.server.conftest import Client, Serving
from tests.server.test_subscriptions import ADMIN, problem

TEXT = {"Accept": "text/plain"}


def why(client: Client, event: str, id: str, headers: dict[str, str]) -> Any:
    answer = client.get(f"/events/{event}/why", params={"subscription": id}, headers=headers)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_why_and_why_not(client: Client) -> None:
    _, ticket = client.subscribed("peopleCount(?n) and ?n > 5 and yard = 1", id="yard")
    client.published(
        {"id": "yard-1", "people": 7, "yard": 1},
        {"id": "yard/2", "people": 3, "yard": 1},
        {"id": "yard-3", "people": 9, "yard": 2},
        {"id": "yard-4", "people": "broken", "yard": 1},
    )
    matched = why(client, "yard-1", "yard", ticket)
    assert (matched["verdict"], matched["stood"], matched["trace"]) == ("matched", True, "kept")
    assert matched["bindings"] == [{"n": 7}]
    assert [each["type"] for each in matched["deliveries"]] == ["match"]
    missed = why(client, "yard/2", "yard", ticket)
    assert missed["verdict"] == "not matched"
    assert "the call gave 3: nothing with ?n > 5" in missed["because"]
    cheap = why(client, "yard-3", "yard", ADMIN)
    assert (cheap["verdict"], cheap["trace"]) == ("not matched", None)
    assert cheap["because"] == "yard = 1 is false (yard is 2)"
    failed = why(client, "yard-4", "yard", ticket)
    assert failed["verdict"] == "undetermined"
    assert "the camera is broken" in failed["because"]
    text = client.get(
        "/events/yard%2F2/why", params={"subscription": "yard"}, headers=ticket | TEXT
    )
    assert text.headers["content-type"].startswith("text/plain")
    assert text.text.startswith("yard does not match yard/2, because peopleCount(?n) is false")


def test_one_that_did_not_stand_is_told(client: Client) -> None:
    client.subscribed("peopleCount(?n) and ?n > 100", id="elder")
    client.published({"id": "early", "people": 4})
    _, ticket = client.subscribed("peopleCount(4)", id="late")
    told = why(client, "early", "late", ticket)
    assert (told["stood"], told["verdict"]) == (False, "matched")
    words = client.get("/events/early/why?subscription=late", headers=ticket | TEXT).text
    assert words.startswith("late did not stand when early came at ")
    _, ticket = client.subscribed("peopleCount(4) and early = 1", id="other")
    assert "early is absent" in why(client, "early", "other", ticket)["because"]
    client.published({"id": "unasked", "people": 4, "unasked": 1})
    client.request("DELETE", "/subscriptions/elder", headers=ticket)
    assert why(client, "unasked", "elder", ADMIN)["verdict"] == "not matched"


def test_what_nobody_asked_is_unknown(serving: Serving) -> None:
    with serving() as client:
        client.published({"id": "e1", "people": 4})
        _, ticket = client.subscribed("peopleCount(4)", id="s1")
        told = why(client, "e1", "s1", ticket)
        assert told["verdict"] == "undetermined"
        [predicate] = told["alternatives"][0]["predicates"]
        assert predicate["how"] == "not kept"
        assert predicate["detail"] == "not kept: nobody asked it of this event"


def test_the_text_of_then_is_explained(client: Client) -> None:
    address, ticket = client.subscribed("height > 10", id="replaced")
    client.published({"id": "tall", "height": 20})
    client.put(address, headers=ticket, json={"where": "height > 30"})
    client.published({"id": "taller", "height": 20})
    assert why(client, "tall", "replaced", ticket)["where"] == "height > 10"
    after = why(client, "taller", "replaced", ticket)
    assert (after["where"], after["verdict"]) == ("height > 30", "not matched")


def test_a_policy_that_holds_back_is_told(client: Client) -> None:
    _, ticket = client.subscribed("fence = 1", id="fence", deliver={"once": True})
    client.published({"id": "f1", "fence": 1}, {"id": "f2", "fence": 1})
    first = client.get("/events/f1/why?subscription=fence", headers=ticket | TEXT).text
    assert "delivered match " in first
    second = client.get("/events/f2/why?subscription=fence", headers=ticket | TEXT).text
    assert "delivered nothing: its policy held it back" in second


def test_traces_outlive_the_process_and_are_bounded(serving: Serving) -> None:
    with serving() as client:
        _, ticket = client.subscribed("peopleCount(?n) and ?n > 5", id="s1")
        client.published({"id": "e1", "people": 3})
    with serving(trace_bytes=300) as client:
        kept = why(client, "e1", "s1", ticket)
        assert (kept["trace"], kept["verdict"]) == ("kept", "not matched")
        client.published(*({"id": f"more-{at}", "people": 7} for at in range(20)))
        gone = why(client, "e1", "s1", ticket)
        assert (gone["trace"], gone["verdict"], gone["now"]) == (
            "gone", "not matched", "undetermined",
        )  # fmt: skip
        assert "kept no longer" in gone["because"]
        assert why(client, "more-19", "s1", ticket)["trace"] == "kept"


def test_who_may_ask_for_what(client: Client) -> None:
    _, mine = client.subscribed("owner = 1", id="mine")
    _, other = client.subscribed("owner = 2", id="not-mine")
    client.published({"id": "owned", "owner": 1})
    address = "/events/owned/why?subscription=mine"
    problem(client.get(address), 401, "ticket-required")
    problem(client.get(address, headers=other), 403, "wrong-ticket")
    problem(client.get("/events/nothing/why?subscription=mine", headers=mine), 404, "not-found")
    problem(client.get("/events/owned/why?subscription=none", headers=ADMIN), 404, "not-found")
    refused = client.get("/events/owned/why", headers=mine)
    assert "?subscription=ID" in problem(refused, 403, "wrong-key")["detail"]


def test_an_answer_too_large_is_named(client: Client) -> None:
    from tamis.server.traces import Trace

    words = [["x" * 600_000], ["y" * 600_000]]
    large = {"how": "called", "solutions": words}
    kept = Trace.read(Trace({"f(?1)": large, "g(1)": {"how": "called", "truth": True}}).written())
    assert kept.lost.keys() == {"f(?1)"}
    assert kept.answer("g(1)") is not None
    assert kept.answer("f(?1)") is None
    assert isinstance(client, httpx.Client)


def test_the_closest_misses_come_first(serving: Serving) -> None:
    with serving(admin_key="the admin key") as client:
        client.subscribed("a = 1 and b = 1 and c = 1", id="far")
        client.subscribed("a = 1 and b = 2 and peopleCount(3)", id="near")
        client.subscribed("a = 1 and peopleCount(4)", id="called")
        client.subscribed("a = 1", id="matched")
        gone, ticket = client.subscribed("a = 7", id="gone")
        client.published({"id": "e1", "a": 1, "b": 3, "c": 3, "people": 3})
        for _ in range(2):
            told = client.get("/events/e1/why", headers=ADMIN).json()
            ids = [each["subscription"] for each in told["closest"]]
            assert ids == ["called", "gone", "near", "far"]
            assert told["matched"] == 1
        client.delete(gone, headers=ticket)
        client.subscribed("a = 2", id="later")
        client.published({"id": "e2", "a": 1})
        told = client.get("/events/e1/why?limit=1", headers=ADMIN).json()
        assert (len(told["closest"]), told["came_later"], told["gone_since"]) == (1, 1, 1)
        words = client.get("/events/e1/why", headers=ADMIN | TEXT).text
        assert words.startswith("e1 matched 1 subscription\n")
        assert "1 subscription came later: ask for each by its id" in words
        problem(client.get("/events/e1/why"), 401, "key-refused")
        problem(client.get("/events/e1/why?limit=0", headers=ADMIN), 400, "malformed")
