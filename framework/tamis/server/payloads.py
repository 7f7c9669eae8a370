"""Keeps what is large outside of the log, as files that are named by their content.

Invariant: a file is on disk before the commit that names it, and is removed after the one that no
longer does. What a crash left unnamed is removed at the next start. Equal content is one file.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import threading
from collections.abc import Container, Iterable, Mapping
from pathlib import Path
from typing import Any

from tamis.files.disk import sync_folder, write_synced
from tamis.log import log
from tamis.server.errors import LogError, NoRoom

LARGE_LETTERS = 16 * 1024
"""Texts at the top of an event that are longer are files."""
_FOLDER = "payloads"


class Payloads:
    """The files beside one log."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / _FOLDER
        self.staying = threading.Lock()
        """Who holds it can rely on files that are named: none is removed meanwhile."""
        if not self.folder.exists():
            self.folder.mkdir()
            sync_folder(folder)

    def path(self, digest: str) -> Path:
        """Returns the file of a content."""
        return self.folder / digest[:2] / digest

    def write(self, content: bytes) -> str:
        """Sees to it that a content is on disk; its digest, by which it is named."""
        digest = digest_of(content)
        path = self.path(digest)
        if not path.exists():
            if not path.parent.exists():
                path.parent.mkdir(exist_ok=True)
                sync_folder(self.folder)
            write_synced(path, content)
        return digest

    def read(self, digest: str) -> bytes:
        """Returns the content of a digest; `LogError` where it is not what was written."""
        try:
            content = self.path(digest).read_bytes()
        except OSError as bad:
            if bad.errno in (errno.EMFILE, errno.ENFILE):
                raise NoRoom("a payload cannot be read: too many files are open") from bad
            raise LogError(f"a payload of the log is gone: {bad}") from bad
        if digest_of(content) != digest:
            raise LogError(f"{self.path(digest)} is damaged: its content is not its name")
        return content

    def remove(self, digests: Iterable[str]) -> None:
        """Removes files that nothing names; one that cannot be waits for another start."""
        with self.staying:
            for digest in digests:
                _remove(self.path(digest))

    def sweep(self, named: Container[str]) -> int:
        """Removes what is not named, that a crash left; how many files."""
        left = [path for path in self.folder.glob("*/*") if path.name not in named]
        removed = sum(map(_remove, left))
        with contextlib.suppress(OSError):
            for folder in self.folder.iterdir():
                if not any(folder.iterdir()):
                    folder.rmdir()
        return removed


def _remove(path: Path) -> bool:
    """Removes a file; whether it is gone."""
    try:
        path.unlink(missing_ok=True)
    except OSError as bad:
        log.warning("%s, which the log does not need, cannot be removed: %s", path, bad)
        return False
    return True


def digest_of(content: bytes) -> str:
    """Returns the name of a content."""
    return hashlib.sha256(content).hexdigest()


def split(event: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Returns an event without its large texts, and these by name."""
    large = {
        name: value.encode(errors="surrogatepass")
        for name, value in event.items()
        if isinstance(value, str) and len(value) > LARGE_LETTERS
    }
    return {name: value for name, value in event.items() if name not in large}, large


def joined(
    small: Mapping[str, Any], digests: Mapping[str, str], payloads: Payloads
) -> dict[str, Any]:
    """Returns the event whole again."""
    large = {
        name: payloads.read(digest).decode(errors="surrogatepass")
        for name, digest in digests.items()
    }
    return {**small, **large}
