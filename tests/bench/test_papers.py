"""Experiments of the papers run and are kept, and claims are judged by their figures alone."""

from __future__ import annotations

import gc
import json
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tamis.plugins.loader import installed
from tamis.testing import satisfies
from tamis_bench import papers
from tamis_bench.before import beside
from tamis_bench.papers import PAPERS, SIZES, measured, size_of
from tamis_bench.papers.claims import (
    FAILED,
    HELD,
    UNKNOWN,
    Claim,
    Figures,
    best,
    both,
    everywhere,
    exponent,
    grows,
    grows_less,
    judged,
    ranked,
    saved,
    steady,
    times,
    unbuilt,
)
from tamis_bench.papers.drawing import INTERVAL, ONE_SIDED, SET, Drawn, GivenBoxes
from tamis_bench.report import Row

LATER = ("dbms", "pbtree")
"""Indexes that may not be registered."""


def rows(**lines: Sequence[float]) -> list[Row]:
    """Rows of methods at 100, 200, 400 …"""
    return [
        {"figure": "e", "method": name, "at": f"{100 << place:,}", "mean_us": value}
        for name, values in lines.items()
        for place, value in enumerate(values)
    ]


def verdict(told: Callable[[Figures], Any], **lines: Sequence[float]) -> str:
    claim = Claim("§1", "words", told, "why")
    (row,) = judged([claim], Figures(rows(**lines)))
    assert row.get("why", "") == ("why" if row["verdict"] == FAILED else "")
    return str(row["verdict"])


@pytest.mark.parametrize(
    ("told", "yes", "no"),
    [
        (times("e", "a", "b", 3), {"a": [1, 6], "b": [1, 2]}, {"a": [9, 5], "b": [1, 2]}),
        (times("e", "a", "b", 1, 2), {"a": [3], "b": [2]}, {"a": [5], "b": [2]}),
        (everywhere("e", ["a"], "b"), {"a": [4, 3], "b": [2, 3]}, {"a": [4, 2], "b": [2, 3]}),
        (grows("e", ["a", "b"], 2), {"a": [1, 2], "b": [1, 3]}, {"a": [1, 2], "b": [2, 3]}),
        (grows("e", ["a"], 0, 1), {"a": [3, 2]}, {"a": [2, 3]}),
        (steady("e", ["a"]), {"a": [2, 3]}, {"a": [2, 5]}),
        (grows_less("e", ["a"], ["b"]), {"a": [1, 2], "b": [1, 3]}, {"a": [1, 4], "b": [1, 3]}),
        (ranked("e", ["b", "a"]), {"a": [3], "b": [2]}, {"a": [3], "b": [4]}),
        (best("e", "a", ["b"]), {"a": [9, 1], "b": [1, 2]}, {"a": [1, 3], "b": [3, 2]}),
        (saved("e", "a", "b", 0.8), {"a": [2], "b": [10]}, {"a": [4], "b": [10]}),
        (exponent("e", "a", "mean_us", 0.9, 1.1), {"a": [1, 2, 4]}, {"a": [1, 4, 16]}),
        (
            both(best("e", "a", ["b"]), grows("e", ["a"], 2)),
            {"a": [1, 2], "b": [5, 5]},
            {"a": [1, 1], "b": [5, 5]},
        ),
    ],
)  # fmt: skip
def test_the_figures_decide(told: Any, yes: dict[str, Any], no: dict[str, Any]) -> None:
    assert verdict(told, **yes) == HELD
    assert verdict(told, **no) == FAILED
    assert verdict(told) == UNKNOWN


def test_growth_needs_several_places() -> None:
    assert verdict(grows("e", ["a"]), a=[1]) == UNKNOWN


def test_what_is_not_built_is_not_measured() -> None:
    (row,) = judged([Claim("Table 1", "words", unbuilt("not in the tree"))], Figures([]))
    assert (row["verdict"], row["ours"]) == (UNKNOWN, "not in the tree")


@pytest.mark.parametrize("other", [ONE_SIDED, INTERVAL, SET])
def test_drawn_workloads_are_what_their_clauses_say(other: str) -> None:
    drawn = Drawn(60, 30, values=100, pairs=20, spread=0.3, equality=0.3, other=other, asked=0.5)
    boxes = GivenBoxes("drawn", drawn, 3, 10)
    events, asked = boxes.event_dicts(), dict(boxes.clauses(range(60)))
    found = 0
    for at, event in enumerate(events):
        value = boxes.events[at][boxes.attribute]
        true = (boxes.low <= value) & (value <= boxes.high)
        if boxes.extra is not None:
            places = np.flatnonzero(true & (boxes.extra >= 0))
            bits = value[places].astype(np.uint64)
            words = boxes.sets[boxes.extra[places], bits // np.uint64(64)]
            true[places] = (words >> (bits % np.uint64(64)) & np.uint64(1)).astype(bool)
        for row, clauses in asked.items():
            holds = bool(true[boxes.start[row] : boxes.start[row + 1]].all())
            assert satisfies(event, clauses) is holds
            found += holds
    assert found


def test_all_papers_have_experiments_and_claims_of_their_own() -> None:
    every = [import_module(f"tamis_bench.papers.{name}").PAPER for name in PAPERS]
    names = [each.name for paper in every for each in paper.experiments]
    words = [(claim.where, claim.words) for paper in every for claim in paper.claims]
    assert len(set(names)) == len(names)
    assert len(set(words)) == len(words)
    assert len(words) > 150


def kept(monkeypatch: pytest.MonkeyPatch, names: list[str], folder: Path) -> list[Row]:
    """Runs papers as small as can be, and sees that all was kept and drawn."""
    monkeypatch.setitem(SIZES, "tiny", (0.0001, 2, 1, 1))
    monkeypatch.setattr(gc, "collect", lambda: 0)  # most of the time, where all else is small
    found = list(measured(papers=names, scale="tiny", folder=str(folder), seed=2))
    held = json.loads((folder / "papers.json").read_text(encoding="utf-8"))
    assert held["rows"] == json.loads(json.dumps(found))
    for name in names:
        for experiment in import_module(f"tamis_bench.papers.{name}").PAPER.experiments:
            mine = [row for row in found if row.get("figure") == experiment.name]
            assert mine, experiment.name
            for drawing in experiment.drawings:
                assert all(drawing.column in row for row in mine if "note" not in row)
                picture = folder / f"{experiment.name}-{drawing.column}.svg"
                assert picture.read_text(encoding="utf-8").count("<path") > 5
    lacking = [each for each in LATER if each not in installed().indexes]
    for row in found:
        if row.get("verdict") == UNKNOWN:
            assert row["ours"].startswith(
                ("not in the tree", "a test", "one place", *lacking, "duckdb")
            )
    return found


def test_a_run_is_kept_and_compared_with(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    found = kept(monkeypatch, ["counting"], tmp_path)
    verdicts = {row["verdict"] for row in found if "claim" in row}
    assert verdicts <= {HELD, FAILED, UNKNOWN}
    assert {HELD, FAILED} <= verdicts
    options = {"papers": ["counting"], "scale": "tiny", "folder": None, "seed": 2}
    later = beside(str(tmp_path), "papers", options, 3)
    timed = [row for row in later if "mean_us" in row]
    assert timed
    assert all(row["bytes_over_before"] == 1 for row in timed if row["method"] != "duckdb")
    assert all("mean_us_over_before" in row for row in timed)


@pytest.mark.slow
def test_growth_is_counted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    found = kept(monkeypatch, ["pbtree"], tmp_path)
    held = {row["claim"]: row["verdict"] for row in found if "claim" in row}
    assert held["the red-black tree searches in O(n)"] == HELD
    assert held["the Time Index takes O(n²) space"] == HELD


@pytest.mark.slow
@pytest.mark.long
def test_planners_are_measured_by_their_own_bench(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    kept(monkeypatch, ["expensive"], tmp_path)


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("name", ["opindex", "pstree"])
def test_indexes_are_measured_beside_rivals(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    kept(monkeypatch, [name], tmp_path)


def test_scales_measure_places_between_the_first_and_the_last() -> None:
    size = size_of("small", 1)
    assert size.some((1, 2, 3, 4, 5)) == [1, 3, 5]
    assert size.count(1_000_000) == 10_000
    assert (size.wide(100), size.wide(20_000)) == (100, 2_000)
    assert papers.SIZES["full"][0] == 1.0
