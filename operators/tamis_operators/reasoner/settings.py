"""What the reasoner is set up with, and what tells two set-ups apart.

Plain values that travel to another process; the digest is of what the files hold, so that answers
and statistics of two ontologies never mix.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from tamis import OperatorError
from tamis.kit import did_you_mean

ENVIRONMENT = "TAMIS_ONTOLOGY"
BUNDLED = str(Path(__file__).with_name("surveillance.ttl"))
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
class Settings:
    """The ontology (none: the bundled one), what follows from it, and bounds on facts."""

    ontology: tuple[str, ...] = ()
    regime: str = "owl-rl"
    most_bytes: int = 1 << 20
    most_triples: int = 10_000
    most_consequences: int = 100_000
    digest: str = ""

    @property
    def paths(self) -> tuple[str, ...]:
        """The files and folders of the ontology."""
        return self.ontology or (BUNDLED,)


def settings_of(
    ontology: str | os.PathLike[str] | Iterable[str | os.PathLike[str]] | None,
    regime: str,
    bounds: dict[str, int],
) -> Settings:
    """Settings as a user gives them; without an ontology, that of the environment."""
    if regime not in REGIMES:
        raise OperatorError(
            f"unknown regime {regime!r}{did_you_mean(regime, REGIMES)} ({', '.join(REGIMES)})"
        )
    for name, bound in bounds.items():
        if isinstance(bound, bool) or not isinstance(bound, int) or bound <= 0:
            raise OperatorError(f"{name} is a whole number above 0, not {bound!r}")
    if ontology is None:
        told = os.environ.get(ENVIRONMENT, "")
        paths = tuple(path for path in told.split(os.pathsep) if path)
    elif isinstance(ontology, (str, os.PathLike)):
        paths = (os.fspath(ontology),)
    else:
        paths = tuple(os.fspath(path) for path in ontology)
        if not paths:
            raise OperatorError("an ontology is at least one file or folder")
    paths = tuple(os.path.abspath(path) for path in paths)
    digest = _digest(paths or (BUNDLED,), regime, bounds)
    return Settings(paths, regime, **bounds, digest=digest)


def _digest(paths: tuple[str, ...], regime: str, bounds: dict[str, int]) -> str:
    """What tells the set-up apart; a file that cannot be read is told when it is needed."""
    found = hashlib.sha256(repr((regime, sorted(bounds.items()))).encode())
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
