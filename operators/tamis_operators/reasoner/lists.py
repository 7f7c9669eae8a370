"""Reads axioms with lists, each when its list is there, as triples or functions.

Intersections, chains and keys become functions that the classes and properties in them trigger;
unions, enumerations and what is pairwise different or disjoint become triples. Where equality gives
a place of a list several values, one of them stands for all, for they share every consequence; but
where members are told apart all values count.
Cost: O(members) once an axiom; pairs for what is pairwise different.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING

from tamis_operators.reasoner import vocabulary as v
from tamis_operators.reasoner.compiling import Triple
from tamis_operators.reasoner.vocabulary import SAME_AS, SUBCLASS, TYPE

if TYPE_CHECKING:
    from tamis_operators.reasoner.closing import Closure

Places = tuple[tuple[int, ...], ...]
Axiom = tuple[int, int, Places]

_HEADS = (
    v.INTERSECTION_OF,
    v.UNION_OF,
    v.ONE_OF,
    v.PROPERTY_CHAIN,
    v.HAS_KEY,
    v.MEMBERS,
    v.DISTINCT_MEMBERS,
)
_PAIRWISE = {
    v.ALL_DIFFERENT: ((v.MEMBERS, v.DISTINCT_MEMBERS), v.DIFFERENT),
    v.ALL_DISJOINT_CLASSES: ((v.MEMBERS,), v.DISJOINT),
    v.ALL_DISJOINT_PROPERTIES: ((v.MEMBERS,), v.PROPERTIES_DISJOINT),
}
_BY_MEMBER: dict[int, Callable[[int, int], Triple]] = {
    v.UNION_OF: lambda owner, member: (member, SUBCLASS, owner),
    v.ONE_OF: lambda owner, member: (member, TYPE, owner),
    v.INTERSECTION_OF: lambda owner, member: (owner, SUBCLASS, member),
}
_TRIGGERS = frozenset((*_HEADS, v.FIRST, v.REST))


class ListAxioms:
    """The axioms with lists that a closure has read.

    It holds no closure, so that those of events go with their last reference."""

    def __init__(self, base: ListAxioms | None) -> None:
        self._base = base
        self._read: set[Axiom] = set()
        self._dirty = False

    def note(self, subject: int, predicate: int, object: int) -> None:
        """Notes a triple that may be part of a list or of an axiom with one."""
        if predicate in _TRIGGERS or (predicate == TYPE and object in _PAIRWISE):
            self._dirty = True

    def read(self, closure: Closure) -> None:
        """Reads what was not read yet; what follows is pending then."""
        if not self._dirty:
            return
        self._dirty = False
        for head in _HEADS:
            for owner, first in list(closure.pairs(head)):
                closure.tick()
                places = tuple(self._places(closure, first))
                if places:
                    self._take(closure, head, owner, places)

    def _take(self, closure: Closure, head: int, owner: int, places: Places) -> None:
        if head in (v.MEMBERS, v.DISTINCT_MEMBERS):
            for kind, (heads, relation) in _PAIRWISE.items():
                if head in heads and closure.has(owner, TYPE, kind):
                    self._once(closure, (relation, owner, places))
        else:
            self._once(closure, (head, owner, tuple(place[:1] for place in places)))

    def _once(self, closure: Closure, axiom: Axiom) -> None:
        if axiom in self._read or (self._base is not None and axiom in self._base._read):
            return
        self._read.add(axiom)
        head, owner, places = axiom
        members = tuple(place[0] for place in places)
        if head in _BY_MEMBER:
            for member in members:
                closure.add(_BY_MEMBER[head](owner, member))
            if head == v.INTERSECTION_OF:
                self._intersection(closure, owner, members)
        elif head == v.PROPERTY_CHAIN:
            self._chain(closure, owner, members)
        elif head == v.HAS_KEY:
            self._key(closure, owner, members)
        else:
            for one, other in itertools.combinations(places, 2):
                for left, right in itertools.product(one, other):
                    if left != right or head != v.DIFFERENT:
                        closure.add((left, head, right))

    def _places(self, closure: Closure, node: int) -> Iterator[tuple[int, ...]]:
        """Yields the values of each place of a list; a list that bites its tail ends there."""
        passed: set[int] = set()
        while node != v.NIL and node not in passed:
            passed.add(node)
            values = tuple(sorted(closure.objects(node, v.FIRST)))
            if values:
                yield values
            rest = min(closure.objects(node, v.REST), default=None)
            if rest is None:
                return
            node = rest

    def _intersection(self, closure: Closure, owner: int, members: tuple[int, ...]) -> None:
        for member in set(members):
            closure.for_class.setdefault(member, []).append(partial(_intersected, owner, members))
        for subject in list(closure.subjects(TYPE, members[0])):
            _intersected(owner, members, closure, subject, TYPE, members[0])

    def _chain(self, closure: Closure, owner: int, members: tuple[int, ...]) -> None:
        for place, member in enumerate(members):
            linked = partial(_linked, owner, members, place)
            closure.for_property.setdefault(member, []).append(linked)
        for subject, object in list(closure.pairs(members[0])):
            _linked(owner, members, 0, closure, subject, members[0], object)

    def _key(self, closure: Closure, owner: int, members: tuple[int, ...]) -> None:
        keyed = partial(_keyed, owner, members)
        closure.for_class.setdefault(owner, []).append(keyed)
        for member in set(members):
            closure.for_property.setdefault(member, []).append(keyed)
        for subject in list(closure.subjects(TYPE, owner)):
            _keyed(owner, members, closure, subject, TYPE, owner)


def _intersected(
    owner: int, members: tuple[int, ...], closure: Closure, subject: int, _: int, __: int
) -> None:
    """cls-int1: what is in all members is in their intersection."""
    if all(closure.has(subject, TYPE, member) for member in members):
        closure.add((subject, TYPE, owner))


def _linked(
    owner: int,
    members: tuple[int, ...],
    place: int,
    closure: Closure,
    subject: int,
    _: int,
    object: int,
) -> None:
    """prp-spo2: the chains that a new triple is a link of."""
    starts, ends = {subject}, {object}
    for member in reversed(members[:place]):
        closure.tick()
        starts = {each for start in starts for each in closure.subjects(member, start)}
    for member in members[place + 1 :]:
        closure.tick()
        ends = {each for end in ends for each in closure.objects(end, member)}
    for start, end in itertools.product(starts, ends):
        closure.add((start, owner, end))


def _keyed(
    owner: int, members: tuple[int, ...], closure: Closure, subject: int, _: int, __: int
) -> None:
    """prp-key: two of a class that share a value of every key are the same."""
    if not closure.has(subject, TYPE, owner):
        return
    others: set[int] | None = None
    for member in members:
        closure.tick()
        sharing = {
            other
            for value in closure.objects(subject, member)
            for other in closure.subjects(member, value)
        }
        others = sharing if others is None else others & sharing
        if not others:
            return
    for other in others or ():
        if other != subject and closure.has(other, TYPE, owner):
            closure.add((subject, SAME_AS, other))
