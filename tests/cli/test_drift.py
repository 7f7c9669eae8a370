"""`tamis drift`: what moved, for people and for programs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tamis import Statistics
from tamis.statistics import PredicateStatistics

from .running import Tamis, strict

pytest.importorskip("pyarrow", reason="pip install 'tamis[parquet]' brings pyarrow")


@pytest.fixture
def folders(folder: Path) -> tuple[str, str]:
    """Two statistics, between which one predicate moved."""
    for name, satisfied in (("old", 100), ("new", 300)):
        statistics = Statistics.from_events([{"altitude": at} for at in range(40)])
        for text, share in (("louderThan(3)", satisfied), ("louderThan(9)", 500)):
            statistics.predicates[text] = PredicateStatistics(
                "operator", 1000, share, 0, None, 0.5, 1000
            )
        statistics.save(folder / name)
    return "old", "new"


def test_for_people(tamis: Tamis, folders: tuple[str, str]) -> None:
    ended = tamis("drift", *folders)
    assert ended.status == 0, ended.err
    lines = ended.out.splitlines()
    assert lines[1].split() == [
        *("selectivity", "10.00%", "30.00%"), lines[1].split()[3], "100", "ms",
        "louderThan(3)",
    ]  # fmt: skip
    assert "1 thing moved, by 4 comparisons" in ended.out
    assert "louderThan(9)" not in ended.out


def test_for_programs(tamis: Tamis, folders: tuple[str, str]) -> None:
    found = strict(tamis("drift", *folders, "--json").out)
    [moved] = found["moved"]
    assert (moved["predicate"], moved["what"]) == ("louderThan(3)", "selectivity")
    assert (found["old"], found["new"], found["new_predicates"]) == (*folders, [])
    assert moved["significance"] < 0.01
    assert found["compared"] == 4


def test_the_exit_status_tells_only_when_asked(tamis: Tamis, folders: tuple[str, str]) -> None:
    assert tamis("drift", *folders, "--fail-on-drift").status == 1
    assert tamis("drift", "old", "old", "--fail-on-drift").status == 0
    ended = tamis("drift", "old", "old")
    assert ended.out.startswith("nothing moved")


def test_what_cannot_be_used(tamis: Tamis, folders: tuple[str, str]) -> None:
    ended = tamis("drift", "old", "nowhere")
    assert ended.status == 1
    assert "nowhere holds no statistics" in ended.err
    ended = tamis("drift", *folders, "--significance", "2")
    assert ended.status == 2
    assert "between 0 and 1" in ended.err
