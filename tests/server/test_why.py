"""Why an event of the log did or did not match, by what was kept of it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from threading import Event
from typing import Any

import httpx
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import tamis
from tamis.server.changes import Retain
from tamis.server.payloads import LARGE_LETTERS
from tamis.server.service import ServerSettings
from tamis.server.serving import Server
from tests.server.conftest import Client, Serving, served
from tests.server.test_subscriptions import ADMIN, problem

TEXT = {"Accept": "text/plain"}
_RUNS = count()


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
        client.subscribed("a = 1 and a = 2", id="never matches")
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


def test_what_came_later_and_ended_is_not_close_while_the_matcher_is_behind(
    tmp_path: Path,
) -> None:
    is_held, goes_on = Event(), Event()

    @tamis.operator(inputs=("held",))
    def isHeld(event: Any) -> bool:
        is_held.set()
        return goes_on.wait(30)

    with served(tmp_path, lambda: tamis.Matcher([isHeld]), admin_key="the admin key") as client:
        client.subscribed("isHeld()", id="holds")
        client.published({"id": "e1", "a": 1})
        later, ticket = client.subscribed("a = 2", id="later")
        client.published({"id": "e2", "a": 1})  # the matcher has it
        client.post("/events", json={"held": True})
        assert is_held.wait(30)
        client.delete(later, headers=ticket)
        told = client.get("/events/e1/why", headers=ADMIN).json()
        goes_on.set()
    assert [each["subscription"] for each in told["closest"]] == ["holds"]
    assert (told["came_later"], told["gone_since"]) == (0, 0)


@pytest.mark.parametrize("step", ["position_of", "decided", "event_of"])
def test_an_event_is_gone_that_retention_removes_while_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    settings = ServerSettings(tmp_path, admin_key="the admin key")
    with Server(settings, tamis.Matcher) as server:
        server.wait_ready()
        log = server.service.log
        read = getattr(log.reading, step)

        def removed(*given: object) -> object:
            found = read(*given) if step == "position_of" else None
            log.submit(Retain(most_bytes=0)).result()
            return found or read(*given)

        with Client(base_url=server.url, timeout=30) as client:
            client.published({"id": "e1", "text": "x" * (LARGE_LETTERS + 1)})
            monkeypatch.setattr(log.reading, step, removed)
            problem(client.get("/events/e1/content", headers=ADMIN), 404, "not-found")


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """A client of a server on which nobody else subscribes."""
    with served(tmp_path_factory.mktemp("alone"), admin_key="the admin key") as client:
        yield client


_ATOMS = (
    *("a = 1", "b = 1", "b >= 1", "c = 1", "c in {1, 2}", "d = 2"),  # without contradictions
    *("exists(a)", "(a = 1 or b = 2)", "time.hour < 12", "peopleCount(2)", "not peopleCount(3)"),
    "(peopleCount(?n) and ?n > 2)", "a + b > 2",
)  # fmt: skip
_conditions = st.lists(
    st.lists(st.sampled_from(_ATOMS), min_size=1, max_size=3, unique=True).map(" and ".join),
    min_size=1,
    max_size=2,
).map(" or ".join)
_contents = st.fixed_dictionaries(
    {},
    optional={name: st.integers(1, 3) for name in "abcd"}
    | {"people": st.sampled_from((1, 2, 3, "broken")), "time": st.sampled_from((1, "now"))},
)
_steps = st.lists(
    st.tuples(st.integers(0, 5), _conditions) | st.integers(0, 5) | _contents,
    min_size=1,
    max_size=12,
)


def _distance(told: dict[str, Any]) -> tuple[int, int]:
    """How many predicates of the closest alternative are false, and how many are unknown."""
    return min(
        (
            sum(each.get("truth", 0) is False for each in alternative["predicates"]),
            sum("how" in each and each.get("truth") is None for each in alternative["predicates"]),
        )
        for alternative in told["alternatives"]
    )


def _asks(told: dict[str, Any]) -> bool:
    return "peopleCount" in told["where"] or "+" in told["where"]


@settings(max_examples=40)
@given(_steps)
@example(
    [
        (0, "a = 1 and b = 1 and not peopleCount(3)"),
        (1, "not peopleCount(3) and (peopleCount(?n) and ?n > 2)"),
        {},
    ]
)
def test_the_closest_are_those_of_all_that_are_explained(alone: Client, steps: list[Any]) -> None:
    run = next(_RUNS)
    live: dict[str, tuple[str, dict[str, str], list[int]]] = {}
    texts: list[list[int]] = []
    published: dict[str, int] = {}
    with contextlib.ExitStack() as left:
        for now, step in enumerate(steps):
            if isinstance(step, dict):
                published[f"{run}/{now}"] = now
                alone.published({"id": f"{run}/{now}", **step})
                continue
            id = f"{run}-{step if isinstance(step, int) else step[0]}"
            address, ticket, span = live.pop(id, (None, {}, [0, 0]))
            span[1] = now
            if isinstance(step, int):
                if address is not None:
                    alone.delete(address, headers=ticket)
                continue
            if address is not None:
                alone.put(address, headers=ticket, json={"where": step[1]})
            else:
                address, ticket = alone.subscribed(step[1], id=id)
                left.callback(alone.delete, address, headers=ticket)
            texts.append([now, len(steps)])
            live[id] = address, ticket, texts[-1]
        alone.published({})  # by then all is subscribed
        for event, at in published.items():
            told = {
                id: why(alone, event, id, ADMIN)
                for id, (_, _, (came, _)) in live.items()
                if came < at
            }
            missed = {id: each for id, each in told.items() if each["verdict"] != "matched"}
            expected = sorted((_distance(each), id) for id, each in missed.items())
            asking = sum(map(_asks, told.values()))
            for limit in (1, 2, 10):
                answer = alone.get(f"/events/{event}/why?limit={limit}", headers=ADMIN).json()
                assert answer["came_later"] == len(live) - len(told)
                gone = sum(came < at < end < len(steps) for came, end in texts)
                assert answer["gone_since"] == gone
                if asking <= 3 * limit:
                    ids = [each["subscription"] for each in answer["closest"]]
                    assert ids == [id for _, id in expected[:limit]]
