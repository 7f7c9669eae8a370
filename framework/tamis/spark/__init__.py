"""Runs learning and matching on Spark, on the session of the frame given.

`session()` makes one where there is none; nothing else does.

Others may import what stands here, and from `compiling`, `java`, `learning`, `matching`,
`session`, `streaming` and `working`.
"""

from __future__ import annotations

from tamis.errors import SparkError
from tamis.spark.java import Java, java_found
from tamis.spark.learning import learn
from tamis.spark.matching import match
from tamis.spark.session import session
from tamis.spark.streaming import stream

__all__ = [
    "Java",
    "SparkError",
    "java_found",
    "learn",
    "match",
    "session",
    "stream",
]
