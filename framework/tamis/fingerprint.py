"""What the machine code of a function depends on, as a text that is equal where the code is.

Compilers of Python freeze what a function refers to: constants, other functions, the fields of
tuples. All of it is described as it was loaded, whatever files say by now: the function's byte
code, and by their names the globals it uses, and so on for what those use. Libraries (Python,
NumPy, numba, llvmlite) are described by names only: their versions belong beside the text.
Invariant: equal texts mean equal behavior, in any process. Not seen are globals that are reached by
text, imports within functions, and overloads that were registered with numba for one's own.
Cost: some microseconds for each function that is reached.
"""

from __future__ import annotations

import builtins
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from types import CodeType, FunctionType, ModuleType

import numpy as np

_LIBRARIES = frozenset(("builtins", "llvmlite", "numba", "numpy", *sys.stdlib_module_names))
_PLAIN = (type(None), bool, int, float, complex, str, bytes, type(...))
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
_WRAPPED = ("py_func", "_defn", "__func__", "fget", "func")
"""Where compiled functions, intrinsics, methods, properties and partials keep the function."""


def fingerprint(*values: object) -> str:
    """The description of functions, types and constants."""
    return repr(_Walk().describe(values, ()))


class _Walk:
    """One description; what is met again is described by the number it had."""

    def __init__(self) -> None:
        self._met: dict[tuple[int, tuple[str, ...]], int] = {}
        self._kept: list[object] = []

    def describe(self, value: object, names: tuple[str, ...]) -> object:
        """A value as plain constants; `names` are those that a module may be asked for."""
        if type(value) in _PLAIN:
            return type(value).__name__, repr(value)
        key = id(value), names if isinstance(value, ModuleType) else ()
        if key in self._met:
            return "again", self._met[key]
        self._met[key] = len(self._met)
        self._kept.append(value)
        return type(value).__qualname__, *self._parts(value, names)

    def _parts(self, value: object, names: tuple[str, ...]) -> Iterator[object]:
        if isinstance(value, (tuple, list)):
            yield self.describe(type(value), ())
            yield from self._each(value, names)
        elif isinstance(value, (set, frozenset)):
            yield sorted(repr(_Walk().describe(each, names)) for each in value)
        elif isinstance(value, Mapping):
            yield from self._each([part for item in value.items() for part in item], names)
        elif isinstance(value, ModuleType):
            yield from self._module(value, names)
        elif isinstance(value, CodeType):
            yield from self._code(value)
        elif isinstance(value, (FunctionType, type)) and _is_library(value.__module__):
            yield value.__module__, value.__qualname__
        elif isinstance(value, FunctionType):
            yield from self._function(value)
        elif isinstance(value, type):
            yield from self._class(value)
        elif isinstance(value, (np.ndarray, np.generic)):
            yield str(value.dtype), value.shape, value.tobytes()
        else:
            yield from self._instance(value)

    def _each(self, values: Iterable[object], names: tuple[str, ...] = ()) -> Iterator[object]:
        for value in values:
            yield self.describe(value, names)

    def _module(self, module: ModuleType, names: tuple[str, ...]) -> Iterator[object]:
        yield module.__name__
        if not _is_library(module.__name__):
            for name in names:
                if name in vars(module):
                    yield name, self.describe(vars(module)[name], names)

    def _code(self, code: CodeType) -> Iterator[object]:
        yield code.co_code, code.co_exceptiontable, code.co_flags
        yield code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount
        yield code.co_names, code.co_varnames, code.co_cellvars, code.co_freevars
        yield from self._each(code.co_consts)

    def _function(self, function: FunctionType) -> Iterator[object]:
        yield function.__module__, function.__qualname__
        yield self.describe(function.__code__, ())
        yield from self._each((function.__defaults__, function.__kwdefaults__))
        for cell in function.__closure__ or ():
            yield self.describe(cell.cell_contents, ())
        names = tuple(dict.fromkeys(_names(function.__code__)))
        for name in names:
            if name in function.__globals__:
                yield name, self.describe(function.__globals__[name], names)

    def _class(self, described: type) -> Iterator[object]:
        yield described.__module__, described.__qualname__
        yield from self._each(described.__mro__[1:])
        for name, member in vars(described).items():
            if name == "_fields" or not name.startswith("_"):
                yield name, self.describe(member, ())

    def _instance(self, value: object) -> Iterator[object]:
        """Anything else: by what it wraps, by its parts, or by how it is written."""
        wrapped = [getattr(value, name) for name in _WRAPPED if hasattr(value, name)]
        if wrapped:
            options = getattr(value, "targetoptions", None)
            yield from self._each((*wrapped, options))
        elif hasattr(value, "key") and hasattr(value, "mangling_args"):
            yield self.describe(value.key, ())  # a type of numba
        elif _is_library(type(value).__module__):
            yield _ADDRESS.sub("", repr(value))
        else:
            yield from self._each((type(value), getattr(value, "__dict__", repr(value))))


def _names(code: CodeType) -> Iterator[str]:
    """The names of globals and attributes that a function uses, also in functions inside it."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def _is_library(module: str | None) -> bool:
    return (module or builtins.__name__).partition(".")[0] in _LIBRARIES
