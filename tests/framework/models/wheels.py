"""Small wheels that carry made models, and records of what they hold."""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Mapping
from pathlib import Path

from tamis import ModelFile, ModelRecord


def wheel(folder: Path, package: str, members: Mapping[str, bytes]) -> Path:
    """A wheel that pip takes, `package` as `boats==1.0`."""
    name, _, version = package.partition("==")
    name = name.replace("-", "_")
    info = f"{name}-{version}.dist-info"
    said = {
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/RECORD": "",
    }
    path = folder / f"{name}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for member, content in {**{k: v.encode() for k, v in said.items()}, **members}.items():
            archive.writestr(member, content)
    return path


def file(name: str, package: str, member: str, content: bytes) -> ModelFile:
    return ModelFile(name, package, member, hashlib.sha256(content).hexdigest(), len(content))


def record(*files: ModelFile, must_accept: bool = False) -> ModelRecord:
    return ModelRecord("boats", "boats on frames", files, "AGPL-3.0", "MIT", must_accept)
