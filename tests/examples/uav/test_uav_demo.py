"""The demo: who subscribes, the planners compared, the page over its flights, and all of it."""

from __future__ import annotations

import json
import re
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("cv2", reason="needs pip install 'tamis[demo]'")
pytest.importorskip("pyoxigraph", reason="needs pip install 'tamis[demo]'")
pytest.importorskip("fastapi", reason="needs pip install 'tamis[demo]'")

import httpx

import tamis
from examples.uav import comparison, subscribers
from examples.uav.demo import Flights, serving, simulation
from tests.browsing import opened
from tests.examples.uav.running import begun
from tests.server.conftest import served

_PATIENCE = 30_000


def test_subscriptions_follow_from_their_seed_and_the_paper_s_are_verbatim() -> None:
    mine, other = list(subscribers.made()), list(subscribers.made(comparison.OTHER_SUBSCRIBERS))
    assert mine == list(subscribers.made())
    assert [each["where"] for each in mine[:5]] == [each["where"] for each in other[:5]]
    assert not {each["where"] for each in mine[5:]} >= {each["where"] for each in other[5:]}
    paper = [json.loads(line) for line in subscribers.PAPER.read_text("utf-8").splitlines()]
    assert [(each["id"], each["where"]) for each in mine[:5]] == [
        (each["id"], each["where"]) for each in paper
    ]
    assert len({each["id"] for each in mine}) == len(mine) == subscribers.COUNT + 5
    assert {each["team"] for each in mine} == {*subscribers.TEAMS, "paper"}
    assert not any("{" in each["where"] for each in mine[5:])
    scoped = re.compile(r"(locIn|locWithin|altitude|speed|time\.hour|camera)")
    assert all(scoped.search(each["where"]) for each in mine[5:])
    first = [each for each in mine[5:] if scoped.match(each["where"])]
    assert 0.6 * len(mine) < len(first) < len(mine)


def test_without_the_index_the_answers_are_the_same_and_the_calls_more() -> None:
    entries, events = list(subscribers.made(count=120)), list(comparison.frames(4, 50))
    calls = []
    answers = []
    for indexed in (True, False):
        with comparison.matcher_of(entries, indexed=indexed) as matcher:
            results = [matcher.match(event) for event in events]
        answers.append(
            [[(each.subscription, each.bindings) for each in one.matches] for one in results]
        )
        calls.append(sum(each.account.calls for each in results))
    assert answers[0] == answers[1]
    assert any(answers[0])
    assert calls[0] < calls[1]


@pytest.mark.slow
def test_planners_are_compared_beside_a_bound() -> None:
    pytest.importorskip("scipy", reason="bounds need scipy")
    events = list(comparison.frames(2, 50))
    unknown = tamis.Statistics()
    rows = list(comparison.measured(events, unknown, unknown, subscribers.SEED))
    parts = {row["part"]: [each for each in rows if each["part"] == row["part"]] for row in rows}
    without, with_index, learned = parts.values()
    for table in (without, with_index):
        seconds = {row["planner"]: row["seconds"] for row in table}
        everything, least = (
            seconds.pop(each) for each in (table[0]["planner"], table[-1]["planner"])
        )
        assert set(seconds) == set(comparison.PLANNERS)
        for figure in seconds.values():
            assert 0 < least <= figure + 1e-9
            assert figure <= everything + 1e-9
    assert with_index[0]["calls"] < without[0]["calls"]
    assert [row["statistics"] for row in learned] == [
        "with what Spark learned",
        "without, learning as it goes",
        "without, learning nothing",
    ]
    assert learned[0]["over_learned"] == 1 < learned[1]["calls"]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with opened() as browser:
        yield browser


@pytest.mark.long
@pytest.mark.timeout(300)
def test_a_person_with_the_page_alone_subscribes_sees_a_match_and_finds_out_why_not(
    browser: Any, tmp_path: Path
) -> None:
    with (
        served(tmp_path, lambda: comparison.matcher_of([]), admin_key="demo") as server,
        tamis.Client(str(server.base_url), admin_key="demo") as client,
    ):
        flights = Flights(client)
        flights.subscribe()
        page = browser.new_page(viewport={"width": 1366, "height": 900})
        page.set_default_timeout(_PATIENCE)
        page.goto(str(server.base_url))
        page.click("#keys")
        page.fill("#key-value", "demo")
        page.keyboard.press("Enter")
        page.wait_for_selector("#state[data-state=live]")
        page.evaluate("location.hash = 'subscriptions'")
        page.fill("#new-id", "mine")
        page.fill("#new-where", 'vehicleCount(?cars), ?cars > 0, camera = "uav-1"')
        page.wait_for_selector(".forecast table")
        page.click("text=Subscribe >> nth=-1")
        page.wait_for_selector(".done .secret")
        seen = list(simulation().observations(24, 36))
        for each in seen:
            flights.publish(each)
        page.click(".done a")
        page.wait_for_selector("#deliveries [data-delivery]")
        assert "uav-1-" in page.locator("#deliveries").inner_text()
        page.evaluate("id => { location.hash = `event/${id}`; }", seen[1].event["id"])
        page.wait_for_selector(".frame image")
        page.fill("#why-subscription", "mine")
        page.keyboard.press("Enter")
        page.wait_for_selector("#why-answer .false")
        assert 'camera = "uav-1"' in page.locator("#why-answer").inner_text()
        page.evaluate("location.hash = 'now'")
        page.wait_for_selector(".frames .frame image")
        page.wait_for_selector("#feed a")
        assert "12 events" in page.locator("canvas.map").get_attribute("aria-label")
        page.close()
        rows = list(flights.rows())
    assert {row["subscription"] for row in rows if "recall" in row} == {
        f"S{n}" for n in range(1, 6)
    }
    alarms = [row for row in rows if row["part"] == "Alarms by policy"]
    assert alarms
    by_camera = [row for row in alarms if row["team"] != "fleet"]  # whose alarms are of each bus
    assert all(row["alarms"] <= row["matches"] for row in by_camera)


@pytest.mark.slow
@pytest.mark.timeout(400)
def test_all_of_it_ends_by_itself_with_what_it_found(tmp_path: Path) -> None:
    demo = begun(tmp_path, "--seconds", "3", "--frames", "2")
    printed, _ = demo.communicate(timeout=380)
    assert demo.returncode == 0, printed
    assert re.search(r"the page: http://127\.0\.0\.1:\d+/ ", printed)
    for words in (
        "325 subscriptions", "Matches beside the truth", "Alarms by policy", "without the index",
        "with the index", "every distinct predicate", "who knows all", "with what Spark learned",
    ):  # fmt: skip
        assert words in printed, printed
    assert (tmp_path / "statistics" / "predicates").is_dir()


@pytest.mark.slow
@pytest.mark.timeout(200)
def test_ctrl_c_ends_it_with_what_it_found(tmp_path: Path) -> None:
    demo = begun(tmp_path, "--frames", "0")
    assert demo.stdout is not None
    try:
        printed = ""
        while "matched" not in printed:
            line = demo.stdout.readline()
            assert line, printed
            printed += line
        found = re.search(r"(http://127\.0\.0\.1:\d+)/", printed)
        assert found is not None
        assert "tamis" in httpx.get(found[1]).text
        demo.send_signal(signal.SIGINT)
        rest, _ = demo.communicate(timeout=90)
    finally:
        if demo.poll() is None:
            demo.kill()
            demo.wait()
    assert demo.returncode == 0, rest
    assert "Matches beside the truth" in rest
    with pytest.raises(httpx.TransportError):
        httpx.get(found[1])


def test_a_server_that_cannot_start_is_said(tmp_path: Path) -> None:
    (tmp_path / "statistics").mkdir()  # holds none
    with pytest.raises(tamis.ServerError, match=r"serve\.log says why"), serving(tmp_path):
        raise AssertionError
