"""What is wrong, or probably not meant, in a file of subscriptions: every error at once.

Conditions are read and bound to operators by the code that a matcher uses; nothing is inserted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from tamis.catalog.resolve import Resolver
from tamis.catalog.subscription_lines import WARNING, Entry, Finding, SubscriptionLines
from tamis.errors import SubscriptionError
from tamis.language import Condition, Language, Leaf
from tamis.language.constraint import Constraint
from tamis.language.predicate import AttributePredicate, OperatorPredicate
from tamis.language.text import marked_text, name_text, quoted
from tamis.operators.asking import Operators

_SHOWN = 160
_OPEN_INTERVAL = re.compile(
    r"""
    "(?:[^"\\]|\\.)*" | '(?:[^'\\]|\\.)*' | `(?:[^`\\]|\\.)*`
    | (?P<in> (?<![\w.?$`]) (?:not\s+)? in\b | [∈∉] ) \s* \( (?P<bounds>[^()\[\]]*) \)
    """,
    re.VERBOSE | re.IGNORECASE | re.DOTALL,
)


class Checked(NamedTuple):
    """What a file of subscriptions holds, and what there is to say about it."""

    subscriptions: int
    alternatives: int
    operator_predicates: int
    findings: list[Finding]


class _Guess(NamedTuple):
    """A bare name beside an ordering: an attribute, if it is one."""

    name: str
    entry: Entry
    position: int


class _Check:
    def __init__(self, lines: SubscriptionLines, operators: Operators) -> None:
        self.lines = lines
        self.findings = list(lines.findings)
        self.alternatives = 0
        self.predicates: set[str] = set()
        self._language = Language()
        self._resolver = Resolver(operators, lambda key: None, lambda key: None)
        self._guesses: dict[tuple[int, int, str], _Guess] = {}
        self._places: dict[str, set[tuple[int, int]]] = {}

    def entry(self, entry: Entry) -> None:
        """Looks at one subscription."""
        try:
            condition = self._language.parse(entry.where)
        except SubscriptionError as bad:
            self._error(entry, bad)
            return
        self.alternatives += len(condition.alternatives)
        for note, position in condition.notes:
            self._warn(entry, note, position)
        self._warn_of_intervals(entry)
        never = []
        errors: dict[tuple[str, int | None], SubscriptionError] = {}
        for leaves in condition.alternatives:
            self._note_names(entry, leaves)
            try:
                if self._resolver.resolve(leaves, entry.where).never:
                    never.append(leaves)
            except SubscriptionError:
                for each in self._errors_of(leaves, entry.where):
                    errors.setdefault((each.problem, each.position), each)
        for error in errors.values():
            self._error(entry, error)
        if never:
            self._warn_of_never(entry, condition, never)

    def finish(self) -> None:
        """Looks at what only the whole file tells."""
        for guess in self._guesses.values():
            if len(self._places[guess.name]) == 1:
                self._warn(
                    guess.entry,
                    f"beside an ordering the bare name {name_text(guess.name)} is an attribute, "
                    f"and it occurs nowhere else in this file: write {quoted(guess.name)} for the "
                    f"string, {marked_text('$', guess.name)} to say that it is an attribute",
                    guess.position,
                )

    def _errors_of(self, leaves: Sequence[Leaf], text: str) -> Iterator[SubscriptionError]:
        """Every error of an alternative: that of the whole, and those of its predicates alone."""
        alone = [[leaf] for leaf in leaves if isinstance(leaf.atom, OperatorPredicate)]
        for part in (leaves, *alone):
            try:
                self._resolver.resolve(part, text)
            except SubscriptionError as bad:
                yield bad

    def _note_names(self, entry: Entry, leaves: Sequence[Leaf]) -> None:
        """Keeps what the summary and `finish` need to know."""
        for leaf in leaves:
            atom = leaf.atom
            if isinstance(atom, OperatorPredicate):
                names = {name: str(at + 1) for at, name in enumerate(atom.variables)}
                self.predicates.add(atom.text(names))
                continue
            attributes = (
                (atom.attribute,) if isinstance(atom, AttributePredicate) else atom.attributes
            )
            for name in attributes:
                self._places.setdefault(name, set()).add((entry.line, leaf.start))
            if isinstance(atom, Constraint):
                for name in atom.guessed:
                    position = max(leaf.start, entry.where.find(name, leaf.start))
                    self._guesses[entry.line, leaf.start, name] = _Guess(name, entry, position)

    def _warn_of_intervals(self, entry: Entry) -> None:
        for found in _OPEN_INTERVAL.finditer(entry.where):
            if found["in"] is None:
                continue
            bounds = [each.strip() for each in found["bounds"].split(",")]
            outside = found["in"].lower().startswith("not") or found["in"] == "∉"
            which = "except those" if outside else "the numbers"
            self._warn(
                entry,
                f"({', '.join(bounds)}) is an interval, {which} between {' and '.join(bounds)}; "
                f"write {{{', '.join(bounds)}}} for the set",
                found.start("in"),
            )

    def _warn_of_never(
        self, entry: Entry, condition: Condition, never: Sequence[Sequence[Leaf]]
    ) -> None:
        whole = len(never) == len(condition.alternatives)
        what = "never matches" if whole else "has an alternative that never holds"
        words = " and ".join(f"{'not ' * leaf.negated}{leaf.atom.text()}" for leaf in never[0])
        words = words if len(words) <= _SHOWN else words[: _SHOWN - 1] + "…"
        self._warn(entry, f"this {what}: {words}", None)

    def _error(self, entry: Entry, bad: SubscriptionError) -> None:
        self.lines.refuse(entry.line, bad.of(entry.id))
        self.findings.append(self.lines.findings[-1])

    def _warn(self, entry: Entry, problem: str, position: int | None) -> None:
        about = SubscriptionError(
            problem,
            subscription=entry.id,
            text=None if position is None else entry.where,
            position=position,
        )
        self.findings.append(Finding(self.lines.file, entry.line, WARNING, about))


def check_lines(lines: SubscriptionLines, operators: Operators) -> Checked:
    """Checks all that a file holds."""
    check = _Check(lines, operators)
    for entry in lines.entries:
        check.entry(entry)
    check.finish()
    findings = sorted(check.findings, key=lambda finding: (finding.line, finding.severity))
    whole = {*lines.lines.values(), *(finding.line for finding in findings)}
    return Checked(len(whole), check.alternatives, len(check.predicates), findings)
