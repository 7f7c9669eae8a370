"""Writes the triples of ontology and facts for HermiT, in a form in which nothing gets lost.

HermiT's reader wants every class and property declared, and takes silently for a remark what is
not. So what a term is used as declares it, kinds of properties follow their sub-properties and
inverses, and a property that is used both with things and with literals is an error that names it.
Imports and remarks are left out. IRIs are written as numbers (`urn:n:7`): what HermiT answers is
then read without doubt. Its reader handles ASCII surely, so that other letters are escaped.
Cost: O(triples).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import pyoxigraph as ox

from tamis_operators.reasoner.vocabulary import OWL, RDF, RDFS, XSD

BUILT_IN = (RDF, RDFS, OWL, XSD)
THING, NOTHING = OWL + "Thing", OWL + "Nothing"
OBJECT, DATA, REMARK = "ObjectProperty", "DatatypeProperty", "AnnotationProperty"
_TYPE = RDF + "type"
_REMARKS = {
    *(RDFS + name for name in ("label", "comment", "seeAlso", "isDefinedBy")),
    *(
        OWL + name
        for name in (
            "imports", "versionInfo", "versionIRI", "priorVersion", "backwardCompatibleWith",
            "incompatibleWith", "deprecated",
        )
    ),
}  # fmt: skip
_CLASS_ABOVE = {
    RDFS + "subClassOf",
    *(OWL + name for name in ("disjointWith", "equivalentClass", "hasKey")),
}
_CLASS_BELOW = {
    *(RDFS + name for name in ("subClassOf", "domain", "range")),
    *(
        OWL + name
        for name in (
            "disjointWith", "equivalentClass", "onClass", "someValuesFrom", "allValuesFrom",
            "complementOf",
        )
    ),
}  # fmt: skip
_ALIKE = {RDFS + "subPropertyOf", *(OWL + name for name in ("equivalentProperty", "inverseOf"))}
_PROPERTY_ABOVE = {
    *_ALIKE,
    *(RDFS + name for name in ("domain", "range")),
    *(OWL + name for name in ("propertyDisjointWith", "propertyChainAxiom")),
}
_PROPERTY_BELOW = {*_ALIKE, *(OWL + name for name in ("propertyDisjointWith", "onProperty"))}
_OF_THINGS = {OWL + "inverseOf", OWL + "propertyChainAxiom"}
_LISTS = {
    OWL + "intersectionOf": "_class",
    OWL + "unionOf": "_class",
    OWL + "disjointUnionOf": "_class",
    OWL + "oneOf": "_individual",
    OWL + "distinctMembers": "_individual",
    OWL + "propertyChainAxiom": "_property",
    OWL + "hasKey": "_property",
}
_MEMBERS = {
    OWL + "AllDifferent": "_individual",
    OWL + "AllDisjointClasses": "_class",
    OWL + "AllDisjointProperties": "_property",
}
_OBJECT_KINDS = {
    OWL + each
    for each in (
        "ObjectProperty", "SymmetricProperty", "TransitiveProperty", "InverseFunctionalProperty",
        "AsymmetricProperty", "ReflexiveProperty", "IrreflexiveProperty",
    )
}  # fmt: skip
Triple = tuple[Any, Any, Any]


class Vocabulary:
    """The classes, properties of either kind, and individuals of some triples."""

    def __init__(self, triples: Iterable[Triple]) -> None:
        self.classes: set[str] = set()
        self.properties: dict[str, str] = {}
        self.individuals: set[str] = set()
        triples = list(triples)
        self._ranges = _declared(triples, RDFS + "Datatype")
        self.properties.update(dict.fromkeys(_declared(triples, OWL + REMARK), REMARK))
        self._alike: list[tuple[str, str]] = []
        self._composed: set[str] = set()
        self._wider: list[tuple[str, str]] = []
        self._used: dict[str, set[str]] = {}
        self._lists: list[tuple[Any, str]] = []
        members: list[tuple[Any, Any]] = []
        kinds: dict[Any, str] = {}
        first: dict[Any, Any] = {}
        rest: dict[Any, Any] = {}
        for subject, predicate, object in triples:
            name = predicate.value
            if name == _TYPE:
                if isinstance(object, ox.NamedNode) and object.value in _MEMBERS:
                    kinds[subject] = _MEMBERS[object.value]
                else:
                    self._typed(subject, object)
            elif name == RDF + "first":
                first[subject] = object
            elif name == RDF + "rest":
                rest[subject] = object
            elif name == OWL + "members":
                members.append((subject, object))
            elif name.startswith(BUILT_IN):
                self._said(subject, name, object)
            else:
                self._stated(subject, name, object)
        self._lists += [(head, kinds.get(subject, "_class")) for subject, head in members]
        for head, note in self._lists:
            seen: set[Any] = set()
            while head in first and head not in seen:
                seen.add(head)
                getattr(self, note)(first[head])
                head = rest.get(head)
        self.classes -= self._ranges
        self._follow()

    def _typed(self, subject: Any, object: Any) -> None:
        if not isinstance(object, ox.NamedNode) or not object.value.startswith(BUILT_IN):
            self._class(object)
            self._individual(subject)
        elif isinstance(subject, ox.NamedNode):
            name = object.value
            if name in (OWL + "Class", RDFS + "Class"):
                self._class(subject)
            elif name in _OBJECT_KINDS:
                self._is(subject, OBJECT)
                if name == OWL + "TransitiveProperty":
                    self._composed.add(subject.value)
            elif name == OWL + DATA:
                self._is(subject, DATA)
            elif name in (OWL + "FunctionalProperty", RDF + "Property"):
                self._property(subject)
            elif name in (OWL + "NamedIndividual", THING):
                self._individual(subject)

    def _said(self, subject: Any, name: str, object: Any) -> None:
        datatype = self._is_datatype(object)
        if name in _LISTS:
            self._lists.append((object, _LISTS[name]))
        if name in _CLASS_ABOVE:
            self._class(subject)
        if name in _CLASS_BELOW and not datatype:
            self._class(object)
        if name in _PROPERTY_ABOVE:
            self._property(subject)
        if name in _PROPERTY_BELOW:
            self._property(object)
        if name in (OWL + "sameAs", OWL + "differentFrom"):
            self._individual(subject)
            self._individual(object)
        if isinstance(subject, ox.NamedNode):
            self._said_of_property(subject, name, object, datatype)

    def _said_of_property(self, subject: Any, name: str, object: Any, datatype: bool) -> None:
        if name in _OF_THINGS:
            self._is(subject, OBJECT)
        if name == OWL + "propertyChainAxiom":
            self._composed.add(subject.value)
        if isinstance(object, ox.NamedNode):
            if name == RDFS + "range" and object.value != RDFS + "Resource":
                self._is(subject, DATA if datatype else OBJECT)
            if name in _ALIKE:
                self._alike.append((subject.value, object.value))
                self._wider.append((subject.value, object.value))
                if name != RDFS + "subPropertyOf":
                    self._wider.append((object.value, subject.value))

    def _stated(self, subject: Any, name: str, object: Any) -> None:
        kinds = self._used.setdefault(name, set())
        if isinstance(object, ox.Literal):
            kinds.add(DATA)
        else:
            kinds.add(OBJECT)
            if self.properties.get(name) != REMARK:
                self._individual(object)
        if self.properties.get(name) != REMARK:
            self._individual(subject)

    def _class(self, term: Any) -> None:
        if isinstance(term, ox.NamedNode) and not term.value.startswith(BUILT_IN):
            self.classes.add(term.value)

    def _individual(self, term: Any) -> None:
        if isinstance(term, ox.NamedNode) and not term.value.startswith(BUILT_IN):
            self.individuals.add(term.value)

    def _property(self, term: Any) -> None:
        if isinstance(term, ox.NamedNode) and not term.value.startswith(BUILT_IN):
            self._used.setdefault(term.value, set())

    def _is_datatype(self, term: Any) -> bool:
        return isinstance(term, ox.NamedNode) and (
            term.value.startswith(XSD)
            or term.value in self._ranges
            or term.value in (RDFS + "Literal", RDF + "PlainLiteral")
        )

    def _is(self, term: Any, kind: str) -> None:
        if isinstance(term, ox.NamedNode):
            self._set(term.value, kind)

    def _set(self, name: str, kind: str) -> None:
        if self.properties.setdefault(name, kind) != kind:
            raise ValueError(f"{name} takes both things and literals")

    def _follow(self) -> None:
        """Gives every property its kind: its own, or that of those it is like, or things."""
        for name, kinds in self._used.items():
            known = self.properties.get(name)
            if known == REMARK:
                continue
            for kind in kinds:
                if known is not None and kind != known:
                    wanted, got = (
                        ("things", "a literal") if kind == DATA else ("literals", "a thing")
                    )
                    raise ValueError(f"{name} takes {wanted}, and is used with {got}")
                self._set(name, kind)
        waiting = True
        while waiting:
            waiting = False
            for one, other in [*self._alike, *((b, a) for a, b in self._alike)]:
                if one in self.properties and other not in self.properties:
                    self.properties[other] = self.properties[one]
                    waiting = True
        for name in self._used:
            if not name.startswith(BUILT_IN):
                self.properties.setdefault(name, OBJECT)

    @property
    def composed(self) -> set[str]:
        """The properties that chains make, transitive ones too: OWL allows no counting of them."""
        found, size = set(self._composed), -1
        while len(found) > size:
            size = len(found)
            found |= {wider for narrower, wider in self._wider if narrower in found}
        return found

    def declarations(self) -> Iterator[tuple[str, str]]:
        """Yields each declared term, and what it is."""
        yield from ((name, "Class") for name in sorted(self.classes))
        yield from sorted(self.properties.items())
        yield from ((name, "NamedIndividual") for name in sorted(self.individuals))


def _declared(triples: Iterable[Triple], kind: str) -> set[str]:
    """Returns the IRIs of a type; what others mean depends on these."""
    return {
        subject.value
        for subject, predicate, object in triples
        if predicate.value == _TYPE
        and isinstance(subject, ox.NamedNode)
        and isinstance(object, ox.NamedNode)
        and object.value == kind
    }


class TripleWriter:
    """Triples as lines, their IRIs as numbers."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._iris: list[str] = []
        self.lines: list[str] = []
        self._nodes = 0

    def name(self, iri: str) -> str:
        """Returns an IRI as it is written."""
        if iri.startswith(BUILT_IN):
            return f"<{iri}>"
        number = self._numbers.get(iri)
        if number is None:
            number = self._numbers[iri] = len(self._iris)
            self._iris.append(iri)
        return f"<urn:n:{number}>"

    def iri(self, written: str) -> str:
        """Returns the IRI that was written so."""
        if not written.startswith("urn:n:"):
            return written
        return self._iris[int(written.removeprefix("urn:n:"))]

    def node(self) -> str:
        """Returns a new blank node."""
        self._nodes += 1
        return f"_:tamis{self._nodes}"

    def say(self, subject: str, predicate: str, object: str) -> None:
        """Writes a triple of terms as they are written."""
        self.lines.append(f"{subject} {predicate} {object} .\n")

    def take(self, triples: Iterable[Triple], remarks: set[str]) -> None:
        """Takes triples over, but for remarks."""
        for subject, predicate, object in triples:
            if predicate.value not in _REMARKS and predicate.value not in remarks:
                self.say(self._term(subject), self.name(predicate.value), self._term(object))

    def declare(self, vocabulary: Vocabulary) -> None:
        """Says what the terms are."""
        for name, kind in vocabulary.declarations():
            if kind != REMARK:
                self.say(self.name(name), f"<{_TYPE}>", f"<{OWL}{kind}>")

    def _term(self, term: Any) -> str:
        if isinstance(term, ox.NamedNode):
            return self.name(term.value)
        if isinstance(term, ox.Literal):
            if term.language:
                return f"{quoted(term.value)}@{term.language}"
            return literal(term.value, term.datatype.value)
        return str(term)


def literal(value: str, datatype: str) -> str:
    """Returns a literal as it is written."""
    return f"{quoted(value)}^^<{datatype}>"


def quoted(value: str) -> str:
    """Returns a text in ASCII."""
    letters = []
    for letter in value:
        code = ord(letter)
        if letter in '"\\':
            letters.append("\\" + letter)
        elif 32 <= code < 127:
            letters.append(letter)
        elif code < 0x10000:
            letters.append(f"\\u{code:04X}")
        else:
            letters.append(f"\\U{code:08X}")
    return f'"{"".join(letters)}"'
