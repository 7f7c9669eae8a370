"""Chooses gazetteer files: bundled ones, given ones, or those that `TAMIS_GAZETTEER` lists.

A configuration is plain and travels: with it goes a digest of what the files hold, which is part of
the operators' version, so that answers and statistics of two gazetteers never mix, and another
machine with other files says so.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from tamis import OperatorError

VARIABLE = "TAMIS_GAZETTEER"
DATA = Path(__file__).with_name("data")
SUFFIXES = (".geojson", ".json")
MOST_VERTICES = 10_000
_MEANING = b"1"  # what the operators mean; a new one when answers change
_UNREADABLE = "unreadable"


@dataclass(frozen=True)
class Configuration:
    """The files and folders of a gazetteer, and how many vertices a position may have."""

    paths: tuple[str, ...]
    built_in: bool
    most_vertices: int
    digest: str

    @property
    def files(self) -> list[Path]:
        """All files, the bundled ones first, each once; `OSError` for a path that is not there."""
        return _files(self.paths, built_in=self.built_in)


def configured(
    gazetteer: str | os.PathLike[str] | Iterable[str | os.PathLike[str]] | None = None,
    *,
    built_in: bool = True,
    max_vertices: int = MOST_VERTICES,
) -> Configuration:
    """The configuration of these settings; without paths, of the environment."""
    if gazetteer is None:
        gazetteer = [each for each in os.environ.get(VARIABLE, "").split(os.pathsep) if each]
    elif isinstance(gazetteer, (str, os.PathLike)):
        gazetteer = [gazetteer]
    if isinstance(max_vertices, bool) or not isinstance(max_vertices, int) or max_vertices < 1:
        raise OperatorError(f"max_vertices is a whole number above 0, not {max_vertices!r}")
    paths = tuple(os.path.abspath(os.path.expanduser(each)) for each in gazetteer)
    digest = _digest(paths, built_in=built_in, max_vertices=max_vertices)
    return Configuration(paths, built_in, max_vertices, digest)


def digest_of(configuration: Configuration) -> str:
    """What the digest is now."""
    return _digest(
        configuration.paths,
        built_in=configuration.built_in,
        max_vertices=configuration.most_vertices,
    )


def _files(paths: Iterable[str], *, built_in: bool) -> list[Path]:
    found: dict[str, Path] = {}
    for path in [*([DATA] if built_in else []), *map(Path, paths)]:
        if path.is_dir():
            inner = sorted(each for each in path.rglob("*") if each.suffix.lower() in SUFFIXES)
            if not inner:
                raise FileNotFoundError(f"the folder {path} has no .geojson or .json file")
        elif path.is_file():
            inner = [path]
        else:
            raise FileNotFoundError(f"there is no file or folder {path}")
        found |= {os.path.realpath(each): each for each in inner if each.is_file()}
    return list(found.values())


def _digest(paths: tuple[str, ...], *, built_in: bool, max_vertices: int) -> str:
    """A short digest of what the files hold; what cannot be read is said when it is needed."""
    whole = hashlib.sha256(_MEANING + str(max_vertices).encode())
    try:
        for file in _files(paths, built_in=built_in):
            whole.update(hashlib.sha256(file.read_bytes()).digest())
    except OSError:
        return _UNREADABLE
    return whole.hexdigest()[:12]
