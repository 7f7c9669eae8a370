"""The page as the server hands it out, and what it reads beside the other addresses."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import tamis
from tamis.server import page
from tamis.server.page.assets import assets
from tests.server.conftest import Client, Serving, served
from tests.server.test_subscriptions import ADMIN, problem


def calls(client: Client, event: str) -> Any:
    answer = client.get(f"/events/{event}/calls", headers=ADMIN)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_all_of_it_is_here_typed_and_known_again(client: Client) -> None:
    kinds = {"html": "text/html", "css": "text/css", "js": "text/javascript"}
    for name, asset in assets().items():
        answer = client.get(f"/page/{name}")
        kind = kinds.get(name.rpartition(".")[2], "application/geo+json")
        assert answer.headers["content-type"].startswith(kind)
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.content == asset.content
        again = client.get(f"/page/{name}", headers={"If-None-Match": answer.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")
    assert client.get("/").content == assets()["index.html"].content
    others = {each.name for each in Path(page.__file__).parent.iterdir() if each.is_file()}
    assert {name.rpartition(".")[2] for name in others - assets().keys()} == {"py"}
    problem(client.get("/page/assets.py"), 404, "not-found")
    problem(client.get("/page/..%2Fapp.py"), 404, "not-found")


def test_it_runs_nothing_from_elsewhere(client: Client) -> None:
    policy = client.get("/").headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    for name, asset in assets().items():
        text = asset.content.decode()
        assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", text), name
        assert not re.search(r"<script(?![^>]*src=)|\sstyle=|\son\w+=\"", text), name
        assert "innerHTML" not in text, name
        for part in re.findall(r'from "\./([^"]+)"', text):
            assert part in assets()


def test_calls_say_who_shared_them_and_what_they_decided(serving: Serving) -> None:
    with serving(admin_key="the admin key") as client:
        client.subscribed("peopleCount(?n) and ?n > 2 and yard = 1", id="few")
        client.subscribed("peopleCount(?n) and ?n > 8", id="many")
        client.subscribed("yard = 1", id="plain")
        client.published({"id": "e/1", "people": 5, "yard": 1}, {"id": "e2", "people": "broken"})
        client.subscribed("peopleCount(5)", id="later")
        told = calls(client, "e%2F1")
        [call] = told["calls"]
        assert (call["predicate"], call["how"]) == ("peopleCount(?1)", "called")
        assert (call["solutions"], call["solutions_count"]) == ([[5]], 1)
        assert (call["shared"], call["shared_with"]) == (2, ["few", "many"])
        assert call["decided"] == {"matched": 1, "rejected": 1}
        assert call["seconds"] >= 0
        account = told["account"]
        assert (account["candidates"], account["undecided"], told["spared"]) == (3, 2, [])
        assert {each["subscription"] for each in told["matches"]} == {"few", "plain"}
        failed = calls(client, "e2")
        assert failed["calls"][0]["failure"][1].endswith("the camera is broken")
        assert failed["calls"][0]["decided"] == {"unknown": 1}
        assert [each["subscription"] for each in failed["undetermined"]] == ["many"]


@tamis.operator(inputs=("people",))
def exceeds(event: Any, level: float) -> bool:
    return bool(event["people"] > level)


def test_calls_that_were_not_needed_are_named(tmp_path: Path) -> None:
    made = partial(tamis.Matcher, operators=[exceeds])
    with served(tmp_path, made, admin_key="the admin key") as client:
        client.subscribed("exceeds(8) and exceeds(9)", id="both")
        client.published({"id": "e1", "people": 7})
        told = calls(client, "e1")
        [call] = told["calls"]
        assert (call["truth"], call["decided"]) == (False, {"rejected": 1})
        assert {call["predicate"], *told["spared"]} == {"exceeds(8)", "exceeds(9)"}
        client.published({"id": "e2"})
        assert calls(client, "e2")["calls"] == []


def test_an_event_comes_back_whole(client: Client) -> None:
    image = "data:image/png;base64," + "A" * 40_000
    client.published({"id": "whole", "image": image, "people": 1})
    content = client.get("/events/whole/content", headers=ADMIN).json()
    assert content == {"id": "whole", "image": image, "people": 1}


def test_subscriptions_are_found_by_words(serving: Serving) -> None:
    with serving(admin_key="the admin key") as client:
        for at in range(5):
            client.subscribed(f"harbor = {at}", id=f"boats-{at}")
        client.subscribed("yard = 1", id="Yard")

        def found(query: str) -> list[str]:
            listed = client.get(f"/subscriptions?{query}", headers=ADMIN).json()
            return [each["id"] for each in listed]

        assert found("words=HARBOR&limit=2") == ["boats-0", "boats-1"]
        assert found("words=yard") == ["Yard"]
        assert found("words=%27%25") == []
        assert len(found("")) == 6
        problem(client.get("/subscriptions?limit=0", headers=ADMIN), 400, "malformed")


def test_operators_have_accounts(serving: Serving) -> None:
    with serving(admin_key="the admin key") as client:
        client.subscribed("peopleCount(?n) and ?n > 2")
        client.published({"people": 5}, {"people": "broken"})
        told = client.get("/operators/accounts", headers=ADMIN).json()
        assert (told["events"], told["calls"], told["needed_at_least"]) == (2, 2, 2)
        operator = told["operators"]["peopleCount"]
        assert (operator["calls"], operator["failed"]) == (2, 1)
        assert told["breakers"] == []


@pytest.mark.parametrize("address", ["events/e1/calls", "events/e1/content", "operators/accounts"])
def test_who_has_no_admin_key_reads_nothing(client: Client, address: str) -> None:
    _, ticket = client.subscribed("peopleCount(?n)")
    problem(client.get(f"/{address}"), 401, "key-refused")
    problem(client.get(f"/{address}", headers=ticket), 403, "wrong-key")
    if address.startswith("events"):
        problem(client.get(f"/{address}".replace("e1", "none"), headers=ADMIN), 404, "not-found")
