"""Tells the answers of a call from invalid ones, which are unknown with a reason.

Shared by all places where operators run, so that an answer is the same wherever it was made.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from tamis.calling.lanes import LateError
from tamis.errors import Transient
from tamis.language.values import Scalar, as_scalar
from tamis.operators.asking import Solution
from tamis.operators.specification import Preparation
from tamis.words import counted, shortened

RAISED, TIMED_OUT, NONSENSE, CUT = "raised", "timed out", "invalid answer", "cut"
CRASHED, SWELLED, REFUSED = "crashed", "out of memory", "not called"
"""Failures of workers alone, and of a breaker while it is open."""
DEADLINE = "deadline"
"""The event's own deadline, which ends calls that might have answered in time."""
MESSAGE = 500


class Failure(NamedTuple):
    """Why something is unknown: the kind of failure, and its message."""

    kind: str
    message: str
    transient: bool = False
    """True if it may be tried again, after so many seconds where that is known."""
    after_seconds: float | None = None

    def __str__(self) -> str:
        return f"{self.kind}: {self.message}"


class PreparationSeconds(NamedTuple):
    """A preparation that was made, and what that took."""

    preparation: Preparation
    seconds: float


class Answer(NamedTuple):
    """The answer to a call: a truth, solutions (`cut` when there were too many), or a failure."""

    truth: bool = False
    solutions: list[Solution] | None = None
    failure: Failure | None = None
    cut: bool = False
    seconds: float = 0.0
    """The seconds of the call itself; of an invocation of several, an equal part."""
    prepared: tuple[PreparationSeconds, ...] = ()
    """The preparations that were made because this call was the first to need them."""
    together: int = 1
    """The number of calls of the invocation."""
    made: bool = True
    """True if the operator was called for it."""
    attempts: int = 1
    """The number of attempts."""

    leads: bool = True
    """True if the invocation counts with this call: the first of those that it made."""

    @property
    def whole_seconds(self) -> float:
        """The seconds of the call with its preparations."""
        return self.seconds + sum(each.seconds for each in self.prepared)


class NonsenseError(Exception):
    """An answer that is none."""


class CallRefusedError(Exception):
    """A call that is not made, because those before it failed too often."""


def failure_of(problem: BaseException) -> Failure:
    """Returns an exception as a reason."""
    if isinstance(problem, LateError):
        return Failure(TIMED_OUT, str(problem))
    if isinstance(problem, NonsenseError):
        return Failure(NONSENSE, str(problem))
    if isinstance(problem, CallRefusedError):
        return Failure(REFUSED, str(problem))
    try:
        message = str(problem)
    except KeyboardInterrupt:
        raise
    except BaseException as broken:
        message = f"(its message cannot be shown: {type(broken).__name__})"
    name = type(problem).__name__
    message = (f"{name}: {message}" if message else name)[:MESSAGE]
    if isinstance(problem, Transient):
        return Failure(RAISED, message, True, problem.after_seconds)
    return Failure(RAISED, message)


def truth_of(raw: object) -> bool:
    """Returns the bool of a NumPy bool; anything else is nonsense."""
    dtype = getattr(raw, "dtype", None)
    if (
        dtype is not None
        and getattr(dtype, "kind", "") == "b"
        and getattr(raw, "shape", None) == ()
    ):
        return bool(raw)
    raise NonsenseError(f"expected a bool, got {shown(raw)}")


def checked_solutions(raw: object, width: int, limit: int) -> tuple[list[Solution], bool]:
    """Returns the solutions as tuples of scalars, and whether there were more than the limit."""
    if isinstance(raw, (str, bytes, bytearray, Mapping)) or not isinstance(raw, Iterable):
        raise NonsenseError(f"expected solutions (a list), got {shown(raw)}")
    solutions: list[Solution] = []
    for each in raw:
        if len(solutions) == limit:
            return solutions, True
        if width == 1 and type(each) in _PLAIN:
            value = as_scalar(each)
            if value is None:
                raise NonsenseError("a solution is NaN")
            solutions.append((value,))
        else:
            solutions.append(_solution(each, width))
    return solutions, False


_PLAIN = frozenset((bool, int, float, str))


def _solution(raw: Any, width: int) -> Solution:
    if type(raw) is tuple and len(raw) == width:
        found = tuple(map(as_scalar, raw))
        if None not in found:
            return found  # type: ignore[return-value]
    if hasattr(raw, "tolist") and getattr(raw, "ndim", 0) == 1:
        raw = raw.tolist()
    values = raw if isinstance(raw, (tuple, list)) else (raw,)
    if len(values) != width:
        raise NonsenseError(f"expected {counted(width, 'value')} a solution, got {shown(raw)}")
    return tuple(_scalar(value) for value in values)


def _scalar(value: object) -> Scalar:
    scalar = as_scalar(value)
    if scalar is None:
        raise NonsenseError(f"a value of a solution is not a scalar: {shown(value)}")
    return scalar


def shown(value: object) -> str:
    """Returns a value in few letters."""
    try:
        words = repr(value)
    except KeyboardInterrupt:
        raise
    except BaseException:
        words = f"a {type(value).__name__}"
    return shortened(words, 80)
