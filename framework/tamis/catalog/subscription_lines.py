"""Reads the lines of a file as subscriptions, and says what is wrong with the others, all at once.

Only the shape of a line is looked at: an object with `where`, its id a string that no other line
has. A line without an id gets one that names it, so that every error finds its line.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tamis.catalog.intake import id_of, where_of
from tamis.errors import SubscriptionError
from tamis.files.reading import FileLine, read_lines, shown_name

ERROR, WARNING = "error", "warning"


class LineFinding(NamedTuple):
    """A line of a file of subscriptions that is wrong, or probably not meant."""

    file: str
    line: int
    severity: str
    about: SubscriptionError

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line else self.file
        return f"{place}: {self.severity}: {self.about}"

    def as_dict(self) -> dict[str, Any]:
        """Returns the same for JSON; `place` is in the text of the condition."""
        about = self.about
        place = None if about.line is None else {"line": about.line, "column": about.column}
        return {
            "line": self.line,
            "subscription": about.subscription,
            "problem": about.problem,
            "place": place,
            "excerpt": about.excerpt() or None,
        }


class SubscriptionLine(NamedTuple):
    """A line that has the shape of a subscription."""

    line: int
    id: str
    where: str
    document: dict[str, Any]


@dataclass
class SubscriptionLines:
    """The content of a file: entries in order, and a finding for every other line."""

    file: str
    entries: list[SubscriptionLine] = field(default_factory=list)
    findings: list[LineFinding] = field(default_factory=list)
    lines: dict[str, int] = field(default_factory=dict)
    """The line of each id."""

    @property
    def count(self) -> int:
        """The number of lines."""
        return len({*self.lines.values(), *(finding.line for finding in self.findings)})

    def refuse(self, line: int, about: SubscriptionError) -> None:
        """Adds an error."""
        self.findings.append(LineFinding(self.file, line, ERROR, about))


def read_subscriptions(file: str) -> SubscriptionLines:
    """Reads a file of subscriptions to its end, whatever its lines hold."""
    found = SubscriptionLines(shown_name(file))
    nameless: list[SubscriptionLine] = []
    for line in read_lines(file):
        try:
            entry = _entry_of(line, found.lines)
        except SubscriptionError as bad:
            found.refuse(line.number, bad)
        else:
            (found.entries if entry.id else nameless).append(entry)
    for number, _, where, document in nameless:
        id = f"subscription-{number}"
        while id in found.lines:
            id += "-made-up"
        found.lines[id] = number
        found.entries.append(SubscriptionLine(number, id, where, {**document, "id": id}))
    found.entries.sort(key=lambda entry: entry.line)
    return found


def _entry_of(line: FileLine, lines: dict[str, int]) -> SubscriptionLine:
    """Reads the entry of a line, its id empty if it has none; else `SubscriptionError`."""
    if line.reason is not None:
        raise SubscriptionError(line.reason)
    document: Any = line.document
    id = id_of(document, line.text)
    if id in lines:
        raise SubscriptionError(
            f"this id is taken by line {lines[id]}: choose another", subscription=id
        )
    if id is not None:
        lines[id] = line.number
    return SubscriptionLine(line.number, id or "", where_of(document, id), document)
