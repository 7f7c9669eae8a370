"""Keeps what problems read of tests and calls, as arrays by their numbers.

Preparations, batches and required inputs have numbers of their own, which are never used again.
Cost: O(1) for a test or call that is new.
"""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterable
from typing import TypeVar

import numpy as np

from tamis.numeric.growing import GrowingArray
from tamis.operators.asking import Call, Test
from tamis.operators.specification import Preparation

T = TypeVar("T", bound=Hashable)
NONE = -1
_serials = itertools.count(1)


class Traits:
    """The traits of what is asked. One writer at a time, and no reader beside it."""

    def __init__(self) -> None:
        self.test_serial = GrowingArray(np.int64)
        """By test: a number that is never given again, in no catalog; calls have one too."""
        self.call_serial = GrowingArray(np.int64)
        self.call_of = GrowingArray(np.int32)
        """By test: its call."""
        self.declares = GrowingArray(np.bool_)
        """By test: whether its operator declares something necessary."""
        self.preparation = GrowingArray(np.int32)
        """By call: the preparation that it needs."""
        self.batch = GrowingArray(np.int32)
        """By call: those of one batch may be made together."""
        self.deterministic = GrowingArray(np.bool_)
        """By call: whether its answers may be kept."""
        self.widens = GrowingArray(np.bool_)
        """By call: whether its solutions may answer calls with constants."""
        self.required = GrowingArray(np.int32)
        """By call: the inputs that it requires."""
        self.preparations: dict[int, Preparation] = {}
        self.inputs: list[tuple[str, ...]] = []
        self._batches: list[str] = []
        self._numbers: dict[object, int] = {}
        self._preparation_numbers = itertools.count()

    def put_test(self, test: Test) -> None:
        """Takes a test that has its number, and so has its call."""
        self.test_serial.put(test.number, next(_serials))
        self.call_of.put(test.number, test.call.number)
        self.declares.put(test.number, bool(test.necessary))

    def put_call(self, call: Call) -> None:
        """Takes a call that has its number."""
        specification, at = call.specification, call.number
        preparation, needed = specification.preparation, specification.needed
        self.call_serial.put(at, next(_serials))
        self.preparation.put(at, NONE if preparation is None else self._number_of(preparation))
        self.deterministic.put(at, specification.deterministic)
        self.widens.put(at, call.width > 0 and call.operator.is_comparable)
        self.required.put(at, self._number(needed, self.inputs) if needed else NONE)
        self.batch.put(
            at, self._number(specification.name, self._batches) if call.batched else NONE
        )

    def forget_unused(self, calls: Iterable[Call]) -> None:
        """Forgets preparations that none of these calls needs: what they read may be much."""
        used = {call.specification.preparation for call in calls}
        for number, preparation in list(self.preparations.items()):
            if preparation not in used:
                del self.preparations[number], self._numbers[preparation]

    def _number_of(self, preparation: Preparation) -> int:
        number = self._numbers.get(preparation)
        if number is None:
            number = self._numbers[preparation] = next(self._preparation_numbers)
            self.preparations[number] = preparation
        return number

    def _number(self, thing: T, things: list[T]) -> int:
        """Returns the number of a thing, a new one where it is new."""
        number = self._numbers.setdefault(thing, len(things))
        if number == len(things):
            things.append(thing)
        return number
