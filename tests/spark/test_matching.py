"""Checks that Spark matches as one process does: the same lines, rejects and totals."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tamis import Matcher, SubscriptionError
from tamis.cli.running import run
from tamis.errors import MatcherFolderError
from tamis.plugins.loader import operators_in
from tamis.spark import SparkError, match
from tamis.spark.compiling import compiled_of
from tamis.spark.matching import Job, match_files

from .history import OPERATORS, SUBSCRIPTIONS, flat, write_history

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.filterwarnings("ignore::tamis.SubscriptionWarning")
TOTALS = ("events", "rejected", "subscriptions", "candidates", "matches", "undetermined")
OPENING = """
import os
import tamis
from pathlib import Path

class Opening(tamis.Operator):
    specification = tamis.Specification(
        name="shown", parameters=(tamis.Parameter("text"),), inputs=("image",), outputs=("text",)
    )

    def __init__(self):
        with open(os.environ["MADE"], "a") as made:
            made.write(f"{os.getpid()}\\n")

    def solve(self, event, text):
        return [Path(event["image"]).read_text()]
"""


def lines(place: Path) -> list[str]:
    files = sorted(place.glob("part-*")) if place.is_dir() else [place]
    return [line for file in files for line in file.read_text().splitlines()]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("world")
    write_history(folder / "events", 200)
    (folder / "ops.py").write_text(OPERATORS)
    (folder / "s.jsonl").write_text(
        "".join(
            json.dumps({"where": text} | ({"id": f"s{at}", "n": at} if at % 2 else {})) + "\n"
            for at, text in enumerate(SUBSCRIPTIONS)
        )
    )
    return folder


def command(world: Path, *more: str) -> int:
    os.chdir(world)
    head = ["match", "--subscriptions", "s.jsonl", "--events", "events", "--operators", "ops.py"]
    return run([*head, *more])


@pytest.fixture(scope="module")
def alone(world: Path) -> dict[str, Any]:
    before = Path.cwd()
    more = ("--output", "l.jsonl", "--report", "l.json", "--rejects", "lr.jsonl")
    assert command(world, *more) == 0
    os.chdir(before)
    return dict(json.loads((world / "l.json").read_text()))


@pytest.mark.parametrize("shards", [1, 3])
def test_the_command_gives_the_lines_of_one_process(
    spark: SparkSession,
    world: Path,
    alone: dict[str, Any],
    shards: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(world)
    more = ("--output", "sp", "--report", "sp.json", "--rejects", "spr.jsonl")
    for _ in range(2):  # the second run takes the place of the first
        assert command(world, "--on", "spark", "--shards", str(shards), *more) == 0
    assert sorted(lines(world / "sp")) == sorted(lines(world / "l.jsonl"))
    assert lines(world / "spr.jsonl") == lines(world / "lr.jsonl")
    report = json.loads((world / "sp.json").read_text())
    assert {name: report[name] for name in TOTALS} == {name: alone[name] for name in TOTALS}
    failed = {name: each["failed"] for name, each in alone["operators"].items()}
    assert failed.keys() == report["operators"].keys()
    said = capsys.readouterr().err
    assert "5 lines hold no event, the first of them events/a.jsonl:" in said
    assert ("each of 4 calls is in" in said) == (shards > 1)
    assert not list(world.glob("*.partial"))


@pytest.mark.parametrize("shards", ["1", "2"])
def test_events_of_no_type_are_rejects_as_in_one_process(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shards: str
) -> None:
    monkeypatch.chdir(tmp_path)
    types = {"name": "frame", "attributes": {"altitude": ["number", [0, 500]]}}
    Path("t.json").write_text(json.dumps([types]))
    Path("e.jsonl").write_text('{"id": "a", "altitude": 700}\n{"id": "b", "altitude": 70}\n')
    Path("s.jsonl").write_text('{"id": "s", "where": "altitude > 60"}\n')
    head = ("match", "--subscriptions", "s.jsonl", "--events", "e.jsonl", "--types", "t.json")
    assert run([*head, "--output", "l.jsonl", "--rejects", "lr.jsonl"]) == 0
    more = ("--on", "spark", "--shards", shards, "--output", "sp", "--rejects", "spr.jsonl")
    assert run([*head, *more]) == 0
    assert lines(Path("sp")) == lines(Path("l.jsonl"))
    assert lines(Path("spr.jsonl")) == lines(Path("lr.jsonl"))
    [reject] = map(json.loads, lines(Path("spr.jsonl")))
    assert "altitude is 700, not from 0 to 500" in reject["reason"]


def test_parts_of_one_file_keep_their_numbers(
    spark: SparkSession, world: Path, tmp_path: Path
) -> None:
    found = list(operators_in(str(world / "ops.py")))
    compiled = compiled_of(
        [{"id": str(at), "where": text} for at, text in enumerate(SUBSCRIPTIONS)], found
    )
    files = [str(world / "events" / "a.jsonl")]
    whole = match_files(spark, files, compiled, Job(str(tmp_path / "one"), True), parts=1)
    cut = match_files(
        spark, files, compiled, Job(str(tmp_path / "many"), True), parts=7, chunk_bytes=512
    )
    assert len(whole.results) == 1
    assert len(cut.results) > 3
    read = [[line for file in each.results for line in lines(Path(file))] for each in (whole, cut)]
    assert read[0] == read[1]
    assert lines(Path(whole.rejects[0])) == [
        line for each in cut.rejects for line in lines(Path(each))
    ]


@pytest.mark.parametrize("shards", [1, 2])
def test_a_data_frame_is_matched_row_by_row(spark: SparkSession, world: Path, shards: int) -> None:
    found = list(operators_in(str(world / "ops.py")))
    entries = [{"id": f"s{at}", "where": text, "n": at} for at, text in enumerate(SUBSCRIPTIONS)]
    events = [{**each, "id": f"e{at}"} for at, each in enumerate(flat(120))]
    matcher = Matcher(found)
    matcher.subscribe_many(entries)
    texts = [json.dumps(each) for each in events]
    frame = spark.read.json(spark.sparkContext.parallelize(texts, 3))
    rows = {row.event: row for row in match(frame, entries, found, shards=shards).collect()}
    assert len(rows) == len(events)
    for event in events:
        expected = matcher.match(event).as_dict()
        row = rows[event["id"]]
        assert [
            {"subscription": each.subscription, "bindings": json.loads(each.bindings)}
            for each in row.matches
        ] == [
            {name: each[name] for name in ("subscription", "bindings")}
            for each in expected["matches"]
        ]
        assert [each.asDict() for each in row.undetermined] == expected["undetermined"]
        assert all(json.loads(each.data)["n"] >= 0 for each in row.matches)


def test_rows_without_an_id_get_one_and_rows_that_are_none_say_why(spark: SparkSession) -> None:
    frame = spark.createDataFrame([(3, None), (4, [1])], "a int, id array<int>").coalesce(1)
    good, bad = match(frame, ["a > 2"], []).collect()
    assert (good.event, good.rejected) == ("row-0:1", None)
    assert "the id of an event is" in bad.rejected
    assert json.loads(bad.text)["a"] == 4


def test_operators_are_made_once_a_worker_and_images_are_beside_their_events(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "a.txt").write_text("hello")
    (tmp_path / "data" / "e.jsonl").write_text('{"image": "a.txt"}\n' * 400)
    made = tmp_path / "made.txt"
    (tmp_path / "opening.py").write_text(OPENING.replace('os.environ["MADE"]', repr(str(made))))
    (tmp_path / "s.jsonl").write_text('{"id": "s", "where": "shown(?t)"}\n')
    monkeypatch.chdir(tmp_path)
    arguments = "match --subscriptions s.jsonl --events data --operators opening.py --on spark"
    assert run([*arguments.split(), "--output", "out"]) == 0
    found = [json.loads(line) for line in lines(tmp_path / "out")]
    assert [each["event"] for each in found] == [f"e.jsonl:{at}" for at in range(1, 401)]
    assert all(each["matches"][0]["bindings"] == [{"t": "hello"}] for each in found)
    pids = made.read_text().split()
    assert len(pids) == len(set(pids))


@pytest.mark.parametrize(
    ("more", "status", "words"),
    [
        ("--on mars", 2, "--on is local or spark"),
        ("--shards 2", 2, "go with --on spark"),
        ("--on spark --shadow --report r.json", 2, "leave out --on spark"),
        ("--on spark --output ops.py", 2, "would write over"),
        ("--on spark --output events", 1, "is not part of results"),
        ("--on spark --planner mine", 2, "mine"),
    ],
)
def test_what_cannot_be_done_is_refused(
    spark: SparkSession,
    world: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    more: str,
    status: int,
    words: str,
) -> None:
    monkeypatch.chdir(world)
    assert command(world, *more.split()) == status
    assert words in capsys.readouterr().err
    assert (world / "ops.py").read_text() == OPERATORS


def test_bad_subscriptions_and_foreign_folders_stop_a_run(
    spark: SparkSession, tmp_path: Path
) -> None:
    frame = spark.createDataFrame([(3,)], "a int")
    with pytest.raises(SubscriptionError, match="unknown operator"):
        match(frame, ["nowhere(3)"], [])
    compiled = compiled_of(["a > 2"], [])
    other = compiled_of(["a > 3"], [])
    (tmp_path / "e.jsonl").write_text('{"a": 3}\n')
    compiled.parcel = other.parcel
    with pytest.raises(SparkError, match="another task"):
        match_files(spark, [str(tmp_path / "e.jsonl")], compiled, Job(str(tmp_path / "o"), False))
    assert issubclass(MatcherFolderError, ValueError)
