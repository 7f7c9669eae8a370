"""Whoever operates a server sees health, readiness, numbers, documentation, recovery."""

from __future__ import annotations

import json
import tarfile
import threading
import time
from pathlib import Path

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

import tamis
from tamis.server import matching, policies
from tamis.server.changes import Subscribe
from tamis.server.entries import LogState
from tamis.server.errors import LogError
from tamis.server.log import Log
from tamis.server.service import ServerSettings
from tamis.server.serving import Server
from tests.server.conftest import Client, Serving, matcher, served, until
from tests.server.test_subscriptions import problem


def test_it_answers_at_once_and_is_ready_when_recovery_ended(tmp_path: Path) -> None:
    goes_on = threading.Event()

    def slowly() -> tamis.Matcher:
        assert goes_on.wait(60)
        return matcher()

    with (
        Server(ServerSettings(tmp_path), slowly) as server,
        httpx.Client(base_url=server.url, timeout=60) as client,
    ):
        assert client.get("/healthz").json() == {"status": "ok"}
        readiness = client.get("/readyz")
        assert (readiness.status_code, readiness.json()["reason"]) == (
            *(503, "the log is being recovered"),
        )
        early = client.post("/events", json={"a": 1})
        assert problem(early, 503, "not-ready")["detail"] == "the log is being recovered"
        assert early.headers["retry-after"] == "1"
        assert "tamis_ready 0.0" in client.get("/metrics").text
        goes_on.set()
        server.wait_ready()
        assert client.get("/readyz").json() == {"status": "ready"}
        assert client.post("/events", json={"a": 1}).status_code == 202


def test_subscriptions_that_no_operator_can_answer_stop_the_start(tmp_path: Path) -> None:
    with Log(tmp_path) as log:
        log.submit(Subscribe({"where": "boatCount(?n)"}, bytes(32), "boats")).result()
    cannot = pytest.raises(LogError, match="1 of 1 subscriptions of the log cannot be taken")
    with Server(ServerSettings(tmp_path), matcher) as server, cannot:
        server.wait_ready()
    with Log(tmp_path) as log:
        assert [each.id for each in log.reading.standings()] == ["boats"]


def test_what_is_installed_is_listed(client: Client) -> None:
    (operator,) = client.get("/operators").json()
    assert (operator["name"], operator["outputs"]) == ("peopleCount", ["count"])
    assert "sequential" in [each["name"] for each in client.get("/planners").json()]


def test_numbers_are_those_of_prometheus(client: Client) -> None:
    client.subscribed("metrics = 1, peopleCount(?n), ?n > 1")
    client.published({"metrics": 1, "people": 3}, {"metrics": 1, "people": 0}, {"metrics": 2})
    until(lambda: "tamis_flush_floor_seconds" in client.get("/metrics").text)
    found = {
        (sample.name, *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(client.get("/metrics").text)
        for sample in family.samples
    }
    assert found["tamis_ready",] == 1
    assert found["tamis_position",] == found["tamis_cursor",] == 4
    assert found["tamis_subscriptions",] == 1
    assert found["tamis_decided_total",] == 3
    assert found["tamis_calls_total", "peopleCount"] == 2
    assert found["tamis_deliveries", "due"] == found["tamis_deliveries", "pending"] == 1
    assert found["tamis_events_total", "accepted"] == 3
    assert found["tamis_commits_total",] >= 3
    assert found["tamis_stage_seconds_total", "index"] > 0
    assert found["tamis_spared_calls_total", "peopleCount"] == 0
    assert found["tamis_flush_seconds_count",] == found["tamis_commits_total",]
    assert found["tamis_flush_seconds_bucket", "+Inf"] == found["tamis_commits_total",]
    assert found["tamis_flush_seconds_sum",] > 0
    assert 0 < found["tamis_flush_floor_seconds",] < 10
    assert found["tamis_lag_entries",] == found["tamis_lag_seconds",] == 0
    assert found["tamis_queue",] == found["tamis_queue_bytes",] == 0


def test_every_metric_is_explained(client: Client) -> None:
    """In the README of the server."""
    said = (Path(tamis.__path__[0]) / "server" / "README.md").read_text(encoding="utf-8")
    names = {
        line.split()[2]
        for line in client.get("/metrics").text.splitlines()
        if line.startswith("# HELP")
    }
    assert len(names) > 20
    assert not {name for name in names if f"`{name}`" not in said}


def test_every_address_is_documented_with_examples(client: Client) -> None:
    api = client.get("/openapi.json").json()
    assert api["info"]["version"] == tamis.__version__
    for path, method in (
        *(("/subscriptions", "post"), ("/subscriptions/{id}", "put"), ("/events", "post")),
        *(("/subscriptions/{id}/ack", "post"), ("/subscriptions/{id}/renew", "post")),
    ):
        content = api["paths"][path][method]["requestBody"]["content"]
        assert content["application/json"]["example"]
    for methods in api["paths"].values():
        for said in methods.values():
            assert said["description"]
    page = client.get("/docs")
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    for path, methods in api["paths"].items():
        for method in methods:
            assert f"<b>{method.upper()}</b><code>{path}</code>" in page.text
    assert "http://" not in page.text.replace("http://127", "")
    assert "<script" not in page.text  # it needs nothing from elsewhere
    assert "src=" not in page.text
    assert client.get("/").headers["content-type"] == "text/html; charset=utf-8"


def test_what_is_nowhere_is_a_problem_too(client: Client) -> None:
    problem(client.get("/nowhere"), 404, "not-found")
    problem(client.patch("/events"), 405, "method-not-allowed")


def test_a_failed_event_stops_nothing(serving: Serving, monkeypatch: pytest.MonkeyPatch) -> None:
    real = tamis.Matcher.begin

    def begin(self: tamis.Matcher, event: dict[str, object], **more: object) -> object:
        if event["id"] == "poison":
            raise ZeroDivisionError("a planner")
        return real(self, event, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(tamis.Matcher, "begin", begin)
    with serving() as client:
        _, ticket = client.subscribed("a = 1", id="s")
        events = [{"id": id, "a": 1} for id in ("p0", "p1", "poison", "p3")]
        verdicts = client.post("/events?wait=true", json=events).json()["events"]
        assert [each["matches"] for each in verdicts] == [["s"], ["s"], [], ["s"]]
        assert verdicts[2]["failure"] == "ZeroDivisionError: a planner"
        why = client.get("/events/poison/why?subscription=s", headers=ticket).json()
        assert why["verdict"] == "undetermined"
        assert why["because"].startswith("no matcher could take the event: ZeroDivisionError")
        assert "tamis_failures_total 1.0" in client.get("/metrics").text
    with serving() as client:
        assert client.get("/readyz").status_code == 200


def test_a_backup_is_served_like_the_log(serving: Serving, tmp_path: Path) -> None:
    with serving(admin_key="a", publish_key="p") as client:
        address, ticket = client.subscribed("level > 3")
        events = [{"id": f"k{number}", "level": number} for number in range(6)]
        publisher = {"Authorization": "Bearer p"}
        client.post("/events?wait=true", json=events, headers=publisher)
        problem(client.get("/backup", headers=ticket), 403, "wrong-key")
        answer = client.get("/backup", headers={"Authorization": "Bearer a"})
        assert answer.headers["content-type"] == "application/x-tar"
        client.delete(address, headers=ticket)
    (tmp_path / "copy.tar").write_bytes(answer.content)
    with tarfile.open(tmp_path / "copy.tar") as packed:
        packed.extractall(tmp_path / "restored", filter="data")
    assert list((tmp_path / "data").glob("backup-*")) == []
    with served(tmp_path / "restored" / "log") as client:
        found = client.get(f"{address}/matches?wait=0", headers=ticket).json()
        assert [each["event"] for each in found] == ["k4", "k5"]


def test_a_backup_begins_at_states_of_policies_that_stay_while_it_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(matching, "_TIDY_SECONDS", 0.0)
    monkeypatch.setattr(policies, "_SHARE", 0)
    settings = ServerSettings(tmp_path / "data", admin_key="a", keep_bytes=0)
    with Server(settings, matcher) as server:
        server.wait_ready()
        log = server.service.log
        make = log.backup
        with Client(base_url=server.url, timeout=30) as client:

            def passed(floor: int) -> bool:
                client.published({"level": 1})
                return log.state.floor > floor

            def made(folder: Path) -> LogState:
                for _ in range(20):  # as many states are written, and old ones may be removed
                    client.published({"level": 1})
                return make(folder)

            address, ticket = client.subscribed("level > 3", deliver={"once": True})
            client.published({"level": 9})
            until(lambda: passed(1))
            monkeypatch.setattr(log, "backup", made)
            server.service.matching.backup(tmp_path / "copy")
            floor = log.state.floor
            until(lambda: passed(floor + 20))
    with served(tmp_path / "copy") as client:
        assert client.published({"level": 9}) == [address.rpartition("/")[2]]
        shown = client.get(address, headers=ticket).json()
        assert (shown["matched"], shown["due"]) == (2, 1)


def test_ending_finishes_what_was_accepted(tmp_path: Path) -> None:
    @tamis.operator(inputs=("a",))
    def slow(event: object) -> bool:
        time.sleep(0.02)
        return True

    def made() -> tamis.Matcher:
        return tamis.Matcher(operators=[slow])

    with (
        Server(ServerSettings(tmp_path), made) as server,
        httpx.Client(base_url=server.url, timeout=60) as client,
    ):
        server.wait_ready()
        client.post("/subscriptions", json={"where": "slow()"})
        client.post("/events", json=[{"a": number} for number in range(50)])
    with Log(tmp_path) as log:
        state = log.reading.state()
        assert state.cursor == state.position == 51
        assert log.reading.standings()[0].due == 50


def test_places_that_change_are_taken_while_it_serves(tmp_path: Path) -> None:
    pytest.importorskip("shapely", reason="pip install 'tamis[spatial]'")
    from tamis_operators import spatial

    places = tmp_path / "places.geojson"

    def write(x: float) -> None:
        pier = {"type": "Point", "coordinates": [x, 0]}
        said = {"type": "Feature", "properties": {"name": "Pier"}, "geometry": pier}
        new = places.with_suffix(".new")
        new.write_text(json.dumps(said))
        new.replace(places)

    write(0)
    with served(
        tmp_path / "data",
        lambda: tamis.Matcher(spatial.operators(places, built_in=False)),
        refresh_seconds=0.05,
    ) as client:
        client.subscribed("locWithin(Pier, 1km)", id="near")
        assert client.published({"position": [0, 0]}, {"position": [5, 0]}) == ["near", ""]
        write(5)
        ends = time.monotonic() + 60
        while client.published({"position": [5, 0]}) == [""] and time.monotonic() < ends:
            time.sleep(0.05)
        assert client.published({"position": [0, 0]}, {"position": [5, 0]}) == ["", "near"]
