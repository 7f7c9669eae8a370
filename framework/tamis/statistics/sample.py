"""Keeps a sample of fully observed events: what each held, and which predicates were true of it.

A row of bits a predicate, a column an event; what was unknown of an event is marked so. Predicates
that an event does not name are unknown of it. Pictures and long values are not kept.
Cost: two bits a predicate and event, some hundred bytes an event.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from tamis.numeric.types import Bytes, Flags

KEPT_COLUMNS = {"event": "uint64", "content": "string"}
_LONGEST, _SHORT = 500, 80
_LEFT_OUT = "…"
_encoded = json.JSONEncoder(ensure_ascii=False).encode


class SampleEvent(NamedTuple):
    """An event of the sample: its hash, and its content as JSON."""

    event: int
    content: str


_NOT_KEPT = SampleEvent(0, "")


def brief(content: Mapping[str, Any]) -> str:
    """Writes an event as JSON; what is long, or no JSON, is there as an ellipsis.

    >>> brief({"altitude": 120, "image": b"..."})
    '{"altitude": 120, "image": "…"}'
    """
    kept = {}
    for name, value in content.items():
        if type(value) is float or (type(value) is str and len(value) <= _SHORT):
            kept[str(name)] = value
            continue
        value = value.isoformat() if isinstance(value, date) else value
        try:
            text = _encoded(value)
        except (TypeError, ValueError, RecursionError):
            text = ""
        kept[str(name)] = value if 0 < len(text) <= _LONGEST else _LEFT_OUT
    return _encoded(kept)


class ObservedSample:
    """Events by what was true of them.

    >>> sample = ObservedSample.of([{"seen(boat)": True, "seen(car)": False}, {"seen(boat)": None}])
    >>> len(sample), sample.predicates
    (2, ('seen(boat)', 'seen(car)'))
    >>> sample.truths().tolist(), sample.knowns().tolist()
    ([[True, False], [False, False]], [[True, True], [False, False]])
    """

    def __init__(
        self,
        predicates: Sequence[str],
        events: int,
        true: Bytes,
        known: Bytes,
        kept: Sequence[SampleEvent] = (),
    ) -> None:
        self.predicates = tuple(predicates)
        self.kept = tuple(kept) or (_NOT_KEPT,) * events
        """The events themselves, where they were kept."""
        self._events = events
        self._true = true
        self._known = known

    @classmethod
    def of(cls, events: Iterable[Mapping[str, bool | None]]) -> ObservedSample:
        """Makes a sample of events, each with the truths of its predicates, `None` if unknown."""
        listed = list(events)
        place = {text: at for at, text in enumerate(dict.fromkeys(t for e in listed for t in e))}
        true = np.zeros((len(place), len(listed)), np.bool_)
        known = np.zeros_like(true)
        for column, event in enumerate(listed):
            for text, truth in event.items():
                if truth is not None:
                    known[place[text], column] = True
                    true[place[text], column] = bool(truth)
        return cls.from_arrays(tuple(place), true, known)

    @classmethod
    def from_arrays(
        cls, predicates: Sequence[str], true: Flags, known: Flags, kept: Sequence[SampleEvent] = ()
    ) -> ObservedSample:
        """Returns a sample from arrays of a row a predicate and a column an event."""
        bits = (np.packbits(true & known, axis=1), np.packbits(known, axis=1))
        return cls(predicates, true.shape[1], *bits, kept)

    def __len__(self) -> int:
        """Counts the events."""
        return self._events

    def truths(self) -> Flags:
        """Returns whether each predicate (columns) is known to be true of each event (rows)."""
        return self._unpacked(self._true)

    def knowns(self) -> Flags:
        """Returns whether each predicate (columns) is known at all of each event (rows)."""
        return self._unpacked(self._known)

    @cached_property
    def places(self) -> dict[str, int]:
        """The column of each predicate that was ever known."""
        ever = np.flatnonzero(self._known.max(axis=1, initial=0)).tolist()
        return {self.predicates[at]: at for at in ever}

    def _unpacked(self, bits: Bytes) -> Flags:
        return np.unpackbits(bits, axis=1, count=self._events).view(np.bool_).T

    def merged(self, other: ObservedSample) -> ObservedSample:
        """Returns the events of both."""
        place = {text: at for at, text in enumerate(self.predicates)}
        for text in other.predicates:
            place.setdefault(text, len(place))
        true = np.zeros((len(place), len(self) + len(other)), np.bool_)
        known = np.zeros_like(true)
        for sample, first in ((self, 0), (other, len(self))):
            rows = np.array([place[text] for text in sample.predicates], np.int64)
            columns = slice(first, first + len(sample))
            true[rows, columns] = sample.truths().T
            known[rows, columns] = sample.knowns().T
        return ObservedSample.from_arrays(tuple(place), true, known, (*self.kept, *other.kept))

    def latest(self, events: int) -> ObservedSample:
        """Keeps so many of the events, those that came last."""
        first = max(0, len(self) - events)
        true, known = self.truths()[first:].T, self.knowns()[first:].T
        return ObservedSample.from_arrays(self.predicates, true, known, self.kept[first:])

    def columns(self) -> dict[str, list[Any]]:
        """Returns columns of a table: a row a predicate, bits as bytes, the highest first."""
        return {
            "predicate": list(self.predicates),
            "true": [row.tobytes() for row in self._true],
            "known": [row.tobytes() for row in self._known],
        }

    @classmethod
    def from_columns(
        cls, columns: Mapping[str, Sequence[Any]], events: int, kept: Sequence[SampleEvent] = ()
    ) -> ObservedSample:
        """Makes a sample of what `columns` gave; `ValueError` where bits are lacking."""
        width = (events + 7) // 8
        arrays = []
        for name in ("true", "known"):
            rows = columns[name]
            if any(not isinstance(row, bytes) or len(row) != width for row in rows):
                raise ValueError(f"the column {name!r} does not hold {events} bits a predicate")
            flat = np.frombuffer(b"".join(rows), np.uint8)
            arrays.append(flat.reshape(len(rows), width))
        return cls(columns["predicate"], events, arrays[0], arrays[1], kept)
