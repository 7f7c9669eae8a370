"""Finds which of the phrases that are asked for an event's text holds, all in one pass.

Phrases are learned when a subscription or a call names them, and looked for from the next event
on by one automaton, which grows by layers; a phrase not yet among them is looked for by itself.
Invariant: what an event was read with is never changed, so that threads need no lock to read.
Cost: O(text + phrases found) an event, and O(log phrases) times its letters for each new phrase.
"""

from __future__ import annotations

import copy
import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from tamis_operators.text.folding import folded, marked

if TYPE_CHECKING:
    from tamis.kit import Needles

_MOST = 250_000


class MarkedText(NamedTuple):
    """An event's text, marked, and which of the known phrases it holds."""

    text: str
    known: Mapping[str, int]
    found: frozenset[int]
    before: int
    """The phrases of higher numbers were learned later."""

    def holds(self, phrase: str) -> bool:
        """Returns whether the text holds a marked phrase."""
        number = self.known.get(phrase, self.before)
        return number in self.found if number < self.before else phrase in self.text


class Phrases:
    """The phrases known so far; it travels without them."""

    def __init__(self, attribute: str) -> None:
        self.attribute = attribute
        self._lock = threading.Lock()
        self._forget()

    def __reduce__(self) -> tuple[Any, ...]:
        return Phrases, (self.attribute,)

    def __len__(self) -> int:
        return len(self._numbers)

    def _forget(self) -> None:
        self._numbers: dict[str, int] = {}
        self._needles: Needles | None = None
        self._settled = 0

    def learn(self, phrase: str) -> None:
        """Takes a marked phrase, to be looked for from the next event on."""
        if phrase not in self._numbers:
            with self._lock:
                if len(self._numbers) >= _MOST:  # most of them are not asked for any more
                    self._forget()
                self._numbers.setdefault(phrase, len(self._numbers))

    def read(self, event: Any) -> MarkedText:
        """Returns the reading of an event's text."""
        text = event[self.attribute]
        if not isinstance(text, str):
            raise TypeError(f"{self.attribute} is a text, not {text!r:.40}")
        marked_text = marked(folded(text))
        with self._lock:
            numbers, needles, settled = self._numbers, self._needles, self._settled
            if settled < len(numbers):
                needles, settled = self._settle()
        found = frozenset(() if needles is None else needles.find(marked_text))
        return MarkedText(marked_text, numbers, found, settled)

    def _settle(self) -> tuple[Needles, int]:
        """Builds needles of all phrases, beside those in use."""
        from tamis.kit import Needles

        needles = Needles() if self._needles is None else copy.copy(self._needles)
        names = list(self._numbers)
        needles.add_many({at: names[at] for at in range(self._settled, len(names))})
        self._needles, self._settled = needles, len(names)
        return needles, len(names)
