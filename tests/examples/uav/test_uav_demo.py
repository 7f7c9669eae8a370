"""The demo from end to end: in a pipe, in a terminal, stopped by hand; its report in a browser.

One file, for one process then runs all of it, and the demo but once."""

from __future__ import annotations

import json
import os
import re
import select
import signal
import struct
import subprocess
import time
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from examples.uav.live import subscribers
from examples.uav.live.feed import LiveFrames
from examples.uav.report.page import SECTIONS
from tests.browsing import opened
from tests.examples.uav.running import ROOT, Ran, command, environment


def test_a_pipe_gets_lines(ran: Ran) -> None:
    assert "\x1b" not in ran.printed
    stages = [line.split()[0] for line in ran.printed.splitlines() if line]
    order = [stages.index(name) for name in ("history", "learning", "matching", "report")]
    assert order == sorted(order)
    for frame in ran.run["frames"]:
        [line] = [line for line in ran.printed.splitlines() if line.startswith(f"{frame['id']} ")]
        words = f"{len(frame['matches'])} matches  {frame['calls']:>3} calls, "
        assert words in line
        assert frame["camera"] in line
        assert f"at least {frame['needed_at_least']} needed" in line
    assert str(ran.output / "report.html") in ran.printed


def test_it_learns_on_spark_and_matches_the_paper_s_subscriptions_verbatim(ran: Ran) -> None:
    assert re.search(r"learned from 6 events: \d+ predicates", ran.printed)
    assert (ran.output / "statistics" / "manifest.json").is_file()
    assert ran.run["learned"]["events"] == 6
    mine = [each for each in subscribers.subscriptions() if each["team"] == "paper"]
    paper = [json.loads(line) for line in subscribers.PAPER.read_text("utf-8").splitlines()]
    assert [(each["id"], each["where"]) for each in mine] == [
        (each["id"], each["where"]) for each in paper
    ]
    assert ran.run["account"]["subscriptions"] == len(subscribers.subscriptions()) > 300


def test_subscriptions_are_those_that_their_script_makes() -> None:
    assert list(subscribers.made()) == subscribers.subscriptions()


def test_the_numbers_of_a_run_agree_with_one_another(ran: Ran) -> None:
    frames, account, comparison = (ran.run[name] for name in ("frames", "account", "comparison"))
    assert frames
    assert account["events"] == len(frames)
    assert account["calls"] == sum(frame["calls"] for frame in frames)
    assert account["calls"] == sum(each["calls"] for each in account["operators"].values())
    assert account["matches"] == sum(len(frame["matches"]) for frame in frames)
    assert account["needed_at_least"] <= account["calls"]
    told = {each["id"] for each in subscribers.subscriptions() if "deliver" in each}
    assert "S1" in told
    for frame in frames:
        matched = {each["subscription"] for each in frame["matches"]}
        assert set(frame["alarms"]) <= matched & told
    assert f"{sum(len(frame['alarms']) for frame in frames)} alarms of chases" in ran.printed
    assert 0 < comparison["frames"] <= len(frames)
    shadow = comparison["shadow"]
    assert shadow["events"] == comparison["frames"]
    assert set(shadow["calls"]) == {"naive", "sequential", "suborder", "savings"}
    for calls in [*shadow["calls"].values(), comparison["own"]]:
        assert comparison["needed_at_least"] <= calls <= shadow["every"]
        assert shadow["clairvoyant"] <= calls + 1e-6


class Reader(HTMLParser):
    """What a page holds: its elements, and what of them names another place."""

    def __init__(self) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.headings: list[str] = []
        self._last = ""

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attributes}))
        self._last = tag

    def handle_data(self, data: str) -> None:
        if self._last == "h2" and data.strip():
            self.headings.append(data)
            self._last = ""


def test_the_report_says_what_the_run_counted_and_names_nothing_else(ran: Ran) -> None:
    assert len(ran.page.encode()) < 8_000_000
    reader = Reader()
    reader.feed(ran.page)
    assert reader.headings == list(SECTIONS.values())
    for _, attributes in reader.elements:
        for name in ("src", "href", "xlink:href", "action", "data", "poster", "srcset"):
            assert attributes.get(name, "#").startswith(("#", "data:")), attributes
        assert not any(name.startswith("on") for name in attributes)
    assert "url(" not in ran.page
    assert "@import" not in ran.page
    found = re.search(r'<script type="application/json" id="run">(.*?)</script>', ran.page)
    assert found is not None
    assert json.loads(found[1]) == ran.run
    account, shadow = ran.run["account"], ran.run["comparison"]["shadow"]
    for number in (account["calls"], account["spared"], account["needed_at_least"]):
        assert f"<dd>{number:,}</dd>" in ran.page
    for name, calls in shadow["calls"].items():
        assert re.search(rf"<b>{name}</b>.*?</th>.*?<td class=\"n\">{calls:,}</td>", ran.page)
    for name, each in account["operators"].items():
        row = re.search(rf"</span><code>{name}</code></th>(.*?)</tr>", ran.page)
        assert row is not None
        numbers = re.findall(r'<td class="n">(.*?)</td>', row[1])
        assert (numbers[0], numbers[4]) == (f"{each['calls']:,}", f"{each['spared']:,}")
    shown = [each["id"] for tag, each in reader.elements if tag == "figure" and "id" in each]
    matched = {frame["id"] for frame in ran.run["frames"] if frame["matches"]}
    assert shown
    assert set(shown) <= matched
    ids = [attributes["id"] for _, attributes in reader.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    links = {each["href"][1:] for tag, each in reader.elements if tag == "a"}
    assert links <= set(ids)


def test_a_terminal_gets_the_live_view_and_ctrl_c_the_report(ran: Ran) -> None:
    pty = pytest.importorskip("pty", reason="there are no terminals to pretend on this system")
    fcntl, termios = pytest.importorskip("fcntl"), pytest.importorskip("termios")
    report = ran.output / "report.html"
    report.unlink()
    primary, secondary = pty.openpty()
    fcntl.ioctl(secondary, termios.TIOCSWINSZ, struct.pack("HHHH", 44, 150, 0, 0))
    running = subprocess.Popen(
        command(ran.output),
        cwd=ROOT,
        env=environment(TERM="xterm-256color"),
        stdin=secondary,
        stdout=secondary,
        stderr=secondary,
        start_new_session=True,
    )
    os.close(secondary)
    try:
        first = _read_until(primary, "at least", 200)
        running.send_signal(signal.SIGINT)
        rest = _read_until(primary, None, 200)
        assert running.wait(30) == 0
    finally:
        if running.poll() is None:
            running.kill()
            running.wait()
        os.close(primary)
    shown = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", first + rest)
    for words in ("● matching", "event", "position", "needed", "operator", "bindings"):
        assert words in shown, words
    assert "(in an earlier run)" in shown
    assert report.is_file()
    assert json.loads((ran.output / "run.json").read_text("utf-8"))["interrupted"]
    assert "stopped by hand" in report.read_text(encoding="utf-8")


def _read_until(terminal: int, words: str | None, patience: float) -> str:
    """What the terminal shows until it shows the words, or until its program ends."""
    seen, end = b"", time.monotonic() + patience
    while time.monotonic() < end:
        if select.select([terminal], [], [], 0.5)[0]:
            try:
                part = os.read(terminal, 65536)
            except OSError:  # so does a terminal say that nobody holds its other end
                return seen.decode(errors="replace")
            if not part:
                return seen.decode(errors="replace")
            seen += part
            if words is not None and words.encode() in seen:
                return seen.decode(errors="replace")
    raise AssertionError(f"{words!r} was not seen within {patience} s: {seen[-500:]!r}")


def test_frames_left_out_are_spread_over_the_flights(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    flights = LiveFrames(1, 5.0, seconds=30.0, clock=lambda: now[0])
    simulation = flights._simulation
    whole = type(simulation).observation
    monkeypatch.setattr(simulation, "observation", lambda at: whole(simulation, at, render=False))
    seen = []
    for event in flights:
        seen.append(event)
        now[0] += 1.0
    assert 25 <= len(seen) <= 35
    assert len(seen) + flights.skipped == flights.total
    cameras = {event["camera"] for event in seen}
    assert cameras == {f"uav-{number}" for number in range(1, 7)}
    times = [event["time"] for event in seen]
    assert times == sorted(times)
    assert times[-1] > "2026-06-12T17:34"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A browser of its own profile."""
    with opened() as browser:
        yield browser


@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    ("width", "scheme"), [(1280, "light"), (390, "light"), (1280, "dark"), (390, "dark")]
)
def test_the_report_is_sound(ran: Ran, browser: Any, width: int, scheme: str) -> None:
    said: list[str] = []
    asked: list[str] = []
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page = context.new_page()
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    place = (Path(ran.output) / "copy.html").resolve()
    place.write_text(ran.page, encoding="utf-8")
    page.goto(place.as_uri(), wait_until="load")
    assert said == []
    assert [url for url in asked if not url.startswith("data:")] == [place.as_uri()]
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator("section h2").all_inner_texts() == list(SECTIONS.values())
    for name in SECTIONS:
        box = page.locator(f"section#{name}").bounding_box()
        assert box is not None
        assert box["height"] > 60
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width
    images = "[...document.querySelectorAll('.frame image')]"
    decoded = f"Promise.all({images}.map(i => fetchless(i))).then(all => all.every(Boolean))"
    helper = (
        "const fetchless = i => new Promise(done => { const p = new Image(); "
        "p.onload = () => done(p.naturalWidth > 0); p.onerror = () => done(false); "
        "p.src = i.getAttribute('href'); });"
    )
    assert page.evaluate(f"(() => {{ {helper} return {decoded}; }})()")
    assert page.locator(".frame .box").count() > 0
    _keys(page)
    _contrast(page)
    context.close()


def _keys(page: Any) -> None:
    """The keyboard reaches the skip link first, then the sections; a box of the legend hides."""
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.getAttribute('href')") is not None
    label = page.locator(".frame .box").first.get_attribute("class").split()[1]
    page.locator(f"#show-{label}").focus()
    page.keyboard.press("Space")
    assert page.locator(f".box.{label}").first.is_hidden()
    page.keyboard.press("Space")
    named = page.locator("svg[role=img]")
    for at in range(named.count()):
        one = named.nth(at)
        name = one.get_attribute("aria-label") or one.get_attribute("aria-labelledby")
        assert name
    assert page.evaluate("document.documentElement.lang") == "en"


def _contrast(page: Any) -> None:
    """Text and its ground differ enough to be read (4.5, as WCAG has it)."""
    ratio = page.evaluate(
        """() => {
          const light = c => { const [r, g, b] = c.match(/[\\d.]+/g).map(Number).map(v => v / 255)
            .map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
            return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
          const ground = light(getComputedStyle(document.body).backgroundColor);
          const all = ['body', 'figcaption', '.lede', 'nav a', '.took', '.paper', 'thead th'];
          return Math.min(...all.map(s => { const found = document.querySelector(s);
            const ink = light(getComputedStyle(found).color);
            return (Math.max(ink, ground) + 0.05) / (Math.min(ink, ground) + 0.05); }));
        }"""
    )
    assert ratio >= 4.5
