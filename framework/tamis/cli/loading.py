"""Finds and makes what the options of a command ask for: operators, a matcher, subscriptions."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict, TypeVar

from tamis.cli.failures import FindingsError, MisuseError
from tamis.cli.saying import say
from tamis.errors import (
    PluginWarning,
    SubscriptionError,
    SubscriptionErrors,
    SubscriptionWarning,
    TamisError,
)
from tamis.event.types import read_types
from tamis.words import counted

if TYPE_CHECKING:
    from tamis.catalog.subscription_lines import LineFinding, SubscriptionLines
    from tamis.event.types import EventType
    from tamis.matcher import Matcher
    from tamis.operators import OperatorRecord
    from tamis.spark.compiling import CompiledSubscriptions

T = TypeVar("T")


_BUNDLED = "tamis ("
"""The origin of bundled operators; an operator of yours replaces one of its name."""


class LoadedOperator(NamedTuple):
    """An operator and where it comes from."""

    record: OperatorRecord
    source: str


def find_operators(targets: Sequence[str] | None) -> dict[str, LoadedOperator]:
    """Returns operators of installed plugins and of modules or files, which take precedence."""
    from tamis.plugins.loader import installed, operators_in

    plugins = installed()
    found = {
        name: LoadedOperator(record, plugins.sources[("operator", name)])
        for name, record in plugins.operators.items()
    }
    here = os.getcwd()
    if targets and here not in sys.path and "" not in sys.path:
        sys.path.append(here)  # last, so that a file here hides nothing that is installed
    given: dict[str, str] = {}
    for target in dict.fromkeys(targets or ()):
        try:
            records = operators_in(target)
        except TamisError as bad:
            raise MisuseError(f"--operators: {bad}") from bad
        for record in records:
            name = record.specification.name
            if name in given:
                raise MisuseError(
                    f"--operators: the operator {name} is in both {given[name]} and {target}"
                )
            if name in found and not found[name].source.startswith(_BUNDLED):
                warnings.warn(
                    f"the operator {name} of {target} takes the place of that of "
                    f"{found[name].source}",
                    PluginWarning,
                    stacklevel=2,
                )
            given[name] = target
            found[name] = LoadedOperator(record, target)
    return found


class MatcherNames(TypedDict):
    """The planner and the index of a matcher."""

    planner: str
    index: str


@dataclass(frozen=True)
class Setup:
    """The parts of a matcher, as the options name them."""

    operators: Sequence[str] | None
    index: str | None
    planner: str | None
    statistics: str | None
    workers: int = 1
    in_flight: int | None = None
    time_zone: str | None = None
    memo_bytes: int | None = None
    types: str | None = None
    operator_timeout: float | None = None
    """Bounds calls of operators that are not bundled and declare no timeout."""

    @property
    def names(self) -> MatcherNames:
        """The names of the planner and the index."""
        from tamis.matcher import DEFAULT_INDEX, DEFAULT_PLANNER

        return {
            "planner": DEFAULT_PLANNER if self.planner is None else self.planner,
            "index": DEFAULT_INDEX if self.index is None else self.index,
        }

    def matcher(self, *, workers: int = 1) -> Matcher:
        """Returns a matcher without subscriptions."""
        from tamis.calling.memo import DEFAULT_BYTES
        from tamis.matcher import Matcher
        from tamis.plugins.loader import installed
        from tamis.statistics import Statistics

        names = self.names
        installed().index(names["index"])
        installed().planner(names["planner"])
        records = [
            found.record if found.source.startswith(_BUNDLED) else self._bounded(found.record)
            for found in find_operators(self.operators).values()
        ]
        learned = None if self.statistics is None else Statistics.load(self.statistics)
        return Matcher(
            records,
            statistics=learned,
            workers=workers,
            time_zone=self.time_zone,
            types=self._event_types(),
            memo_bytes=DEFAULT_BYTES if self.memo_bytes is None else self.memo_bytes,
            **names,
        )

    def _bounded(self, record: OperatorRecord) -> OperatorRecord:
        """Returns a record whose calls may hang without holding up anything for ever."""
        if self.operator_timeout is None or record.specification.timeout is not None:
            return record
        specification = replace(record.specification, timeout=self.operator_timeout)
        renewed = record.renewed
        again = None if renewed is None else lambda: list(map(self._bounded, renewed()))
        return replace(record, specification=specification, renewed=again)

    def _event_types(self) -> list[EventType]:
        return [] if self.types is None else read_types(Path(self.types))

    def compiled(self, matcher: Matcher, shards: int) -> CompiledSubscriptions:
        """Returns the matcher as it travels to the workers of Spark."""
        from tamis.spark.compiling import CompiledSubscriptions

        return CompiledSubscriptions(
            matcher,
            statistics=matcher.statistics,
            workers=self.workers,
            in_flight=self.in_flight,
            time_zone=self.time_zone,
            memo_bytes=matcher.memo.most_bytes,
            types=self._event_types(),
            shards=shards,
            **self.names,
        )


def subscribe(matcher: Matcher, lines: SubscriptionLines) -> None:
    """Subscribes all that a file holds, or raises `FindingsError` with all that is wrong in it.

    What a database of the index has already is replaced by what the file says of it."""
    from tamis.catalog.intake import key_doubts

    take = partial(matcher.subscribe_many, replace=True)
    taken(lines, take, len(matcher.operators.records), "nothing was matched")
    for entry in lines.entries:
        for doubt in key_doubts(entry.document):
            words = f"subscription {entry.id!r} {doubt.problem}"
            warnings.warn(words, SubscriptionWarning, stacklevel=2)
    if not lines.entries:
        say(f"note: {lines.file} holds no subscription, so nothing can match")


def refuse_two_inputs(subscriptions: str, *events: str, option: str = "--events") -> None:
    """Refuses to read subscriptions and events both from standard input."""
    if subscriptions == "-" and "-" in events:
        raise MisuseError(f"--subscriptions and {option} cannot both be standard input (-)")


def taken(
    lines: SubscriptionLines,
    take: Callable[[list[dict[str, Any]]], T],
    operators: int,
    so: str,
) -> T:
    """Takes all subscriptions of a file; `FindingsError` with all that is wrong in it."""
    try:
        made = take([entry.document for entry in lines.entries])
    except SubscriptionError as bad:
        errors = bad.errors if isinstance(bad, SubscriptionErrors) else [bad]
        for error in errors:
            lines.refuse(lines.lines.get(error.subscription or "", 0), error)
    if not lines.findings:
        return made
    findings = sorted(lines.findings, key=lambda finding: finding.line)
    bad_lines = len({finding.line for finding in findings})
    summary = (
        f"error: {bad_lines:,} of {counted(lines.count, 'subscription')} cannot be taken; {so}"
    )
    raise FindingsError("\n".join([*map(str, findings), *hints(findings, operators), summary]))


def hints(findings: Sequence[LineFinding], operators: int) -> list[str]:
    """Tells how to mend what many errors have in common."""
    if not any(finding.about.problem.startswith("unknown operator") for finding in findings):
        return []
    none = "no operator is installed: " if not operators else ""
    return [f"hint: {none}operators come from plugins, or from --operators module.or.file.py"]
