"""Sends work to workers in parts, and takes back what they tell: a kind, and bytes.

It does so by data frames and artifacts alone, which sessions of Spark Connect have too. What tamis
itself finds wrong comes as a sentence, not as the traceback of a worker.
Cost: a tenth of a second a job.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import struct
import tempfile
import uuid
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from tamis.errors import SparkError, TamisError
from tamis.files.reading import ReadingError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Told = tuple[str, bytes]
_SCHEMA = "kind string, content binary"
_ERROR = "error"
_MOST_CORES = 4_096
_LOCAL_CORES = re.compile(r"local\[([0-9]+)")


class Parcel:
    """A folder that workers need; it goes when nobody needs it.

    Workers of local mode see it where it is. Elsewhere Spark sends it as an artifact, once a
    session, which keeps it to its end."""

    def __init__(self) -> None:
        self._root = tempfile.mkdtemp(prefix="tamis-")
        self._remove = weakref.finalize(self, shutil.rmtree, self._root, ignore_errors=True)
        self.folder = Path(self._root, "content")
        self.folder.mkdir()
        self._names: WeakKeyDictionary[Any, str] = WeakKeyDictionary()

    def __enter__(self) -> Parcel:
        return self

    def __exit__(self, *exception: object) -> None:
        if self not in _served:
            self._remove()

    def sent(self, spark: SparkSession) -> Callable[[], str]:
        """Returns a function by which workers of a session find the folder, once it is filled."""
        master = "" if is_connected(spark) else str(spark.conf.get("spark.master"))
        if master.split("[")[0] == "local":
            folder = str(self.folder)
            return lambda: folder
        name = self._names.get(spark)
        if name is None:
            name = self._names[spark] = f"tamis-{uuid.uuid4().hex}"
            packed = shutil.make_archive(os.path.join(self._root, name), "zip", self.folder)
            spark.addArtifacts(f"{packed}#{name}", archive=True)
            if not is_connected(spark):
                _served.add(self)
        return partial(_unpacked, name)


_served: set[Parcel] = set()
"""Those that executors may come for as long as this process, their driver, lives."""


def _unpacked(name: str) -> str:
    """Returns where Spark has put an artifact."""
    from pyspark import SparkFiles

    return str(SparkFiles.get(name))


def is_connected(spark: SparkSession) -> bool:
    """Returns whether a session is one of Spark Connect, whose driver is elsewhere."""
    return type(spark).__module__.startswith("pyspark.sql.connect")


_cores: WeakKeyDictionary[Any, int] = WeakKeyDictionary()


def cores_of(spark: SparkSession) -> int:
    """Counts the tasks that run at once, by Spark's own default number of parts."""
    if spark not in _cores and not is_connected(spark):
        told = _LOCAL_CORES.match(str(spark.conf.get("spark.master")))
        known = spark.conf.get("spark.default.parallelism", told and told[1])
        if known:
            _cores[spark] = int(known)
    if spark not in _cores:
        rows = spark.range(_MOST_CORES).selectExpr("spark_partition_id() as part").collect()
        _cores[spark] = 1 + max(row.part for row in rows)
    return _cores[spark]


def checked_frame(events: object) -> None:
    """Refuses what is no data frame of Spark."""
    from pyspark.sql import DataFrame

    if not isinstance(events, DataFrame):
        kind = type(events)
        raise SparkError(
            f"events are a data frame of Spark, not a {kind.__module__.partition('.')[0]} "
            f"{kind.__name__}: spark.createDataFrame makes one of pandas or of rows, "
            "spark.read of files"
        )


def checked_entries(
    subscriptions: Iterable[Mapping[str, Any] | str],
) -> list[Mapping[str, Any] | str]:
    """Returns the subscriptions as a list, refusing what only looks like several."""
    if isinstance(subscriptions, (str, bytes, os.PathLike, Mapping)):
        raise SparkError(
            "subscriptions are a list of texts, or of mappings with where, not "
            f"{subscriptions!r:.80}: [json.loads(line) for line in open(path)] reads a file"
        )
    return list(subscriptions)


def told_of_parts(
    spark: SparkSession, parts: int, work: Callable[[int], Iterable[Told]]
) -> list[Told]:
    """Collects what workers tell of the parts with these numbers, in their order."""

    def tell(batches: Iterator[Any]) -> Iterator[Told]:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                yield from work(number)

    return told_of_frame(spark.range(0, parts, 1, parts), tell)


def told_of_frame(frame: DataFrame, work: Callable[[Iterator[Any]], Iterable[Told]]) -> list[Told]:
    """Collects what workers tell of the batches of a data frame, in the order of its parts."""

    def tell(batches: Iterator[Any]) -> Iterator[Any]:
        for told in _in_sentences(work(batches)):
            yield _batch(*told)

    return _gathered(frame.mapInArrow(tell, _SCHEMA))


def _in_sentences(told: Iterable[Told]) -> Iterator[Told]:
    try:
        yield from told
    except TamisError as bad:
        yield _ERROR, json.dumps([type(bad).__name__, str(bad)]).encode()


def _batch(kind: str, content: bytes) -> Any:
    """Packs a row for Spark, from its bytes: `pyarrow.array` imports pandas, which takes a second
    of every worker."""
    import pyarrow

    def cell(type_: Any, value: bytes) -> Any:
        ends = struct.pack("=ii", 0, len(value))
        buffers = [None, pyarrow.py_buffer(ends), pyarrow.py_buffer(value)]
        return pyarrow.Array.from_buffers(type_, 1, buffers)

    cells = [cell(pyarrow.string(), kind.encode()), cell(pyarrow.binary(), content)]
    return pyarrow.RecordBatch.from_arrays(cells, ["kind", "content"])


def _gathered(job: Any) -> list[Told]:
    try:
        rows = [(kind, bytes(content)) for kind, content in job.collect()]
    except spark_errors() as bad:
        raise SparkError(f"Spark could not finish: {last_line(bad)}") from bad
    for kind, content in rows:
        if kind == _ERROR:
            name, words = json.loads(content)
            raise (ReadingError if name == ReadingError.__name__ else SparkError)(words)
    return rows


def spark_errors() -> tuple[type[Exception], ...]:
    """Returns the errors that Spark raises; the thin client has no py4j."""
    from pyspark.errors import PySparkException

    try:
        from py4j.protocol import Py4JError
    except ImportError:
        return PySparkException, ConnectionError
    return PySparkException, Py4JError, ConnectionError


def last_line(bad: Exception) -> str:
    """Picks a worker's error out of all that Spark says of it."""
    lines = [line.strip() for line in str(bad).splitlines() if line.strip()]
    python = [line for line in lines if not line.startswith(("at ", "File ", "Traceback"))]
    named = [line for line in python if "Error: " in line or "Exception: " in line]
    return (named or python or ["it does not say why"])[-1][:500]
