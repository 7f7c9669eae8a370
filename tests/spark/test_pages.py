"""Runs the Python of the pages on Spark, on one session."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import tamis

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FRAMEWORK = Path(next(iter(tamis.__path__))).parent


@pytest.mark.parametrize("page", ["ARCHITECTURE.md", "tamis/spark/README.md"])
def test_the_python_of_a_page_runs(
    page: str, spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [{"id": f"e{at}", "altitude": 390 + at, "loudness": at % 9} for at in range(40)]
    for folder in ("events", "history"):
        spark.createDataFrame(rows).write.parquet(str(tmp_path / folder))
    text = (FRAMEWORK / page).read_text(encoding="utf-8")
    [block] = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    names: dict[str, Any] = {"spark": spark}
    shown = block.replace('read.parquet("', f'read.parquet("{tmp_path}/')
    exec(shown, names)
    if "matches" in names:
        assert sum(len(row.matches) for row in names["matches"].collect()) == 10
    else:
        assert (tmp_path / "learned" / "manifest.json").is_file()
        assert names["statistics"].estimate("altitude < 400") == pytest.approx(0.25, abs=0.02)
