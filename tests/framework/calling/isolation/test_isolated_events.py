"""Checks that calls about several events are made together in worker processes."""

from __future__ import annotations

import os
import signal
import threading
import time
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tamis
from tamis.calling.event_calls import EventCalls
from tamis.calling.isolation.exchange import InvocationOutcome
from tamis.calling.isolation.isolation import Isolation
from tamis.operators.asking import Call
from tests.framework.calling.patience import PATIENCE_SECONDS

from .workers import isolated, matcher_with

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs a system that can fork")
SOUND, RAISES, DIES, HANGS, NONSENSE = "sound", "raises", "dies", "hangs", "nonsense"


def fate(event: Any) -> Any:
    """Does what an event says, to whoever looks at it."""
    kind = event["kind"]
    if kind == DIES:
        os.kill(os.getpid(), signal.SIGKILL)
    if kind == HANGS:
        time.sleep(60)
    if kind == RAISES:
        raise ValueError("no luck")
    return "nonsense" if kind == NONSENSE else event["v"]


def sized(events: Sequence[Any], lists: Sequence[Any]) -> list[object]:
    return [[len(events)] for _ in events]


@isolated(inputs=("v",), outputs=("n",), solve_events=sized, batch=8)
def together(event: Any, n: Any) -> list[int]:
    return [1]


def test_calls_about_several_events_are_one_invocation() -> None:
    with matcher_with(together) as matcher:
        matcher.subscribe("together(?n)", id="s")
        events = ({"id": f"e{at}", "v": at} for at in range(20))
        results = list(matcher.match_many(events))
        assert matcher.match({"v": 1}).matches[0].bindings == [{"n": 1}]
    sizes = [each.matches[0].bindings[0]["n"] for each in results]
    assert sizes == [8] * 16 + [4] * 4
    assert sum(each.account.invocations for each in results) == 3
    assert sum(each.account.batched for each in results) == 20


def test_an_event_that_cannot_be_sent_is_not_the_fault_of_those_asked_together() -> None:
    """It alone is undetermined, whatever often: others are still asked together, without a word."""
    with matcher_with(together) as matcher, warnings.catch_warnings():
        warnings.simplefilter("error", tamis.PluginWarning)
        matcher.subscribe("together(?n)", id="s")
        for turn in range(5):
            held = {"id": f"held {turn}", "v": threading.Lock()}
            events = [held, *({"id": f"{turn} {at}", "v": at} for at in range(7))]
            alone, *others = matcher.match_many(events)
            assert "cannot be sent" in alone.undetermined[0].reason
            assert [each.matches[0].bindings for each in others] == [[{"n": 1}]] * 7
        last = list(matcher.match_many({"id": f"e{at}", "v": at} for at in range(8)))
        assert [each.matches[0].bindings for each in last] == [[{"n": 8}]] * 8


def summed(events: Sequence[Any], lists: Sequence[Any]) -> list[object]:
    return [int(event["v"].sum()) > least for event, (least,) in zip(events, lists, strict=True)]


@isolated(inputs=("v",), solve_events=summed, batch=4)
def heavier(event: Any, least: int) -> bool:
    return int(event["v"].sum()) > least


def test_long_arrays_of_several_events_come_over() -> None:
    with matcher_with(heavier) as matcher:
        matcher.subscribe_many(
            {"where": f"heavier({least})", "id": str(least)} for least in (0, 150_000, 350_000)
        )
        events = [{"v": np.full(100_000, at), "id": f"e{at}"} for at in range(6)]
        found = [[each.subscription for each in it.matches] for it in matcher.match_many(events)]
    assert found == [[], ["0"], *[["0", "150000"]] * 2, *[["0", "150000", "350000"]] * 2]


def compared(events: Sequence[Any], lists: Sequence[Any]) -> list[object]:
    return [
        value if isinstance(value, str) else value > least
        for value, (least,) in zip(map(fate, events), lists, strict=True)
    ]


@isolated(inputs=("v", "kind"), solve_events=compared, batch=4, timeout=PATIENCE_SECONDS)
def over(event: Any, least: int) -> Any:
    value = fate(event)
    return value if isinstance(value, str) else value > least


KINDS = st.sampled_from([SOUND] * 12 + [RAISES, DIES, NONSENSE])


@settings(deadline=None, max_examples=8)
@given(
    kinds=st.lists(KINDS, min_size=2, max_size=10),
    in_flight=st.integers(2, 6),
    texts=st.lists(
        st.sampled_from(["over(2)", "not over(4)", "over(1) and over(5)", "over(0) or over(3)"]),
        min_size=1,
        max_size=3,
        unique=True,
    ),
)
def test_answers_are_those_of_one_by_one(
    kinds: list[str], in_flight: int, texts: list[str]
) -> None:
    events = [{"id": f"e{at}", "v": at, "kind": kind} for at, kind in enumerate(kinds)]
    verdicts: list[list[Any]] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tamis.PluginWarning)
        with matcher_with(over) as matcher:
            matcher.subscribe_many({"where": text, "id": text} for text in texts)
            for matcher.in_flight in (1, in_flight):
                lines = [each.as_dict() for each in matcher.match_many(events)]
                verdicts.append([(each["event"], each["matches"], _open(each)) for each in lines])
    assert verdicts[0] == verdicts[1]


def _open(line: dict[str, Any]) -> list[str]:
    return [each["subscription"] for each in line["undetermined"]]


@pytest.mark.parametrize("kind", [HANGS, DIES, RAISES, "cannot be sent"])
def test_only_the_culprit_is_unknown(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = Isolation.call

    def hurried(
        self: Isolation, calls: Sequence[Call], asked: Sequence[EventCalls], seconds: float | None
    ) -> InvocationOutcome:
        """Waits long only for what answers."""
        hangs = any(each.event.content["kind"] == HANGS for each in asked)
        return whole(self, calls, asked, 0.2 if hangs else seconds)

    monkeypatch.setattr(Isolation, "call", hurried)
    events: list[dict[str, Any]] = [{"id": f"e{at}", "v": at + 3, "kind": SOUND} for at in range(4)]
    events[2]["kind"] = kind
    if kind == "cannot be sent":
        events[2]["v"] = threading.Lock()  # which cannot be pickled
    with matcher_with(over) as matcher, warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        matcher.subscribe("over(2)", id="s")
        results = list(matcher.match_many(events))
    assert any("one by one" in str(each.message) for each in told) is (kind != "cannot be sent")
    assert [len(each.matches) for each in results] == [1, 1, 0, 1]
    assert [len(each.undetermined) for each in results] == [0, 0, 1, 0]
