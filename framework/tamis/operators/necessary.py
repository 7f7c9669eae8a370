"""Decides what an operator declared necessary: clauses of attributes without which it is not true.

A derived attribute is read itself, whatever keys the event has. One that cannot be made although
what it is made of is there decides nothing: the operator is called, and says what is wrong.
Cost: a look-up and a comparison a clause, up to the first that is false.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from tamis.event import Event, is_itself, plain_name
from tamis.language.comparison import ARRAY, PRESENCE
from tamis.language.predicate import AttributePredicate


class Necessary:
    """The declarations of one predicate: all hold whenever it is true, or has a solution."""

    __slots__ = ("_holds", "names", "predicates")

    def __init__(self, predicates: tuple[AttributePredicate, ...] = ()) -> None:
        self.predicates = predicates
        """As indexes have them."""
        self._holds: tuple[tuple[AttributePredicate, Callable[[Any], bool]], ...] = tuple(
            (each, each.comparison.compiled()) for each in predicates
        )
        self.names = frozenset(each.attribute for each in predicates if is_itself(each.attribute))
        """The derived attributes that are read."""

    def __bool__(self) -> bool:
        return bool(self.predicates)

    def broken(self, event: Event) -> AttributePredicate | None:
        """Returns the first declaration that is false of an event; `None` to ask the operator."""
        for predicate, holds in self._holds:
            if not holds(read(event, predicate)) and not self._is_undecided(event, predicate):
                return predicate
        return None

    def _is_undecided(self, event: Event, predicate: AttributePredicate) -> bool:
        name = predicate.attribute
        return name in self.names and event.is_undecided(name)


NOTHING = Necessary()


def read(event: Event, predicate: AttributePredicate) -> object:
    """Reads what an attribute predicate compares: a scalar, an array, or presence."""
    name, reads = predicate.attribute, predicate.comparison.reads
    if reads == ARRAY:
        return event.array(name)
    return event.present(name) if reads == PRESENCE else event.scalar(name)


def declaration_text(predicate: AttributePredicate) -> str:
    """Returns a declaration in canonical text, as its operator wrote it."""
    return replace(predicate, attribute=plain_name(predicate.attribute)).text()
