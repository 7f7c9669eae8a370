"""Holds what the reasoner is set up with, and what tells two set-ups apart.

Plain values that travel to another process; the digest is of what the files hold, so that answers
and statistics of two ontologies never mix.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from tamis import OperatorError
from tamis.kit import did_you_mean
from tamis_operators.reasoner.graphs import is_graph, lines_of, turtle_of

if TYPE_CHECKING:
    from rdflib import Graph

    Source = str | os.PathLike[str] | Graph
    Ontology = Source | Iterable[Source]

ENVIRONMENT = "TAMIS_ONTOLOGY"
BUNDLED = str(Path(__file__).with_name("surveillance.ttl"))
TERMS = ("words", "n3")
REGIMES = ("owl-rl", "rdfs", "none")
FORMATS = {
    ".ttl": "turtle",
    ".nt": "triples",
    ".rdf": "xml",
    ".owl": "xml",
    ".xml": "xml",
    ".jsonld": "json",
    ".json": "json",
}
"""Endings of files, and how they are read."""


@dataclass(frozen=True)
class ReasonerSettings:
    """The ontology (none: the bundled one), what follows from it, and bounds on facts."""

    ontology: tuple[str, ...] = ()
    regime: str = "owl-rl"
    most_bytes: int = 1 << 20
    most_triples: int = 10_000
    most_consequences: int = 100_000
    seconds: float | None = None
    """The seconds that what follows from an event's facts may take."""
    digest: str = ""
    graphs: tuple[str, ...] = ()
    """Graphs of the ontology as Turtle."""
    terms: str = field(default="words", compare=False)
    """The form of `select`: words as subscriptions write them, or terms as N-Triples do."""

    @property
    def is_bundled(self) -> bool:
        """True if the ontology is the bundled one."""
        return not (self.ontology or self.graphs)

    @property
    def paths(self) -> tuple[str, ...]:
        """The files and folders of the ontology."""
        return (BUNDLED,) if self.is_bundled else self.ontology


def settings_of(
    ontology: Ontology | None,
    regime: str,
    bounds: dict[str, int],
    terms: str = "words",
    seconds: float | None = None,
) -> ReasonerSettings:
    """Settings as a user gives them; without an ontology, that of the environment."""
    if regime not in REGIMES:
        raise OperatorError(
            f"unknown regime {regime!r}{did_you_mean(regime, REGIMES)} ({', '.join(REGIMES)})"
        )
    if terms not in TERMS:
        raise OperatorError(
            f"unknown terms {terms!r}{did_you_mean(terms, TERMS)} (words, or n3, of "
            "whose texts reasoner.rdflib_term makes terms of rdflib)"
        )
    for name, bound in bounds.items():
        if isinstance(bound, bool) or not isinstance(bound, int) or bound <= 0:
            raise OperatorError(f"{name} is a whole number above 0, not {bound!r}")
    given: tuple[Source, ...]
    if ontology is None:
        told = os.environ.get(ENVIRONMENT, "")
        given = tuple(path for path in told.split(os.pathsep) if path)
    elif is_graph(ontology) or isinstance(ontology, (str, os.PathLike)):
        given = (ontology,)
    else:
        given = tuple(ontology) if isinstance(ontology, Iterable) else (ontology,)  # type: ignore[arg-type]
        if not given:
            raise OperatorError("an ontology is at least one file, folder or graph")
    graphs = [each for each in given if is_graph(each)]
    others = [each for each in given if not is_graph(each)]
    if not all(isinstance(each, (str, os.PathLike)) for each in others):
        raise OperatorError("an ontology is files, folders, or graphs of rdflib")
    paths = tuple(os.path.abspath(os.fspath(each)) for each in others)  # type: ignore[arg-type]
    told_apart = (regime, sorted(bounds.items()), *map(lines_of, graphs))
    digest = _digest(paths if given else (BUNDLED,), told_apart)
    return ReasonerSettings(
        paths,
        regime,
        **bounds,
        seconds=seconds,
        digest=digest,
        graphs=tuple(map(turtle_of, graphs)),
        terms=terms,
    )


def _digest(paths: tuple[str, ...], told_apart: tuple[object, ...]) -> str:
    """Digests the set-up; a file that cannot be read is reported when it is needed."""
    found = hashlib.sha256(repr(told_apart).encode())
    for path in paths:
        inside = [path] if not os.path.isdir(path) else sorted(map(str, Path(path).rglob("*")))
        for file in inside:
            if os.path.isfile(file) and Path(file).suffix.lower() in FORMATS:
                try:
                    content = Path(file).read_bytes()
                except OSError:
                    content = b""
                found.update(hashlib.sha256(content).digest())
            elif file == path:
                found.update(path.encode("utf-8", "surrogateescape"))
    return found.hexdigest()[:12]
