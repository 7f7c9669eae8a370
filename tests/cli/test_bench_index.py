"""`tamis bench index`: tables for people, JSON for programs, and what cannot be measured."""

from __future__ import annotations

import pytest

from .running import Process, Tamis, strict

SMALL = ("--scale", "0.0005", "--events", "4", "--passes", "1")


@pytest.mark.slow
def test_a_table_a_workload_and_what_came_of_the_goals(tamis: Tamis) -> None:
    ended = tamis(
        "bench", "index", *SMALL, "--workloads", "dense", "mixed", "--scans", "numpy", "--index",
        "lanes", "scan",
    )  # fmt: skip
    assert (ended.status, ended.err) == (0, "")
    for name in ("dense", "mixed"):
        assert f"\n{name} at 0.0005: 500 subscriptions of " in ended.out
    for name in ("compiled scan", "numpy scan", "lanes", "scan"):
        assert ended.out.count(f"\n{name} ") >= 2
    assert "naive" not in ended.out
    assert "No goal is about this size" in ended.out


@pytest.mark.slow
def test_values_of_parameters_make_workloads_and_json(tamis: Tamis) -> None:
    ended = tamis(
        "bench", "index", *SMALL, "--zipf", "0", "2", "--dimensions", "50", "--index", "pstbloom",
        "--scans", "column", "--json",
    )  # fmt: skip
    told = strict(ended.out)
    assert (told["bench"], told["seed"], told["goals"]) == ("index", 1, [])
    methods: dict[str, set[str]] = {}
    for row in told["rows"]:
        methods.setdefault(row["workload"], set()).add(row["method"])
        assert row["about"]["attributes"] == 50
    titles = ("begen dimensions 50 at 0.0005", "begen zipf 2.0 dimensions 50 at 0.0005")
    expected = {"compiled scan", "column scan", "pstbloom"}
    assert methods == dict.fromkeys(titles, expected)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--workloads", "dens"), "there are dense, dense3m, ads"),
        (("--scans", "fast"), "there are compiled, naive"),
        (("--index", "nothing"), "nothing"),
        (("--workloads", "dense", "--zipf", "1"), "--workloads begen"),
        (("--matching", "2"), "--matching"),
    ],
)
def test_what_cannot_be_measured_is_said(
    tamis: Tamis, arguments: tuple[str, ...], words: str
) -> None:
    ended = tamis("bench", "index", *SMALL, *arguments)
    assert ended.status == 2
    assert words in ended.err
    assert ended.out == ""


def test_help_names_the_parameters_and_their_defaults(tamis: Tamis) -> None:
    shown = " ".join(tamis("bench", "index", "--help").out.split())
    for option in (
        "--subscriptions", "--zipf", "--dimensions", "--cardinality", "--subscription-size",
        "--event-size", "--matching", "--equality",
    ):  # fmt: skip
        assert f"{option} N…" in shown
    assert "(1,000,000 by default)" in shown


def test_nobody_is_told_of_progress_but_a_terminal(process: Process) -> None:
    ended = process(
        "bench", "index", *SMALL, "--workloads", "matching", "--scans", "naive", "--index", "lanes"
    )
    assert (ended.status, ended.err) == (0, "")
    assert "matching at 0.0005: 500 subscriptions" in ended.out
