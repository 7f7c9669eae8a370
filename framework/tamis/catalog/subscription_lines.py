"""Which lines of a file are subscriptions, and what is wrong with the others, all at once.

Only the shape of a line is looked at: an object with `where`, its id a string that no other line
has. A line without an id gets one that names it, so that every error finds its line.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tamis.errors import SubscriptionError
from tamis.files.reading import Line, read_lines, shown_name

ERROR, WARNING = "error", "warning"


class Finding(NamedTuple):
    """What is wrong, or probably not meant, with a line of a file of subscriptions."""

    file: str
    line: int
    severity: str
    about: SubscriptionError

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.severity}: {self.about}"

    def as_dict(self) -> dict[str, Any]:
        """The same for JSON; `place` is in the text of the condition."""
        about = self.about
        place = None if about.line is None else {"line": about.line, "column": about.column}
        return {
            "line": self.line,
            "subscription": about.subscription,
            "problem": about.problem,
            "place": place,
            "excerpt": about.excerpt() or None,
        }


class Entry(NamedTuple):
    """A line that has the shape of a subscription."""

    line: int
    id: str
    where: str
    document: dict[str, Any]


@dataclass
class SubscriptionLines:
    """What a file holds: entries in order, and a finding for every other line."""

    file: str
    entries: list[Entry] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    lines: dict[str, int] = field(default_factory=dict)
    """The line of each id."""

    def refuse(self, line: int, about: SubscriptionError) -> None:
        """Adds an error."""
        self.findings.append(Finding(self.file, line, ERROR, about))


def read_subscriptions(file: str) -> SubscriptionLines:
    """Reads a file of subscriptions to its end, whatever its lines hold."""
    found = SubscriptionLines(shown_name(file))
    nameless: list[tuple[int, str, dict[str, Any]]] = []
    for line in read_lines(file):
        try:
            id, where, document = _shaped(line, found.lines)
        except SubscriptionError as bad:
            found.refuse(line.number, bad)
        else:
            if id is None:
                nameless.append((line.number, where, document))
            else:
                found.entries.append(Entry(line.number, id, where, document))
    for number, where, document in nameless:
        id = f"subscription-{number}"
        while id in found.lines:
            id += "-made-up"
        found.lines[id] = number
        found.entries.append(Entry(number, id, where, {**document, "id": id}))
    found.entries.sort(key=lambda entry: entry.line)
    return found


def _shaped(line: Line, lines: dict[str, int]) -> tuple[str | None, str, dict[str, Any]]:
    """Id, condition and all of a line; `SubscriptionError` if it is no subscription."""
    document = line.document
    if line.reason is not None:
        raise SubscriptionError(line.reason)
    if not isinstance(document, dict):
        raise SubscriptionError(f"a subscription is an object with 'where', not {line.text!s:.80}")
    id = document.get("id")
    if id is not None:
        if not isinstance(id, str) or not id:
            hint = f': write "{id}"' if isinstance(id, int) and not isinstance(id, bool) else ""
            raise SubscriptionError(
                f"the id of a subscription is a non-empty string, not {id!r:.80}{hint}"
            )
        if id in lines:
            raise SubscriptionError(
                f"this id is taken by line {lines[id]}: choose another", subscription=id
            )
        lines[id] = line.number
    where = document.get("where")
    if not isinstance(where, str):
        what = f"not {where!r:.80}" if "where" in document else "and there is none"
        raise SubscriptionError(f"'where' is the text of the condition, {what}", subscription=id)
    return id, where, document
