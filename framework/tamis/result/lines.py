"""Formats results as texts; what all matches of a subscription share is formatted once.

Invariant: the line of a result is `json_bytes` of `Result.as_dict`, with kept attributes.
Cost: a look-up a match, and the JSON of what differs between events.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tamis.catalog.catalog import Catalog
from tamis.event import Event
from tamis.files.writing import json_text
from tamis.numeric.growing import GrowingArray
from tamis.result.result import Result

_NONE: Mapping[str, Any] = {}
_DETERMINED = json_text({"undetermined": []})[1:]


class MatchText(NamedTuple):
    """A match as text: whole, and in parts."""

    subscription: str
    line: str
    bindings: str
    data: str
    incomplete: bool = False
    truncated: bool = False


_LINE = itemgetter(MatchText._fields.index("line"))


@dataclass
class ResultText:
    """A result as text; those of several shards are joined."""

    event: str
    matches: list[MatchText] = field(default_factory=list)
    undetermined: list[dict[str, str]] = field(default_factory=list)
    kept: Mapping[str, Any] = field(default_factory=dict)

    def add(self, other: ResultText) -> None:
        """Adds the result of other subscriptions about the same event."""
        self.matches = sorted([*self.matches, *other.matches], key=itemgetter(0))
        self.undetermined = sorted(
            [*self.undetermined, *other.undetermined], key=itemgetter("subscription")
        )

    def line(self, extra: Mapping[str, Any] = _NONE) -> bytes:
        """Returns the line of a file; `extra` are more keys."""
        matches = ", ".join(map(_LINE, self.matches))
        tail = _DETERMINED
        if self.undetermined or self.kept or extra:
            more = {"kept": self.kept} if self.kept else {}
            tail = json_text({"undetermined": self.undetermined, **more, **extra})[1:]
        text = f'{{"event": {json_text(self.event)}, "matches": [{matches}], {tail}\n'
        return text.encode(errors="backslashreplace")


class ResultTexts:
    """Formats the results of one matcher."""

    def __init__(self) -> None:
        self._texts: list[MatchText] = []
        self._versions = GrowingArray(np.int64)

    def of(self, result: Result, keep: Sequence[str] = ()) -> ResultText:
        """Returns a result as text, with some attributes of its event."""
        seen = result._seen
        rows = result.matches.rows
        known = self._known(seen.catalog, rows)
        found = list(map(known.__getitem__, rows.tolist()))
        for at, owner in result.binding_places:
            found[at] = _bound(result, owner, found[at])
        found.sort(key=itemgetter(0))
        undetermined = [each._asdict() for each in result.undetermined]
        return ResultText(result.event, found, undetermined, kept_of(seen.event, keep))

    def _known(self, catalog: Catalog, rows: NDArray[Any]) -> list[MatchText]:
        """Returns the texts of subscription rows, as if by attributes alone."""
        if catalog.subscription_rows > len(self._texts):
            count = catalog.subscription_rows - len(self._texts)
            self._versions.extend([-1] * count)
            self._texts += [_EMPTY] * count
        versions = catalog.versions_of(rows)
        for at in (versions != self._versions.room[rows]).nonzero()[0].tolist():
            row = int(rows[at])
            data = json_text(catalog.data_of(row))
            self._texts[row] = _text(catalog.id_of(row), [{}], data)
            self._versions[row] = versions[at]
        return self._texts


def _bound(result: Result, owner: int, plain: MatchText) -> MatchText:
    bindings, truncated = result.bindings_of(owner)
    incomplete = result.is_incomplete_of(owner)
    if bindings == [{}] and not truncated and not incomplete:
        return plain
    return _text(plain.subscription, bindings, plain.data, incomplete, truncated)


def _text(
    subscription: str,
    bindings: list[dict[str, Any]],
    data: str,
    incomplete: bool = False,
    truncated: bool = False,
) -> MatchText:
    bound = _bindings_text(bindings)
    line = f'{{"subscription": {json_text(subscription)}, "bindings": {bound}'
    line += ', "incomplete": true' * incomplete + ', "truncated": true' * truncated
    line += f', "data": {data}' * (data != "{}") + "}"
    return MatchText(subscription, line, bound, data, incomplete, truncated)


def _bindings_text(bindings: list[dict[str, Any]]) -> str:
    """Returns the JSON of assignments, which is soon made by hand."""
    each = (
        ", ".join([f"{json_text(name)}: {_scalar_text(value)}" for name, value in one.items()])
        for one in bindings
    )
    return "[{" + "}, {".join(each) + "}]" if bindings else "[]"


def _scalar_text(value: Any) -> str:
    return repr(value) if type(value) is int else json_text(value)


_EMPTY = _text("", [], "{}")


def kept_of(event: Event, names: Iterable[str]) -> dict[str, Any]:
    """Returns some attributes of an event that it has, scalars and arrays of scalars."""
    found: dict[str, Any] = {}
    for name in names:
        value = event.scalar(name)
        array = event.array(name) if value is None else None
        if value is not None or array is not None:
            found[name] = value if array is None else list(array)
    return found
