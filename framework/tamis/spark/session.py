"""Makes a Spark session where there is none: for the command line, and by `session()`.

Library functions work on the session of the data frame that they are given and make none. In local
mode everything is bound to loopback, workers are this very interpreter, and Spark keeps quiet
unless something is wrong. Cost: starting a JVM, a few seconds, once a process.
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tamis.errors import SparkError
from tamis.spark.java import home_for_spark, java_found

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LOOPBACK = "127.0.0.1"
_LOCAL = re.compile(r"local(\[.*\])?")
_LOCAL_SETTINGS = {
    "spark.driver.bindAddress": LOOPBACK,
    "spark.driver.host": LOOPBACK,
    "spark.sql.shuffle.partitions": "8",
}
_SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.sql.session.timeZone": "UTC",
    # glibc: workers keep what they free, a sixth of the time where arrays come and go
    "spark.executorEnv.MALLOC_MMAP_THRESHOLD_": str(1 << 26),
    "spark.executorEnv.MALLOC_TRIM_THRESHOLD_": str(1 << 28),
}


def require_spark() -> Any:
    """Returns pyspark, or raises a sentence on how to get it."""
    try:
        import pyspark
        import pyspark.sql
    except ImportError as bad:
        raise SparkError(f"this needs pyspark (pip install 'tamis[spark]'): {bad}") from None
    return pyspark


def session(
    master: str | None = None,
    *,
    name: str = "tamis",
    settings: Mapping[str, str] | None = None,
) -> SparkSession:
    """Returns the Spark session there is; else a new one, with Java found for it.

    `master` is `local[*]` when not given, `settings` are Spark's own. Under `spark-submit` both
    come from there, and what is given here is left alone where that says otherwise."""
    pyspark = require_spark()
    there = pyspark.sql.SparkSession.getActiveSession()
    if there is not None:
        return there  # type: ignore[no-any-return]
    builder = pyspark.sql.SparkSession.builder.appName(name)
    if "PYSPARK_GATEWAY_PORT" in os.environ or pyspark.SparkContext._active_spark_context:
        return builder.getOrCreate()  # type: ignore[no-any-return]
    master = master or "local[*]"
    if master.startswith("sc://"):  # Spark Connect: all else is the server's
        return builder.remote(master).getOrCreate()  # type: ignore[no-any-return]
    is_local = _LOCAL.fullmatch(master) is not None
    asked = {**_SETTINGS, **(_LOCAL_SETTINGS if is_local else {}), **(settings or {})}
    options = f"-Dlog4j2.configurationFile={Path(__file__).with_name('log4j2.properties').as_uri()}"
    given = asked.get("spark.driver.extraJavaOptions")
    asked["spark.driver.extraJavaOptions"] = f"{options} {given}" if given else options
    builder = builder.master(master).config(map=asked)
    with _environment(is_local=is_local):
        try:
            return builder.getOrCreate()  # type: ignore[no-any-return]
        except Exception as bad:
            words = str(bad).strip().partition("\n")[0]
            raise SparkError(f"Spark cannot be started on {master}: {words}") from bad


@contextlib.contextmanager
def _environment(*, is_local: bool) -> Iterator[None]:
    """Sets the environment in which the JVM and its workers start; undone when it runs."""
    wanted = {"JAVA_HOME": home_for_spark(java_found())}
    if is_local:
        roots = [os.environ.get("PYTHONPATH"), *_own_roots()]
        wanted |= {
            "SPARK_LOCAL_IP": LOOPBACK,
            "PYSPARK_PYTHON": sys.executable,
            "PYSPARK_DRIVER_PYTHON": sys.executable,
            "PYTHONPATH": os.pathsep.join(root for root in roots if root),
        }
    before = {name: os.environ.get(name) for name in wanted}
    os.environ.update(wanted)
    try:
        yield
    finally:
        for variable, value in before.items():
            if value is None:
                del os.environ[variable]
            else:
                os.environ[variable] = value


def _own_roots() -> list[str]:
    """Lists where this process finds the packages of tamis: last, they hide nothing."""
    packages = ("tamis", "tamis_operators", "tamis_planners")
    found = [spec.origin for spec in map(find_spec, packages) if spec and spec.origin]
    return list(dict.fromkeys(os.path.dirname(os.path.dirname(origin)) for origin in found))
