"""Runs operators in another interpreter: which modules that imports, and what they answer there.

Run as a program. It reads a `Parcel` from standard input and writes what came of it where standard
output was; whatever the operators print meanwhile goes to a file and is counted.
"""

from __future__ import annotations

import importlib.abc
import os
import pickle
import sys
import tempfile
from collections.abc import Sequence
from typing import Any, NamedTuple

from tamis.operators.shipping import unpacked
from tamis.plugins.loader import found_plugins
from tamis.testing.conformance.outcome import LawOutcome
from tamis.testing.conformance.subject import Instance


class SentOperator(NamedTuple):
    """An operator that travels: itself, its predicates and events, and the modules to watch."""

    packed: bytes
    asked: bytes
    modules: tuple[str, ...]


class ElsewhereOutcome(NamedTuple):
    """The outcome of one operator: imports as sentences, outcomes, or why there are none."""

    listed: tuple[str, ...] = ()
    """The imports of its modules when the installed operators were listed."""
    imported: tuple[str, ...] = ()
    """The imports when it was unpacked."""
    outcomes: tuple[LawOutcome, ...] = ()
    failure: str = ""
    printed: str = ""


class _Watch(importlib.abc.MetaPathFinder):
    """Notes who imports modules first; finds none itself."""

    def __init__(self, modules: frozenset[str]) -> None:
        self._modules = modules
        self.seen: dict[str, str] = {}

    def find_spec(self, name: str, path: object, target: object = None) -> None:
        if name in self._modules and name not in self.seen:
            importer = _importer()
            if importer is not None:
                self.seen[name] = f"{name} is imported by {importer}"

    def taken(self) -> dict[str, str]:
        seen, self.seen = self.seen, {}
        return seen


def _importer() -> str | None:
    """Returns who imports a module; `None` where it is only looked for, by
    `importlib.util.find_spec`."""
    frame: Any = sys._getframe(2)
    is_imported = False
    while frame is not None and "importlib" in frame.f_code.co_filename:
        is_imported |= frame.f_code.co_name == "_find_and_load"
        frame = frame.f_back
    if not is_imported:
        return None
    return "Python" if frame is None else f"{frame.f_code.co_filename}:{frame.f_lineno}"


def answered(parcel: Sequence[SentOperator], printed: Any) -> list[ElsewhereOutcome]:
    """Returns the outcome of each: first all are listed, then all unpacked, then all asked."""
    before = set(sys.modules)
    watch = _Watch(frozenset(name for sent in parcel for name in sent.modules) - before)
    sys.meta_path.insert(0, watch)
    found_plugins()
    listed = watch.taken()
    found: list[ElsewhereOutcome] = []
    records: list[Any] = []
    for sent in parcel:
        failure = ""
        try:
            records.append(unpacked(sent.packed)[0])
        except Exception as problem:
            records.append(None)
            failure = f"{type(problem).__name__}: {problem}"
        imported = watch.taken()
        found.append(
            ElsewhereOutcome(
                listed=tuple(listed[name] for name in sent.modules if name in listed),
                imported=tuple(imported[name] for name in sent.modules if name in imported),
                failure=failure,
            )
        )
    for at, (sent, record) in enumerate(zip(parcel, records, strict=True)):
        if record is None:
            continue
        size = os.fstat(printed.fileno()).st_size
        try:
            instance = Instance(record, record.factory())
            outcomes = tuple(instance.ask(*asked) for asked in pickle.loads(sent.asked))
            found[at] = found[at]._replace(outcomes=outcomes)
        except Exception as problem:
            found[at] = found[at]._replace(failure=f"{type(problem).__name__}: {problem}")
        sys.stdout.flush()
        if os.fstat(printed.fileno()).st_size > size:
            words = os.pread(printed.fileno(), 80, size).decode(errors="replace")
            found[at] = found[at]._replace(printed=words)
    return found


def main() -> None:
    """Reads a parcel, and writes what came of it."""
    with os.fdopen(os.dup(1), "wb") as reply, tempfile.TemporaryFile() as printed:
        os.dup2(printed.fileno(), 1)
        found = answered(pickle.load(sys.stdin.buffer), printed)
        pickle.dump([tuple(each) for each in found], reply)
