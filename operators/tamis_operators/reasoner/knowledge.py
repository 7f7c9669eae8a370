"""Holds what is known before any event: the ontology, closed once, its names and its hierarchy.

Every operator of a process shares what was loaded for the same settings. Nothing of it changes
afterwards, but caches.
Cost: closing the bundled ontology takes some milliseconds, ten thousand triples about a second.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Set

import pyoxigraph as ox

from tamis import OperatorError
from tamis_operators.reasoner import vocabulary as v
from tamis_operators.reasoner.closing import Closure, TripleContradictionError
from tamis_operators.reasoner.compiling import Triple
from tamis_operators.reasoner.documents import DocumentError, documents_of
from tamis_operators.reasoner.names import TermNames
from tamis_operators.reasoner.settings import ReasonerSettings
from tamis_operators.reasoner.sparql import Datasets, Visible
from tamis_operators.reasoner.terms import (
    Term,
    Terms,
    datatype_numbers,
    flaw,
    literals_by_value,
)

_LOADED: dict[ReasonerSettings, Knowledge] = {}
_LOCK = threading.Lock()
RESERVED = "tamis."
"""The prefix of the ontology's blank nodes."""


class Knowledge:
    """An ontology and all that follows from it."""

    def __init__(self, settings: ReasonerSettings) -> None:
        self.settings = settings
        self.terms = Terms()
        documents = list(documents_of(settings, RESERVED))
        prefixes: dict[str, str] = {}
        for document in documents:
            prefixes = {**document.prefixes, **prefixes}
        triples = numbered(
            (triple for document in documents for triple in document.triples), self.terms
        )
        self.closure = Closure(settings.regime, self.terms)
        self.datatypes: set[int] = set()
        if settings.regime == "owl-rl":
            self.closure.close(_always())
        try:
            self.closure.close(triples)
            self.closure.close(first_consequences(triples, self.terms, settings.regime))
            if settings.regime == "owl-rl":
                self.datatypes, apart = datatypes_of(triples, self.terms)
                self.closure.close(apart)
        except TripleContradictionError as contradiction:
            names = TermNames(self.terms, self.closure, prefixes)
            raise OperatorError(
                f"the ontology is inconsistent: {told(contradiction, self.terms, names)}"
            ) from None
        self.names = TermNames(self.terms, self.closure, prefixes)
        self.prefixes = {prefix: iri for prefix, iri in self.names.prefixes.items() if iri}
        self.literals = literals_by_value(self.terms)
        self.datasets = Datasets(lambda: visible(self.closure, self.terms), self.prefixes)

    def superclasses(self, term: ox.NamedNode) -> set[int]:
        """Returns the classes that whatever is in a class is in too, itself among them."""
        return self._above(term, v.SUBCLASS)

    def superproperties(self, term: ox.NamedNode) -> set[int]:
        """Returns the properties that hold wherever a property holds, itself among them."""
        return self._above(term, v.SUBPROPERTY)

    def disjoint(self, classes: set[int]) -> set[int]:
        """Returns the classes that nothing can be in that is in any of these."""
        found: set[int] = set()
        if self.settings.regime == "owl-rl":
            for each in classes:
                for relation in (v.DISJOINT_WITH, v.DISJOINT, v.COMPLEMENT_OF):
                    found |= set(self.closure.objects(each, relation))
                    found |= set(self.closure.subjects(relation, each))
        return found

    def _above(self, term: ox.NamedNode, relation: int) -> set[int]:
        number = self.terms.known(term)
        if number is None:
            return set()
        if self.settings.regime == "none":
            return {number}
        return {number, *self.closure.objects(number, relation)}


def knowledge(settings: ReasonerSettings) -> Knowledge:
    """Returns the knowledge under these settings, loaded once a process."""
    with _LOCK:
        known = _LOADED.get(settings)
        if known is None:
            try:
                known = _LOADED[settings] = Knowledge(settings)
            except DocumentError as failure:
                raise OperatorError(f"the ontology cannot be read: {failure}") from None
        return known


def numbered(triples: Iterable[tuple[Term, Term, Term]], terms: Terms) -> list[Triple]:
    """Triples by the numbers of their terms."""
    number = terms.number
    return [
        (number(subject), number(predicate), number(object))
        for subject, predicate, object in triples
    ]


def _always() -> Iterator[Triple]:
    """cls-thing, cls-nothing1, prp-ap, dt-type1."""
    yield v.THING, v.TYPE, v.OWL_CLASS
    yield v.NOTHING, v.TYPE, v.OWL_CLASS
    yield from ((each, v.TYPE, v.ANNOTATION_PROPERTY) for each in v.ANNOTATIONS)
    yield from ((each, v.TYPE, v.DATATYPE) for each in v.DATATYPES.values())


def first_consequences(triples: Iterable[Triple], terms: Terms, regime: str) -> Iterator[Triple]:
    """Yields consequences of triples as they were given, and not of those that follow.

    rdfs4 (everything said is a resource), dt-type2 (literals have types), dt-not-type."""
    if regime == "rdfs":
        for subject, _, object in triples:
            yield subject, v.TYPE, v.RESOURCE
            yield object, v.TYPE, v.RESOURCE
    elif regime == "owl-rl":
        for number in terms.literals():
            literal = terms.term(number)
            assert isinstance(literal, ox.Literal)
            wrong = flaw(literal)
            if wrong is not None:
                raise TripleContradictionError(wrong.replace("{", "{{").replace("}", "}}"), {})
            yield from ((number, v.TYPE, each) for each in datatype_numbers(literal))
        for subject, predicate, object in triples:
            if predicate == v.TYPE and object in v.SUPERTYPES:
                yield from ((subject, v.TYPE, each) for each in v.SUPERTYPES[object])


def datatypes_of(
    triples: Iterable[Triple],
    terms: Terms,
    known: Set[int] = frozenset(),
) -> tuple[set[int], list[Triple]]:
    """Returns the further datatypes in use, and which of all are apart (dt-diff, by types)."""
    used = set(known)
    for number in terms.literals():
        literal = terms.term(number)
        if isinstance(literal, ox.Literal):
            used.update(datatype_numbers(literal))
    for _, predicate, object in triples:
        if predicate == v.TYPE and object in _ALL:
            used.update((object, *v.SUPERTYPES.get(object, ())))
    if used == known:
        return used, []
    apart = [(left, v.DISJOINT_WITH, right) for left, right in v.APART if {left, right} <= used]
    return used, apart


_ALL = frozenset(v.DATATYPES.values())


def told(contradiction: TripleContradictionError, terms: Terms, names: TermNames) -> str:
    """Returns a contradiction in words."""
    words = {}
    for variable, number in contradiction.terms.items():
        term = terms.term(number)
        words[variable] = "?" if term is None else str(names.scalar(term))
    return contradiction.words.format(**words)


def visible(closure: Closure, terms: Terms) -> Visible:
    """Yields the triples that are RDF: no literal as subject, an IRI as predicate."""
    for subject, predicate, object in closure.own():
        first, second, third = terms.term(subject), terms.term(predicate), terms.term(object)
        if first is None or third is None or isinstance(first, ox.Literal):
            continue
        if isinstance(second, ox.NamedNode):
            yield first, second, third
