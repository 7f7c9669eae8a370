"""Averages what an operator does, for predicates that were never seen.

The average is over the counted predicates of an operator, those with constraints of their own
apart: `mobPattern(?1)` says little of `mobPattern(?1), ?1 > 50`. No predicate counts as more than
so many outcomes, however often it was seen. Cost: O(predicates), once.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from tamis.statistics.predicates import PredicateStatistics

_MOST = 64
_STRENGTH = 2.0
_PIECES = re.compile(r'"(?:[^"\\]|\\.)*"|`[^`]*`|[()]|[^"`()]+')


class Averages:
    """The mean selectivity of each operator's predicates, with and without constraints."""

    def __init__(self, predicates: Mapping[str, PredicateStatistics]) -> None:
        self._sums: dict[tuple[str, bool], tuple[float, float]] = {}
        for text, found in predicates.items():
            known, share = found.known, found.share
            if known and share is not None and found.kind == "operator":
                call, guarded = parts(text)
                key = (operator_of(call), guarded)
                weight, true = self._sums.get(key, (0.0, 0.0))
                mine = min(known, _MOST)
                self._sums[key] = (weight + mine, true + mine * share)

    def expected(self, operator: str, guarded: bool, prior: float) -> float:
        """Returns the average of an operator, `prior` where none of its predicates was counted."""
        weight, true = self._sums.get((operator, guarded), (0.0, 0.0))
        return (true + _STRENGTH * prior) / (weight + _STRENGTH)


def parts(text: str) -> tuple[str, bool]:
    """Returns the call of a test in canonical text, and whether it has constraints of its own."""
    depth = 0
    for piece in _PIECES.finditer(text):
        if piece[0] == "(":
            depth += 1
        elif piece[0] == ")":
            depth -= 1
            if not depth:
                return text[: piece.end()], piece.end() < len(text)
    return text, False


def operator_of(call: str) -> str:
    """Returns the name of the operator of a call in canonical text."""
    piece = _PIECES.match(call)
    return call if piece is None else piece[0].strip("`")
