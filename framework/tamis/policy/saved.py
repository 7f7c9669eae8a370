"""Writes what deliveries keep to a folder, as lines of JSON, and reads them back.

The folder is whole at any moment: its manifest names the file, which is complete before the
manifest is replaced. Cost: O(keys).
"""

from __future__ import annotations

import json
import os
import uuid
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from tamis.errors import PolicyStateError
from tamis.files.manifest import read_manifest, write_manifest

FORMAT_VERSION = 1
_WHAT = "state of deliveries"
_PATTERN = "state-*.jsonl"


def write_state(folder: Path, records: Iterable[list[Any]]) -> None:
    """Writes records in the place of those that the folder holds."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / _PATTERN.replace("*", uuid.uuid4().hex)
    checksum = 0
    with open(file, "wb") as lines:
        for record in records:
            line = json.dumps(record).encode() + b"\n"
            checksum = zlib.crc32(line, checksum)
            lines.write(line)
        lines.flush()
        os.fsync(lines.fileno())
    write_manifest(folder, FORMAT_VERSION, state=file.name, checksum=checksum)
    for older in folder.glob(_PATTERN):
        if older != file:
            older.unlink()


def read_state(folder: Path) -> Iterator[list[Any]]:
    """Reads the records of a folder, `PolicyStateError` where it holds none that are whole."""
    manifest = read_manifest(folder, _WHAT, FORMAT_VERSION, PolicyStateError, "state", "checksum")
    file, checksum = folder / str(manifest["state"]), 0
    try:
        with open(file, "rb") as lines:
            for line in lines:
                checksum = zlib.crc32(line, checksum)
        if checksum == manifest["checksum"]:
            with open(file, "rb") as lines:
                yield from map(json.loads, lines)
            return
    except OSError as bad:
        raise PolicyStateError(f"cannot read {file}: {bad.strerror or bad}") from None
    raise PolicyStateError(f"{file} is damaged: its lines are not those that were written")


def is_state(folder: Path) -> bool:
    """Returns whether there is a folder with a state."""
    return (folder / "manifest.json").exists()
