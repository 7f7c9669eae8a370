"""History as it lies about: folders that are attributes, nested columns, times in many forms.

The answers are those of one process, whatever the zone of the session.
"""

from __future__ import annotations

import datetime
import json
import re
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tamis import Statistics, operator
from tamis.cli.running import run
from tamis.learning.lesson import Lesson
from tamis.spark import SparkError, learn, match
from tamis.spark.learning import counts_of_files

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

arrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

UTC = datetime.UTC
THEN = datetime.datetime(2026, 1, 15, 3, 30, tzinfo=UTC)
WHERE = {
    "day": "day = '2026-01-15'",
    "shift": "shift = 1",
    "evening": "time.hour >= 22",
    "night": "time.hour < 6",
    "weekday": "time.weekday = 4",
    "epoch": "time.epoch > 1768480000",
    "struct": "meta.speed > 2.5 and exists(meta.seen)",
    "array": "tags has fire",
    "price": "price = 0.25",
    "kept": "camera = c1 or level >= 2",
}
KEEP = ("--keep", "day,camera,tags,time,time.hour")
RENAMED = "event_id=id,event_time=time"


def row(at: int, time: Any) -> dict[str, Any]:
    return {
        "event_id": f"e{at}",
        "event_time": time,
        "camera": f"c{at % 3}",
        "price": Decimal(at) / 4,
        "meta": {"speed": float(at), "seen": THEN},
        "tags": ["fire"] if at % 2 else None,
    }


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three days of 20 rows: moments, seconds and 96 bits in tables, texts in lines."""
    folder = tmp_path_factory.mktemp("world")
    hours = [datetime.timedelta(hours=at) for at in range(20)]
    for day in (15, 16, 17):
        place = folder / "hive" / f"day=2026-01-{day}" / f"shift=0{day % 3}"
        place.mkdir(parents=True)
        times = [THEN.replace(day=day) + each for each in hours]
        if day == 15:
            lines = [row(at, f"{time:%Y-%m-%d %H:%M:%S}") for at, time in enumerate(times)]
            lines[3]["event_time"] = f"{times[3]:%Y:%m:%d %H:%M:%S}"
            lines[4]["event_time"] = "15.01.2026"
            (place / "a.jsonl").write_text(
                "".join(json.dumps(each, default=str) + "\n" for each in lines)
            )
            continue
        seconds = [int(time.timestamp()) * 1000 for time in times]
        rows = [row(at, each) for at, each in enumerate(times if day == 16 else seconds)]
        if day == 17:  # the schema changes along the way
            rows = [each | {"level": at % 4} for at, each in enumerate(rows)]
        table = arrow.Table.from_pylist(rows)
        parquet.write_table(
            table, place / "a.parquet", use_deprecated_int96_timestamps=day == 16, row_group_size=7
        )
    (folder / "s.jsonl").write_text(
        "".join(json.dumps({"id": id, "where": where}) + "\n" for id, where in WHERE.items())
    )
    return folder


@pytest.fixture(params=["America/New_York", "Asia/Kolkata"])
def zoned(request: pytest.FixtureRequest, spark: SparkSession) -> Iterator[SparkSession]:
    before = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", request.param)
    yield spark
    spark.conf.set("spark.sql.session.timeZone", str(before))


def lines(place: Path) -> list[str]:
    files = sorted(place.glob("part-*")) if place.is_dir() else [place]
    return sorted(line for file in files for line in file.read_text().splitlines())


def matched(found: list[str]) -> dict[str, int]:
    ids = [each["subscription"] for line in found for each in json.loads(line)["matches"]]
    return {id: ids.count(id) for id in WHERE}


@pytest.mark.parametrize("more", [(), ("--time-zone", "America/New_York")], ids=["utc", "zone"])
def test_the_lines_are_those_of_one_process(
    zoned: SparkSession,
    world: Path,
    more: tuple[str, ...],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(world)
    head = [
        "match",
        "--subscriptions",
        "s.jsonl",
        "--events",
        "hive",
        "--rename",
        RENAMED,
        *KEEP,
        *more,
    ]
    assert run([*head, "--output", "l.jsonl"]) == 0
    assert run([*head, "--output", "sp", "--on", "spark"]) == 0
    assert lines(world / "sp") == lines(world / "l.jsonl")
    said = [line for line in capsys.readouterr().err.splitlines() if "cannot be read" in line]
    assert said == ["note: 1 time cannot be read, the first: e4, '15.01.2026'"] * 2
    counts = matched(lines(world / "l.jsonl"))
    assert {id: counts[id] for id in ("day", "shift", "struct", "array", "kept")} == {
        "day": 20, "shift": 20, "struct": 51, "array": 30, "kept": 28,
    }  # fmt: skip
    hours = [(3 + at) % 24 for day in range(3) for at in range(20) if (day, at) != (0, 4)]
    if more:  # what has no offset, of the first day, is of the zone
        hours = hours[:19] + [(each - 5) % 24 for each in hours[19:]]
    assert counts["evening"] == sum(hour >= 22 for hour in hours)
    assert counts["night"] == sum(hour < 6 for hour in hours)
    kept = [json.loads(line)["kept"] for line in lines(world / "l.jsonl")]
    assert {each["day"] for each in kept} == {"2026-01-15", "2026-01-16", "2026-01-17"}
    head = [each for each in head[1:] if each not in KEEP]
    assert run(["learn", *head, "--output", "learned"]) == 0
    known = Statistics.load("learned")
    for id in ("day", "shift", "evening", "night", "array", "price"):
        assert known.selectivity(WHERE[id].replace("'", '"')) == counts[id] / 60, id


def test_a_frame_of_the_folder_gives_the_same(zoned: SparkSession, world: Path) -> None:
    frame = zoned.read.parquet(str(world / "hive" / "day=2026-01-16")).withColumnsRenamed(
        {"event_id": "id", "event_time": "time"}
    )
    hours = [(3 + at) % 24 for at in range(20)]
    where = [WHERE["evening"], WHERE["struct"], WHERE["price"], WHERE["shift"]]
    found = match(frame, [{"id": each, "where": each} for each in where]).collect()
    ids = [each.subscription for row_ in found for each in row_.matches]
    learned = learn(frame, where, [])
    wanted = [sum(hour >= 22 for hour in hours), 17, 1, 20]
    assert [ids.count(each) for each in where] == wanted
    assert [learned.selectivity(each) for each in where[::3]] == [wanted[0] / 20, 1.0]
    eastern = match(frame, [where[0]], time_zone="America/New_York").collect()
    assert sum(bool(row_.matches) for row_ in eastern) == sum((h - 5) % 24 >= 22 for h in hours)


def test_columns_come_along_and_a_tidy_frame_has_a_row_a_match(spark: SparkSession) -> None:
    @operator(inputs=("people",), outputs=("n",))
    def people(event: Any, n: object) -> list[Any]:
        return list(event["people"])

    @operator
    def broken(event: Any) -> bool:
        raise ValueError("no")

    rows = [("e1", [1, 7, 9], THEN), ("e2", [], THEN), ("\U0001f600", None, None)]
    frame = spark.createDataFrame(rows, "id string, people array<int>, seen timestamp").coalesce(1)
    wanted = [
        {"id": "many", "where": "people(?n), ?n > 5", "team": "north"},
        {"id": "there", "where": "exists(id)"},
        {"id": "open", "where": "broken() and exists(people)"},
    ]
    found = match(frame, wanted, [people, broken], keep=["seen", "people"], tidy=True)
    kinds = {each.name: each.dataType.simpleString() for each in found.schema}
    assert kinds["bindings"] == "map<string,string>"
    assert (kinds["seen"], kinds["people"]) == ("timestamp", "array<int>")
    columns = ("event", "verdict", "subscription", "bindings", "data", "people")
    rows_ = [tuple(each[name] for name in columns) for each in found.collect()]
    got = sorted((each for each in rows_ if each[1] == "matched"), key=str)
    assert got == [
        ("e1", "matched", "many", {"n": "7"}, '{"team": "north"}', [1, 7, 9]),
        ("e1", "matched", "many", {"n": "9"}, '{"team": "north"}', [1, 7, 9]),
        ("e1", "matched", "there", {}, "{}", [1, 7, 9]),
        ("e2", "matched", "there", {}, "{}", []),
        ("\U0001f600", "matched", "there", {}, "{}", None),
    ]
    left = found.filter("verdict = 'undetermined'").collect()
    assert {(each.event, each.subscription) for each in left} == {("e1", "open"), ("e2", "open")}
    assert all("no" in each.reason for each in left)
    bad = match(frame.selectExpr("array(id) as id"), wanted, [people, broken], tidy=True).collect()
    assert {each.verdict for each in bad} == {"rejected"}
    assert bad[0].reason == "the id of an event is a string or a number, not an array"
    for wrong, words in ((["sen"], "did you mean seen"), (["event"], "no column event")):
        with pytest.raises(SparkError, match=words):
            match(frame, wanted, [people, broken], keep=wrong)


def test_how_far_it_has_come_is_said_in_a_pipe(
    spark: SparkSession,
    world: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(world)
    monkeypatch.setattr("tamis.cli.progress._MINUTE", 0.0)
    monkeypatch.setattr("tamis.cli.on_spark._ASK_SECONDS", 0.01)
    Path("slow.py").write_text(
        "import time, tamis\n@tamis.operator\ndef slow(event): time.sleep(0.02); return True\n"
    )
    Path("slow.jsonl").write_text('{"where": "slow()"}\n')
    match_ = (
        "match",
        "--subscriptions",
        "slow.jsonl",
        "--events",
        "hive",
        "--operators",
        "slow.py",
    )
    assert run([*match_, "--on", "spark", "--output", "slow"]) == 0
    said = [line for line in capsys.readouterr().err.splitlines() if " done, " in line]
    assert said
    assert all(re.fullmatch(r"\d of \d parts? done, \d+%", line) for line in said)


def test_what_spark_reads_has_its_folders_and_new_names(
    spark: SparkSession, tmp_path: Path
) -> None:
    for day in (1, 2):
        (tmp_path / "h" / f"day={day}").mkdir(parents=True)
        lines_ = (json.dumps({"n": at, "at": 3_600 * at}) + "\n" for at in range(10))
        (tmp_path / "h" / f"day={day}" / "e.jsonl").write_text("".join(lines_))
        (tmp_path / "h.parquet" / f"day={day}").mkdir(parents=True)
        columns = {"n": list(range(10)), "at": [3_600 * at for at in range(10)]}
        more = {"later": [1] * 10} if day == 2 else {}
        table = arrow.table(columns | more)
        parquet.write_table(table, tmp_path / "h.parquet" / f"day={day}" / "e.parquet")
    where = ["day = 2", "m < 3", "time.hour >= 8", "later = 1"]
    lesson = Lesson(where, [], renamed=(("n", "m"), ("at", "time")))
    for place, later in (("h", 0), ("h.parquet", 10)):
        counts = counts_of_files(spark, [f"file://{tmp_path / place}"], lesson.task)
        learned = lesson.statistics(counts)
        satisfied = [learned.predicates[each].satisfied for each in where]
        assert (counts.events, satisfied) == (20, [10, 6, 4, later])
