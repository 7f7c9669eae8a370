"""Classic sessions and those of Spark Connect give the same, and refuse the same."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tamis.cli.running import run
from tamis.spark.java import home_for_spark, java_found

from . import alike

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.filterwarnings("ignore::tamis.SubscriptionWarning")


def connected_answers(place: Path) -> dict[str, Any]:
    """Returns what a session of Spark Connect answers, in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "tests.spark.alike", str(place)],
        env={
            **os.environ,
            "JAVA_HOME": home_for_spark(java_found()),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "PYSPARK_PYTHON": sys.executable,
            "PYTHONPATH": os.pathsep.join(sys.path),
        },
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    answers: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answers


@pytest.mark.slow
@pytest.mark.long
def test_classic_and_connected_sessions_are_alike(spark: SparkSession, tmp_path: Path) -> None:
    pytest.importorskip("grpc_status", reason="pip install 'pyspark[connect]' brings it")
    alike.prepare(tmp_path)
    connected = connected_answers(tmp_path)
    done, parts = connected.pop("progress")
    assert 0 <= done <= parts == 3
    classic = alike.answers(spark, tmp_path)
    assert connected.keys() == classic.keys()
    for what, found in classic.items():
        assert connected[what] == found, what
    assert classic["learned"]["events"][0] == len(classic["rows"]) == len(classic["lines"]) == 120
    alone = tmp_path / "alone.jsonl"
    options = {
        "--subscriptions": str(tmp_path / "zoned.jsonl"),
        "--events": str(tmp_path / "zoned"),
        "--rename": "at=time",
        "--keep": ",".join(alike.KEPT),
        "--output": str(alone),
    }
    assert run(["match", *(word for each in options.items() for word in each)]) == 0
    lines = sorted(alone.read_text(encoding="utf-8").splitlines())
    rows = [
        [each["event"], [match["subscription"] for match in each["matches"]]]
        for each in map(json.loads, lines)
        if each["kept"]["day"] != "2026-01-16"
    ]
    matched = {match["subscription"] for each in lines for match in json.loads(each)["matches"]}
    assert matched == alike.ZONED.keys()
    for zone in alike.ZONES:
        assert classic["zoned"][zone] == {"lines": lines, "rows": sorted(rows)}, zone
    expected = [
        "events are a data frame of Spark, not a pandas DataFrame: spark.createDataFrame makes one",
        "subscriptions are a list of texts, or of mappings with where, not '",
        "unknown planner 'saving'",
        "unknown index 'pstblom'",
        "statistics are a tamis.Statistics, not 'learned'",
        "statistics are a tamis.Statistics, not <class",
        "there is no setting 'plannr'; did you mean planner?",
        "shards are a number of parts, 1 or more, not 0",
        "",
        "keep is a list of columns, not 'camera': keep=['camera']",
        "there is no column camra to keep; did you mean camera?",
        "events are a data frame of Spark, not a pandas DataFrame",
        "subscriptions are a list of texts",
        "a sample is a share of the events, 0 to 1, not 3.0",
        "a stream matches what spark.readStream reads",
        "there is no column camra to keep; did you mean camera?",
    ]
    for said, wanted in zip(classic["refused"], expected, strict=True):
        assert wanted in said
        assert "\n" not in said
