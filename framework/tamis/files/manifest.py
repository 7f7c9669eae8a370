"""Reads and writes what a folder says of itself: a `manifest.json` with its `format_version`."""

from __future__ import annotations

import json
import os
from collections.abc import Container
from pathlib import Path
from typing import Any

from tamis.errors import TamisError

NAME = "manifest.json"


def write_manifest(folder: Path, format_version: int, **fields: object) -> None:
    """Writes the manifest, last of all: a folder without one is not whole."""
    manifest = {"format_version": format_version, **fields}
    replace_file(folder / NAME, json.dumps(manifest, indent=1).encode())


def remove_manifest(folder: Path) -> None:
    """Removes the manifest: the folder is not whole until one is written again."""
    (folder / NAME).unlink(missing_ok=True)


def read_manifest(
    folder: Path,
    what: str,
    format_version: int,
    error: type[TamisError],
    *needed: str,
    older: Container[int] = (),
) -> dict[str, Any]:
    """Returns the manifest of a folder that holds `what`; an error says why it cannot be used."""
    path = folder / NAME
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
        version = manifest["format_version"]
        lacking = [name for name in needed if name not in manifest]
    except FileNotFoundError:
        raise error(f"{folder} holds no {what}: it has no {NAME}") from None
    except NotADirectoryError:
        raise error(f"{folder} holds no {what}: it is a file, not a folder") from None
    except (OSError, ValueError, KeyError, TypeError) as bad:
        raise error(f"{path} is damaged: {type(bad).__name__}: {bad}") from None
    if version in older:
        version = format_version
    if version != format_version and lacking:
        raise error(
            f"{folder} holds no {what} of format {format_version}: its {NAME} is of format "
            f"{version!r} and lacks {', '.join(lacking)}"
        )
    if version != format_version:
        raise error(
            f"{folder} is of format {version!r}, and this tamis reads format {format_version}: "
            f"make the {what} again"
        )
    if lacking:
        raise error(f"{path} is damaged: it lacks {', '.join(lacking)}")
    found: dict[str, Any] = manifest
    return found


def is_manifest_of(folder: Path, *needed: str) -> bool:
    """Returns whether a folder has a manifest with these fields."""
    try:
        manifest = json.loads((folder / NAME).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(manifest, dict) and {"format_version", *needed} <= manifest.keys()


def replace_file(path: Path, content: bytes) -> None:
    """Writes a file so that a reader sees the old one or the new one."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    beside.write_bytes(content)
    os.replace(beside, path)
