"""tamis on Spark: what is learned from history, on a session that is there.

`session()` makes one where there is none; nothing else does.
"""

from __future__ import annotations

from tamis.errors import SparkError
from tamis.spark.java import Java, java_found
from tamis.spark.session import session

__all__ = ["Java", "SparkError", "java_found", "session"]
