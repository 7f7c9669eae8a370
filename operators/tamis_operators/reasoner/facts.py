"""Prepares what an event says, with all that follows from it and the ontology: once for all.

Facts are Turtle text, the path of an RDF file (`tamis.event.is_facts_path` tells which), or a graph
of rdflib. Facts that contradict the ontology are a failure, so that what is asked of them is
unknown and not false: from a contradiction everything would follow.
Cost: parsing, and the facts' own consequences; nothing of the ontology is walked.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import pyoxigraph as ox

from tamis import Operator, Sample, Specification
from tamis.kit import Scalar, is_facts_path, kind_of
from tamis_operators.reasoner.closing import (
    Closure,
    TooLongError,
    TooManyError,
    TripleContradictionError,
)
from tamis_operators.reasoner.documents import DocumentError, converted, parsed, read_file
from tamis_operators.reasoner.graphs import is_graph
from tamis_operators.reasoner.knowledge import (
    RESERVED,
    Knowledge,
    datatypes_of,
    first_consequences,
    knowledge,
    numbered,
    told,
    visible,
)
from tamis_operators.reasoner.names import Node
from tamis_operators.reasoner.settings import ReasonerSettings
from tamis_operators.reasoner.sparql import Dataset
from tamis_operators.reasoner.terms import Term, Terms, literals_by_value


class FactsError(ValueError):
    """Facts that cannot be read, contradict the ontology, or are too many."""


class Facts:
    """The facts of an event, and what follows from them."""

    def __init__(self, known: Knowledge, terms: Terms, closure: Closure) -> None:
        self.knowledge = known
        self.terms = terms
        self.closure = closure
        self._dataset: Dataset | None = None
        self._literals: dict[tuple[int, Scalar], list[int]] | None = None
        self._lock = threading.Lock()

    @property
    def dataset(self) -> Dataset:
        """The same for SPARQL, made when it is first asked for."""
        with self._lock:
            if self._dataset is None:
                triples = visible(self.closure, self.terms)
                self._dataset = self.knowledge.datasets.dataset(triples, self)
            return self._dataset

    def number(self, node: Node) -> int | None:
        """Returns the number of a node, `None` where nothing says anything of it."""
        known = self.terms.known(node)
        if known is None and isinstance(node, ox.BlankNode) and node.value.startswith(RESERVED):
            return self.knowledge.terms.known(node)
        return known

    def scalar(self, number: int) -> Scalar | None:
        """Returns a term in a solution; `None` of what queries do not see."""
        term = self.terms.term(number)
        return None if term is None else self.knowledge.names.scalar(term)

    def is_node(self, number: int) -> bool:
        """Returns whether a term can be a subject: an IRI or a blank node."""
        return not self.terms.is_literal(number) and self.terms.term(number) is not None

    def is_iri(self, number: int) -> bool:
        """Returns whether a term is an IRI: then it can be a predicate."""
        return isinstance(self.terms.term(number), ox.NamedNode)

    def literals(self, value: Scalar) -> Iterable[int]:
        """Returns the literals that are a scalar in solutions."""
        with self._lock:
            if self._literals is None:
                self._literals = literals_by_value(self.terms)
        key = (kind_of(value), value)
        return (*self.knowledge.literals.get(key, ()), *self._literals.get(key, ()))


class FactsOperator(Operator):
    """An operator over the facts of an event."""

    tried: tuple[Sample, ...]
    """Samples of the bundled ontology."""

    def __init__(self, settings: ReasonerSettings, specification: Specification) -> None:
        self.settings = settings
        self.specification = specification

    @property
    def known(self) -> Knowledge:
        """The ontology, and what follows from it."""
        return knowledge(self.settings)

    def samples(self) -> Iterable[Sample]:
        """Returns samples of the bundled ontology, where that is the one."""
        return self.tried if self.settings.is_bundled else ()


def prepared_facts(settings: ReasonerSettings, event: Mapping[str, Any]) -> Facts:
    """Returns the preparation of every operator of the reasoner."""
    known = knowledge(settings)
    return closed(known, _triples(known, event["facts"]))


def closed(known: Knowledge, triples: Iterable[tuple[Term, Term, Term]]) -> Facts:
    """Triples with all that follows from them and the ontology."""
    settings = known.settings
    terms = Terms(known.terms)
    numbers = numbered(triples, terms)
    bounds = settings.most_consequences, settings.seconds
    closure = Closure(settings.regime, terms, known.closure, *bounds)
    try:
        closure.close(numbers)
        closure.close(first_consequences(numbers, terms, settings.regime))
        if settings.regime == "owl-rl":
            closure.close(datatypes_of(numbers, terms, known.datatypes)[1])
    except TripleContradictionError as contradiction:
        words = told(contradiction, terms, known.names)
        raise FactsError(f"the facts are inconsistent: {words}") from None
    except TooManyError:
        raise FactsError(
            f"more than {settings.most_consequences:,} triples follow from the facts"
        ) from None
    except TooLongError:
        raise FactsError(
            f"what follows from the facts takes longer than {settings.seconds:g} s"
        ) from None
    return Facts(known, terms, closure)


def _triples(known: Knowledge, facts: object) -> Iterator[tuple[Term, Term, Term]]:
    """Yields the triples of an event's facts."""
    settings = known.settings
    what = "the facts"
    try:
        if is_graph(facts):
            yield from converted(facts, what, settings.most_triples, _own_label)
            return
        if not isinstance(facts, str):
            kind = type(facts).__name__
            raise FactsError(f"facts are Turtle text, a path or a graph of rdflib, not {kind}")
        text, format = facts, "turtle"
        if is_facts_path(facts):
            text, format = read_file(facts, settings.most_bytes)
        elif len(facts.encode("utf-8", "surrogatepass")) > settings.most_bytes:
            raise FactsError(f"the facts have more than {settings.most_bytes:,} bytes")
        document = parsed(
            text, format, what, known.prefixes, settings.most_triples, rename=_own_label
        )
    except DocumentError as failure:
        raise FactsError(str(failure)) from None
    yield from document.triples


def _own_label(label: str) -> str:
    if label.startswith(RESERVED):
        raise FactsError(f"the blank node _:{label} is the ontology's own: name it otherwise")
    return label
