"""Measures learning and matching on Spark, the same in one process, and a history of Parquet."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from tamis_bench import spark_history
from tamis_bench.options import Passes, Quick, Seed, count, names, several
from tamis_bench.report import Row

PARTS = ("learning", "matching", "jobs", "history")


def measured(
    *,
    only: Annotated[list[str] | None, names("Parts, all by default", PARTS)] = None,
    events: Annotated[
        list[int] | None, several("Events of learning, of 30 attributes: 1,000,000.", 100)
    ] = None,
    predicates: Annotated[
        list[int] | None, several("Predicates of learning: 1,000 and 1,000,000.", 10)
    ] = None,
    history: Annotated[int, count("Events of history: 40 columns, 5,000 subscriptions.")] = 60_000,
    cores: Annotated[int, count("Cores that Spark takes.")] = 2,
    passes: Passes = 3,
    quick: Quick = False,
    seed: Seed = 1,
) -> Iterator[Row]:
    """Yields the rows of the parts that are chosen."""
    if quick:
        events, predicates, history, passes = [5_000, 20_000], [1_000, 50_000], 4_000, 1
    for part in only or PARTS:
        if part == "jobs":
            yield from spark_history.jobs(cores=cores, passes=passes, seed=seed)
        elif part == "history":
            yield from spark_history.measured(cores=cores, events=history, passes=passes, seed=seed)
        else:
            yield from _beside_one_process(
                part, cores, events or [1_000_000], predicates or [1_000, 1_000_000],
                quick=quick, passes=passes, seed=seed,
            )  # fmt: skip


def _beside_one_process(
    part: str,
    cores: int,
    events: list[int],
    predicates: list[int],
    *,
    quick: bool,
    passes: int,
    seed: int,
) -> Iterator[Row]:
    from tamis.spark import session
    from tamis_bench import spark_learning, spark_matching

    spark = session(f"local[{cores}]")
    if part == "learning":
        yield from spark_learning.measured(
            spark, cores=cores, events=events, predicates=predicates, passes=passes, seed=seed
        )
    else:
        yield from spark_matching.measured(
            spark, cores=cores, scale=0.1 if quick else 1.0, passes=passes, seed=seed
        )
