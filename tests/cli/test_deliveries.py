"""`tamis match` with delivery policies: what is due in each line, kept from run to run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from .running import Ended, Tamis, strict, write_lines

MATCH = ("match", "--subscriptions", "P.jsonl", "--events", "E.jsonl")
TIMES = ("12:00:00", "12:00:10", "12:00:20", "12:05:00")


@pytest.fixture(autouse=True)
def files(folder: Path) -> None:
    write_lines(
        folder / "P.jsonl",
        {"id": "alarm", "where": "level > 3", "deliver": {"on": "both", "per": ["drone"]}},
        {"id": "letter", "where": "level > 3", "deliver": {"digest": "1h"}, "to": "ann"},
        {"id": "plain", "where": "level > 5"},
    )
    write_events(folder, [4, 7, 4, 1])


def write_events(folder: Path, levels: list[int], hour: int = 0) -> None:
    write_lines(
        folder / "E.jsonl",
        *(
            {
                "id": f"e{hour}{at}",
                "time": f"2026-01-{15 + hour}T{time}Z",
                "drone": "d1",
                "level": level,
            }
            for at, (time, level) in enumerate(zip(TIMES, levels, strict=True))
        ),
    )


def due(ended: Ended) -> list[tuple[Any, list[tuple[str, str, list[str]]]]]:
    assert ended.status == 0, ended.err
    return [
        (
            line["event"],
            [(each["subscription"], each["kind"], each["events"]) for each in line["deliveries"]],
        )
        for line in ended.lines
    ]


EXPECTED = [
    ("e00", [("alarm", "enter", ["e00"])]),
    ("e01", [("plain", "match", ["e01"])]),
    ("e02", []),
    ("e03", [("alarm", "exit", ["e03"])]),
]


def test_each_line_has_what_is_due_and_the_last_one_what_was_open(tamis: Tamis) -> None:
    ended = tamis(*MATCH)
    assert due(ended) == [*EXPECTED, (None, [("letter", "digest", ["e00", "e01", "e02"])])]
    assert ended.lines[0]["deliveries"] == [
        {"subscription": "alarm", "kind": "enter", "key": ["d1"], "events": ["e00"]}
    ]
    assert ended.lines[0]["matches"][1] == {
        "subscription": "letter", "bindings": [{}], "data": {"to": "ann"}
    }  # fmt: skip
    assert ended.lines[-1] == {
        "event": None, "matches": [], "undetermined": [],
        "deliveries": ended.lines[-1]["deliveries"],
    }  # fmt: skip
    assert due(tamis(*MATCH, "--in-flight", "3")) == due(ended)


def test_lines_are_as_ever_where_no_subscription_has_policies(tamis: Tamis, folder: Path) -> None:
    write_lines(folder / "P.jsonl", {"id": "plain", "where": "level > 5"})
    for more in ((), ("--policy-state", "kept")):
        ended = tamis(*MATCH, *more)
        assert [set(line) for line in ended.lines] == [{"event", "matches", "undetermined"}] * 4


def test_policies_are_kept_for_the_next_run(tamis: Tamis, folder: Path) -> None:
    kept = ("--policy-state", "kept/here")
    assert due(tamis(*MATCH, *kept)) == EXPECTED
    assert [lines for _, lines in due(tamis(*MATCH, *kept))][:1] == [[]]  # all are repeated
    write_events(folder, [4, 1, 1, 1], hour=1)
    assert due(tamis(*MATCH, *kept))[0] == (
        "e10",
        [("alarm", "enter", ["e10"]), ("letter", "digest", ["e00", "e01", "e02"])],
    )


def test_a_run_that_fails_leaves_the_state_as_it_was(tamis: Tamis, folder: Path) -> None:
    kept = ("--policy-state", "kept")
    tamis(*MATCH, *kept)
    before = {path.name: path.read_bytes() for path in (folder / "kept").iterdir()}
    (folder / "kept" / "manifest.json").write_text("{}")
    assert tamis(*MATCH, *kept).status == 1
    (folder / "kept" / "manifest.json").write_bytes(before["manifest.json"])
    assert tamis(*MATCH, *kept, "--operators", "nowhere.py").status == 2
    assert {path.name: path.read_bytes() for path in (folder / "kept").iterdir()} == before
    ended = tamis(*MATCH, "--policy-state", "P.jsonl")
    assert ended.status == 1
    assert "P.jsonl" in ended.err


def test_spark_refuses_with_a_sentence(tamis: Tamis) -> None:
    pytest.importorskip("pyspark")
    ended = tamis(*MATCH, "--on", "spark", "--output", "parts")
    assert ended.status == 1
    assert ended.err.startswith(
        "error: delivery policies follow events in order, which Spark's workers do not: "
        "leave out 'deliver' of alarm, letter"
    )
    ended = tamis(*MATCH, "--on", "spark", "--output", "parts", "--policy-state", "kept")
    assert ended.status == 2
    assert "--policy-state is kept by one process" in ended.err


def test_check_knows_policies(tamis: Tamis, folder: Path) -> None:
    assert tamis("check", "P.jsonl").out.endswith("0 errors, 0 warnings\n")
    write_lines(
        folder / "P.jsonl",
        {"id": "a", "where": "level > 3", "deliver": {"cooldwn": "1h"}},
        {"id": "b", "where": "peopleCount(?n)", "deliver": {"once": True, "per": ["?m"]}},
    )
    ended = tamis("check", "P.jsonl", "--operators", "ops.py", "--json")
    assert ended.status == 1
    assert [(each["line"], each["problem"]) for each in strict(ended.out)["errors"]] == [
        (1, "deliver: unknown policy 'cooldwn'; did you mean cooldown?"),
        (2, "deliver.per[0]: unknown variable ?m; did you mean ?n?"),
    ]
