"""Sends operators to another process: by name where it can import them, by value elsewhere.

What was defined in a script, a notebook or a file given to `--operators` goes by value, with the
functions and globals it uses; what a distribution brought is imported by the other process.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from types import ModuleType

from tamis.errors import OperatorError
from tamis.operators import OperatorRecord

_FROM_FILES: set[str] = set()


def note_file_module(name: str) -> None:
    """Notes that a module was made from a file: no other process can import it by its name."""
    _FROM_FILES.add(name)


def packed(records: Iterable[OperatorRecord]) -> bytes:
    """Operators as bytes that `unpacked` makes operators of, in this process or another."""
    import cloudpickle

    with _files_by_value(cloudpickle):
        return _dumped(cloudpickle, list(records))


def packed_value(value: object, what: str) -> bytes:
    """Returns a value as bytes, `OperatorError` where it cannot travel; `pickle` reads it."""
    import cloudpickle

    try:
        with _files_by_value(cloudpickle):
            content: bytes = cloudpickle.dumps(value)
            return content
    except Exception as failure:
        raise OperatorError(
            f"{what} cannot be sent to another process: {type(failure).__name__}: {failure}"
        ) from failure


@contextmanager
def _files_by_value(cloudpickle: ModuleType) -> Iterator[None]:
    """Pickles by value whatever modules hold that were made from files."""
    by_value = [sys.modules[name] for name in _FROM_FILES if name in sys.modules]
    held: list[ModuleType] = []
    try:
        for module in by_value:
            cloudpickle.register_pickle_by_value(module)
            held.append(module)
        yield
    finally:
        for module in held:
            cloudpickle.unregister_pickle_by_value(module)


def _dumped(cloudpickle: ModuleType, records: list[OperatorRecord]) -> bytes:
    """Returns the records as bytes; `OperatorError` names the one that cannot travel."""
    try:
        whole: bytes = cloudpickle.dumps(records)
        return whole
    except Exception as failure:
        for record in records:
            try:
                cloudpickle.dumps(record)
            except Exception as own:
                raise OperatorError(
                    f"{record.specification.name} cannot be sent to another process: "
                    f"{type(own).__name__}: {own}; make what it holds in the factory of an "
                    "OperatorRecord, or when it is first needed"
                ) from own
        raise OperatorError(f"the operators cannot be sent to another process: {failure}") from None


def unpacked(content: bytes) -> list[OperatorRecord]:
    """Returns the operators that `packed` was given."""
    import pickle

    records: list[OperatorRecord] = pickle.loads(content)
    return records
