"""Finds the known name that was probably meant: the nearest by edits, else by words, or none."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

_COMPARED = 100
_LONGEST = 64
_SORTED = 2_000
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")


def did_you_mean(name: str, known: Iterable[str], says: Mapping[str, str] | None = None) -> str:
    """Returns a sentence to append to an error, empty when nothing is near."""
    known = list(known)
    found = nearest(name, known) or _by_words(name, known, says or {})
    return "" if found is None else f"; did you mean {found}?"


def _by_words(name: str, known: Iterable[str], says: Mapping[str, str]) -> str | None:
    """Returns the known name that has most words of `blueTruckCount`, half of them or more; a word
    that only what it says has counts as half a word."""
    words = _words(name[:_LONGEST])
    if len(words) < 2:
        return None
    best, most = None, max(2, len(words))
    for candidate in sorted(known, key=lambda each: (len(each), each)):
        own, said = _words(candidate), f" {says.get(candidate, '')}".casefold()
        shared = sum(2 if word in own else len(word) > 3 and f" {word}" in said for word in words)
        if shared > most or (shared == most and best is None):
            best, most = candidate, shared
    return best


def _words(name: str) -> set[str]:
    return {word.casefold() for word in _WORD.findall(name)}


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Returns the known name within a third of its letters, upper and lower case counting half.

    Among very many names only those of about the same length, letters and ends are compared."""
    if len(name) > _LONGEST:
        return None
    best: str | None = None
    allowed = max(1, len(name) // 3)
    limit = 2 * allowed
    low, high = len(name) - allowed, len(name) + allowed
    ends = {name[:1].casefold(), name[-1:].casefold()}
    near = [each for each in known if low <= len(each) <= high]
    if len(near) > _COMPARED:
        near = [each for each in near if not ends.isdisjoint((each[:1].casefold(), each[-1:]))]
        letters = [(letter, name.count(letter)) for letter in set(name)]
        near = near[:_SORTED]
        near.sort(key=lambda each: -sum(min(count, each.count(of)) for of, count in letters))
    for candidate in near[:_COMPARED]:
        distance = _half_edits(name, candidate, limit)
        if distance < limit or (distance == limit and best is None):
            best, limit = candidate, distance
        if limit == 0:
            break
    return best


def _half_edits(left: str, right: str, limit: int) -> int:
    """Edits with neighbors swapped as one, in halves; a change of case is a half."""
    over = limit + 1
    before: list[int] = []
    row = [2 * j for j in range(len(right) + 1)]
    for i, a in enumerate(left, 1):
        before, previous, row = row, before, [2 * i]
        for j, b in enumerate(right, 1):
            change = 0 if a == b else 1 if a.casefold() == b.casefold() else 2
            cost = min(before[j] + 2, row[-1] + 2, before[j - 1] + change)
            if previous and j > 1 and a == right[j - 2] and left[i - 2] == b and a != b:
                cost = min(cost, previous[j - 2] + 2)
            row.append(cost)
        if min(row) > limit:
            return over
    return row[-1]
