"""Holds what a run of `tamis match` has in common, in this process and on Spark."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tamis.cli.failures import MisuseError, UnusableRunError
from tamis.cli.loading import Setup, refuse_two_inputs, subscribe
from tamis.cli.saying import say, say_rejects
from tamis.words import counted

if TYPE_CHECKING:
    from tamis.files.films import Films, Frames
    from tamis.files.naming import Renamed
    from tamis.files.reading import Events
    from tamis.matcher import Matcher
    from tamis.result.totals import Totals

REPORT_VERSION = 1
_MOST_REJECTING = 100


@dataclass(frozen=True)
class MatchRun:
    """A run as its options say."""

    subscriptions: str
    events: list[str]
    setup: Setup
    output: str
    report: str | None
    rejects: str | None
    renamed: Renamed = ()
    keep: tuple[str, ...] = ()
    frames: Frames | None = None
    """The frames of films that are events, where films are read."""
    started: float = field(default_factory=time.perf_counter)

    def source(self) -> Events | Films:
        """Returns the events, of files of them or of films."""
        if self.frames is not None:
            from tamis.files.films import Films

            return Films(self.events, self.frames, self.renamed)
        from tamis.files.reading import Events

        return Events(self.events, self.renamed)

    def check(self, files: Sequence[str]) -> None:
        """Refuses to read standard input twice, and to write over what is read or written."""
        from tamis.files.writing import is_direct

        refuse_two_inputs(self.subscriptions, *self.events)
        taken = {
            os.path.realpath(each): f"a file that is read ({each})"
            for each in (self.subscriptions, *files, *(self.setup.operators or ()))
            if os.path.isfile(each)
        }
        places = {"--output": self.output, "--rejects": self.rejects, "--report": self.report}
        for option, path in places.items():
            if path is None or is_direct(path):
                continue
            place = "-" if path == "-" else os.path.realpath(path)
            if place in taken:
                raise MisuseError(f"{option} would write over {taken[place]}: {path}")
            taken[place] = f"that of {option}"
        self._check_report()

    def _check_report(self) -> None:
        """Refuses a place for the report that cannot be written, before anything is done."""
        from tamis.files.writing import WritingError, is_direct

        path = self.report
        if path is None or path == "-" or is_direct(path):
            return
        folder = os.path.dirname(path) or "."
        if not os.access(folder, os.W_OK):
            what = "is not a folder" if not os.path.isdir(folder) else "cannot be written"
            raise WritingError(f"cannot write {path}: {folder} {what}")

    def subscribe(self, matcher: Matcher) -> None:
        """Subscribes what the file holds."""
        from tamis.catalog.subscription_lines import read_subscriptions

        subscribe(matcher, read_subscriptions(self.subscriptions))

    def conclude(
        self,
        totals: Totals,
        subscriptions: int,
        spent: Mapping[str, Mapping[str, float]] | None = None,
        **facts: object,
    ) -> None:
        """Ends a run: notes, the report, and a failure where no line held an event."""
        say_rejects(totals.rejected, totals.first_reject, kept=self.rejects is not None)
        if totals.unread_times:
            times = counted(totals.unread_times, "time")
            say(f"note: {times} cannot be read, the first: {totals.first_unread_time}")
        if totals.undetermined:
            first = totals.first_undetermined
            say(f"note: {totals.undetermined:,} undetermined, the first: {first}")
        for name, amounts in (spent or {}).items():
            say(f"note: {name} spent {_amounts_text(amounts)}")
        if spent is not None:
            facts["spent"] = spent
        totals.account.rejected = totals.rejected
        totals.account.subscriptions = subscriptions
        if self.report is not None:
            self._write_report(self.report, totals, facts)
        if totals.rejected and not totals.events:
            raise UnusableRunError("no line holds an event")

    def _write_report(self, path: str, totals: Totals, facts: dict[str, object]) -> None:
        """Writes totals, and what the run was asked for."""
        from importlib import metadata

        from tamis.files.writing import lines_to

        account = totals.account
        report = {
            "format_version": REPORT_VERSION,
            "tamis": metadata.version("tamis"),
            **self.setup.names,
            "workers": self.setup.workers,
            **facts,
            "wall_seconds": time.perf_counter() - self.started,
            "cpu_seconds": totals.cpu_seconds,
            "summary": f"{account.outcome_text}; {account.calls_text}",
            **account.as_dict(),
            "memo": totals.memo,
            "rejected_by": dict(totals.rejected_by.most_common(_MOST_REJECTING)),
        }
        with lines_to(path) as file:
            file.write(report, indent=1)


def _amounts_text(amounts: Mapping[str, float]) -> str:
    return ", ".join(f"{amount:,.6g} {unit.replace('_', ' ')}" for unit, amount in amounts.items())
