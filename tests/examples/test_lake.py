"""A notebook on a session of its own: its cells run, and count what one process counts."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.examples.running import EXAMPLES, STRICT, run

_SETTINGS = {"SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}
"""What whoever has not activated the environment sets: else workers are of the system's Python."""
_CHECK = """
counted = {row.subscription: row["count"] for row in told.collect()}
matcher = tamis.Matcher(operators=[boats])
matcher.subscribe_many(subscriptions)
alone = dict.fromkeys(counted, 0)
for row in pyarrow.parquet.read_table(folder / "history").to_pylist():
    for each in matcher.match(row).matches:
        alone[each.subscription] += 1
assert counted == alone, (counted, alone)
import shutil
shutil.rmtree(folder)
"""


@pytest.mark.slow
@pytest.mark.long
def test_the_cells_of_the_notebook_run(tmp_path: Path) -> None:
    for module, extra in (("pyspark", "spark"), ("scipy", "bench")):
        pytest.importorskip(module, reason=f"pip install 'tamis[{extra}]'")
    from tamis.spark import SparkError, java_found
    from tamis.spark.java import home_for_spark

    try:
        home = home_for_spark(java_found())
    except SparkError as bad:
        pytest.skip(str(bad))
    notebook = json.loads((EXAMPLES / "lake" / "lake.ipynb").read_text(encoding="utf-8"))
    code = [each for each in notebook["cells"] if each["cell_type"] == "code"]
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in code)
    *cells, last = ("".join(cell["source"]) for cell in code)
    program = "\n".join([*cells, _CHECK, last])
    ended = run(*STRICT, "-c", program, folder=tmp_path, **_SETTINGS, JAVA_HOME=home)
    assert ended.status == 0, ended.err
    moved = ended.out.partition("what ")[2].partition("moved, by")[0]
    assert "attribute weather.wind" in moved
    assert "flags has storm" in moved
    assert "day" not in moved
    assert "|sailing club|     regatta|" in ended.out
