"""Accepts subscriptions: entries are checked, parsed and bound to operators.

Nothing is changed by it: what comes out can be added to a catalog. Cost: O(text) an entry.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from tamis.catalog.catalog import DELIVER, Catalog
from tamis.catalog.resolve import Doubt, ResolvedAlternative, Resolver, doubts
from tamis.errors import NeverMatches, SubscriptionError, SubscriptionErrors, SubscriptionWarning
from tamis.event.types import EventType
from tamis.language.condition import Condition, Language
from tamis.language.normal import Leaf
from tamis.language.policies import Policy, policies_of
from tamis.language.predicate import OperatorPredicate
from tamis.nearest import nearest
from tamis.operators import GoneOperator
from tamis.operators.asking import Operators

Entry = Mapping[str, Any]


class NewSubscription(NamedTuple):
    """A subscription that can be added."""

    id: str
    text: str
    data: str | None
    asked: list[ResolvedAlternative]
    policies: tuple[Policy, ...]
    warnings: tuple[SubscriptionWarning, ...]

    @property
    def alternatives(self) -> list[ResolvedAlternative]:
        """Its alternatives, without those that are excluded."""
        return [each for each in self.asked if not each.empty]

    @property
    def excluded(self) -> list[ResolvedAlternative]:
        """Alternatives that their attribute predicates exclude from every event."""
        return [each for each in self.asked if each.empty]


class TextReview(NamedTuple):
    """A text that was looked at: what it says, if it is read, and what there is to say of it."""

    condition: Condition | None
    errors: list[SubscriptionError]
    doubts: list[Doubt]


class Intake:
    """The way in for subscriptions."""

    def __init__(
        self,
        language: Language,
        operators: Operators,
        catalog: Catalog,
        types: Sequence[EventType] = (),
    ) -> None:
        self._types = types
        self.language = language
        self._operators = operators
        self._catalog = catalog
        self._numbers = itertools.count(1)

    def resolver(self, renewed: frozenset[str] = frozenset()) -> Resolver:
        """Returns a resolver that knows the calls and tests of the catalog; of some operators it
        takes what they refuse, as after a refresh."""
        known = self._catalog.calls.known, self._catalog.tests.known
        return Resolver(self._operators, *known, renewed)

    def resolver_again(self) -> Resolver:
        """Returns a resolver for texts that were accepted before: what operators whose sources
        change refuse by now is unknown, with that reason."""
        return self.resolver(self._operators.renewable)

    def renewed(self, operators: Operators, names: frozenset[str]) -> list[NewSubscription]:
        """Returns the subscriptions that call some operators, bound to them as they are now."""
        catalog = self._catalog
        resolver = Resolver(
            operators,
            lambda key: None if key[0] in names else catalog.calls.known(key),
            lambda key: None if key[0] in names else catalog.tests.known(key),
            operators.renewable,  # others may have come to refuse what can never hold
        )
        entries = []
        for id in catalog.asking_some(names):
            subscribed = catalog.subscribed(id)
            entries.append(entry_of(subscribed.text, id, subscribed.deliver, subscribed.data))
        return self.accept(entries, True, resolver)

    def accept(
        self, entries: Iterable[Entry], replace: bool, resolver: Resolver | None = None
    ) -> list[NewSubscription]:
        """Accepts all entries, or raises an error that names every bad one."""
        if isinstance(entries, str):
            raise SubscriptionError(
                "subscriptions are objects with 'where', and this is text: "
                "lines of a file are read by map(json.loads, open(file))"
            )
        if isinstance(entries, Mapping):
            raise SubscriptionError("subscriptions are a list, and this is a single one: pass [it]")
        listed = list(entries)
        resolver = self.resolver() if resolver is None else resolver
        named = (entry.get("id") for entry in listed if isinstance(entry, Mapping))
        reserved = {id for id in named if isinstance(id, str)}
        accepted: dict[str, NewSubscription] = {}
        errors: list[SubscriptionError] = []
        for entry in listed:
            try:
                id = self._id_of(entry, accepted, reserved, replace)
                accepted[id] = self._accepted(id, entry, resolver)
            except SubscriptionError as bad:
                errors.append(bad)
        if errors:
            raise errors[0] if len(errors) == 1 else SubscriptionErrors(errors)
        return list(accepted.values())

    def alone(self, where: str) -> NewSubscription:
        """Reads a text as if nothing else were subscribed: its calls and tests are its own."""
        catalog = Catalog(self.language.limits.implications)
        return Intake(self.language, self._operators, catalog).accept([{"where": where}], False)[0]

    def _id_of(
        self, entry: Entry, taken: Container[str], reserved: Container[str], replace: bool
    ) -> str:
        """Returns the id of an entry, made up where it has none."""
        id = id_of(entry)
        if id is None:
            return self.made_up_id(taken, reserved)
        if id in taken or (id in self._catalog.rows and not replace):
            raise SubscriptionError(
                "this id is taken: choose another, or replace it with replace=True",
                subscription=id,
            )
        return id

    def _accepted(self, id: str, entry: Entry, resolver: Resolver) -> NewSubscription:
        where, data = where_of(entry, id), _data_of(entry, id)
        try:
            condition = self.language.parse(where, resolver.check)
            asked = resolver.resolve_all(condition.alternatives, where)
            if resolver.met_gone:
                _check_gone(asked, where)
            policies = delivered(entry, condition)
        except SubscriptionError as bad:
            raise bad.of(id) from bad.__cause__
        found = doubts(condition, asked)
        if self._types:
            found += self._untyped(asked)
        warnings = tuple([_warning(id, each) for each in found]) if found else ()
        return NewSubscription(id, where, data, asked, policies, warnings)

    def _untyped(self, asked: Sequence[ResolvedAlternative]) -> list[Doubt]:
        """Warns of a condition that can hold for an event of no type."""
        possible = [each for each in asked if not each.never]
        if not possible or any(
            each.allows(alternative.predicates) for alternative in possible for each in self._types
        ):
            return []
        names = ", ".join(each.name for each in self._types)
        return [Doubt(f"can hold for no event type ({names})")]

    def examined(self, where: str, resolver: Resolver) -> TextReview:
        """Returns all that there is to say of a text, every error at once."""
        try:
            condition = self.language.parse(where)
        except SubscriptionError as bad:
            return TextReview(None, [bad], [])
        errors: dict[tuple[str, int | None], SubscriptionError] = {}

        def resolved(leaves: Sequence[Leaf]) -> ResolvedAlternative | None:
            try:
                return resolver.resolve(leaves, where)
            except SubscriptionError as bad:
                errors.setdefault((bad.problem, bad.position), bad)
                return None

        asked = []
        for leaves in condition.alternatives:
            asked.append(resolved(leaves))
            for leaf in leaves if asked[-1] is None else ():
                if isinstance(leaf.atom, OperatorPredicate):
                    resolved([leaf])
        return TextReview(condition, list(errors.values()), doubts(condition, asked))

    def made_up_id(self, taken: Container[str], reserved: Container[str]) -> str:
        """Returns an id that nobody has."""
        while True:
            id = f"subscription-{next(self._numbers)}"
            if id not in self._catalog.rows and id not in taken and id not in reserved:
                return id


def _check_gone(asked: Sequence[ResolvedAlternative], where: str) -> None:
    """Refuses what an operator took once and does not take any more."""
    for alternative in asked:
        for start, test in alternative.tests.items():
            if isinstance(test.call.operator, GoneOperator):
                raise SubscriptionError(test.call.operator.problem, text=where, position=start)


def entry_of(
    where: str, id: str | None, deliver: object, data: Mapping[str, Any] | None
) -> dict[str, Any]:
    """Returns the entry of a subscription that is given in parts."""
    named = {"id": id, DELIVER: deliver}
    given = {"where": where} | {name: each for name, each in named.items() if each is not None}
    if data is not None and not {"id", *given}.isdisjoint(data):
        others = "id and where" if deliver is None else f"id, where and {DELIVER}"
        raise SubscriptionError(f"data holds the other keys, not {others}", subscription=id)
    return {**(data or {}), **given}


def id_of(entry: object, text: str | None = None) -> str | None:
    """Returns the id of an entry, if it has one; `text` is the entry as it was written."""
    if not isinstance(entry, Mapping):
        shown = repr(entry) if text is None else text
        raise SubscriptionError(f"a subscription is an object with 'where', not {shown:.80}")
    id = entry.get("id")
    if id is not None and (not isinstance(id, str) or not id):
        hint = f': write "{id}"' if isinstance(id, int) and not isinstance(id, bool) else ""
        raise SubscriptionError(
            f"the id of a subscription is a non-empty string, not {id!r:.80}{hint}"
        )
    return id


def where_of(entry: Entry, id: str | None) -> str:
    """Returns the condition of an entry."""
    where = entry.get("where")
    if not isinstance(where, str):
        found = f"not {where!r:.80}"
        if "where" not in entry:
            near = nearest("where", map(str, entry))
            found = "and it is missing" + (f": write 'where', not {near!r}" if near else "")
        raise SubscriptionError(f"'where' is the text of the condition, {found}", subscription=id)
    return where


def key_doubts(entry: Entry, reserved: Sequence[str] = ("validity", DELIVER)) -> list[Doubt]:
    """Returns doubts about the keys of an entry that look like reserved ones."""
    found = []
    for key in entry:
        folded = key.casefold()
        meant = folded if folded in ("id", "where") else nearest(folded, reserved)
        if meant is not None and meant != key:
            words = f"has a key {key}, which is kept for each match: did you mean {meant}?"
            found.append(Doubt(words))
    return found


def delivered(entry: Entry, condition: Condition) -> tuple[Policy, ...]:
    """Returns the delivery policies of an entry with that condition, if it has any."""
    deliver = entry.get(DELIVER)
    if deliver is None:
        return ()
    atoms = (leaf.atom for leaves in condition.alternatives for leaf in leaves)
    asked = [atom for atom in atoms if isinstance(atom, OperatorPredicate)]
    return policies_of(deliver, {name for atom in asked for name in atom.variables})


def _data_of(entry: Entry, id: str) -> str | None:
    """Returns the other keys of an entry as JSON."""
    if len(entry) == 1:
        return None
    rest = {key: value for key, value in entry.items() if key not in ("id", "where")}
    try:
        return json.dumps(rest, ensure_ascii=False) if rest else None
    except (TypeError, ValueError, RecursionError) as bad:
        raise SubscriptionError(
            f"the other keys of a subscription are JSON: {bad}", subscription=id
        ) from None


def _warning(id: str, doubt: Doubt) -> SubscriptionWarning:
    if doubt.position is None:
        return NeverMatches(f"subscription {id!r} {doubt.problem}")
    return SubscriptionWarning(f"subscription {id!r}: column {doubt.position + 1}: {doubt.problem}")
