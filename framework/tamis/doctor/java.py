"""Which Java Spark would use, where pyspark is installed."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator

from tamis.doctor.finding import BROKEN, OK, Finding


def java() -> Iterator[Finding]:
    """What Spark finds of the user's Java and of the one that pip brings."""
    if importlib.util.find_spec("pyspark") is None:
        return
    from tamis.errors import SparkError
    from tamis.spark.java import java_found

    try:
        yield Finding("Java", OK, str(java_found()))
    except SparkError as bad:
        words, _, mend = str(bad).partition("): ")
        yield Finding("Java", BROKEN, f"{words})", mend)
