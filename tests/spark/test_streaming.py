"""Streams: every event once, at a version that is said, over restarts and kills."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tamis import Matcher, Statistics
from tamis.cli.running import run
from tamis.plugins.loader import operators_in
from tamis.spark import SparkError, stream
from tamis.spark.streaming import MATCHES, REJECTS, Sink, Versions

from . import kills
from .history import OPERATORS, SUBSCRIPTIONS, read_lines, write_history

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.filterwarnings("ignore::tamis.SubscriptionWarning")


def write(path: Path, text: str) -> None:
    """A file that is there as a whole or not."""
    beside = path.with_name("_" + path.name)
    beside.write_text(text)
    os.replace(beside, path)


def streamed(*more: str) -> int:
    head = "stream --subscriptions s.jsonl --events in --output out --checkpoint kept --once"
    return run([*head.split(), *more])


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "in").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_folder_is_matched_once_over_restarts(spark: SparkSession, here: Path) -> None:
    write_history(here / "in" / "day", 120)
    (here / "ops.py").write_text(OPERATORS)
    (here / "s.jsonl").write_text(
        "".join(json.dumps({"where": each}) + "\n" for each in SUBSCRIPTIONS)
    )
    late = here / "in" / "day" / "c.jsonl"
    late.rename(here / "c.jsonl")
    assert streamed("--operators", "ops.py", "--files-a-batch", "1") == 0
    assert streamed("--operators", "ops.py") == 0
    (here / "c.jsonl").rename(late)
    assert streamed("--operators", "ops.py") == 0
    batch = "match --subscriptions s.jsonl --events in --operators ops.py"
    assert run([*batch.split(), "--output", "all.jsonl", "--rejects", "bad.jsonl"]) == 0
    got = read_lines("out")
    versions = {each.pop("version") for each in got}
    assert len(versions) == 1
    wanted = [json.loads(line) for line in Path("all.jsonl").read_text().splitlines()]
    assert sorted(map(json.dumps, got)) == sorted(map(json.dumps, wanted))
    assert sorted(map(json.dumps, read_lines("out", REJECTS))) == sorted(
        Path("bad.jsonl").read_text().replace("\\/", "/").splitlines()
    )
    assert len(list((here / "out" / MATCHES).iterdir())) == 3
    assert not list((here / "out" / "_staging").iterdir())


def test_subscriptions_are_read_again_and_broken_ones_change_nothing(
    spark: SparkSession, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def next_one(name: str) -> tuple[str, list[str]]:
        write(here / "in" / f"{name}.jsonl", json.dumps({"id": name, "a": 3}) + "\n")
        assert streamed() == 0
        [line] = [each for each in read_lines("out") if each["event"] == name]
        return line["version"], [each["subscription"] for each in line["matches"]]

    write(here / "s.jsonl", '{"id": "one", "where": "a = 3"}\n')
    first, found = next_one("e1")
    assert found == ["one"]
    write(here / "s.jsonl", '{"id": "one", "where": "a ="}\n')
    assert next_one("e2") == (first, ["one"])
    said = capsys.readouterr().err
    assert f"s.jsonl cannot be used, version {first} of it stays" in said
    write(here / "s.jsonl", '{"id": "two", "where": "a > 2"}\n')
    second, found = next_one("e3")
    assert found == ["two"]
    assert second != first
    (here / "s.jsonl").unlink()
    assert next_one("e4") == (second, ["two"])


def test_statistics_are_read_again_between_batches(tmp_path: Path) -> None:
    folder = tmp_path / "learned"
    said: list[str] = []
    (tmp_path / "s.jsonl").write_text('{"id": "one", "where": "a = 3"}\n')

    def compiled(lines: Any) -> Any:
        return Statistics.load(folder).selectivity("a = 3")

    versions = Versions(
        str(tmp_path / "s.jsonl"), tmp_path / "kept", compiled, said.append, str(folder)
    )
    seen = []
    for share in (0.1, 0.2):
        Statistics({"a = 3": share}).save(folder)
        seen += [versions.now(), versions.now()]
    shares: list[Any] = [share for _, share in seen]
    assert shares == [0.1, 0.1, 0.2, 0.2]
    [version] = {version for version, _ in seen}
    assert said == [f"new statistics: version {version}"]


def test_poison_goes_to_the_dead_letters(spark: SparkSession, here: Path) -> None:
    write(here / "s.jsonl", '{"id": "one", "where": "a = 3"}\n')
    (here / "in" / "a.jsonl").write_bytes(b'{"a": 3}\n\xff\n[]\n{"a": 3}\n')
    (here / "in" / "b.jsonl.gz").write_bytes(b"\x1f\x8bno gzip")
    (here / "in" / "c.parquet").write_bytes(b"no table")
    assert streamed("--format", "parquet") == 0
    found = {(each["file"], each["line"]) for each in read_lines("out", REJECTS)}
    assert found == {
        ("in/a.jsonl", 2),
        ("in/a.jsonl", 3),
        ("in/b.jsonl.gz", 1),
        ("in/c.parquet", 1),
    }
    rows = spark.read.parquet(str(here / "out" / MATCHES)).collect()
    assert sorted(row.event for row in rows) == ["a.jsonl:1", "a.jsonl:4"]
    assert all(row.matches[0].subscription == "one" and row.version for row in rows)


def test_any_streaming_frame_is_matched(spark: SparkSession, here: Path) -> None:
    operators = [
        each for each in operators_in(_operators(here)) if "louder" in each.specification.name
    ]
    texts = ["louderThan(3) and altitude < 400", "altitude > 3"]
    entries = [{"id": f"s{at}", "where": text} for at, text in enumerate(texts)]
    events: list[dict[str, Any]] = [
        {"id": f"e{at}", "altitude": at * 10, "loudness": at % 100} for at in range(80)
    ]
    for at in range(0, 80, 20):
        lines = [json.dumps(each) for each in events[at : at + 20]]
        write(here / "in" / f"{at}.json", "\n".join(lines) + "\n")
    schema = "id string, altitude long, loudness long"
    for _ in range(2):
        frame = (
            spark.readStream.schema(schema).option("maxFilesPerTrigger", 2).json(str(here / "in"))
        )
        query = stream(
            frame, entries, operators, output="out", checkpoint="kept",
            trigger={"availableNow": True},
        )  # fmt: skip
        query.awaitTermination()
    matcher = Matcher(operators)
    matcher.subscribe_many(entries)
    got = {
        each["event"]: [m["subscription"] for m in each["matches"]] for each in read_lines("out")
    }
    assert len(read_lines("out")) == len(events)
    for event in events:
        assert got[event["id"]] == [m.subscription for m in matcher.match(event).matches]


def _operators(folder: Path) -> str:
    (folder / "frame_ops.py").write_text(OPERATORS)
    return str(folder / "frame_ops.py")


def test_batches_that_are_there_are_not_done_again(tmp_path: Path) -> None:
    out, kept = str(tmp_path / "out"), str(tmp_path / "kept")
    sink = Sink(out, kept)
    for text in ({"event": "first"}, {"event": "second"}):
        staged = sink.staged(0)
        for what in (MATCHES, REJECTS):
            (staged / what).mkdir()
            (staged / what / "part-0.jsonl").write_text(json.dumps(text))
        sink.commit(0, staged)
        assert sink.is_done(0)
    assert read_lines(out) == [{"event": "first"}] == read_lines(out, REJECTS)
    Sink(out, kept)
    with pytest.raises(SparkError, match="with another checkpoint"):
        Sink(out, str(tmp_path / "other"))
    (tmp_path / "foreign" / MATCHES).mkdir(parents=True)
    with pytest.raises(SparkError, match="no stream of tamis wrote"):
        Sink(str(tmp_path / "foreign"), kept)


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        ("--format xml", 2, "--format is json or parquet"),
        ("--output in/out", 2, "keep them apart"),
        ("--events nowhere", 1, "there is no folder nowhere"),
        ("--subscriptions none.jsonl", 1, "none.jsonl"),
    ],
)
def test_what_cannot_be_done_is_refused(
    spark: SparkSession,
    here: Path,
    capsys: pytest.CaptureFixture[str],
    arguments: str,
    status: int,
    words: str,
) -> None:
    write(here / "s.jsonl", '{"id": "one", "where": "a = 3"}\n')
    assert streamed(*arguments.split()) == status
    assert words in capsys.readouterr().err


@pytest.fixture(scope="module")
def rig(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("kills") / "rig"
    kills.prepare(folder)
    return folder


@pytest.mark.skipif(sys.platform != "linux", reason="the rig finds processes in /proc")
@pytest.mark.slow
@pytest.mark.parametrize("victim", kills.VICTIMS)
def test_a_stream_that_is_killed_gives_what_a_batch_gives(
    without_java: None, rig: Path, victim: str
) -> None:
    pytest.importorskip("pyspark", reason="Spark is not installed: pip install 'tamis[spark]'")
    found = kills.trial(rig, kills.VICTIMS.index(victim), (victim,))
    assert not found.wrong, f"{found}\n{(rig / 'log.txt').read_text()[-2000:]}"


def test_help_names_the_options() -> None:
    command = [sys.executable, "-m", "tamis", "stream", "--help"]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "--available-now" in said
    assert "--trigger-seconds" in said
