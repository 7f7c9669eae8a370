"""Derives what follows from triples: forward chaining that starts from new triples only.

A closure may stand on another one, that of the ontology, which it never changes: then it holds only
what an event adds, and a rule is looked at only when a new triple stands in its body.
Invariant: when `close` returns, every rule is satisfied by the triples of both together.
Cost: O(new triples and what their rules join); nothing of the ontology is walked or copied, unless
an event says that two of its terms are the same (then triples are found by term, indexed once).
A closure that stands on nothing is of one thread; once closed it may be read by any number.
"""

from __future__ import annotations

import itertools
import math
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Mapping

from tamis_operators.reasoner import rules
from tamis_operators.reasoner.compiling import Fire, RuleSet, Triple, compiled
from tamis_operators.reasoner.lists import ListAxioms
from tamis_operators.reasoner.terms import Terms
from tamis_operators.reasoner.vocabulary import (
    AT_MOST_NONE,
    AT_MOST_NONE_OF,
    AT_MOST_ONE,
    AT_MOST_ONE_OF,
    INTERNAL,
    MAX_CARDINALITY,
    MAX_QUALIFIED_CARDINALITY,
    PROPERTY,
    SAME,
    SAME_AS,
    TYPE,
)

PROGRAMS = {"none": RuleSet(), "rdfs": compiled(rules.RDFS), "owl-rl": compiled(rules.OWL_RL)}

_NONE: frozenset[int] = frozenset()
_NOTHING: Mapping[int, set[int]] = {}
_PENDING = 10
_CARDINALITIES = {
    (MAX_CARDINALITY, 0): AT_MOST_NONE,
    (MAX_CARDINALITY, 1): AT_MOST_ONE,
    (MAX_QUALIFIED_CARDINALITY, 0): AT_MOST_NONE_OF,
    (MAX_QUALIFIED_CARDINALITY, 1): AT_MOST_ONE_OF,
}


class TripleContradictionError(Exception):
    """Triples that cannot all be true: the words of the rule, and the terms in them."""

    def __init__(self, words: str, terms: Mapping[str, int]) -> None:
        super().__init__(words)
        self.words = words
        self.terms = terms


class TooManyError(Exception):
    """More consequences than are allowed."""


class TooLongError(Exception):
    """Consequences that take longer than is allowed."""


class Closure:
    """Triples and what follows from them, over those of `base`.

    The regime is `none`, `rdfs` or `owl-rl`. At most `most` triples follow, within `seconds`."""

    def __init__(
        self,
        regime: str,
        terms: Terms,
        base: Closure | None = None,
        most: int | None = None,
        seconds: float | None = None,
    ) -> None:
        self.regime = regime
        self.program = PROGRAMS[regime]
        self.terms = terms
        self.base = base
        self.pending: list[Triple] = []
        self.count = 0
        self.by_predicate: dict[int, dict[int, set[int]]] = {}
        self.by_object: dict[int, dict[int, set[int]]] = {}
        self.for_property: dict[int, list[Fire]] = {}
        self.for_class: dict[int, list[Fire]] = {}
        self.lists: ListAxioms = ListAxioms(None if base is None else base.lists)
        self._most = most
        self._most_pending = sys.maxsize if most is None else _PENDING * most
        self._ends = math.inf if seconds is None else time.monotonic() + seconds
        self._some_same: bool = base is not None and base._some_same
        self._seen: set[int] = set()
        self._touching: dict[int, list[Triple]] | None = None
        self._lock = threading.Lock()

    # reading

    def has(self, subject: int, predicate: int, object: int) -> bool:
        """Returns whether a triple is known."""
        if object in self.by_predicate.get(predicate, _NOTHING).get(subject, _NONE):
            return True
        base = self.base
        return base is not None and base.has(subject, predicate, object)

    def objects(self, subject: int, predicate: int) -> Iterable[int]:
        """Returns the objects that a subject is related to."""
        own = self.by_predicate.get(predicate, _NOTHING).get(subject, _NONE)
        if self.base is None:
            return own
        return _both(own, self.base.by_predicate.get(predicate, _NOTHING).get(subject, _NONE))

    def subjects(self, predicate: int, object: int) -> Iterable[int]:
        """Returns the subjects that are related to an object."""
        own = self.by_object.get(predicate, _NOTHING).get(object, _NONE)
        if self.base is None:
            return own
        return _both(own, self.base.by_object.get(predicate, _NOTHING).get(object, _NONE))

    def pairs(self, predicate: int) -> Iterator[tuple[int, int]]:
        """Yields everything that a predicate relates."""
        for layer in self._layers():
            for subject, objects in layer.by_predicate.get(predicate, _NOTHING).items():
                for object in objects:
                    yield subject, object

    def loops(self, predicate: int) -> Iterator[int]:
        """Yields the terms that a predicate relates with themselves."""
        return (subject for subject, object in self.pairs(predicate) if subject == object)

    def predicates(self) -> set[int]:
        """Returns the predicates of all triples."""
        return {predicate for layer in self._layers() for predicate in layer.by_predicate}

    def own(self) -> Iterator[Triple]:
        """Yields the triples of this closure alone."""
        for predicate, objects_of in self.by_predicate.items():
            if predicate not in INTERNAL:
                for subject, objects in objects_of.items():
                    for object in objects:
                        yield subject, predicate, object

    def _layers(self) -> tuple[Closure, ...]:
        return (self,) if self.base is None else (self.base, self)

    # closing

    def add(self, triple: Triple) -> None:
        """Takes a triple that a rule derives; it is looked at later.

        Bounded, for a single rule may join everything with everything."""
        self.pending.append(triple)
        if len(self.pending) > self._most_pending:
            raise TooManyError

    def tick(self) -> None:
        """Ends what takes too long; called wherever a join may go on without a new triple."""
        if time.monotonic() > self._ends:
            raise TooLongError

    def contradict(self, words: str, terms: Mapping[str, int]) -> None:
        """Raises the contradiction that a rule has found."""
        raise TripleContradictionError(words, terms)

    def close(self, triples: Iterable[Triple]) -> None:
        """Adds triples and everything that follows."""
        self.pending.extend(triples)
        while self.pending:
            self._drain()
            self.lists.read(self)

    def _drain(self) -> None:
        pending, base = self.pending, self.base
        most = self._most
        while pending:
            self.tick()
            subject, predicate, object = triple = pending.pop()
            known = self.by_predicate.setdefault(predicate, {}).setdefault(subject, set())
            if object in known or (base is not None and base.has(*triple)):
                continue
            known.add(object)
            self.by_object.setdefault(predicate, {}).setdefault(object, set()).add(subject)
            self.count += 1
            if most is not None and self.count > most:
                raise TooManyError
            self._note_guards(subject, predicate, object)
            self._fire(subject, predicate, object)

    def _note_guards(self, subject: int, predicate: int, object: int) -> None:
        """Notes the functions that the triple makes worth trying for a predicate or a class."""
        for guard in self.program.guards.get(predicate, ()):
            named, other = (subject, object) if guard.subject else (object, subject)
            if guard.other is None or guard.other == other:
                table = self.for_class if guard.of_class else self.for_property
                functions = table.setdefault(named, [])
                if guard.fire not in functions:
                    functions.append(guard.fire)

    def _fire(self, subject: int, predicate: int, object: int) -> None:
        for fire in self.program.by_predicate.get(predicate, ()):
            fire(self, subject, predicate, object)
        if predicate in INTERNAL:
            if predicate == SAME:
                self._some_same = True
                self._replace_everywhere(subject, object)
            return
        for layer in self._layers():
            for fire in layer.for_property.get(predicate, ()):
                fire(self, subject, predicate, object)
            for fire in layer.for_class.get(object, ()) if predicate == TYPE else ():
                fire(self, subject, predicate, object)
        for fire in self.program.by_type.get(object, ()) if predicate == TYPE else ():
            fire(self, subject, predicate, object)
        if self.regime == "owl-rl":
            self.lists.note(subject, predicate, object)
            self._bound(subject, predicate, object)
            self._equal(subject, predicate, object)
        elif self.regime == "rdfs" and self._is_new(predicate):
            self.pending.append((predicate, TYPE, PROPERTY))  # rdf1

    def _bound(self, subject: int, predicate: int, object: int) -> None:
        """Reads the greatest number of a restriction from its literal: rules speak of 0 and 1."""
        if predicate in (MAX_CARDINALITY, MAX_QUALIFIED_CARDINALITY):
            most = _CARDINALITIES.get((predicate, self.terms.cardinality(object)))
            if most is not None:
                self.add((subject, most, subject))

    # equality: eq-ref and eq-rep

    def _equal(self, subject: int, predicate: int, object: int) -> None:
        for term in (subject, predicate, object):
            if self._is_new(term):
                self.add((term, SAME_AS, term))
        if self._touching is not None:
            _touch(self._touching, (subject, predicate, object))
        if self._some_same:
            for other in self.objects(subject, SAME):
                self.add((other, predicate, object))
            for other in self.objects(object, SAME):
                self.add((subject, predicate, other))
            for other in self.objects(predicate, SAME):
                if not self.terms.is_literal(other):
                    self.add((subject, other, object))

    def _is_new(self, term: int) -> bool:
        """Returns whether a term is seen for the first time."""
        if term in self._seen or (self.base is not None and term in self.base._seen):
            return False
        self._seen.add(term)
        return True

    def _replace_everywhere(self, term: int, other: int) -> None:
        """Whatever is said of a term is said of the other one."""
        for layer in self._layers():
            for subject, predicate, object in layer._touched(term):
                if subject == term:
                    self.add((other, predicate, object))
                if object == term:
                    self.add((subject, predicate, other))
                if predicate == term and not self.terms.is_literal(other):
                    self.add((subject, other, object))

    def _touched(self, term: int) -> Iterable[Triple]:
        """Returns the triples of this layer that a term stands in."""
        if self._touching is None:
            with self._lock:
                if self._touching is None:
                    touching: dict[int, list[Triple]] = {}
                    for triple in self.own():
                        _touch(touching, triple)
                    self._touching = touching
        return self._touching.get(term, ())


def _touch(touching: dict[int, list[Triple]], triple: Triple) -> None:
    for term in set(triple):
        touching.setdefault(term, []).append(triple)


def _both(own: Iterable[int], base: Iterable[int]) -> Iterable[int]:
    if not base:
        return own
    return itertools.chain(own, base) if own else base
