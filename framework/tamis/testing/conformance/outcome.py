"""Holds what an operator answered so that it can be compared: a truth, solutions, or a failure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any, NamedTuple

from tamis.calling.answers import NONSENSE, Answer, Failure
from tamis.event import Event
from tamis.language.values import Scalar, as_scalar, kind_of
from tamis.operators.asking import Test

TOLERANCE = 1e-5
"""The difference allowed between numbers computed one by one and together."""


class LawOutcome(NamedTuple):
    """The outcome of a question: a truth, each solution once, or a failure."""

    truth: bool | None = None
    solutions: tuple[tuple[Scalar, ...], ...] | None = None
    failure: Failure | None = None

    @property
    def known(self) -> bool:
        """True if there is an answer."""
        return self.failure is None

    @property
    def nonsense(self) -> bool:
        """True if what came is no answer."""
        return self.failure is not None and self.failure.kind == NONSENSE

    @property
    def holds(self) -> bool:
        """True if the predicate is true."""
        return bool(self.solutions) if self.solutions is not None else self.truth is True

    def __str__(self) -> str:
        if self.failure is not None:
            return str(self.failure)
        if self.solutions is None:
            return str(self.truth)
        return f"solutions {[each[0] if len(each) == 1 else each for each in self.solutions]}"


def outcome_of(answer: Answer, test: Test, event: Event) -> LawOutcome:
    """Returns an answer as a subscription sees it."""
    if answer.failure is not None:
        return LawOutcome(failure=answer.failure)
    if answer.solutions is None:
        return LawOutcome(answer.truth)
    selected = test.select(answer.solutions, event)
    return LawOutcome(bool(selected)) if not test.slots else LawOutcome(None, tuple(selected))


def alike(one: LawOutcome, other: LawOutcome, tolerance: float = 0.0) -> bool:
    """Returns whether two outcomes agree, whatever the order of solutions or words of failures."""
    if one.failure is not None or other.failure is not None:
        return one.known == other.known
    if one.solutions is None or other.solutions is None:
        return one.holds == other.holds
    if len(one.solutions) != len(other.solutions):
        return False
    pairs = zip(sorted(one.solutions, key=_order), sorted(other.solutions, key=_order), strict=True)
    return all(
        len(left) == len(right)
        and all(_near(*two, tolerance) for two in zip(left, right, strict=True))
        for left, right in pairs
    )


def expected_outcome(answer: object) -> LawOutcome | None:
    """Returns the answer that a sample states; `None` where it is no answer."""
    if isinstance(answer, bool):
        return LawOutcome(answer)
    if isinstance(answer, (str, bytes, Mapping)) or not isinstance(answer, Sequence):
        return None
    solutions: list[tuple[Scalar, ...]] = []
    for each in answer:
        values = each if isinstance(each, (tuple, list)) else (each,)
        scalars = [as_scalar(value) for value in values]
        if any(scalar is None for scalar in scalars):
            return None
        solutions.append(tuple(scalar for scalar in scalars if scalar is not None))
    return LawOutcome(None, tuple(dict.fromkeys(solutions)))


def _order(solution: Sequence[Scalar]) -> list[tuple[int, Any]]:
    return [(kind_of(value), value) for value in solution]


def _near(one: Scalar, other: Scalar, tolerance: float) -> bool:
    if kind_of(one) != kind_of(other):
        return False
    if one == other or not tolerance or isinstance(one, str) or isinstance(other, str):
        return one == other
    return math.isclose(one, other, rel_tol=tolerance, abs_tol=tolerance)


def same(one: Any, other: Any) -> bool:
    """Returns whether two values hold the same plain data; what is opaque counts as the same."""
    if hasattr(one, "dtype") and hasattr(one, "tobytes"):
        return hasattr(other, "dtype") and one.shape == other.shape and _same_array(one, other)
    if isinstance(one, Mapping):
        return (
            isinstance(other, Mapping)
            and one.keys() == other.keys()
            and all(same(one[key], other[key]) for key in one)
        )
    if isinstance(one, (list, tuple)):
        return (
            isinstance(other, (list, tuple))
            and len(one) == len(other)
            and all(map(same, one, other))
        )
    if is_dataclass(one) and not isinstance(one, type):
        names = [each.name for each in fields(one)]
        return type(one) is type(other) and all(
            same(getattr(one, name, None), getattr(other, name, None)) for name in names
        )
    if isinstance(one, (str, bytes, bytearray, int, float, set, frozenset, type(None))):
        return bool(one == other) or (one != one and other != other)
    return True


def _same_array(one: Any, other: Any) -> bool:
    if one.dtype.hasobject:
        return same(one.tolist(), other.tolist())
    return bool(one.tobytes() == other.tobytes())
