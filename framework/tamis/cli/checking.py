"""Says what is wrong, or probably not meant, in a file of subscriptions: every error at once.

Conditions are read and bound to operators by the intake of a matcher; nothing is inserted.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from tamis.catalog import Catalog
from tamis.catalog.intake import Intake, delivered, key_doubts
from tamis.catalog.resolve import Doubt
from tamis.catalog.subscription_lines import (
    WARNING,
    LineFinding,
    SubscriptionLine,
    SubscriptionLines,
)
from tamis.cli.doubts import EventSample, leaf_doubts, names_of
from tamis.errors import SubscriptionError
from tamis.language.condition import Language
from tamis.language.constraint import Constraint
from tamis.language.normal import Leaf
from tamis.language.predicate import AttributePredicate, OperatorPredicate, parts_of
from tamis.language.scanner import Scanner
from tamis.language.text import marked_text, name_text, quoted
from tamis.limits import DEFAULT_LIMITS
from tamis.operators.asking import Operators


class FileReview(NamedTuple):
    """The numbers of a file of subscriptions, and the findings in it."""

    subscriptions: int
    alternatives: int
    operator_predicates: int
    findings: list[LineFinding]


class _Guess(NamedTuple):
    """A bare name beside an ordering: an attribute, if it is one."""

    name: str
    entry: SubscriptionLine
    position: int


class _Check:
    def __init__(self, lines: SubscriptionLines, operators: Operators) -> None:
        self.lines = lines
        self.alternatives = 0
        self.predicates: set[str] = set()
        self._operators = operators
        self._intake = Intake(Language(), operators, Catalog())
        self._resolver = self._intake.resolver()
        self._guesses: dict[tuple[int, int, str], _Guess] = {}
        self._places: dict[str, set[tuple[int, int]]] = {}
        self.asked: dict[str, dict[tuple[int, int], SubscriptionLine]] = {}
        """The places where attributes are asked for, inputs of operators too."""
        self.keyed: dict[str, SubscriptionLine] = {}
        """Attributes that delivery policies have in their keys."""
        self.sampled: list[LineFinding] = []

    def entry(self, entry: SubscriptionLine) -> None:
        """Looks at one subscription."""
        condition, errors, doubts = self._intake.examined(entry.where, self._resolver)
        for error in errors:
            self.lines.refuse(entry.line, error.of(entry.id))
        for doubt in key_doubts(entry.document):
            self._warn(entry, doubt)
        if condition is None:
            return
        try:
            policies = delivered(entry.document, condition)
        except SubscriptionError as bad:
            self.lines.refuse(entry.line, bad.of(entry.id))
            policies = ()
        for name in itertools.chain.from_iterable(policy.attributes for policy in policies):
            self.keyed.setdefault(name, entry)
        leaves = {leaf.start: leaf for each in condition.alternatives for leaf in each}
        if not errors:
            for leaf in leaves.values():
                doubts += leaf_doubts(leaf, entry.where, self._operators)
                for name in names_of(leaf, self._operators):
                    self.asked.setdefault(name, {})[entry.line, leaf.start] = entry
        for doubt in (*doubts, *_open_intervals(entry.where)):
            self._warn(entry, doubt)
        self.alternatives += len(condition.alternatives)
        for alternative in condition.alternatives:
            self._note_names(entry, alternative)

    def finish(self) -> None:
        """Looks at what only the whole file tells."""
        for name, entry, position in self._guesses.values():
            if len(self._places[name]) == 1:
                words = (
                    f"beside an ordering the bare name {name_text(name)} is an attribute, "
                    f"and it occurs nowhere else in this file: write {quoted(name)} for the "
                    f"string, {marked_text('$', name)} to say that it is an attribute"
                )
                self._warn(entry, Doubt(words, position))

    def compare(self, sample: EventSample, file: str) -> None:
        """Looks at what a sample of events says of the whole file."""
        for problem in sample.doubts():
            self.sampled.append(LineFinding(file, 0, WARNING, SubscriptionError(problem)))
        for name, places in self.asked.items():
            problem = sample.doubt_of(name) or ""
            (_, position), entry = next(iter(places.items()))
            more = f" ({len(places):,} predicates read it)" if len(places) > 1 else ""
            if problem:
                self._warn(entry, Doubt(problem + more, position))
        for name, entry in self.keyed.items():
            if name in sample.lacking:
                self._warn(entry, Doubt(f"is delivered per {name}: {sample.doubt_of(name)}"))

    def _note_names(self, entry: SubscriptionLine, leaves: Sequence[Leaf]) -> None:
        """Keeps what the summary and `finish` need to know."""
        for leaf in leaves:
            atom = leaf.atom
            if isinstance(atom, OperatorPredicate):
                names = {name: str(at + 1) for at, name in enumerate(atom.variables)}
                self.predicates.add(atom.text(names))
                continue
            attributes = (
                [part.attribute for part in parts_of(atom)]
                if isinstance(atom, AttributePredicate)
                else atom.attributes
            )
            for name in attributes:
                self._places.setdefault(name, set()).add((entry.line, leaf.start))
            if isinstance(atom, Constraint):
                for name in atom.guessed:
                    position = max(leaf.start, entry.where.find(name, leaf.start))
                    self._guesses[entry.line, leaf.start, name] = _Guess(name, entry, position)

    def _warn(self, entry: SubscriptionLine, doubt: Doubt) -> None:
        whole = doubt.position is None
        about = SubscriptionError(
            f"this {doubt.problem}" if whole else doubt.problem,
            subscription=entry.id,
            text=None if whole else entry.where,
            position=doubt.position,
        )
        self.lines.findings.append(LineFinding(self.lines.file, entry.line, WARNING, about))


def _open_intervals(where: str) -> Iterator[Doubt]:
    """Yields the intervals of a good text that look like sets."""
    scanner = Scanner(where, DEFAULT_LIMITS)
    tokens = [scanner.take()]
    while tokens[-1].kind != "end":
        tokens.append(scanner.take())
    for at, token in enumerate(tokens[:-1]):
        if token.kind not in ("in", "∉") or tokens[at + 1].kind != "(":
            continue
        closing = next(each for each in tokens[at:] if each.kind in (")", "]"))
        if closing.kind == ")":
            bounds = [each.strip() for each in where[tokens[at + 1].end : closing.start].split(",")]
            negated = tokens[at - 1].kind == "not"
            which = "except those" if negated or token.kind == "∉" else "the numbers"
            yield Doubt(
                f"({', '.join(bounds)}) is an interval, {which} between {' and '.join(bounds)}; "
                f"write {{{', '.join(bounds)}}} for the set",
                tokens[at - negated].start,
            )


def check_lines(
    lines: SubscriptionLines,
    operators: Operators,
    events: list[str] | None = None,
    **reading: Any,
) -> FileReview:
    """Checks all that a file holds, beside a sample of events where there is one."""
    check = _Check(lines, operators)
    for entry in lines.entries:
        check.entry(entry)
    check.finish()
    if events:
        wanted = {*check.asked, *check.keyed}
        check.compare(EventSample(events, wanted, **reading), ", ".join(events))
    findings = sorted(
        [*check.sampled, *lines.findings], key=lambda finding: (finding.line, finding.severity)
    )
    return FileReview(lines.count, check.alternatives, len(check.predicates), findings)
