"""Maps words of a subscription to terms, and terms to the words of a solution.

A name is: the local name of a term of the ontology (`PoliceCar`); a prefixed name of its prefixes
(`'uav:PoliceCar'`); a full IRI (`'http://…'`, or `'<urn:…>'`); a blank node of the facts (`'_:b'`).
Another bare name is an entity of the ontology's own namespace, that of its empty prefix.
Invariant: the word that a solution shows for a term names that term.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

import pyoxigraph as ox

from tamis import ArgumentError
from tamis.kit import Scalar
from tamis_operators.reasoner import vocabulary as v
from tamis_operators.reasoner.closing import Closure
from tamis_operators.reasoner.terms import Term, Terms, literal_value
from tamis_operators.reasoner.vocabulary import BUILT_IN

Node = ox.NamedNode | ox.BlankNode

_LOCAL = re.compile(r"[^#/:<>\"{}|^`\\\s]+")
_SCHEMES = ("urn:", "tag:", "mailto:", "tel:", "did:", "info:", "data:")
_CLASS_PLACES = {
    v.SUBCLASS: "so",
    v.EQUIVALENT_CLASS: "so",
    v.DISJOINT_WITH: "so",
    v.COMPLEMENT_OF: "so",
    v.DOMAIN: "o",
    v.RANGE: "o",
    v.ON_CLASS: "o",
    v.SOME_VALUES_FROM: "o",
    v.ALL_VALUES_FROM: "o",
    v.INTERSECTION_OF: "s",
    v.UNION_OF: "s",
    v.ONE_OF: "s",
    v.HAS_KEY: "s",
    v.TYPE: "o",
}
_CLASS_TYPES = (v.OWL_CLASS, v.RDFS_CLASS, v.DATATYPE)
_PROPERTY_PLACES = {
    v.SUBPROPERTY: "so",
    v.EQUIVALENT_PROPERTY: "so",
    v.PROPERTY_DISJOINT_WITH: "so",
    v.INVERSE_OF: "so",
    v.DOMAIN: "s",
    v.RANGE: "s",
    v.ON_PROPERTY: "o",
    v.PROPERTY_CHAIN: "s",
}
_PROPERTY_TYPES = (
    v.PROPERTY,
    v.OBJECT_PROPERTY,
    v.DATATYPE_PROPERTY,
    v.ANNOTATION_PROPERTY,
    v.FUNCTIONAL,
    v.INVERSE_FUNCTIONAL,
    v.SYMMETRIC,
    v.ASYMMETRIC,
    v.TRANSITIVE,
    v.IRREFLEXIVE,
)


class TermNames:
    """The names of an ontology's terms."""

    def __init__(self, terms: Terms, closure: Closure, prefixes: Mapping[str, str]) -> None:
        self.prefixes = {**BUILT_IN, **prefixes}
        self._classes = _own(terms, _placed(closure, _CLASS_PLACES, _CLASS_TYPES))
        properties = _placed(closure, _PROPERTY_PLACES, _PROPERTY_TYPES) | closure.predicates()
        self._properties = _own(terms, properties)
        self._everything = _own(terms, range(len(terms)))
        self._class_names = _by_local(self._classes)
        self._property_names = _by_local(self._properties)
        self._names = _by_local(self._everything)
        vocabulary = self._classes | self._properties
        self._namespaces = {_split(iri)[0] for iri in vocabulary}
        self.namespace = prefixes.get("") or _commonest(vocabulary)
        by_length = sorted(self.prefixes.items(), key=lambda each: (-len(each[1]), each[0]))
        self._by_length = [(prefix, iri) for prefix, iri in by_length if iri]
        self._shown: dict[str, str] = {}

    # from words to terms

    def class_of(self, word: Scalar, place: int) -> ox.NamedNode:
        """Returns the class that a word names; `ArgumentError` where it names none."""
        return self._term("class", word, self._class_names, self._classes, place)

    def property_of(self, word: Scalar, place: int) -> ox.NamedNode:
        """Returns the property that a word names; `ArgumentError` where it names none."""
        return self._term("property", word, self._property_names, self._properties, place)

    def _term(
        self,
        kind: str,
        word: Scalar,
        names: Mapping[str, list[str]],
        known: set[str],
        place: int,
    ) -> ox.NamedNode:
        if not isinstance(word, str):
            raise ArgumentError(f"a {kind} is a name, not {word!r}", place)
        iri = self._iri(word, place)
        if iri is None:
            found = names.get(word, [])
            if not found:
                raise ArgumentError.unknown(kind, word, names, place)
            return ox.NamedNode(self._only(word, found, place))
        namespace, local = _split(iri)
        if iri not in known and namespace in self._namespaces:
            near = [self.shown(each) for each in known if _split(each)[0] == namespace]
            if not word.startswith("<") and ":" in word and "://" not in word:
                prefix = word.partition(":")[0]
                near = [
                    f"{prefix}:{_split(each)[1]}" for each in known if each.startswith(namespace)
                ]
                raise ArgumentError.unknown(kind, word, near, place)
            raise ArgumentError(
                str(ArgumentError.unknown(kind, local, near)).replace(repr(local), repr(word), 1),
                place,
            )
        return _node(iri, word, place)

    def entity_of(self, word: Scalar, place: int) -> Node:
        """Returns the entity that a word names: events may bring their own, so any name is one."""
        if not isinstance(word, str):
            raise ArgumentError(f"an entity is a name, not {word!r}", place)
        if word.startswith("_:"):
            try:
                return ox.BlankNode(word[2:])
            except ValueError:
                raise ArgumentError(f"{word!r} names no blank node", place) from None
        iri = self._iri(word, place)
        if iri is None:
            found = self._names.get(word, [])
            if found:
                return ox.NamedNode(self._only(word, found, place))
            if self.namespace is None:
                raise ArgumentError(
                    f"{word!r} is in no namespace, for the ontology has none: "
                    "write a full IRI, 'http://…'",
                    place,
                )
            iri = self.namespace + word
        return _node(iri, word, place)

    def object_of(self, word: Scalar, place: int) -> Node | None:
        """Returns the entity that a word may name beside the literals of its text."""
        if not isinstance(word, str):
            return None
        named = _LOCAL.fullmatch(word) or word.startswith("_:")
        if not named and self._expanded(word) is None:
            return None
        try:
            return self.entity_of(word, place)
        except ArgumentError:
            if word in self._names:
                raise
            return None

    def _iri(self, word: str, place: int) -> str | None:
        """Returns the IRI that a word is or stands for; `None` of a bare name."""
        iri = self._expanded(word)
        if iri is not None or ":" not in word:
            return iri
        prefix = word.partition(":")[0]
        raise ArgumentError.unknown("prefix", prefix, self.prefixes, place)

    def _expanded(self, word: str) -> str | None:
        if word.startswith("<") and word.endswith(">"):
            return word[1:-1]
        if "://" in word:
            return word
        prefix, colon, local = word.partition(":")
        if colon and prefix in self.prefixes:
            return self.prefixes[prefix] + local
        return word if word.lower().startswith(_SCHEMES) else None

    def _only(self, word: str, found: list[str], place: int) -> str:
        if len(found) == 1:
            return found[0]
        candidates = ", ".join(f"'{self.shown(iri)}'" for iri in sorted(found))
        raise ArgumentError(f"{word} is ambiguous: write one of {candidates}", place)

    def in_rules(self, places: int) -> dict[str, list[str]]:
        """Returns the IRIs of classes (one place) or properties (two) by local name."""
        found: dict[str, list[str]] = {}
        for local, iris in (self._class_names if places == 1 else self._property_names).items():
            found.setdefault(local[:1].lower() + local[1:], []).extend(iris)
        return found

    # from terms to words

    def scalar(self, term: Term) -> Scalar:
        """Returns a term in a solution."""
        if isinstance(term, ox.Literal):
            return literal_value(term)
        if isinstance(term, ox.BlankNode):
            return f"_:{term.value}"
        return self.shown(term.value)

    def shown(self, iri: str) -> str:
        """Returns the shortest word that names an IRI."""
        known = self._shown.get(iri)
        if known is None:
            known = self._short(iri)
            if iri in self._everything:  # events bring any number of others
                self._shown[iri] = known
        return known

    def _short(self, iri: str) -> str:
        local = _split(iri)[1]
        if local and _LOCAL.fullmatch(local) and self._bare(local) == iri:
            return local
        for prefix, namespace in self._by_length:
            if (
                iri.startswith(namespace)
                and self._expanded(word := f"{prefix}:{iri[len(namespace) :]}") == iri
            ):
                return word
        return iri if self._expanded(iri) == iri else f"<{iri}>"

    def _bare(self, local: str) -> str | None:
        """Returns the IRI that a bare name stands for in the place of an entity."""
        found = self._names.get(local, [])
        if found:
            return found[0] if len(found) == 1 else None
        return None if self.namespace is None else self.namespace + local


def _node(iri: str, word: str, place: int) -> ox.NamedNode:
    try:
        return ox.NamedNode(iri)
    except ValueError:
        raise ArgumentError(f"{word!r} is not an IRI", place) from None


def _split(iri: str) -> tuple[str, str]:
    """Returns an IRI's namespace and local name."""
    at = max(iri.rfind("#"), iri.rfind("/"))
    at = at if at >= 0 else iri.rfind(":")
    return iri[: at + 1], iri[at + 1 :]


def _placed(closure: Closure, places: Mapping[int, str], types: Iterable[int]) -> set[int]:
    """Returns the terms in some places of an ontology's triples, or of some types."""
    found = {term for kind in types for term in closure.subjects(v.TYPE, kind)}
    for predicate, sides in places.items():
        for subject, object in closure.pairs(predicate):
            found |= {subject} if "s" in sides else set()
            found |= {object} if "o" in sides else set()
    return found


def _own(terms: Terms, numbers: Iterable[int]) -> set[str]:
    """Returns the IRIs of terms that are not of RDF, RDFS, OWL or XML Schema."""
    found = (terms.term(number) for number in numbers)
    iris = {term.value for term in found if isinstance(term, ox.NamedNode)}
    return {iri for iri in iris if not iri.startswith(tuple(BUILT_IN.values()))}


def _by_local(iris: Iterable[str]) -> dict[str, list[str]]:
    names: dict[str, list[str]] = {}
    for iri in sorted(iris):
        local = _split(iri)[1]
        if local:
            names.setdefault(local, []).append(iri)
    return names


def _commonest(iris: Iterable[str]) -> str | None:
    counts: dict[str, int] = {}
    for iri in iris:
        namespace = _split(iri)[0]
        counts[namespace] = counts.get(namespace, 0) + 1
    return max(counts, key=lambda each: (counts[each], each), default=None)
