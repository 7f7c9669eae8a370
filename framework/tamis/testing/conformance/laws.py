"""Lists the laws in the order in which they are held; the first that is broken says most."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from tamis.testing.conformance import (
    answering,
    arguments,
    declaring,
    failing,
    implying,
    reading,
    travelling,
)
from tamis.testing.conformance.breach import Breach
from tamis.testing.conformance.subject import LawSubject


class Law(NamedTuple):
    """One law: what holds of every operator, and what finds the one that breaks it."""

    name: str
    check: Callable[[LawSubject], None]

    @property
    def says(self) -> str:
        """The law in words."""
        return (self.check.__doc__ or "").strip()

    def hold(self, subject: LawSubject) -> None:
        """Raises `Breach` if the operator breaks it; skips where that cannot be found out."""
        from unittest import SkipTest

        missing = subject.specification.missing
        if missing is not None:
            raise SkipTest(missing)
        try:
            if self.name != "made" and not subject.has("instance"):
                raise SkipTest(f"{subject.name} cannot be made")
            if self.name not in _FIRST and not subject.has("cases"):
                raise SkipTest(f"{subject.name} has no sample that can be asked")
            self.check(subject)
        except Breach as breach:
            raise breach.of(subject.name, self.name, self.says) from breach.__cause__


_CHECKS: tuple[Callable[[LawSubject], None], ...] = (
    answering.made,
    answering.samples,
    answering.solutions,
    answering.answers,
    answering.deterministic,
    answering.stateless,
    answering.batches,
    answering.events,
    answering.outputs,
    arguments.arguments,
    arguments.check,
    reading.inputs_declared,
    reading.inputs_untouched,
    reading.optional_inputs,
    implying.implications,
    implying.wider,
    declaring.necessary,
    failing.failures,
    travelling.travels,
    travelling.listing,
)
LAWS = tuple(Law(check.__name__, check) for check in _CHECKS)
_FIRST = ("made", "samples")
"""Without these there is nothing to try the others on."""
