"""Tells the code of one operator from that of another, where both have the same version.

What counts is what an operator runs: its functions, those of its own module that these name, and
plain constants. Comments, docstrings and where a line stands do not count; neither does what other
modules do, or what an object holds. Bytecode differs between versions of Python: codes of two of
them are not compared. Cost: microseconds a function.
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Iterator
from hashlib import blake2b
from types import CodeType, FunctionType
from typing import Any

from tamis.operators import Operator

_PYTHON = sys.implementation.cache_tag or "python"
_SCALARS = (str, bytes, int, float, complex, bool, type(None), type(...))


def code_of(operator: Operator) -> str:
    """Identifies the code of an operator.

    >>> import tamis
    >>> def made(least):
    ...     return tamis.operator(name="isA")(lambda event: event["a"] > least)
    >>> one, same, other = made(3), made(3), made(4)
    >>> code_of(one) == code_of(same), code_of(one) == code_of(other)
    (True, False)
    """
    seen: set[int] = set()
    words = [*_words(type(operator), operator.__module__, seen)]
    for name, value in sorted(vars(operator).items()):
        if callable(value):
            words += [name, *_words(value, getattr(value, "__module__", ""), seen)]
    return f"{_PYTHON}:{blake2b(chr(0).join(words).encode(), digest_size=12).hexdigest()}"


def is_other_code(known: str, code: str) -> bool:
    """Returns whether two codes differ, as far as they can be compared."""
    return known != code and known.partition(":")[0] == code.partition(":")[0]


def _words(value: Any, module: str, seen: set[int]) -> Iterator[str]:
    """Yields the code of a value in words; each function and class once."""
    if isinstance(value, functools.partial):
        yield from _words([value.func, value.args, value.keywords], module, seen)
    elif isinstance(value, (staticmethod, classmethod)):
        yield from _words(value.__func__, module, seen)
    elif isinstance(value, property):
        yield from _words([value.fget, value.fset], module, seen)
    elif isinstance(value, (FunctionType, type)):
        if value.__module__ != module or id(value) in seen:
            yield value.__qualname__
            return
        seen.add(id(value))
        yield from (
            _of_function(value, seen) if isinstance(value, FunctionType) else _of_class(value, seen)
        )
    elif isinstance(value, CodeType):
        yield from _of_code(value, module, seen)
    elif isinstance(value, dict):
        pairs = (f"{key!r}: {''.join(_words(held, module, seen))}" for key, held in value.items())
        yield from sorted(pairs)
    elif isinstance(value, (set, frozenset)):
        yield from sorted("".join(_words(each, module, seen)) for each in value)
    elif isinstance(value, (list, tuple)):
        for each in value:
            yield from _words(each, module, seen)
    else:
        yield repr(value) if isinstance(value, _SCALARS) else type(value).__qualname__


def _of_function(function: FunctionType, seen: set[int]) -> Iterator[str]:
    module = function.__module__
    yield from _of_code(function.__code__, module, seen)
    held = [cell.cell_contents for cell in function.__closure__ or () if _is_full(cell)]
    yield from _words([function.__defaults__, function.__kwdefaults__, held], module, seen)
    for name in sorted(set(_names(function.__code__)) & function.__globals__.keys()):
        yield name
        yield from _words(function.__globals__[name], module, seen)


def _of_code(code: CodeType, module: str, seen: set[int]) -> Iterator[str]:
    constants = list(code.co_consts)
    if constants and isinstance(constants[0], str) and _has_docstring(code):
        constants[0] = None
    yield code.co_code.hex()
    yield from code.co_names
    yield from _words(constants, module, seen)


def _has_docstring(code: CodeType) -> bool:
    told = getattr(inspect, "CO_HAS_DOCSTRING", None)  # since Python 3.13
    return bool(code.co_flags & told) if told else not code.co_name.startswith("<")


def _of_class(kind: type, seen: set[int]) -> Iterator[str]:
    for base in kind.__bases__:
        yield from _words(base, kind.__module__, seen)
    for name, value in sorted(vars(kind).items()):
        if not name.startswith("__") or callable(value):
            yield name
            yield from _words(value, kind.__module__, seen)


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield from _names(each)


def _is_full(cell: Any) -> bool:
    try:
        return cell.cell_contents is not cell
    except ValueError:
        return False
