"""Subscriptions in a folder of files, statistics that are written anew, and what is logged."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import pytest

import tamis
from tamis.server import files
from tamis.server.errors import LogError
from tamis.server.files import SubscriptionFiles
from tamis.server.journal import without_secrets
from tamis.server.log import Log
from tamis.server.service import ServerSettings
from tamis.server.serving import Server
from tests.server.conftest import Client, Serving, matcher, until
from tests.server.test_subscriptions import ADMIN

SECRET = "whsec_" + "A" * 44


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "_POLL_SECONDS", 0.02)


def write(path: Path, *entries: dict[str, Any] | str) -> None:
    lines = [each if isinstance(each, str) else json.dumps(each) for each in entries]
    path.write_text("\n".join(lines))


def shown(client: Client) -> dict[str, str]:
    found = client.get("/subscriptions", headers=ADMIN).json()
    return {each["id"]: each["where"] for each in found if each["live"]}


def test_files_of_a_folder_are_kept_in_step(
    serving: Serving, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = tmp_path / "subscriptions"
    folder.mkdir()
    one, two = folder / "one.jsonl", folder / "two.jsonl"
    write(one, {"id": "a", "where": "level > 3", "team": "x"}, {"id": "b", "where": "level > 5"})
    with serving(subscriptions=folder, admin_key="the admin key") as client:
        assert shown(client) == {"a": "level > 3", "b": "level > 5"}
        address, ticket = client.subscribed("level > 1", id="own")
        write(two, {"id": "c", "where": "peopleCount(?n), ?n > 1", "webhook": "https://x.example"})
        until(lambda: "c" in shown(client))
        write(one, {"id": "a", "where": "level > 4"})
        until(lambda: shown(client).get("a") == "level > 4")
        until(lambda: set(shown(client)) == {"a", "c", "own"})
        assert client.published({"level": 7}) == ["a,own"]
        stays = {"id": "d", "where": "level > 9"}
        write(one, stays, '{"id": "e", "where": "level >"}', {"where": "level > 1"}, "{", stays)
        until(lambda: "d" in shown(client))
        assert set(shown(client)) == {"a", "c", "d", "own"}  # nothing ends while a line is wrong
        wanted = ("one.jsonl:2: ", "has an id, a string", "one.jsonl:4: ", "that of ")
        until(lambda: all(said in caplog.text for said in wanted))  # they may be told later
        write(two, {"id": "own", "where": "level > 1"})
        until(lambda: "is taken" in caplog.text)
        assert client.get(address, headers=ticket).status_code == 200
    write(one, stays)
    two.unlink()
    with serving(subscriptions=folder, admin_key="the admin key") as client:
        until(lambda: shown(client) == {"d": "level > 9", "own": "level > 1"})
    positions = []
    for _ in range(2):
        with serving(subscriptions=folder) as client:
            lines = client.get("/metrics").text.splitlines()
            positions += [each for each in lines if each.startswith("tamis_position ")]
    assert positions[0] == positions[1]  # what is in step makes no entry


def test_nothing_ends_while_a_file_is_written(tmp_path: Path) -> None:
    folder = tmp_path / "subscriptions"
    folder.mkdir()
    file = folder / "one.jsonl"
    lines = [json.dumps({"id": id, "where": "level > 3"}) for id in "abc"]
    file.write_text("\n".join(lines))
    with Log(tmp_path / "log") as log:
        following = SubscriptionFiles(folder, log, matcher(), (), lambda born: None)

        def live() -> set[str]:
            following.keep()
            return {each.id for each in log.reading.standings() if each.ended is None}

        assert live() == {"a", "b", "c"}
        for part in ("", lines[0], "\n".join(lines[:2])):  # as an editor writes it
            file.write_text(part)
            assert live() == {"a", "b", "c"}
        assert live() == {"a", "b"}
        file.write_text("\n".join(lines))
        assert live() == {"a", "b", "c"}
        file.unlink()
        assert live() == {"a", "b", "c"}
        assert live() == set()


def test_a_secret_of_a_file_is_known_again(serving: Serving, tmp_path: Path) -> None:
    folder = tmp_path / "subscriptions"
    folder.mkdir()
    wanted = {"url": "https://x.example/", "secret": SECRET}
    write(folder / "one.jsonl", {"id": "a", "where": "level > 3", "webhook": wanted})
    for position in (1, 1):
        with serving(subscriptions=folder) as client:
            assert f"tamis_position {position}.0" in client.get("/metrics").text
    other = {**wanted, "secret": SECRET[:-4] + "BBBB"}
    write(folder / "one.jsonl", {"id": "a", "where": "level > 3", "webhook": other})
    with serving(subscriptions=folder) as client:
        assert "tamis_position 2.0" in client.get("/metrics").text


def test_no_folder_is_told(tmp_path: Path) -> None:
    settings = ServerSettings(tmp_path / "log", subscriptions=tmp_path / "nowhere")
    with Server(settings, matcher) as server, pytest.raises(LogError, match="is no folder"):
        server.wait_ready()


def test_statistics_that_are_written_anew_are_taken(
    serving: Serving, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = tmp_path / "statistics"
    events = [{"level": at % 10} for at in range(50)]
    tamis.Statistics.from_events(events).save(folder)
    with serving(statistics=folder, admin_key="the admin key") as client:
        client.subscribed("level > 3")
        with caplog.at_level(logging.INFO, "tamis"):
            tamis.Statistics.from_events([*events, *events]).save(folder)
            until(lambda: "new statistics of 100 events were taken" in caplog.text)
        assert client.published({"level": 7}) == ["subscription-1"]


@pytest.mark.parametrize(
    "text",
    [
        "Authorization: Bearer " + "x" * 20,
        "the secret whsec_AAAA/BBB+C==",
        "a ticket " + "aB3_-" * 8 + "xyz",
        "data:image/png;base64," + "A" * 100,
    ],
)
def test_what_looks_like_a_secret_is_not_logged(text: str) -> None:
    said = without_secrets(text)
    assert said.endswith("…")
    assert len(said) < 25
    plain = "the webhook of subscription höhe-1 did not take 17-3: HTTP 500"
    assert without_secrets(plain) == plain
