"""Measures learning and matching on Spark, and the same in one process."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from tamis.spark.session import session
from tamis_bench import spark_learning, spark_matching
from tamis_bench.options import Passes, Quick, Seed, count, names, several
from tamis_bench.report import Row

PARTS = ("learning", "matching")


def measured(
    *,
    only: Annotated[list[str] | None, names("Parts, both by default", PARTS)] = None,
    events: Annotated[
        list[int] | None, several("Events of learning, of 30 attributes: 1,000,000.", 100)
    ] = None,
    predicates: Annotated[
        list[int] | None, several("Predicates of learning: 1,000 and 1,000,000.", 10)
    ] = None,
    cores: Annotated[int, count("Cores that Spark takes.")] = 2,
    passes: Passes = 3,
    quick: Quick = False,
    seed: Seed = 1,
) -> Iterator[Row]:
    """Yields the rows of the parts that are chosen."""
    if quick:
        events, predicates, passes = [5_000, 20_000], [1_000, 50_000], 1
    spark = session(f"local[{cores}]")
    if "learning" in (only or PARTS):
        yield from spark_learning.measured(
            spark,
            cores=cores,
            events=events or [1_000_000],
            predicates=predicates or [1_000, 1_000_000],
            passes=passes,
            seed=seed,
        )
    if "matching" in (only or PARTS):
        yield from spark_matching.measured(
            spark, cores=cores, scale=0.1 if quick else 1.0, passes=passes, seed=seed
        )
