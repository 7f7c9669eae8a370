"""`tamis advise`: for people and for programs, with what it takes said beforehand."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from tamis import Statistics
from tamis.plugins.loader import installed

from .running import Tamis, strict, write_lines

pytest.importorskip("scipy", reason="pip install 'tamis[bench]' brings SciPy")

RUN = ("advise", "--subscriptions", "S.jsonl", "--operators", "ops.py")


@pytest.fixture(autouse=True)
def history(folder: Path) -> Path:
    """Events of a day, one line of which is none."""
    events = [
        {"id": f"e{at}", "loudness": at % 8, "people": at % 11, "altitude": 20 * at}
        for at in range(30)
    ]
    return write_lines(folder / "E.jsonl", *events, "no event")


def test_for_people(tamis: Tamis) -> None:
    ended = tamis(*RUN, "--events", "E.jsonl")
    assert ended.status == 0, ended.err
    assert "30 events of 30 with 2 distinct calls are evaluated in full" in ended.err
    assert "1 line without an event, the first: E.jsonl:31: not valid JSON" in ended.err
    assert "30 events of 30, 2 subscriptions: 20 matched, 0 undetermined" in ended.out.replace(
        "\n", " "
    )
    for name in (*installed().planners, *installed().indexes):
        assert name in ended.out
    assert ended.out.count("recommended") == 2
    assert "at least 50 calls by any method" in ended.out


def test_for_programs(tamis: Tamis) -> None:
    found = strict(tamis(*RUN, "--events", "E.jsonl", "--json").out)
    assert found["planner"] in installed().planners
    assert found["index"] in installed().indexes
    assert found["broken"] == []
    assert {each["index"] for each in found["indexes"]} == set(installed().indexes)
    assert (found["read"], found["events"], found["rejected"]) == (30, 30, 1)


def test_a_sample_of_packed_events_with_statistics(tamis: Tamis, folder: Path) -> None:
    pytest.importorskip("pyarrow", reason="pip install 'tamis[parquet]' brings pyarrow")
    Statistics(selectivity={"louderThan(3)": 0.5}).save(folder / "known")
    (folder / "E.jsonl.gz").write_bytes(gzip.compress((folder / "E.jsonl").read_bytes()))
    run = (*RUN, "--events", "E.jsonl.gz", "--statistics", "known", "--json")
    some = strict(tamis(*run, "--sample", "0.5").out)
    assert some["read"] == 30
    assert 5 < some["events"] < 25
    assert any("the given statistics" in each["sentence"] for each in some["hints"])
    assert strict(tamis(*run, "--most-events", "7").out)["events"] == 7


def test_what_operators_print_is_no_advice(tamis: Tamis, folder: Path) -> None:
    (folder / "loud.py").write_text(
        "import tamis\n@tamis.operator\ndef loud(event):\n    print('LOUD')\n    return True\n"
    )
    (folder / "L.jsonl").write_text('{"where": "loud()"}\n')
    ended = tamis(
        *("advise", "--subscriptions", "L.jsonl", "--operators", "loud.py"),
        *("--events", "E.jsonl", "--json"),
    )
    assert json.loads(ended.out)["events"] == 30
    assert "LOUD" in ended.err


def test_what_cannot_be_used(tamis: Tamis, folder: Path) -> None:
    (folder / "bad.jsonl").write_text('{"where": "altitude <"}\n')
    ended = tamis("advise", "--subscriptions", "bad.jsonl", "--events", "E.jsonl")
    assert ended.status == 1
    assert "1 of 1 subscription cannot be taken; no advice is given" in ended.err
    (folder / "none.jsonl").write_text("nothing\n")
    ended = tamis(*RUN, "--events", "none.jsonl")
    assert ended.status == 1
    assert "no line holds an event" in ended.err
    ended = tamis(*RUN, "--events", "-", "--subscriptions", "-")
    assert ended.status == 2
