"""Matches on Spark for `tamis match --on spark`: the same lines in a folder, the same report."""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from typing import TYPE_CHECKING, Any

from tamis.cli.failures import MisuseError
from tamis.cli.matching import MatchRun
from tamis.cli.saying import say

if TYPE_CHECKING:
    from tamis.spark.compiling import CompiledSubscriptions
    from tamis.spark.matching import WrittenFiles


def match_on_spark(run: MatchRun, master: str | None, shards: int) -> None:
    """Matches on Spark."""
    from tamis.cli.learn import event_files
    from tamis.cli.on_spark import on_spark
    from tamis.spark.matching import Job, check_folder, match_files
    from tamis.spark.session import require_spark

    require_spark()
    if any("://" in place for place in run.events):
        raise MisuseError(
            "--on spark reads files that all workers see; tamis.spark.match takes any data frame"
        )
    matcher, output = run.setup.matcher(), run.output
    with event_files(run.events) as (files, names), tempfile.TemporaryDirectory() as temporary:
        run.check(files)
        if output != "-":
            check_folder(output)
        run.subscribe(matcher)
        compiled = run.setup.compiled(matcher, shards)
        if compiled.cut is not None:
            say(f"note: {compiled.cut}")
        staged = temporary if output == "-" else f"{output.rstrip('/')}.partial"
        if output != "-":
            shutil.rmtree(staged, ignore_errors=True)
        job = Job(staged, run.rejects is not None, keep=run.keep)
        try:
            written, master = on_spark(
                lambda spark: (
                    match_files(spark, files, compiled, job, names=names, renamed=run.renamed),
                    str(spark.conf.get("spark.master")),
                ),
                master,
                shows=True,
            )
        except BaseException:
            shutil.rmtree(staged, ignore_errors=True)
            raise
        _keep(written, run.rejects, output, staged)
    run.conclude(
        written.totals,
        compiled.subscriptions,
        on="spark",
        master=master,
        **_replication(compiled),
    )


def _keep(written: WrittenFiles, rejects: str | None, output: str, staged: str) -> None:
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


def _replication(compiled: CompiledSubscriptions) -> dict[str, Any]:
    """Returns the number of shards, and their copies of calls."""
    facts: dict[str, Any] = {"shards": len(compiled.fingerprints)}
    if compiled.cut is not None:
        _, calls, copies, hashed = compiled.cut
        facts["replication"] = {"calls": calls, "copies": copies, "copies_by_hash": hashed}
    return facts
