"""tamis on Spark: what is learned from history, on the session of the data frame that is given.

`session()` makes one where there is none; nothing else does.
"""

from __future__ import annotations

from tamis.errors import SparkError
from tamis.spark.estimator import StatisticsEstimator
from tamis.spark.java import Java, java_found
from tamis.spark.learning import learn
from tamis.spark.session import session

__all__ = ["Java", "SparkError", "StatisticsEstimator", "java_found", "learn", "session"]
