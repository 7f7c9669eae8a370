"""What is accepted as a subscription: entries are checked, parsed and bound to operators.

Nothing is changed by it: what comes out can be added to a catalog. Cost: O(text) an entry.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Container, Iterable, Mapping
from typing import Any, NamedTuple

from tamis.catalog import Catalog
from tamis.catalog.resolve import Asked, Resolver, doubts
from tamis.errors import SubscriptionError, SubscriptionErrors, SubscriptionWarning
from tamis.language import Language
from tamis.nearest import did_you_mean
from tamis.operators.asking import Operators

Entry = Mapping[str, Any]


class Accepted(NamedTuple):
    """A subscription that can be added."""

    id: str
    text: str
    data: str | None
    alternatives: list[Asked]
    warnings: list[SubscriptionWarning]
    excluded: list[Asked]
    """Alternatives that their attribute predicates exclude from every event."""


class Intake:
    """The way in for subscriptions."""

    def __init__(self, language: Language, operators: Operators, catalog: Catalog) -> None:
        self.language = language
        self._operators = operators
        self._catalog = catalog
        self._numbers = itertools.count(1)

    def resolver(self) -> Resolver:
        """A resolver that knows the calls and tests of the catalog."""
        return Resolver(self._operators, self._catalog.calls.known, self._catalog.tests.known)

    def accept(self, entries: Iterable[Entry], replace: bool) -> list[Accepted]:
        """All entries, or an error that names every bad one."""
        if isinstance(entries, str):
            raise SubscriptionError(
                "subscriptions are objects with 'where', and this is text: "
                "lines of a file are read by map(json.loads, open(file))"
            )
        return _Batch(self, self._catalog.rows, list(entries), replace).accepted()

    def made_up_id(self, *taken: Container[str]) -> str:
        """An id that nobody has."""
        while True:
            id = f"subscription-{next(self._numbers)}"
            if id not in self._catalog.rows and not any(id in each for each in taken):
                return id


class _Batch:
    """Entries that are accepted together."""

    def __init__(
        self, intake: Intake, known: Container[str], entries: list[Entry], replace: bool
    ) -> None:
        self._intake = intake
        self._known = known
        self._entries = entries
        self._replace = replace
        self._resolver = intake.resolver()
        self._taken: set[str] = set()
        named = (entry.get("id") for entry in entries if isinstance(entry, Mapping))
        self._reserved = {id for id in named if isinstance(id, str)}

    def accepted(self) -> list[Accepted]:
        accepted: list[Accepted] = []
        errors: list[SubscriptionError] = []
        for entry in self._entries:
            try:
                each = self._accept(entry)
            except SubscriptionError as bad:
                errors.append(bad)
            else:
                self._taken.add(each.id)
                accepted.append(each)
        if errors:
            raise errors[0] if len(errors) == 1 else SubscriptionErrors(errors)
        return accepted

    def _accept(self, entry: Entry) -> Accepted:
        id, where, data = self._checked(entry)
        resolver = self._resolver
        try:
            condition = self._intake.language.parse(
                where, lambda leaves, several: resolver.check(leaves, where, several=several)
            )
            asked = [resolver.resolve(each, where) for each in condition.alternatives]
        except SubscriptionError as bad:
            raise bad.of(id) from bad.__cause__
        return Accepted(
            id,
            where,
            data,
            [each for each in asked if not each.empty],
            doubts(id, condition, asked),
            [each for each in asked if each.empty],
        )

    def _checked(self, entry: Entry) -> tuple[str, str, str | None]:
        """The id, the text, and the other keys as JSON."""
        if not isinstance(entry, Mapping):
            raise SubscriptionError(f"a subscription is an object with 'where', not {entry!r:.80}")
        id = entry.get("id")
        if id is None:
            id = self._intake.made_up_id(self._taken, self._reserved)
        if not isinstance(id, str) or not id:
            raise SubscriptionError(f"the id of a subscription is a non-empty string, not {id!r}")
        if id in self._taken or (id in self._known and not self._replace):
            raise SubscriptionError(
                "this id is taken: choose another, or replace it with replace=True",
                subscription=id,
            )
        where = entry.get("where")
        if not isinstance(where, str):
            found = f"not {where!r:.80}"
            if "where" not in entry:
                found = f"and there is none{did_you_mean('where', map(str, entry))}"
            raise SubscriptionError(
                f"'where' is the text of the condition, {found}", subscription=id
            )
        rest = {key: value for key, value in entry.items() if key not in ("id", "where")}
        try:
            return id, where, json.dumps(rest, ensure_ascii=False) if rest else None
        except (TypeError, ValueError, RecursionError) as bad:
            raise SubscriptionError(
                f"the other keys of a subscription are JSON: {bad}", subscription=id
            ) from None
