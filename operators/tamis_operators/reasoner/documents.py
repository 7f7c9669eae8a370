"""Reads RDF, and refuses what would reach the network or another file.

Turtle, N-Triples, RDF/XML and JSON-LD. Refused are contexts of JSON-LD that are addresses, document
types and entities of XML, named graphs, and triples about triples; `owl:imports` is not followed.
Whatever an error says names the line.
Cost: pyoxigraph's parser, a microsecond or two for a triple.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn
from xml.parsers import expat

import pyoxigraph as ox

from tamis.kit import is_address
from tamis_operators.content import open_plain
from tamis_operators.reasoner.graphs import triples_in
from tamis_operators.reasoner.settings import FORMATS, ReasonerSettings
from tamis_operators.reasoner.terms import Term

if TYPE_CHECKING:
    import rdflib

_ANONYMOUS = re.compile(r"[0-9a-f]{16,32}")
_DEEPEST = 200


class DocumentError(ValueError):
    """A document that is no RDF, or that is refused."""


@dataclass
class RdfDocument:
    """The content of a document."""

    triples: list[tuple[Term, ox.NamedNode, Term]] = field(default_factory=list)
    prefixes: dict[str, str] = field(default_factory=dict)


def read_file(path: str, most_bytes: int | None = None) -> tuple[str, str]:
    """Returns the text of a file and its format; only of plain files of a known ending."""
    if is_address(path):
        raise DocumentError(f"{path:.80} is an address, and nothing is fetched: give a file")
    format = FORMATS.get(os.path.splitext(path)[1].lower())
    if format is None:
        raise DocumentError(f"{path} is none of {', '.join(FORMATS)}")
    try:
        with open(path, "rb", opener=open_plain) as file:
            content = file.read() if most_bytes is None else file.read(most_bytes + 1)
    except OSError as failure:
        raise DocumentError(f"{path} cannot be read: {failure.strerror or failure}") from None
    if most_bytes is not None and len(content) > most_bytes:
        raise DocumentError(f"{path} has more than {most_bytes:,} bytes")
    try:
        return content.decode("utf-8-sig"), format
    except UnicodeDecodeError as failure:
        raise DocumentError(f"{path} is not UTF-8 at byte {failure.start}") from None


def files_in(path: str) -> list[str]:
    """Returns the file itself, or the RDF files of a folder and those below, sorted."""
    if not os.path.isdir(path):
        return [path]
    return sorted(str(each) for each in Path(path).rglob("*") if each.suffix.lower() in FORMATS)


def parsed(
    text: str,
    format: str,
    what: str,
    prefixes: dict[str, str] | None = None,
    most: int | None = None,
    rename: Callable[[str], str] = str,
) -> RdfDocument:
    """Parses a document; Turtle may use `prefixes` without declaring them."""
    try:
        text.encode()
    except UnicodeEncodeError as failure:
        letter = text[failure.start]
        raise DocumentError(f"{what}: {letter!r} is half of a letter") from None
    _REFUSALS.get(format, _take)(text, what)
    head = "" if format != "turtle" else _declared(prefixes or {})
    document = RdfDocument()
    parser = None
    labels = _Labels(rename)
    try:
        parser = ox.parse(head + text, _KINDS[format], without_named_graphs=True, base_iri=None)
        for quad in parser:
            subject, predicate, object = quad.subject, quad.predicate, quad.object
            if isinstance(subject, ox.Triple) or isinstance(object, ox.Triple):
                raise DocumentError(f"{what}: triples about triples are not read")
            if isinstance(subject, ox.BlankNode):
                subject = labels.of(subject)
            if isinstance(object, ox.BlankNode):
                object = labels.of(object)
            document.triples.append((subject, predicate, object))
            if most is not None and len(document.triples) > most:
                raise DocumentError(f"{what} have more than {most:,} triples")
    except SyntaxError as failure:
        raise DocumentError(_told(failure, what, len(head))) from None
    except ValueError as failure:
        if isinstance(failure, DocumentError):
            raise
        raise DocumentError(f"{what}: {failure}") from None
    document.prefixes = dict(parser.prefixes)
    return document


def converted(
    graph: rdflib.Graph, what: str, most: int, rename: Callable[[str], str] = str
) -> Iterator[tuple[Term, ox.NamedNode, Term]]:
    """Yields the triples of a graph of rdflib, blank nodes by their labels."""
    known: dict[object, Term] = {}
    for number, triple in enumerate(triples_in(graph), 1):
        if number > most:
            raise DocumentError(f"{what} have more than {most:,} triples")
        try:
            subject, predicate, object = [
                known.get(term) or known.setdefault(term, _converted(term, rename))
                for term in triple
            ]
        except (ValueError, TypeError) as failure:
            if isinstance(failure, DocumentError):
                raise
            raise DocumentError(f"{what}, {_short(triple)}: {failure}") from None
        if isinstance(subject, ox.Literal) or not isinstance(predicate, ox.NamedNode):
            raise DocumentError(f"{what}, {_short(triple)}: this is not a triple of RDF")
        yield subject, predicate, object


def _converted(term: Any, rename: Callable[[str], str]) -> Term:
    """Returns a term of rdflib as one of pyoxigraph."""
    from rdflib import BNode, Literal, URIRef

    if isinstance(term, URIRef):
        return ox.NamedNode(str(term))
    if isinstance(term, BNode):
        return ox.BlankNode(rename(str(term)))
    if not isinstance(term, Literal):
        raise TypeError(f"a term is a URIRef, a BNode or a Literal, not a {type(term).__name__}")
    if term.language:
        return ox.Literal(str(term), language=term.language)
    if term.datatype is None:
        return ox.Literal(str(term))
    return ox.Literal(str(term), datatype=ox.NamedNode(str(term.datatype)))


def _short(triple: Sequence[Any]) -> str:
    return " ".join(f"{term!s:.60}" for term in triple)


class _Labels:
    """Names of blank nodes: as the document has them; those without get numbers."""

    def __init__(self, rename: Callable[[str], str]) -> None:
        self._rename = rename
        self._known: dict[str, ox.BlankNode] = {}
        self._numbered = 0

    def of(self, node: ox.BlankNode) -> ox.BlankNode:
        label = node.value
        known = self._known.get(label)
        if known is None:
            shown = label
            if _ANONYMOUS.fullmatch(label):
                self._numbered += 1
                shown = f"anonymous.{self._numbered}"
            known = self._known[label] = ox.BlankNode(self._rename(shown))
        return known


def _declared(prefixes: dict[str, str]) -> str:
    """Declarations in one line before the first, so that lines keep their numbers."""
    return "".join(f"@prefix {name}: <{iri}> . " for name, iri in sorted(prefixes.items()))


def _told(failure: SyntaxError, what: str, shift: int) -> str:
    """Returns a parser's error with its line and column, without the declarations before them."""
    line, column = failure.lineno, failure.offset
    words = str(failure.msg)
    if line is None:
        return f"{what}: {words}"
    if line == 1 and column is not None:
        column = max(1, column - shift)
    words = re.sub(
        r"^(Parser )?error (at|on) line \d+( (between )?columns? \d+)?( and( column)? \d+)?:? ?",
        "",
        words,
        flags=re.I,
    )
    words = re.sub(r"^(Parser )?error between .*?: ", "", words, flags=re.I)
    return f"{what}, line {line}, column {column}: {words}"


def _take(text: str, what: str) -> None:
    """Accepts any text: nothing in the format reaches out."""


def _refuse_entities(text: str, what: str) -> None:
    """Refuses XML with a document type, as a real parser reads it up to the first element."""

    def refuse(*_: object) -> NoReturn:
        line = parser.CurrentLineNumber
        raise DocumentError(f"{what}, line {line}: a document type is refused (entities too)")

    parser = expat.ParserCreate("utf-8")
    parser.StartDoctypeDeclHandler = refuse
    parser.EntityDeclHandler = refuse
    try:
        parser.Parse(text.encode("utf-8"), True)
    except expat.ExpatError as failure:
        raise DocumentError(
            f"{what}, line {failure.lineno}: {expat.ErrorString(failure.code)}"
        ) from None


def _refuse_contexts(text: str, what: str) -> None:
    """Refuses JSON-LD whose contexts are addresses, wherever they stand."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as failure:
        raise DocumentError(f"{what}: {failure}") from None
    waiting: list[tuple[Any, bool, int]] = [(document, False, 0)]
    while waiting:
        value, context, depth = waiting.pop()
        if depth > _DEEPEST:
            raise DocumentError(f"{what} are nested too deep")
        if context and isinstance(value, str):
            raise DocumentError(
                f"{what}: the context {value!r:.80} is an address, and nothing is fetched: "
                "write it into the document"
            )
        if isinstance(value, list):
            waiting.extend((each, context, depth + 1) for each in value)
        elif isinstance(value, dict):
            for key, inner in value.items():
                if key == "@import":
                    raise DocumentError(f"{what}: @import is refused: nothing is fetched")
                waiting.append((inner, key == "@context", depth + 1))


_REFUSALS = {"xml": _refuse_entities, "json": _refuse_contexts}
_KINDS = {
    "turtle": ox.RdfFormat.TURTLE,
    "triples": ox.RdfFormat.N_TRIPLES,
    "xml": ox.RdfFormat.RDF_XML,
    "json": ox.RdfFormat.JSON_LD,
}


def documents_of(settings: ReasonerSettings, reserved: str) -> Iterator[RdfDocument]:
    """Yields the documents of an ontology; labels of blank nodes are told apart by document."""
    for place, (text, format, what) in enumerate(_told_documents(settings), 1):
        yield parsed(text, format, what, rename=f"{reserved}{place}.{{}}".format)


def _told_documents(settings: ReasonerSettings) -> Iterator[tuple[str, str, str]]:
    """Yields text, format and name of each; an error for what is not there."""
    for path in settings.paths:
        if not os.path.exists(path):
            raise DocumentError(f"there is no {path}")
        found = files_in(path)
        if not found:
            raise DocumentError(f"{path} holds no RDF file ({', '.join(FORMATS)})")
        for file in found:
            yield (*read_file(file), file)
    for text in settings.graphs:
        yield text, "turtle", "the graph of the ontology"
