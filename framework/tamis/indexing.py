"""Defines what an index promises: the rows whose attribute predicates all hold, exactly."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import partial
from os import fspath
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np

from tamis.errors import TamisError, WrongOption
from tamis.event import Event
from tamis.language.predicate import AttributePredicate
from tamis.numeric.types import Ints

Rows = Ints
Entry = tuple[int, Sequence[AttributePredicate]]


class _RowsAndChecks(NamedTuple):
    rows: Rows
    checked: int


class FoundRows(_RowsAndChecks):
    """Holds the rows that an event satisfies, and how many rows were checked to find them."""

    reads: int = 0
    """The pages that an index on disk has read."""

    def with_reads(self, reads: int) -> FoundRows:
        """Returns the same, found with so many pages read."""
        found = FoundRows(*self)
        found.reads = reads
        return found


class KeptDocument(NamedTuple):
    """A subscription that is kept with its index: as JSON, and when it ends."""

    document: str
    expires: float


class Keeper(Protocol):
    """Keeps subscriptions beside the rows of an index, over restarts."""

    @property
    def name(self) -> str:
        """The name of the index in a sentence."""

    def change(self) -> AbstractContextManager[None]:
        """Keeps all that is changed within, the rows of the index too, or nothing."""

    def read(self, holds: str) -> Sequence[KeptDocument]:
        """Returns what is kept, in the order of its coming; an error if it is of another sort."""

    def put(self, id: str | int, kept: KeptDocument, rows: Iterable[int]) -> None:
        """Keeps a subscription, whose rows are in the index."""

    def own(self, id: str | int, rows: Iterable[int]) -> None:
        """Tells which subscriptions rows belong to."""

    def renew(self, id: str | int, expires: float) -> None:
        """Changes when a subscription ends."""

    def drop(self, id: str | int) -> None:
        """Drops a subscription."""

    def close(self) -> None:
        """Releases what is kept for others; the index is not used any more."""


class Index(Protocol):
    """An index over rows: small integers that the caller chooses and may use again.

    A row without predicates satisfies every event. The caller keeps writers from readers: `match`
    may run in several threads at once, never during `insert` or `delete`. Methods that an
    index lacks are made of the others: `insert` of `build` or `build` of it, `delete` likewise."""

    takes_disjunctions: bool = False
    """True if it decides `Disjunction`s; else it gets rows without them, and they are decided
    afterwards."""
    names: Any = None
    """The ids of its rows for `tamis.index`, where the index keeps them itself."""

    keeper: Keeper | None = None
    """The keeper of subscriptions where the index outlives the program. Their rows are inserted
    again when it is opened, and may have other numbers then."""

    def beside(self) -> Index | None:
        """Returns an empty index for other rows that are not kept; `None` if any index will do."""
        return None

    def build(self, entries: Iterable[Entry]) -> None:
        """Inserts many rows at once."""
        for row, predicates in entries:
            self.insert(row, predicates)

    def build_columns(self, rows: Rows, columns: Any) -> None:
        """Builds from `tamis.index.Columns`, whose ids do not matter here."""
        self.build(zip(rows.tolist(), columns.predicates(), strict=True))

    def insert(self, row: int, predicates: Sequence[AttributePredicate]) -> None:
        """Adds a row, which must not be there."""
        self.build([(row, predicates)])

    def delete(self, row: int) -> None:
        """Removes a row, which must be there."""
        self.delete_many(np.array([row], np.int64))

    def delete_many(self, rows: Rows) -> None:
        """Removes rows, which must be there."""
        for row in rows.tolist():
            self.delete(row)

    def inform(self, statistics: Any) -> None:
        """Takes statistics of events, which never change answers."""
        return

    def match(self, event: Event) -> Rows:
        """Returns the rows whose predicates the event satisfies, each once, in any order."""

    def search(self, event: Event) -> FoundRows:
        """Returns the matches, and how many rows were checked: by default all."""
        return FoundRows(self.match(event), len(self))

    @property
    def answering(self) -> Index:
        """The index that answers alone, until rows change or it adapts: this one, or one inside."""
        return self

    @property
    def choice(self) -> str:
        """The chosen index, and why, where it is one of several; else empty."""
        return ""

    @property
    def is_restless(self) -> bool:
        """True if `adapt` has something to do; asked after every match."""
        return False

    def adapt(self) -> None:
        """Improves the index a little by the events that it saw; answers never change."""
        return

    def match_many(self, events: Sequence[Event]) -> list[Rows]:
        """Returns the same for several events."""
        return [self.match(event) for event in events]

    def reader(self, events: Sequence[Event]) -> Callable[[int], Rows]:
        """Returns a function that matches each of some events by its place; they are read once."""
        return lambda place: self.match(events[place])

    @property
    def folder(self) -> Path | None:
        """The folder in which it lives; `None` where it lives in memory, or ends with it."""
        return None

    def clear(self) -> None:
        """Removes what an earlier process left in its folder."""
        return

    def close(self) -> None:
        """Releases its folder."""
        return

    def __len__(self) -> int:
        """Counts the rows."""

    @property
    def nbytes(self) -> int:
        """The memory it holds."""

    def save(self, folder: Path) -> None:
        """Writes its arrays into an existing folder."""

    def load(self, folder: Path) -> None:
        """Loads what `save` wrote into a new index, mapping arrays rather than reading them."""


@dataclass(frozen=True)
class IndexRecord:
    """The name of an index, and where its code comes from when first needed.

    The factory takes the options of the index, if it has any, by their names."""

    name: str
    factory: Callable[..., Index]
    description: str = ""
    compile: Callable[[], object] | None = None
    """Compiles what it needs with many rows, for `tamis doctor --compile`."""

    @property
    def options(self) -> dict[str, object]:
        """Returns the options of the index with their defaults."""
        parameters = inspect.signature(self.factory).parameters.values()
        return {each.name: each.default for each in parameters}

    def made(self, options: Mapping[str, object]) -> Index:
        """Returns an empty index; `WrongOption` names an option that it does not have."""
        self._check(options)
        try:
            return self.factory(**options)
        except TamisError:
            raise
        except (TypeError, ValueError) as bad:
            raise WrongOption(f"the index {self.name}: {bad}") from bad

    def with_options(self, text: str) -> IndexRecord:
        """Returns the index with options as a text has them: `accesses=3,vector=false`."""
        options: dict[str, object] = {}
        for part in text.split(","):
            option, equals, value = part.partition("=")
            if not equals:
                raise WrongOption(
                    f"{self.name}:{text}: an option is NAME=VALUE, such as {self.name}:scan_up_to=0"
                )
            try:
                options[option.strip()] = json.loads(value)
            except ValueError:
                options[option.strip()] = value.strip()
        self._check(options)
        return replace(self, factory=partial(self.factory, **options))

    def _check(self, options: Mapping[str, object]) -> None:
        known = self.options
        for option in options:
            if option not in known:
                takes = f"it takes {', '.join(known)}" if known else "it takes none"
                raise WrongOption(f"the index {self.name} has no option {option!r}: {takes}")


def spelled(name: str, options: Mapping[str, object]) -> str:
    """Returns an index with its options as a text: `psthash:accesses=3`."""
    parts = ",".join(
        f"{option}={json.dumps(value, default=fspath)}" for option, value in options.items()
    )
    return f"{name}:{parts}" if parts else name
