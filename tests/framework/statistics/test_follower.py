"""A matcher that runs takes the statistics of its folder whenever they are written anew."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

import pytest

import tamis
from tamis import Matcher, Statistics
from tamis.statistics.follower import follow

pytest.importorskip("pyarrow", reason="pip install 'tamis[parquet]' brings pyarrow")


def waited_for(condition: Any) -> bool:
    end = time.monotonic() + 60
    while not condition() and time.monotonic() < end:
        time.sleep(0.01)
    return bool(condition())


def test_new_states_are_handed_on_once(tmp_path: Path) -> None:
    taken: list[float | None] = []
    Statistics({"p(1)": 0.1}).save(tmp_path)
    with follow(tmp_path, lambda found: taken.append(found.selectivity("p(1)")), 0.01):
        time.sleep(0.05)
        assert taken == []
        Statistics({"p(1)": 0.2}).save(tmp_path)
        assert waited_for(lambda: taken == [0.2])
        (tmp_path / "manifest.json").write_text("{")  # what cannot be read is passed over
        time.sleep(0.05)
        Statistics({"p(1)": 0.3}).save(tmp_path)
        assert waited_for(lambda: taken == [0.2, 0.3])


def test_answers_stay_while_statistics_come() -> None:
    @tamis.operator
    def below(event: Any, n: int) -> bool:
        return bool(event["a"] < n)

    matcher = Matcher(operators=[below])
    matcher.subscribe_many(
        {"id": f"s{n}", "where": f"below({n}) and below({n + 5}) and a > 3"} for n in range(20)
    )
    stop = threading.Event()

    def change() -> None:
        while not stop.is_set():
            at = time.monotonic_ns() % 100 / 100
            matcher.statistics = Statistics({f"below({n})": abs(at - n / 25) for n in range(25)})

    thread = threading.Thread(target=change)
    thread.start()
    try:
        events = [{"a": at % 25} for at in range(300)]
        for event, result in zip(events, matcher.match_many(events), strict=True):
            found = {match.subscription for match in result.matches}
            assert found == {f"s{n}" for n in range(20) if 3 < event["a"] < n}
    finally:
        stop.set()
        thread.join()
