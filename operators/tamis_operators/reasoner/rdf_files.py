"""What is read as RDF for `instanceOf`, without reaching the network or another file; and names.

A bare name is that of the ontology's only term of that local name, or of an entity in the
ontology's own namespace; others are written with a prefix of the ontology or as an IRI.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyoxigraph as ox

from tamis import ArgumentError
from tamis_operators.reasoner.owl_document import (
    BUILT_IN,
    NOTHING,
    OWL,
    RDF,
    RDFS,
    REMARK,
    THING,
    XSD,
    Vocabulary,
)  # fmt: skip

_FORMATS = {
    ".ttl": ox.RdfFormat.TURTLE,
    ".nt": ox.RdfFormat.N_TRIPLES,
    ".rdf": ox.RdfFormat.RDF_XML,
    ".owl": ox.RdfFormat.RDF_XML,
    ".xml": ox.RdfFormat.RDF_XML,
}
_LOCAL = re.compile(r"[^#/:<>\"{}|^`\\\s]+")
_SCHEMES = ("urn:", "tag:", "mailto:", "tel:", "did:", "info:", "data:")
_MOST_BYTES = 1 << 20
_PATH = re.compile(r"[^\s<>\"{}]+\.(?:ttl|nt|rdf|owl|xml)")


@dataclass
class Document:
    """What a document says."""

    triples: list[tuple[Any, Any, Any]] = field(default_factory=list)
    prefixes: dict[str, str] = field(default_factory=dict)


def read_ontology(paths: Sequence[str]) -> Document:
    """All that the files and folders say."""
    whole = Document()
    for path in map(Path, paths):
        files = sorted(path.rglob("*")) if path.is_dir() else [path]
        for each in files:
            if each.suffix.lower() in _FORMATS:
                found = _parsed(each.read_text("utf-8"), _FORMATS[each.suffix.lower()], str(each))
                whole.triples += found.triples
                whole.prefixes |= found.prefixes
    return whole


def read_facts(value: object, prefixes: Mapping[str, str]) -> Document:
    """The facts of an event: Turtle, or the path of a file."""
    if not isinstance(value, str):
        raise TypeError(f"facts are Turtle or a path, not {value!r:.40}")
    text, format, what = value, ox.RdfFormat.TURTLE, "facts"
    if _PATH.fullmatch(value):
        path = Path(value)
        if path.stat().st_size > _MOST_BYTES:
            raise ValueError(f"{path} has more than {_MOST_BYTES:,} bytes")
        text, format, what = path.read_text("utf-8"), _FORMATS[path.suffix], str(path)
    elif len(value) > _MOST_BYTES:
        raise ValueError(f"facts have more than {_MOST_BYTES:,} bytes")
    if format == ox.RdfFormat.TURTLE:
        declared = (f"@prefix {name}: <{iri}> . " for name, iri in sorted(prefixes.items()))
        text = "".join(declared) + text
    return _parsed(text, format, what)


def _parsed(text: str, format: ox.RdfFormat, what: str) -> Document:
    if format == ox.RdfFormat.RDF_XML and "<!DOCTYPE" in text:
        raise ValueError(f"{what}: a document type is refused")
    try:
        parser = ox.parse(text, format, without_named_graphs=True, rename_blank_nodes=True)
        triples = [(quad.subject, quad.predicate, quad.object) for quad in parser]
    except SyntaxError as problem:
        raise ValueError(f"{what}, line {problem.lineno}: {problem.msg}") from None
    return Document(triples, dict(parser.prefixes))


class Names:
    """The names of an ontology's terms."""

    def __init__(self, ontology: Document, vocabulary: Vocabulary) -> None:
        self.prefixes = {"owl": OWL, "rdf": RDF, "rdfs": RDFS, "xsd": XSD, **ontology.prefixes}
        properties = [name for name, kind in vocabulary.properties.items() if kind != REMARK]
        terms = [*vocabulary.classes, *properties]
        self._classes = _by_local_name([*vocabulary.classes, THING, NOTHING])
        self._properties = _by_local_name(properties)
        self._terms = _by_local_name([*terms, *vocabulary.individuals])
        common = Counter(_split(iri)[0] for iri in sorted(terms)).most_common(1)
        self._namespace = ontology.prefixes.get("") or (common[0][0] if common else None)

    def class_(self, word: str, place: int) -> str:
        """The class that a word names; `ArgumentError` where it names none."""
        return self._one("class", word, self._classes, place)

    def property(self, word: str, place: int) -> str:
        """The property that a word names; `ArgumentError` where it names none."""
        return self._one("property", word, self._properties, place)

    def _one(self, kind: str, word: str, known: Mapping[str, list[str]], place: int) -> str:
        iri = self._expanded(word, place)
        if iri is None and word not in known:
            raise ArgumentError.unknown(kind, word, known, place)
        return iri or self._only(word, known[word], place)

    def entity(self, word: str, place: int) -> str:
        """The entity that a word names: events may bring their own, so any name is one."""
        iri = self._expanded(word, place)
        if iri is not None:
            return iri
        if word in self._terms:
            return self._only(word, self._terms[word], place)
        if self._namespace is None:
            raise ArgumentError(
                f"{word!r} is in no namespace, for the ontology has none: write a full IRI", place
            )
        return self._namespace + word

    def shown(self, iri: str) -> str:
        """The shortest word that names an entity."""
        space, local = _split(iri)
        known = self._terms.get(local)
        if _LOCAL.fullmatch(local) and (known == [iri] or (not known and space == self._namespace)):
            return local
        for prefix, start in sorted(self.prefixes.items(), key=lambda each: -len(each[1])):
            if start and iri.startswith(start):
                return f"{prefix}:{iri.removeprefix(start)}"
        return iri if "://" in iri or iri.lower().startswith(_SCHEMES) else f"<{iri}>"

    def _expanded(self, word: str, place: int) -> str | None:
        if word.startswith("<") and word.endswith(">"):
            return word[1:-1]
        prefix, colon, local = word.partition(":")
        if not colon or "://" in word:
            return word if colon else None
        if prefix in self.prefixes:
            return self.prefixes[prefix] + local
        if word.lower().startswith(_SCHEMES):
            return word
        raise ArgumentError.unknown("prefix", prefix, self.prefixes, place)

    def _only(self, word: str, found: list[str], place: int) -> str:
        if len(found) > 1:
            candidates = ", ".join(f"<{iri}>" for iri in sorted(found))
            raise ArgumentError(f"{word} is ambiguous: write one of {candidates}", place)
        return found[0]


def _split(iri: str) -> tuple[str, str]:
    """An IRI's namespace and local name."""
    at = max(iri.rfind("#"), iri.rfind("/"))
    at = at if at >= 0 else iri.rfind(":")
    return iri[: at + 1], iri[at + 1 :]


def _by_local_name(iris: Iterable[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for iri in sorted(set(iris)):
        if iri in (THING, NOTHING) or not iri.startswith(BUILT_IN):
            found.setdefault(_split(iri)[1], []).append(iri)
    return found
