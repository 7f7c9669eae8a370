"""Checks the installation, and times every operator on its samples: `tamis doctor`."""

from __future__ import annotations

import contextlib
import sys
import time
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tamis.cli.failures import DONE, UNUSABLE
from tamis.cli.loading import find_operators
from tamis.cli.options import Debug, Json, Operators
from tamis.cli.saying import put, put_json
from tamis.cli.tables import table
from tamis.errors import PluginWarning, TamisError
from tamis.words import counted, duration

if TYPE_CHECKING:
    from tamis.doctor import Finding, OperatorTiming


Compile = Annotated[
    bool, typer.Option("--compile", help="Compile all kernels now, and do nothing else.")
]


def doctor(
    operators: Operators = None,
    compile: Compile = False,
    json: Json = False,
    debug: Debug = False,
) -> int:
    """Check the installation, and time every operator.

    Exit status 1 when something is broken; an extra that is not installed is not."""
    from tamis.doctor import BROKEN, Finding, found, timed

    if compile:
        return _compile()
    findings = found()
    times: list[OperatorTiming] = []
    try:
        records = _records(operators)
        for at, each in enumerate(records):
            with _telling(f"timing {each.specification.name}, {at + 1} of {len(records)}"):
                times.append(timed(each))
    except TamisError as bad:
        if operators:
            raise
        findings.append(Finding("operators", BROKEN, str(bad), "mend the plugins first"))
    broken = sum(each.status == BROKEN for each in findings)
    broken += sum(each.status == BROKEN for each in times)
    if json:
        put_json(
            {
                "well": not broken,
                "findings": [each._asdict() for each in findings],
                "operators": [each._asdict() | {"factor": each.factor} for each in times],
            }
        )
    else:
        put(_text(findings, times, broken))
    return UNUSABLE if broken else DONE


def _compile() -> int:
    """Compiles what is not in the cache, and says where it is."""
    from tamis.doctor import cache, compile_by_two

    began = time.perf_counter()
    names = []
    with _telling("compiling kernels"):
        names = list(compile_by_two())
    put(f"Ready in {time.perf_counter() - began:.1f} s: {', '.join(names)}; {cache().words}.")
    return DONE


@contextlib.contextmanager
def _telling(words: str) -> Iterator[None]:
    """Shows on a terminal what takes its time."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(words):
        yield


def _records(operators: list[str] | None) -> list[Any]:
    with warnings.catch_warnings():
        if not operators:  # what failed to load is among the findings
            warnings.simplefilter("ignore", PluginWarning)
        found = [each.record for _, each in sorted(find_operators(operators).items())]
    return [each for each in found if operators or not each.trouble]  # that is a finding already


def _text(findings: list[Finding], times: list[OperatorTiming], broken: int) -> str:
    def words(each: Finding | OperatorTiming) -> str:
        return f"{each.words}; {each.mend}" if each.mend else each.words

    parts = [
        table(
            ("status", "what", "finding"),
            [(each.status, each.subject, words(each)) for each in findings],
        )
    ]
    if times:
        rows = [
            (
                each.status,
                each.name,
                f"{each.calls}",
                "-" if each.median_seconds is None else duration(each.median_seconds),
                "-" if each.declared_seconds is None else duration(each.declared_seconds),
                words(each),
            )
            for each in times
        ]
        parts.append(table(("status", "operator", "calls", "median", "declared", "finding"), rows))
    else:
        parts.append("There is no operator to time.")
    parts.append(f"{counted(broken, 'thing')} broken." if broken else "All is well.")
    return "\n\n".join(parts)
