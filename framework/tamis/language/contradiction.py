"""Finds comparisons of one subject that cannot hold together: sound, and complete but for regular
expressions and overlapping affixes.

Cost: linear in the constants.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from tamis.language.comparison import AFFIXES, ARRAY, HAVING, PRESENT, RANGES, Comparison
from tamis.language.values import BOOLEAN, NUMBER, STRING, Scalar, kind_of

_MOST_CHOICES = 1_024
"""After so many, clauses are taken for such that can hold."""
_ALL_KINDS = frozenset((BOOLEAN, NUMBER, STRING))


def exclusive(clauses: Iterable[Sequence[tuple[object, Comparison]]]) -> bool:
    """Returns whether clauses (subjects with comparisons, of which one holds) cannot hold together;
    tries choices of one comparison of each, those with the fewest first."""
    waiting = sorted(clauses, key=len)
    chosen: list[int] = []
    subjects: dict[object, list[Comparison]] = {}
    place = 0
    for _ in range(max(_MOST_CHOICES, 2 * len(waiting))):
        if len(chosen) == len(waiting):
            return False
        clause = waiting[len(chosen)]
        if place == len(clause):
            if not chosen:
                return True
            place = chosen.pop()
            subjects[waiting[len(chosen)][place][0]].pop()
            place += 1
            continue
        subject, comparison = clause[place]
        beside = subjects.setdefault(subject, [])
        beside.append(comparison)
        if contradictory(beside):
            beside.pop()
            place += 1
        else:
            chosen.append(place)
            place = 0
    return False


def contradictory(comparisons: Sequence[Comparison]) -> bool:
    """Returns whether no subject whatever satisfies all of the comparisons."""
    if len(comparisons) == 1:
        only = comparisons[0]
        if only.op in RANGES:
            low, high = only.constants
            return low > high or (low == high and RANGES[only.op] != (True, True))  # type: ignore[operator]
        return only.op == "<" and only.value == ""
    keys = {each.key for each in comparisons}
    if any(each.key in keys for other in comparisons for each in _opposite(other)):
        return True
    if any(each.op == "not exists" for each in comparisons):
        return any(each.op != "not exists" for each in comparisons)
    arrays = [each for each in comparisons if each.op in HAVING]
    scalars = [each for each in comparisons if each.op not in HAVING and each.op not in PRESENT]
    if arrays and scalars:
        return True
    return _no_array(arrays) if arrays else bool(scalars) and _no_scalar(scalars)


def _opposite(comparison: Comparison) -> tuple[Comparison, ...]:
    """Returns the complement, when it is one comparison."""
    complement = comparison.complement()
    return complement if len(complement) == 1 else ()


def _no_array(comparisons: Iterable[Comparison]) -> bool:
    required: set[tuple[int, Scalar]] = set()
    refused: set[tuple[int, Scalar]] = set()
    choices: list[set[tuple[int, Scalar]]] = []
    lacking: list[set[tuple[int, Scalar]]] = []
    for each in comparisons:
        assert each.reads == ARRAY
        members = {(kind_of(constant), constant) for constant in each.constants}
        if each.op in ("has", "has all"):
            required |= members
        elif each.op == "has none":
            refused |= members
        elif each.op == "has any":
            choices.append(members)
        else:
            lacking.append(members)
    return (
        bool(required & refused)
        or any(choice <= refused for choice in choices)
        or any(members <= required for members in lacking)
    )


def _no_scalar(comparisons: Sequence[Comparison]) -> bool:
    kinds = _ALL_KINDS
    for each in comparisons:
        kinds &= {kind_of(constant) for constant in each.constants}
    return all(_no_scalar_of(kind, comparisons) for kind in kinds)


def _no_scalar_of(kind: int, comparisons: Sequence[Comparison]) -> bool:
    """Returns whether no value of one kind satisfies them all."""
    candidates = _finite_candidates(kind, comparisons)
    if candidates is None:
        return _empty_range(comparisons)
    tests = [each.compiled() for each in comparisons]
    return not any(all(test(candidate) for test in tests) for candidate in candidates)


def _finite_candidates(kind: int, comparisons: Sequence[Comparison]) -> list[Scalar] | None:
    """Values among which every solution must be, `None` when there are too many to name."""
    if kind == BOOLEAN:
        return [False, True]
    members = [each.constants for each in comparisons if each.op in ("=", "in")]
    if members:
        smallest = min(members, key=len)
        return [constant for constant in smallest if kind_of(constant) == kind]
    low, high, _ = _bounds(comparisons)
    if low is not None and low == high:
        return [low]
    return None


def _empty_range(comparisons: Sequence[Comparison]) -> bool:
    low, high, closed = _bounds(comparisons)
    if high == "" and any(each.op == "<" and each.value == "" for each in comparisons):
        return True
    if low is not None and high is not None and (low > high or (low == high and not closed)):
        return True
    return any(
        _outside(each.constants[0], low, high) for each in comparisons if each.op == AFFIXES[0]
    )


def _outside(prefix: Scalar, low: Any, high: Any) -> bool:
    """Returns whether every string with the prefix is out of bounds."""
    assert isinstance(prefix, str)
    if high is not None and prefix > high:
        return True
    return low is not None and prefix < low and not low.startswith(prefix)


def _bounds(comparisons: Sequence[Comparison]) -> tuple[Any, Any, bool]:
    """Returns the greatest lower and least upper bound, and whether both are included."""
    lows: list[tuple[Any, bool]] = []
    highs: list[tuple[Any, bool]] = []
    for each in comparisons:
        if each.op in RANGES:
            low_closed, high_closed = RANGES[each.op]
            lows.append((each.constants[0], low_closed))
            highs.append((each.constants[1], high_closed))
        elif each.op in (">", ">="):
            lows.append((each.constants[0], each.op == ">="))
        elif each.op in ("<", "<="):
            highs.append((each.constants[0], each.op == "<="))
    low = max((bound for bound, _ in lows), default=None)
    high = min((bound for bound, _ in highs), default=None)
    closed = all(included for bound, included in lows if bound == low) and all(
        included for bound, included in highs if bound == high
    )
    return low, high, closed
