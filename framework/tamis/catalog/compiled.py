"""Saves a matcher: a folder of its index and its catalog, and a manifest for both.

The fingerprint is over content: ids, texts and other keys of the subscriptions in their order, and
the names and versions of the operators that they call. A folder is written beside its place and
renamed, so that it is whole or not there.
Cost: O(subscriptions) to write; mapping and the ids of the subscriptions to open.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from tamis.catalog import Catalog
from tamis.catalog.folder import read_catalog, write_catalog
from tamis.catalog.sieve import Sieve
from tamis.errors import MatcherFolderError, TamisError
from tamis.files.manifest import read_manifest, write_manifest
from tamis.operators.asking import Operators

FORMAT_VERSION = 3
_WHAT = "saved matcher"
_CATALOG = "catalog"
_SUMMED = 1 << 16
"""Larger files are held to their size alone: reading them would take what mapping saves."""


def fingerprint_of(catalog: Catalog) -> str:
    """Returns the fingerprint of what is subscribed."""
    digest = hashlib.sha256(f"tamis {FORMAT_VERSION}\n".encode())
    for name, version in versions_of(catalog).items():
        digest.update(f"{name}\0{version}\0".encode())
    for id, row in catalog.rows.items():
        data = catalog._data.get(row)
        for part in (id, catalog.text_of(row), "" if data is None else data):
            letters = part.encode("utf-8", "surrogatepass")
            digest.update(b"%d:%b" % (len(letters), letters))
    return digest.hexdigest()


def versions_of(catalog: Catalog) -> dict[str, str]:
    """Returns the versions of the operators that are called."""
    called = {call.specification.name: call.specification.version for call in catalog.calls}
    return dict(sorted(called.items()))


def compiled(
    folder: Path, index_name: str, sieve: Sieve, catalog: Catalog, ends: Mapping[str, float]
) -> str:
    """Writes a matcher; its fingerprint."""
    if folder.exists() and not (folder.is_dir() and _is_replaceable(folder)):
        raise MatcherFolderError(f"{folder} is there already, and is not a {_WHAT}")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".saving-", dir=folder.parent) as place:
        beside = Path(place) / "whole"
        (beside / _CATALOG).mkdir(parents=True)
        sieve.save(beside)
        write_catalog(catalog, beside / _CATALOG)
        found = fingerprint_of(catalog)
        write_manifest(
            beside,
            FORMAT_VERSION,
            fingerprint=found,
            subscriptions=len(catalog),
            index=index_name,
            operators=versions_of(catalog),
            ends=dict(ends),
            files=_files(beside),
        )
        if folder.exists():  # whoever has mapped the old one keeps it
            os.replace(folder, Path(place) / "old")
        os.replace(beside, folder)
    return found


def _is_replaceable(folder: Path) -> bool:
    return not any(folder.iterdir()) or (folder / _CATALOG).is_dir()


class MatcherFolder(NamedTuple):
    """A folder that was looked at."""

    folder: Path
    fingerprint: str
    index_name: str
    ends: dict[str, float]
    operators: dict[str, str]

    def fill(self, catalog: Catalog, operators: Operators) -> None:
        """Fills a new catalog; operators have to be of the versions that were saved."""
        for name, version in self.operators.items():
            record = operators.records.get(name)
            if record is None:
                raise MatcherFolderError(
                    f"{self.folder} was saved with the operator {name}, which is not given"
                )
            if record.specification.version != version:
                raise MatcherFolderError(
                    f"{self.folder} was saved with version {version} of {name}, and this is "
                    f"version {record.specification.version}: save it again"
                )
        read_catalog(self.folder / _CATALOG, operators, catalog)


@contextlib.contextmanager
def opened(folder: Path, fingerprint: str | None) -> Iterator[MatcherFolder]:
    """Opens a folder; what it raises comes as sentences."""
    manifest = read_manifest(
        folder, _WHAT, FORMAT_VERSION, MatcherFolderError,
        "fingerprint", "index", "operators", "ends", "files",
    )  # fmt: skip
    if fingerprint is not None and manifest["fingerprint"] != fingerprint:
        raise MatcherFolderError(
            f"{folder} holds other subscriptions, or other versions of their operators, than those "
            f"asked for: it is {manifest['fingerprint'][:12]}, not {fingerprint[:12]}"
        )
    try:
        for name, (size, checksum) in manifest["files"].items():
            path = folder / name
            if path.stat().st_size != size or (
                checksum is not None and zlib.crc32(path.read_bytes()) != checksum
            ):
                raise MatcherFolderError(f"{path} is damaged: save the matcher again")
        yield MatcherFolder(
            folder,
            manifest["fingerprint"],
            manifest["index"],
            manifest["ends"],
            manifest["operators"],
        )
    except TamisError:
        raise
    except Exception as bad:
        raise MatcherFolderError(
            f"{folder} is damaged ({type(bad).__name__}: {bad}): save the matcher again"
        ) from bad


def _files(folder: Path) -> dict[str, Any]:
    """Returns the files with their sizes, and the checksums of those that are small or no array."""
    found: dict[str, Any] = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            size = path.stat().st_size
            is_summed = size <= _SUMMED or path.suffix != ".npy"
            name = path.relative_to(folder).as_posix()
            found[name] = size, zlib.crc32(path.read_bytes()) if is_summed else None
    return found
