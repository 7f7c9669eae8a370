"""What `tamis match --on spark` does: the same lines in a folder of parts, the same report."""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tamis.cli.failures import MisuseError

if TYPE_CHECKING:
    from tamis.spark.compiling import Compiled
    from tamis.spark.matching import Written


def match_on_spark(
    *,
    subscriptions: str,
    events: Sequence[str],
    index: str | None,
    planner: str | None,
    statistics: str | None,
    operators: Sequence[str] | None,
    workers: int,
    output: str,
    report: str | None,
    rejects: str | None,
    master: str | None,
    shards: int,
) -> None:
    """Matches on Spark."""
    started = time.perf_counter()
    from tamis.catalog.subscription_lines import read_subscriptions
    from tamis.cli.learn import event_files
    from tamis.cli.loading import make_matcher, subscribe
    from tamis.cli.match import check_place, conclude, refuse_collisions
    from tamis.cli.on_spark import on_spark
    from tamis.cli.saying import say
    from tamis.matcher import DEFAULT_INDEX, DEFAULT_PLANNER
    from tamis.spark.compiling import Compiled
    from tamis.spark.matching import Job, check_folder, match_files
    from tamis.spark.session import require_spark

    require_spark()
    if any("://" in place for place in events):
        raise MisuseError(
            "--on spark reads files that all workers see; tamis.spark.match takes any data frame"
        )
    matcher = make_matcher(operators, index=index, planner=planner, statistics=statistics)
    with event_files(events) as (files, names), tempfile.TemporaryDirectory() as temporary:
        read = [subscriptions, *files, *(operators or ())]
        refuse_collisions(subscriptions, list(events), read, output, rejects, report)
        if report is not None:
            check_place(report)
        if output != "-":
            check_folder(output)
        subscribe(matcher, read_subscriptions(subscriptions))
        compiled = Compiled(
            matcher,
            index=index or DEFAULT_INDEX,
            planner=planner or DEFAULT_PLANNER,
            statistics=matcher.statistics,
            workers=workers,
            shards=shards,
        )
        if compiled.cut is not None:
            say(f"note: {compiled.cut}")
        staged = temporary if output == "-" else f"{output.rstrip('/')}.partial"
        if output != "-":
            shutil.rmtree(staged, ignore_errors=True)
        job = Job(staged, rejects is not None)
        try:
            written, master = on_spark(
                lambda spark: (
                    match_files(spark, files, compiled, job, names=names),
                    str(spark.sparkContext.master),
                ),
                master,
                shows=True,
            )
        except BaseException:
            shutil.rmtree(staged, ignore_errors=True)
            raise
        _keep(written, rejects, output, staged)
    facts: dict[str, Any] = {
        "planner": planner or DEFAULT_PLANNER,
        "index": index or DEFAULT_INDEX,
        "workers": workers,
        "on": "spark",
        "master": master,
        **_replication(compiled),
        "wall_seconds": time.perf_counter() - started,
    }
    conclude(written.totals, compiled.subscriptions, facts, report, kept=rejects is not None)


def _keep(written: Written, rejects: str | None, output: str, staged: str) -> None:
    """Puts what workers wrote where it belongs."""
    from tamis.files.writing import lines_to
    from tamis.spark.matching import commit_folder

    if rejects is not None:
        with lines_to(rejects) as all_rejects:
            for part in written.rejects:
                with open(part, encoding="utf-8") as lines:
                    for line in lines:
                        all_rejects.write(json.loads(line))
    if output != "-":
        commit_folder(written.results, staged, output)
        return
    for part in written.results:
        with open(part, "rb") as content:
            shutil.copyfileobj(content, sys.stdout.buffer)
    sys.stdout.buffer.flush()


def _replication(compiled: Compiled) -> dict[str, Any]:
    """How many shards there are, and what they cost."""
    facts: dict[str, Any] = {"shards": len(compiled.fingerprints)}
    if compiled.cut is not None:
        _, calls, copies, hashed = compiled.cut
        facts["replication"] = {"calls": calls, "copies": copies, "copies_by_hash": hashed}
    return facts
