"""Finds tests that a wider call answers: one with variables in the places of their constants.

`locIn(?r)` finds the regions that hold a position, and so decides `locIn(Bronx)`. Where both are
candidates the tests of the narrower call are asked of the wider one, if that has to be made anyhow
or costs no more than all that it answers. One that fails, or whose solutions were cut, answers
nothing: then each call is made for itself, so that no verdict depends on who else subscribed.
Cost: nothing where no call is wider; else O(calls) for each choice of places that are asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from operator import itemgetter
from typing import NamedTuple

import numpy as np

from tamis.calling.answers import Answer
from tamis.language.values import Scalar, identity
from tamis.numeric.types import Flags, Floats, Ints
from tamis.operators.asking import Call, Solution


class Narrower(NamedTuple):
    """A call whose answer is read from the solutions of a wider call."""

    call: int
    """Its own."""
    wider: int
    constants: tuple[int, ...]
    """The places of its constants in a solution."""
    wanted: tuple[object, ...]
    """By what they are known there."""
    places: tuple[int, ...]
    """The places of its own variables."""


class Costs(NamedTuple):
    """The expected costs of calls."""

    call: Floats
    marginal: Floats
    batch: Ints

    def of(self, calls: Sequence[int]) -> float:
        """Sums the costs of calls of one operator that are made together."""
        first, rest = calls[0], list(calls[1:])
        each = self.marginal if self.batch[first] >= 0 else self.call
        return float(self.call[first] + each[rest].sum())


def narrower_tests(
    calls: Sequence[Call], widens: Flags, test_call: Ints, costs: Costs, certain: Iterable[int]
) -> dict[int, Narrower]:
    """Returns the tests that a wider call answers; `certain` calls are made anyhow."""
    certain = set(certain)
    found: dict[int, Narrower] = {}
    wide = sorted(np.flatnonzero(widens).tolist(), key=lambda at: -calls[at].width)
    beside = _with_its_constants(calls, wide)
    for at in wide:
        if at in found:
            continue
        members = {
            other: narrower
            for other in beside[at]
            if other not in found
            and (narrower := narrower_call(calls[other], other, calls[at], at))
        }
        if members and (at in certain or costs.call[at] <= costs.of(list(members))):
            found.update(members)
    if not found:
        return {}
    return {test: found[call] for test, call in enumerate(test_call.tolist()) if call in found}


def _with_its_constants(calls: Sequence[Call], wide: Sequence[int]) -> dict[int, list[int]]:
    """Returns for each wide call those that have its constants where it has some."""
    by_key = {calls[at].key: at for at in wide}
    asked: dict[tuple[object, int], set[frozenset[int]]] = {}
    for key in by_key:
        places = frozenset(place for place, part in enumerate(key) if part is None)
        asked.setdefault((key[0], len(key)), set()).add(places)
    found: dict[int, list[int]] = {at: [] for at in wide}
    for other, call in enumerate(calls):
        for places in asked.get((call.key[0], len(call.key)), ()):
            key = tuple(None if at in places else part for at, part in enumerate(call.key))
            at = by_key.get(key)
            if at is not None:
                found[at].append(other)
    return found


def narrower_call(call: Call, number: int, wider: Call, at: int) -> Narrower | None:
    """Returns how a call is answered by a wider one; `None` where it is not."""
    mine, theirs, values = call.key, wider.key, call.values
    if values is None or mine[0] != theirs[0] or len(mine) != len(theirs) or number == at:
        return None
    constants, wanted, places = [], [], []
    place = 0
    for own, other, value in zip(mine[1:], theirs[1:], values, strict=True):
        if other is not None:
            if own != other:
                return None
            continue
        if own is None:
            places.append(place)
        elif value is None:
            return None
        else:
            constants.append(place)
            wanted.append(value)
        place += 1
    return Narrower(number, at, tuple(constants), identity(tuple(wanted)), tuple(places))


class WiderError(Exception):
    """A call that was to answer narrower ones failed, or does not know all solutions."""


class WiderAnswer:
    """The solutions of a wider call, for those that ask for some of them."""

    def __init__(self, answer: Answer) -> None:
        if not _has_all(answer):
            raise WiderError
        self._solutions = answer.solutions or ()
        self._found: dict[tuple[int, ...], Mapping[tuple[object, ...], list[Solution]]] = {}

    def narrowed(self, narrower: Narrower) -> Answer:
        """Returns the answer that the narrower call would have given."""
        found = self._found.get(narrower.constants)
        if found is None:
            found = self._found[narrower.constants] = _by_value(self._solutions, narrower.constants)
        rows = found.get(narrower.wanted, ())
        if not narrower.places:
            return Answer(bool(rows), made=False)
        return Answer(solutions=[_at(each, narrower.places) for each in rows], made=False)


def _has_all(answer: Answer) -> bool:
    """Returns whether an answer has all solutions: it is no failure, and was not cut."""
    return answer.solutions is not None and not answer.cut


def narrowed_answers(
    narrower: Mapping[int, Narrower], answers: Mapping[int, Answer]
) -> dict[int, Answer]:
    """Returns the answers of narrower calls that the wider calls made imply, by call number.

    A wider call that failed or was cut implies none; what it was to answer was known without it."""
    known = {
        at: WiderAnswer(answers[at])
        for at in {each.wider for each in narrower.values()} & answers.keys()
        if _has_all(answers[at])
    }
    return {
        each.call: known[each.wider].narrowed(each)
        for each in narrower.values()
        if each.wider in known
    }


def _by_value(
    solutions: Iterable[Solution], places: tuple[int, ...]
) -> dict[tuple[object, ...], list[Solution]]:
    found: dict[tuple[object, ...], list[Solution]] = {}
    for each in solutions:
        found.setdefault(identity(_at(each, places)), []).append(each)
    return found


def _at(solution: Solution, places: tuple[int, ...]) -> tuple[Scalar, ...]:
    if len(places) == 1:
        return (solution[places[0]],)
    return itemgetter(*places)(solution) if places else ()
