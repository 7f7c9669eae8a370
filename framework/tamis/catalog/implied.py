"""Asks operators what an answer implies: when one call is true or false, what another one is.

Only calls without variables imply and are implied. A pair of calls is asked about once, both ways;
the contraposition of what an operator says holds too. Rows name calls by serial numbers, which are
never used again, so that rows about a call that is gone mean nothing.
Cost: O(calls of the operator) for each new call, and O(rows of the calls) for a problem.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tamis.numeric.types import Ints
from tamis.operators import Implication
from tamis.operators.asking import Call

_WIDTH = 4
"""Of a row: a serial, its truth, another serial, its truth."""
_MANY = 1 << 18
"""Pairs of rows that are looked at one by one."""


class Implications:
    """The declared implications of all calls that are subscribed."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._serials = itertools.count()
        self._serial: dict[Call, int] = {}
        self.unasked: dict[Call, None] = {}
        """The calls of which it is not known yet what operators say."""
        self.is_deferred = False
        """True if somebody asks operators beside matching, so that nobody waits for it."""
        self._rows: dict[int, Ints] = {}
        self._held = 0
        self.distrusted: set[str] = set()
        """The operators that were found to contradict what they say."""

    def __len__(self) -> int:
        """Counts the rows."""
        return self._held

    @property
    def pending(self) -> bool:
        """True if operators have to be asked now."""
        return bool(self.unasked and not self.is_deferred)

    def add(self, call: Call) -> None:
        """Adds a new call."""
        name = call.specification.name
        if call.width == 0 and call.operator.implies and name not in self.distrusted:
            self._serial[call] = next(self._serials)
            self.unasked[call] = None

    def drop(self, call: Call) -> None:
        """Drops a call that is not asked any more."""
        serial = self._serial.pop(call, None)
        self.unasked.pop(call, None)
        if serial is None:
            return
        gone = self._rows.pop(serial, None)
        self._held -= 0 if gone is None else len(gone)
        if self._held > 2 * self._most // 3:
            self._purge()

    def distrust(self, name: str) -> None:
        """Forgets what an operator says, for good."""
        self.distrusted.add(name)
        for call in [call for call in self._serial if call.specification.name == name]:
            self.drop(call)

    def asked(self) -> tuple[list[Ints], dict[str, str]]:
        """Asks the operators about calls that are new: rows to take, and what went wrong.

        What an operator that fails has said before is to be forgotten as well (`distrust`)."""
        new = dict(self.unasked)
        by_operator: dict[str, list[Call]] = {}
        for call in new:
            by_operator.setdefault(call.specification.name, []).append(call)
        found: list[Ints] = []
        troubles: dict[str, str] = {}
        for name, fresh in by_operator.items():
            known = [call for call in self._calls_of(name) if call not in new]
            try:
                found.append(self._asked_of(fresh, known))
            except Exception as failure:
                troubles[name] = (
                    f"implications of {name} failed ({type(failure).__name__}: {failure}): "
                    f"what it declares is not used"
                )
        return found, troubles

    def _calls_of(self, name: str) -> list[Call]:
        return [call for call in self._serial if call.specification.name == name]

    def _asked_of(self, fresh: list[Call], known: list[Call]) -> Ints:
        """Asks the operator what answers to new calls imply for each other and the known ones."""
        found: list[tuple[int, int, int, int]] = []
        room = self._most - self._held
        calls = fresh + known
        arguments = [call.arguments for call in calls]
        for at, call in enumerate(fresh):
            if len(found) < room:
                others, theirs = calls[:at] + calls[at + 1 :], arguments[:at] + arguments[at + 1 :]
                found += self._said(call, others, theirs)
        for call in known:
            if len(found) < room:
                found += self._said(call, fresh, arguments[: len(fresh)])
        rows = np.array(found, np.int64).reshape(-1, _WIDTH)
        contraposed = np.stack([rows[:, 2], 1 - rows[:, 3], rows[:, 0], 1 - rows[:, 1]], axis=1)
        return np.unique(np.concatenate([rows, contraposed]), axis=0)

    def take(self, found: Sequence[Ints]) -> None:
        """Keeps rows, as many as there is room for."""
        for rows in found:
            kept = rows[: max(0, self._most - self._held)]
            starts = np.flatnonzero(np.diff(kept[:, 0], prepend=-1)).tolist()
            for start, end in itertools.pairwise([*starts, len(kept)]):
                mine = kept[start:end]
                before = self._rows.get(int(mine[0, 0]))
                self._rows[int(mine[0, 0])] = (
                    mine if before is None else np.concatenate([before, mine])
                )
            self._held += len(kept)
        self.unasked = {}

    def _said(
        self, call: Call, others: list[Call], arguments: Sequence[Sequence[Any]]
    ) -> list[tuple[int, int, int, int]]:
        """Asks the operator what an answer to the call means for the others."""
        if not others:
            return []
        said = call.operator.implications(call.arguments, arguments)
        mine = self._serial[call]
        return [
            (mine, int(bool(truth)), self._serial[others[other]], int(bool(conclusion)))
            for truth, other, conclusion in (_checked(each, len(others)) for each in said)
        ]

    def saved(self) -> tuple[dict[int, int], Ints, list[str]]:
        """Returns all that is known: serials by call number, all rows, the distrusted operators."""
        rows = np.concatenate([np.zeros((0, _WIDTH), np.int64), *self._rows.values()])
        serials = {call.number: serial for call, serial in self._serial.items()}
        return serials, rows, sorted(self.distrusted)

    def restore(self, serials: Mapping[Call, int], rows: Ints, distrusted: Sequence[str]) -> None:
        """Takes, when new, what `saved` gave; the order of calls is that of the serials."""
        self._serial = dict(serials)
        self._serials = itertools.count(1 + max(serials.values(), default=-1))
        self.distrusted = set(distrusted)
        starts = np.flatnonzero(np.diff(rows[:, 0], prepend=-1)).tolist()
        for start, end in itertools.pairwise([*starts, len(rows)]):
            self._rows[int(rows[start, 0])] = rows[start:end]
        self._held = len(rows)

    def _purge(self) -> None:
        """Drops the rows about calls that are gone."""
        alive = np.array(sorted(self._serial.values()), np.int64)
        for serial, rows in list(self._rows.items()):
            self._rows[serial] = rows[np.isin(rows[:, 2], alive)]
        self._held = sum(map(len, self._rows.values()))

    def among(self, calls: Sequence[Call]) -> Ints:
        """Returns rows `(place of a call, its truth, place of another, its truth)` among these."""
        if not self._rows:
            return np.zeros((0, _WIDTH), np.int64)
        places = {self._serial[call]: at for at, call in enumerate(calls) if call in self._serial}
        mine = [self._rows[serial] for serial in places if serial in self._rows]
        if not mine:
            return np.zeros((0, _WIDTH), np.int64)
        rows = np.concatenate(mine)
        serials = np.array(sorted(places), np.int64)
        at = np.array([places[serial] for serial in serials.tolist()], np.int64)
        rows = rows[np.isin(rows[:, 2], serials)]
        rows[:, 0] = at[np.searchsorted(serials, rows[:, 0])]
        rows[:, 2] = at[np.searchsorted(serials, rows[:, 2])]
        return _chained(rows, len(calls))


def _chained(rows: Ints, calls: int) -> Ints:
    """Adds the rows that follow from several others; most operators give these themselves."""
    outcomes = 2 * calls
    said = np.unique((rows[:, 0] * 2 + rows[:, 1]) * outcomes + rows[:, 2] * 2 + rows[:, 3])
    while True:
        first, then = said // outcomes, said % outcomes
        begin = np.searchsorted(first, then)
        counts = np.searchsorted(first, then, side="right") - begin
        if counts.sum() > _MANY:
            return _closed(first, then)
        place = np.repeat(begin - (np.cumsum(counts) - counts), counts) + np.arange(counts.sum())
        longer = np.repeat(first, counts) * outcomes + then[place]
        more = np.union1d(said, longer[np.repeat(first, counts) // 2 != then[place] // 2])
        if len(more) == len(said):
            return np.stack([first // 2, first % 2, then // 2, then % 2], axis=1)
        said = more


def _closed(first: Ints, then: Ints) -> Ints:
    """Returns all that follows, by Warshall on rows of bits: n calls that imply each other in a
    chain have n³ pairs of rows that meet, but n² rows."""
    nodes, places = np.unique(np.concatenate([first, then]), return_inverse=True)
    count = len(nodes)
    reached = np.zeros((count, -(-count // 8)), np.uint8)
    before, after = places[: len(first)], places[len(first) :]
    np.bitwise_or.at(reached, (before, after >> 3), (128 >> (after & 7)).astype(np.uint8))
    for through in np.intersect1d(before, after).tolist():
        leads = np.flatnonzero(reached[:, through >> 3] & (128 >> (through & 7)))
        reached[leads] |= reached[through]
    before, after = np.nonzero(np.unpackbits(reached, axis=1, count=count))
    first, then = nodes[before], nodes[after]
    others = first // 2 != then // 2
    first, then = first[others], then[others]
    return np.stack([first // 2, first % 2, then // 2, then % 2], axis=1)


def _checked(said: object, count: int) -> Implication:
    if not isinstance(said, tuple) or len(said) != len(Implication._fields):
        raise ValueError(f"an implication is a tamis.Implication, not {said!r:.80}")
    truth, other, conclusion = said
    try:
        place = operator.index(other)
    except TypeError:
        place = -1
    if not 0 <= place < count:
        raise ValueError(
            f"an implication names another call by its place, 0 to {count - 1}, not {said!r:.80}"
        )
    return Implication(truth, place, conclusion)
