"""Executors of their own, as on several machines, give what one process gives."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pyspark
import pytest

from tamis.cli.running import run

from .history import OPERATORS, SUBSCRIPTIONS, write_history


@pytest.fixture
def _swept() -> Iterator[None]:
    """Executors work in a folder beside Spark, whatever it is told."""
    folder = Path(pyspark.__file__).parent / "work"
    before = set(folder.glob("*"))
    yield
    for each in set(folder.glob("*")) - before:
        shutil.rmtree(each)


@pytest.mark.slow
@pytest.mark.usefixtures("_swept")
@pytest.mark.filterwarnings("ignore::tamis.SubscriptionWarning")
def test_executors_get_shards_and_operators(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_history(tmp_path / "events", 100)
    Path("ops.py").write_text(OPERATORS)
    with open("s.jsonl", "w", encoding="utf-8") as file:
        file.writelines(json.dumps({"where": text}) + "\n" for text in SUBSCRIPTIONS)
    command = ["match", "--subscriptions", "s.jsonl", "--events", "events", "--operators", "ops.py"]
    assert run([*command, "--output", "alone.jsonl"]) == 0
    environment = {"SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}
    options = ["--on", "spark", "--master", "local-cluster[2,1,1024]", "--shards", "2"]
    done = subprocess.run(
        [sys.executable, "-m", "tamis", *command, *options, "--output", "spread"],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    parts = [part.read_text().splitlines() for part in Path("spread").glob("part-*")]
    alone = Path("alone.jsonl").read_text().splitlines()
    assert len(parts) > 1
    assert sorted(line for part in parts for line in part) == sorted(alone)
