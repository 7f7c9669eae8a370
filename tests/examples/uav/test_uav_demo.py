"""The demo from end to end: in a pipe, in a terminal, stopped by hand; and its report's numbers."""

from __future__ import annotations

import json
import os
import re
import select
import signal
import struct
import subprocess
import time
from html.parser import HTMLParser

import pytest

from examples.uav.live import subscribers
from examples.uav.live.feed import Flights
from examples.uav.report.page import SECTIONS
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
    flights = Flights(1, 5.0, seconds=30.0, clock=lambda: now[0])
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
