"""Fingerprints are equal where behavior is, in any process, and differ where it may."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from enum import Enum
from types import FunctionType, SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest

from tamis.fingerprint import fingerprint

SEVERAL = """
import numpy, operator
from functools import partial
from tamis.fingerprint import fingerprint
STEP, LETTERS, ROWS = 3, frozenset("abcdefgh"), numpy.arange(4)
class Thing:
    def __init__(self): self.size = STEP
    def grown(self): return self.size + STEP
THING, PARTLY = Thing(), partial(operator.add, STEP)
def inner(a, *, b=2): return a in {"x", "y", "z"} and a + b + STEP
def outer(a): return inner(a) or recursive(a, THING.grown()) or LETTERS or ROWS.sum() or PARTLY
def recursive(a, b): return outer(a) + numpy.pi + len(LETTERS)
print(fingerprint(outer))
"""


def test_processes_agree() -> None:
    texts = {
        subprocess.run(
            [sys.executable, "-c", SEVERAL],
            capture_output=True,
            text=True,
            check=True,
            env={"PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(texts) == 1
    assert " at 0x" not in texts.pop()


def made(source: str, **used: object) -> Callable[..., Any]:
    """The function `f` of a module."""
    module: dict[str, Any] = {"__name__": "a_module", **used}
    exec(source, module)
    function = module["f"]
    assert isinstance(function, FunctionType)
    return function


USES = "def f(): return used"
METHOD = """
class Used:
    @property
    def size(self): return 1
    @staticmethod
    def grown(): return 2
    def shrunk(self): return 3
def f(): return Used
"""


class Pair(NamedTuple):
    first: int
    last: int


class Turned(NamedTuple):
    last: int
    first: int


class Color(Enum):
    RED = 1
    BLUE = 2


Turned.__qualname__ = Pair.__qualname__


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (made("def f(a): return a + 1"), made("def f(a): return a + 2")),
        (made("def f(a): return a + 1"), made("def f(a): return a - 1")),
        (made("def f(a): return a.b"), made("def f(a): return a.c")),
        (made("def f(a, b): return a"), made("def f(b, a): return a")),
        (made("def f(a=1): return a"), made("def f(a=2): return a")),
        (made("def f(*, a=1): return a"), made("def f(*, a=2): return a")),
        (
            made("def f(): return (lambda: used)()", used=1),
            made("def f(): return (lambda: used)()", used=2),
        ),
        (made(METHOD), made(METHOD.replace("1", "9"))),
        (made(METHOD), made(METHOD.replace("2", "9"))),
        (made(METHOD), made(METHOD.replace("3", "9"))),
        *(
            (made(USES, used=one), made(USES, used=other))
            for one, other in [
                (1, 2),
                (1, True),
                (0.0, -0.0),
                ("1", 1),
                ((1, (2, 3)), ((1, 2), 3)),
                ({1: 2}, {2: 1}),
                (np.arange(2), np.arange(2.0)),
                (np.arange(4), np.arange(4).reshape(2, 2)),
                (np.int32(1), np.int64(1)),
                (Color.RED, Color.BLUE),
                (Pair(1, 2), Turned(1, 2)),
                (Pair, Turned),
                (SimpleNamespace(a=1), SimpleNamespace(a=2)),
                (max, min),
                (np.add, np.subtract),
            ]
        ),
    ],
)
def test_what_differs(one: Callable[..., Any], other: Callable[..., Any]) -> None:
    assert fingerprint(one) == fingerprint(one)
    assert fingerprint(one) != fingerprint(other)


def test_what_does_not_matter() -> None:
    one = made("def f(a): return a + used", used=1, unused=1)
    other = made("\n\n# words\ndef f(a): return a + used", used=1, unused=2)
    assert fingerprint(one) == fingerprint(other)


def test_types_of_numba_by_what_they_are_made_of() -> None:
    from numba.core import types as of_numba

    types: Any = of_numba

    def pair(made_of: type) -> object:
        return types.Tuple((types.NamedUniTuple(types.int64, 2, made_of), types.int64))

    arrays = [
        types.Array(types.int64, 1, "C"),
        types.Array(types.int64, 1, "A"),
        types.Array(types.int64, 2, "C"),
        types.Array(types.int32, 1, "C"),
        types.Array(types.int64, 1, "C", readonly=True),
        types.Array(types.int64, 1, "C", aligned=False),
    ]
    texts = [fingerprint(each) for each in (*arrays, pair(Pair), pair(Turned))]
    assert len(set(texts)) == len(texts)
    assert fingerprint(pair(Pair)) == fingerprint(pair(Pair))
