"""The page in a real browser: subscribe, see a match, find out why not, pause, resume."""

from __future__ import annotations

import re
import shutil
import subprocess
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tamis.server.service import ServerSettings
from tamis.server.serving import Server
from tests.browsing import opened
from tests.server.conftest import Client, matcher, served

pytestmark = [pytest.mark.long, pytest.mark.timeout(300)]
VIEWS = {
    "now": "#feed a",
    "event": "main table",
    "event/seen": ".why",
    "subscriptions": "[aria-labelledby=all-title] table",
    "subscriptions/crowd": "#deliveries [data-delivery]",
    "operators": "#conservation",
}
"""What is there when a view is."""
WIDTHS = [(1366, "light"), (390, "light"), (1366, "dark"), (390, "dark")]
EVENT = {"id": "seen", "people": 7, "yard": 1, "position": [-73.98, 40.75]}
IMAGE = (
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk"
    "+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
_PATIENCE = 20_000
Tab = Callable[..., Any]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with opened() as browser:
        yield browser


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    with served(tmp_path_factory.mktemp("data"), admin_key="the admin key") as client:
        client.subscribed("peopleCount(?n) and ?n > 5 and yard = 1", id="crowd")
        client.subscribed("peopleCount(?n) and ?n > 9 and yard = 2", id="other")
        client.subscribed("yard = 1", id="plain", deliver={"cooldown": "1h"})
        client.published({**EVENT, "image": IMAGE, "outlines": [["car", [[0, 0], [1, 1]]]]})
        client.published({"id": "failed", "people": "broken", "yard": 1})
        yield client


@pytest.fixture
def tab(browser: Any, client: Client) -> Iterator[Tab]:
    """Opens a view in a tab of its own; nothing may be wrong in it at the end."""
    wrong: list[str] = []
    contexts = []

    def open_view(
        view: str, *, key: str | None = "the admin key", width: int = 1366, scheme: str = "light"
    ) -> Any:
        context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, reduced_motion="reduce"
        )
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(_PATIENCE)
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("request", lambda request: _note_address(str(client.base_url), request.url, wrong))
        page.goto(str(client.base_url))
        if key is not None:
            _give_key(page, key)
        page.evaluate("view => { location.hash = view; }", view)
        return page

    yield open_view
    for context in contexts:
        context.close()
    assert wrong == []


def _note_address(home: str, address: str, wrong: list[str]) -> None:
    """All that is asked is of the server, and no address has a key."""
    if not address.startswith((home, "data:")) or "admin" in address:
        wrong.append(address)


def _give_key(page: Any, key: str) -> None:
    page.click("#keys")
    page.fill("#key-value", key)
    page.keyboard.press("Enter")
    page.wait_for_selector("#key-dialog", state="hidden")
    page.wait_for_selector("#state[data-state=live]")


def _has_text(page: Any, selector: str, words: str) -> None:
    page.locator(selector, has_text=words).first.wait_for(state="attached")


def test_subscribe_see_a_match_and_find_out_why_not(tab: Tab, client: Client) -> None:
    page = tab("subscriptions", key=None)
    page.fill("#new-where", "peopelCount(?n) and ?n > 20")
    _has_text(page, "#new-errors", "did you mean peopleCount?")
    _has_text(page, "#new-errors", "^")
    assert page.locator("mark").inner_text() == "peopelCount"
    assert page.get_attribute("#new-where", "aria-invalid") == "true"
    page.fill("#new-where", "peopleCount(?n) and ?n > 20")
    _has_text(page, ".forecast", "peopleCount(?1)")
    assert page.locator("#new-errors").inner_text() == ""
    page.click("text=Try it on the past")
    _has_text(page, "[data-figure=past-events]", "2")
    _has_text(page, "[data-figure=past-matched]", "0")
    page.fill("#new-id", "mine")
    page.click("text=Subscribe >> nth=-1")
    _has_text(page, ".done", "Ticket, told this once")
    ticket = page.locator(".secret").inner_text()
    page.click(".done a")
    _has_text(page, "#deliveries", "Nothing is due yet")
    client.published({"id": "many", "people": 21}, {"id": "too-few", "people": 20})
    _has_text(page, "#deliveries", "match by many")
    _has_text(page, "#deliveries", "?n = 21")
    assert ticket not in page.url
    page.evaluate("location.hash = 'event/too-few'")
    page.fill("#why-subscription", "mine")
    page.keyboard.press("Enter")
    _has_text(page, "#why-answer", "mine does not match too-few")
    _has_text(page, "#why-answer", "the call gave 20: nothing with ?n > 20")
    _has_text(page, "#why-answer .false", "✗ false")
    page.evaluate("location.hash = 'subscriptions/mine'")
    _has_text(page, "#deliveries", "match by many")
    page.click("text=Acknowledge all")
    _has_text(page, "[data-figure=delivered]", "1")
    page.click("text=Unsubscribe")
    page.wait_for_selector("#new-where")
    assert client.get("/subscriptions/mine").status_code == 401
    assert "mine" not in page.evaluate("sessionStorage.getItem('tamis.tickets')")


def test_pausing_is_a_cursor_and_nothing_is_dropped(tab: Tab, client: Client) -> None:
    page = tab("now")
    _has_text(page, "#feed", "seen matched crowd")
    before = int(page.locator("[data-figure=events]").inner_text())
    page.click("#pause")
    _has_text(page, "#now-state", "Paused at position")
    client.published(*({"id": f"paused-{at}", "people": 8, "yard": 1} for at in range(250)))
    page.wait_for_timeout(600)
    assert page.locator("[data-figure=events]").inner_text() == str(before)
    page.click("#pause")
    _has_text(page, "#feed", "paused-249")
    _has_text(page, "[data-figure=events]", str(before + 250))
    assert page.get_attribute("#state", "data-state") == "live"


def test_a_server_that_starts_again_is_followed_from_where_it_was(
    browser: Any, tmp_path: Path
) -> None:
    settings = ServerSettings(tmp_path, admin_key="the admin key")

    def publish(server: Server, *ids: str) -> None:
        server.wait_ready()
        with Client(base_url=server.url) as client:
            client.published(*({"id": id, "people": 1} for id in ids))

    page = browser.new_page()
    with Server(settings, matcher) as server:
        publish(server, "first")
        page.goto(server.url)
        _give_key(page, "the admin key")
        _has_text(page, "[data-figure=events]", "1")
    page.wait_for_selector("#state[data-state=away]")
    _has_text(page, "#now-state", "resumed from position 1")
    with Server(settings, matcher, port=server.port) as server:
        publish(server, "second", "third")
        _has_text(page, "[data-figure=events]", "3")
        page.wait_for_selector("#state[data-state=live]")
        page.close()


def test_an_event_shows_its_calls_and_its_closest_misses(tab: Tab) -> None:
    page = tab("event/seen")
    _has_text(page, "table:has(code)", "peopleCount(?1)")
    row = page.locator("tr", has=page.locator("th code")).inner_text()
    assert "crowd" in row
    assert "matched 1" in row
    _has_text(page, ".why", "other does not match seen")
    _has_text(page, ".why .false", "yard is 1")
    assert page.locator(".frame .box").count() == 1
    _has_text(page, ".frame .legend", "car 1")


def test_the_keyboard_is_enough(tab: Tab) -> None:
    page = tab("now")
    _has_text(page, "#feed", "crowd")
    page.reload()
    _has_text(page, "#feed", "crowd")
    reached = []
    for _ in range(12):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.textContent.trim()"))
        if page.evaluate("document.activeElement.className") == "sieve":
            break
    assert reached[:1] == ["To the content"]
    assert {"Now", "Subscriptions", "Pause"} <= set(reached)
    page.keyboard.press("Home")
    assert page.get_attribute(".sieve", "aria-valuetext").startswith("seen: 3 subscriptions")
    page.keyboard.press("Enter")
    _has_text(page, "h1", "Event seen")


def test_a_view_is_saved_to_one_file(tab: Tab, browser: Any, tmp_path: Path) -> None:
    page = tab("event/seen")
    _has_text(page, ".why", "other does not match seen")
    page.wait_for_selector(".frame .box")
    with page.expect_download() as begun:
        page.click("#save")
    path = tmp_path / begun.value.suggested_filename
    begun.value.save_as(path)
    assert path.name == "Event-seen-tamis.html"
    assert "the admin key" not in path.read_text(encoding="utf-8")
    context = browser.new_context(java_script_enabled=False, offline=True)
    alone = context.new_page()
    asked: list[str] = []
    alone.on("request", lambda request: asked.append(request.url))
    alone.goto(path.as_uri())
    assert alone.locator("h1").inner_text() == "Event seen"
    assert alone.locator(".frame .box").count() == 1
    assert [each for each in asked if not each.startswith("data:")] == [path.as_uri()]
    context.close()


def test_it_tells_a_wrong_key_and_forgets_a_right_one(tab: Tab) -> None:
    page = tab("now", key=None)
    _has_text(page, "#now-state", "admin key")
    page.click("#keys")
    page.fill("#key-value", "not the key")
    page.keyboard.press("Enter")
    _has_text(page, "#key-problem", "this is not the admin key of this server")
    page.keyboard.press("Escape")
    _give_key(page, "the admin key")
    page.click("#keys")
    page.click("text=Forget it")
    _has_text(page, "#state", "no key")
    assert page.evaluate("sessionStorage.length") == 0


def _click_event_of_map(page: Any) -> None:
    """Clicks the mark of an event once it stays where it is: a coast that comes later moves it."""
    page.wait_for_function(
        'performance.getEntriesByType("resource").some(({ name }) => name.endsWith(".geojson"))'
    )
    places: list[Any] = [None]
    while places[-1] is None or places[-1:] != places[-2:-1]:
        page.wait_for_timeout(200)
        places.append(page.evaluate(_MARK))
    page.click(".map", position=places[-1])


_MARK = """async () => {
  const canvas = document.querySelector(".map"), { width, height } = canvas;
  const data = canvas.getContext("2d").getImageData(0, 0, width, height).data;
  for (let at = 0; at < data.length; at += 4) {
    if (data[at] === 179 && data[at + 1] === 38 && data[at + 2] === 30) {
      const scale = canvas.clientWidth / width, pixel = at / 4;
      return { x: (pixel % width) * scale, y: Math.floor(pixel / width) * scale };
    }
  }
  return null;
}"""


def test_a_place_of_the_map_opens_its_event(tab: Tab) -> None:
    page = tab("now")
    page.wait_for_selector(".map[aria-label='Map of 1 event; 1 of them matched']")
    _click_event_of_map(page)
    _has_text(page, "h1", "Event seen")


def test_operators_and_health_add_up(tab: Tab) -> None:
    page = tab("operators")
    _has_text(page, "#conservation", "✓")
    numbers = [int(each) for each in re.findall(r"\d+", page.locator("#conservation").inner_text())]
    assert numbers[0] == sum(numbers[1:]) > 0
    _has_text(page, "[aria-labelledby=operators-title]", "peopleCount")
    _has_text(page, "[aria-labelledby=breakers-title]", "All are closed")
    _has_text(page, "[aria-labelledby=flush-title]", "99% within")


@pytest.mark.slow
def test_ten_thousand_points_at_four_updates_a_second(tab: Tab) -> None:
    page = tab("now")
    told = page.evaluate(
        """async () => {
          const { follower } = await import("./page/follower.js");
          const one = follower.events[0];
          follower.pause();
          for (let at = 0; at < 10000; at += 1) {
            follower.events.push({ ...one, id: `p${at}`, position: 1e6 + at, image: false,
              place: [-74.1 + (at % 100) / 300, 40.6 + at / 50000], matches: at % 3 });
          }
          let drawn = 0, longest = 0;
          new MutationObserver(() => { drawn += 1; })
            .observe(document.querySelector(".sieve"), { attributeFilter: ["aria-valuenow"] });
          const began = performance.now();
          for (let last = began; last - began < 2000;) {
            follower.dispatchEvent(new Event("change"));
            await new Promise((done) => setTimeout(done, 5));
            longest = Math.max(longest, performance.now() - last);
            last = performance.now();
          }
          return { drawn, longest };
        }"""
    )
    assert 2 <= told["drawn"] <= 9
    assert told["longest"] < 1000


def test_subscriptions_are_found_by_words(tab: Tab) -> None:
    page = tab("subscriptions")
    page.wait_for_selector(VIEWS["subscriptions"])
    page.fill("#filter", "crow")
    _has_text(page, "[aria-labelledby=all-title] table", "1 subscription")
    page.evaluate("location.hash = 'event/seen'")
    page.fill("#why-subscription", "plai")
    page.wait_for_selector("#known-subscriptions option[value=plain]", state="attached")


@pytest.mark.parametrize(("width", "scheme"), WIDTHS)
def test_every_view_fits(tab: Tab, width: int, scheme: str) -> None:
    page = tab("now", width=width, scheme=scheme)
    for view in VIEWS:
        _look_at(page, view)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, view
        assert page.evaluate("document.querySelectorAll('h1').length") == 1
        nameless = page.evaluate(
            "[...document.querySelectorAll('input, textarea, select')]"
            ".filter(each => !each.labels.length).map(each => each.id)"
        )
        assert nameless == []


def _look_at(page: Any, view: str) -> None:
    page.evaluate("view => { location.hash = view; }", view)
    page.wait_for_selector(VIEWS[view])


@pytest.fixture(scope="module")
def axe(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The script of axe-core, got by npm."""
    if shutil.which("npm") is None:
        pytest.skip("install npm to check the page by axe-core")
    folder = tmp_path_factory.mktemp("axe")
    done = subprocess.run(
        ["npm", "pack", "axe-core@4"], cwd=folder, capture_output=True, timeout=120, check=False
    )
    if done.returncode:
        pytest.skip(f"npm cannot get axe-core: {done.stderr.decode(errors='replace')[-200:]}")
    (packed,) = folder.glob("axe-core-*.tgz")
    with tarfile.open(packed) as archive:
        member = archive.extractfile("package/axe.min.js")
        assert member is not None
        return member.read().decode()


@pytest.mark.parametrize(
    ("width", "scheme"), [pytest.param(1366, "light", marks=pytest.mark.slow), (390, "dark")]
)
def test_labels_and_contrast_by_axe(tab: Tab, axe: str, width: int, scheme: str) -> None:
    page = tab("now", width=width, scheme=scheme)
    page.evaluate(axe)
    found: dict[tuple[str, str], list[str]] = {}
    for view in VIEWS:
        _look_at(page, view)
        found |= {(view, name): places for name, places in _violations(page).items()}
    _look_at(page, "subscriptions")
    page.fill("#new-where", "peopelCount(?n)")
    page.wait_for_selector(".error")
    found |= {("error", name): places for name, places in _violations(page).items()}
    page.click("#keys")
    found |= {("key", name): places for name, places in _violations(page).items()}
    assert found == {}


def _violations(page: Any) -> dict[str, list[str]]:
    """What axe finds wrong: rules, and where they are broken."""
    result = page.evaluate("axe.run(document, { resultTypes: ['violations'] })")
    return {
        each["id"]: [node["html"][:120] for node in each["nodes"][:3]]
        for each in result["violations"]
    }


def test_a_page_of_another_site_changes_nothing(browser: Any, client: Client) -> None:
    """By a request that a browser sends without asking the server first."""
    own = str(client.base_url).rstrip("/")
    other = own.replace("127.0.0.1", "localhost")
    send = """url => fetch(url, {method: "POST", mode: "no-cors", body: '{"a": 1}'})
        .then(answer => answer.type)"""
    before = client.sample("tamis_position")
    page = browser.new_page()
    page.goto(f"{other}/healthz")
    assert page.evaluate(send, f"{own}/events") == "opaque"
    assert client.sample("tamis_position") == before
    assert page.evaluate(send, f"{other}/events") == "basic"
    assert client.sample("tamis_position") == before + 1
    page.close()
