"""Finds the instances of class expressions: one run of HermiT an event, for all.

The ontology is read once. For an event its facts are joined to it, every expression that was
subscribed gets a name of its own, and HermiT says who is what. An expression that was not yet known
then costs a run of its own.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterable, Sequence
from typing import Any

import pyoxigraph as ox

from tamis import ArgumentError
from tamis_operators.reasoner import class_expressions
from tamis_operators.reasoner.class_expressions import Name, TypedLiteral
from tamis_operators.reasoner.documents import documents_of
from tamis_operators.reasoner.facts import _triples as triples_of_facts
from tamis_operators.reasoner.hermit import HermitRefusalError, types_of
from tamis_operators.reasoner.knowledge import RESERVED, knowledge
from tamis_operators.reasoner.owl_document import (
    DATA,
    NOTHING,
    OBJECT,
    REMARK,
    THING,
    Triple,
    TripleWriter,
    Vocabulary,
    literal,
)
from tamis_operators.reasoner.settings import ReasonerSettings
from tamis_operators.reasoner.vocabulary import OWL, RDF, RDFS, XSD

Tree = Any
_ASKED = "urn:asked:"
_PLACE = 1
"""Of the expression among the arguments."""
_TOGETHER = 1_000
_MOST = 10_000
_MOST_COUNTED = 1_000
_QUALIFIED = {"min": "minQualifiedCardinality", "max": "maxQualifiedCardinality"}
_COUNTED = {"min": "minCardinality", "max": "maxCardinality", "exactly": "cardinality"}


class Ontology:
    """The ontology that is known before any event, and the expressions that are asked."""

    def __init__(self, settings: ReasonerSettings, timeout: float | None) -> None:
        self._timeout = timeout
        self._ontology = knowledge(settings)
        documents = documents_of(settings, RESERVED)
        self._triples = [triple for each in documents for triple in each.triples]
        self._vocabulary = Vocabulary(self._triples)
        self._composed = self._vocabulary.composed
        self._expressions: dict[Tree, None] = {}
        self._apart: set[Tree] = set()
        self._lock = threading.Lock()

    def entity(self, word: str, place: int = 0) -> str:
        """Returns the IRI that a word names; `ArgumentError` where it cannot name one."""
        node = self._ontology.names.entity_of(word, place)
        if not isinstance(node, ox.NamedNode):
            raise ArgumentError(f"{word} is a blank node, which HermiT does not name", place)
        return node.value

    def shown(self, iri: str) -> str:
        """Returns the word that names an entity."""
        return self._ontology.names.shown(iri)

    def expression(self, text: str) -> Tree:
        """Returns the tree of an expression, its names as IRIs; the next events are asked.

        `ArgumentError` says what is wrong with it."""
        try:
            tree = self._resolved(class_expressions.read(text, self._is_data))
        except class_expressions.ExpressionError as problem:
            raise ArgumentError(str(problem), _PLACE) from None
        self.expect(tree)
        return tree

    def expect(self, tree: Tree) -> None:
        """Asks the next events too; of too many the oldest are forgotten."""
        if tree not in self._expressions and tree not in self._apart:
            with self._lock:
                self._expressions[tree] = None
                while len(self._expressions) > _MOST:
                    del self._expressions[next(iter(self._expressions))]

    def ask(self, instances: Instances, trees: Iterable[Tree]) -> None:
        """Sees to it that the instances of expressions are known.

        What HermiT refuses is no more asked together with others."""
        trees = dict.fromkeys(trees)
        wanted = [tree for tree in trees if tree not in self._apart and tree not in instances]
        if wanted:
            with self._lock:  # others that may be asked as well: a run costs more than they do
                others = [
                    tree
                    for tree in self._expressions
                    if tree not in instances and tree not in trees
                ]
            instances.ask([*wanted, *others[: max(0, _TOGETHER - len(wanted))]])
        for tree in trees:
            instances.ask([tree])
        for tree in trees:
            if isinstance(instances[tree], Exception) and tree not in self._apart:
                with self._lock:
                    self._expressions.pop(tree, None)
                    if len(self._apart) < _MOST:
                        self._apart.add(tree)

    def _is_data(self, name: Name) -> bool:
        return self._vocabulary.properties.get(self._property(name).letters) == DATA

    def _property(self, name: Name) -> Name:
        return Name(self._ontology.names.property_of(name.letters, _PLACE).value)

    def _resolved(self, tree: Tree) -> Tree:
        if isinstance(tree, Name):
            if tree.letters in ("Thing", "Nothing"):
                return Name(OWL + tree.letters)
            return Name(self._ontology.names.class_of(tree.letters, _PLACE).value)
        head, *rest = tree
        if head in ("and", "or", "not"):
            return (head, *(self._resolved(each) for each in rest))
        if head == "in":
            return (head, *(self._one(each) for each in rest))
        (kind, name), *rest = rest
        way = (kind, self._property(name))
        if head in _COUNTED and rest[0] > _MOST_COUNTED:
            raise ArgumentError(f"{head} counts to at most {_MOST_COUNTED:,}", _PLACE)
        if (head in _COUNTED or head == "self") and way[1].letters in self._composed:
            raise ArgumentError(
                f"{name.letters} is transitive or made by a chain: OWL counts no such property",
                _PLACE,
            )
        if kind != "data" and head == "value":
            rest = [self._one(rest[0])]
        elif kind != "data":
            rest = [each if isinstance(each, int) else self._resolved(each) for each in rest]
        return (head, way, *rest)

    def _one(self, name: Name) -> Name:
        return Name(self.entity(name.letters, _PLACE))

    def read(self, event: Any) -> Instances:
        """Returns the instances of all expressions that are asked, among an event's facts."""
        facts = triples_of_facts(self._ontology, event["facts"])
        with self._lock:
            expressions = list(itertools.islice(self._expressions, _TOGETHER))
        instances = Instances([*self._triples, *facts], self._timeout)
        self.ask(instances, expressions)
        return instances


class Instances:
    """The answers of HermiT about an event."""

    def __init__(self, triples: list[Triple], timeout: float | None) -> None:
        self._triples = triples
        self._timeout = timeout
        self._vocabulary = Vocabulary(triples)
        self._known: dict[Tree, frozenset[str] | Exception] = {}
        self._lock = threading.Lock()

    def __getitem__(self, tree: Tree) -> frozenset[str] | Exception:
        """Returns the IRIs of the individuals that are instances of an expression; or why not."""
        return self._known[tree]

    def __contains__(self, tree: Tree) -> bool:
        """Returns whether an expression was asked."""
        return tree in self._known

    def ask(self, trees: Iterable[Tree]) -> None:
        """Sees to it that the instances of expressions are known: one run, where all is well."""
        with self._lock:
            unknown = [tree for tree in trees if tree not in self._known]
            if unknown:
                self._known |= self._asked(unknown)

    def _asked(self, trees: Sequence[Tree]) -> dict[Tree, frozenset[str] | Exception]:
        """Returns instances; a refused group is asked by halves, if the facts are not why."""
        try:
            return {**self._instances(trees)}
        except HermitRefusalError as refusal:
            if len(trees) == 1:
                return {trees[0]: refusal}
            self._instances(())
        return self._halved(trees)

    def _halved(self, trees: Sequence[Tree]) -> dict[Tree, frozenset[str] | Exception]:
        found: dict[Tree, frozenset[str] | Exception] = {}
        middle = len(trees) // 2
        for part in (trees[:middle], trees[middle:]):
            try:
                found |= self._instances(part) if part else {}
            except HermitRefusalError as refusal:
                found |= {part[0]: refusal} if len(part) == 1 else self._halved(part)
        return found

    def _instances(self, trees: Sequence[Tree]) -> dict[Tree, frozenset[str]]:
        writer = TripleWriter()
        definitions = _Definitions(writer, self._vocabulary)
        names = [f"{_ASKED}{at}" for at in range(len(trees))]
        for name, tree in zip(names, trees, strict=True):
            definitions.vocabulary.classes.add(name)
            writer.say(writer.name(name), f"<{OWL}equivalentClass>", definitions.term(tree))
        remarks = {name for name, kind in self._vocabulary.properties.items() if kind == REMARK}
        writer.take(self._triples, remarks)
        writer.declare(definitions.vocabulary)
        types = types_of("".join(writer.lines), self._timeout)
        found = [types.get(writer.name(name).strip("<>"), ()) for name in names]
        known = self._vocabulary.individuals
        return {
            tree: frozenset(known.intersection(map(writer.iri, each)))
            for tree, each in zip(trees, found, strict=True)
        }


class _Definitions:
    """Writes expressions as OWL is written in RDF, and declares what they name."""

    def __init__(self, writer: TripleWriter, known: Vocabulary) -> None:
        self._writer = writer
        self.vocabulary = Vocabulary(())
        self.vocabulary.classes = set(known.classes)
        self.vocabulary.properties = dict(known.properties)
        self.vocabulary.individuals = set(known.individuals)

    def term(self, tree: Tree) -> str:
        """Returns the written term of a class expression."""
        if isinstance(tree, Name):
            if tree.letters not in (THING, NOTHING):
                self.vocabulary.classes.add(tree.letters)
            return self._writer.name(tree.letters)
        head, *rest = tree
        if head == "not":
            return self._node("Class", (OWL + "complementOf", self.term(rest[0])))
        if head in ("and", "or"):
            way = "intersectionOf" if head == "and" else "unionOf"
            return self._node("Class", (OWL + way, self._list([self.term(each) for each in rest])))
        if head == "in":
            return self._node("Class", (OWL + "oneOf", self._list([*map(self._one, rest)])))
        return self._restriction(head, *rest)

    def _restriction(self, head: str, way: Any, *rest: Any) -> str:
        on = (OWL + "onProperty", self._property(*way))
        data = way[0] == "data"
        filler = self._range if data else self.term
        if head == "self":
            return self._node(
                "Restriction", on, (OWL + "hasSelf", literal("true", XSD + "boolean"))
            )
        if head == "value":
            value = self._value(rest[0]) if data else self._one(rest[0])
            return self._node("Restriction", on, (OWL + "hasValue", value))
        if head in ("some", "only"):
            how = "someValuesFrom" if head == "some" else "allValuesFrom"
            return self._node("Restriction", on, (OWL + how, filler(rest[0])))
        count = literal(str(rest[0]), XSD + "nonNegativeInteger")
        if len(rest) == 1:
            return self._node("Restriction", on, (OWL + _COUNTED[head], count))
        return self._node(
            "Restriction",
            on,
            (OWL + _QUALIFIED.get(head, "qualifiedCardinality"), count),
            (OWL + ("onDataRange" if data else "onClass"), filler(rest[1])),
        )

    def _property(self, kind: str, name: Name) -> str:
        wanted = DATA if kind == "data" else OBJECT
        if self.vocabulary.properties.setdefault(name.letters, wanted) != wanted:
            raise ValueError(f"{name.letters} takes both things and literals")
        written = self._writer.name(name.letters)
        if kind == "inverse":
            return self._node(OBJECT, (OWL + "inverseOf", written))
        return written

    def _range(self, tree: Any) -> str:
        head, *rest = tree
        if head == "datatype":
            return f"<{XSD}{rest[0]}>"
        if head == "not data":
            said = (OWL + "datatypeComplementOf", self._range(rest[0]))
            return self._node(RDFS + "Datatype", said)
        if head == "one of":
            values = self._list([self._value(each) for each in rest])
            return self._node(RDFS + "Datatype", (OWL + "oneOf", values))
        facets = [self._node(None, (XSD + facet, self._value(value))) for facet, value in rest[1:]]
        return self._node(
            RDFS + "Datatype",
            (OWL + "onDatatype", f"<{XSD}{rest[0]}>"),
            (OWL + "withRestrictions", self._list(facets)),
        )

    def _one(self, name: Name) -> str:
        self.vocabulary.individuals.add(name.letters)
        return self._writer.name(name.letters)

    @staticmethod
    def _value(value: TypedLiteral) -> str:
        return literal(value.letters, XSD + value.datatype)

    def _node(self, kind: str | None, *said: tuple[str, str]) -> str:
        node = self._writer.node()
        if kind is not None:
            type_ = kind if kind.startswith("http") else OWL + kind
            self._writer.say(node, f"<{RDF}type>", f"<{type_}>")
        for predicate, object in said:
            self._writer.say(node, f"<{predicate}>", object)
        return node

    def _list(self, terms: list[str]) -> str:
        head = f"<{RDF}nil>"
        for term in reversed(terms):
            head = self._node(None, (RDF + "first", term), (RDF + "rest", head))
        return head
