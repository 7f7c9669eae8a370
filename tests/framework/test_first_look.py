"""What people see first: representations, notebooks, the log, and a word to whoever waits."""

from __future__ import annotations

import logging
import subprocess
import sys
import time
from html.parser import HTMLParser

import pytest

import tamis
from tamis.testing import FakeClock
from tamis.waiting import waiting_for


def result_of(where: str, event: dict[str, object]) -> tamis.Result:
    @tamis.operator(inputs=("people",), outputs=("count",))
    def peopleCount(event: tamis.Event, count: object) -> object:
        return [event["people"]]  # type: ignore[index]

    matcher = tamis.Matcher(operators=[peopleCount])
    matcher.subscribe(where, id="s<1>")
    return matcher.match({"id": "e&1", **event})


def test_a_representation_says_how_many_and_which() -> None:
    matcher = tamis.Matcher(operators=[], planner="sequential", index="lanes")
    matcher.subscribe("a = 1", id="one")
    assert (
        repr(matcher) == "<matcher: 1 subscriptions, 0 operators, index lanes, planner Sequential>"
    )
    index = tamis.index.build("lanes", [(1, [("a", "=", 1)])])
    assert repr(index) == f"<index lanes: 1 ids, {index.nbytes:,} bytes>"
    known = tamis.Statistics(selectivity={"p(1)": 0.5})
    assert repr(known) == "<statistics: 1 predicates, 0 attributes>"
    result = matcher.match({"id": "e1", "a": 1})
    assert repr(result) == "<result of e1: 1 matches (one)>"
    assert repr(result.account) == (
        "<account of 1 event: 1 matched of 1 candidates among 1 subscriptions; "
        "called 0, at least 0 were needed>"
    )


class Text(HTMLParser):
    """The text of a page, whose elements are closed in order."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.text = ""
        self.feed(page)
        assert not self.open

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def test_a_notebook_shows_results_and_explanations() -> None:
    result = result_of("peopleCount(?n), ?n > 5", {"people": 9})
    shown = Text(result._repr_html_()).text
    assert "e&1" in shown
    assert "s<1>" in shown
    assert "n = 9" in shown
    explained = Text(result.explain("s<1>")._repr_html_()).text
    assert "s<1> matches e&1" in explained
    undetermined = result_of("peopleCount(?n), ?n > 5", {"people": {"many": 1}})
    assert "nonsense" in Text(undetermined._repr_html_()).text


def test_many_matches_are_cut_in_a_notebook() -> None:
    matcher = tamis.Matcher(operators=[])
    matcher.subscribe_many({"id": f"s{at}", "where": "a = 1"} for at in range(1_030))
    assert "and 1,010 more" in Text(matcher.match({"a": 1})._repr_html_()).text


def test_a_slow_event_is_logged_with_its_reason(caplog: pytest.LogCaptureFixture) -> None:
    timer = FakeClock()

    @tamis.operator
    def busy(event: tamis.Event, name: str) -> bool:
        timer.advance(2.5 if name == "long" else 0.1)
        return True

    matcher = tamis.Matcher(operators=[busy], timer=timer)
    matcher.subscribe("busy(short)")
    with caplog.at_level(logging.INFO, logger="tamis"):
        matcher.match({"id": "quick"})
        assert not caplog.messages
        matcher.subscribe("busy(long)")
        matcher.match({"id": "slow"})
    assert caplog.messages == [
        "event slow took 2.6 s: 2.6 s in the stage operators, of it 2.5 s for busy(long)"
    ]


def test_an_open_breaker_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    @tamis.operator(timeout=0.01)
    def late(event: tamis.Event) -> bool:
        time.sleep(0.2)
        return True

    limits = tamis.Limits(failures_in_a_row=2)
    with tamis.Matcher(operators=[late], limits=limits) as matcher:
        matcher.subscribe("late()")
        with caplog.at_level(logging.WARNING, logger="tamis"):
            for _ in range(2):
                matcher.match({})
    assert len(caplog.messages) == 1
    assert caplog.messages[0].startswith("late is not called for 1 s: the last 2 calls were late")


def test_nothing_is_logged_unless_asked() -> None:
    program = "from tamis.log import log; log.warning('loud')"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert not done.stdout
    assert not done.stderr


def test_whoever_waits_longer_is_told_once(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tamis.waiting.PATIENCE_SECONDS", 0.05)
    with waiting_for("doing much"):
        time.sleep(0.3)
    with waiting_for("doing little"):
        pass
    time.sleep(0.1)
    assert capsys.readouterr().err == "tamis is doing much\n"


def test_the_version_is_that_of_the_distribution() -> None:
    from importlib.metadata import version

    assert tamis.__version__ == version("tamis")
