"""Becomes `lanes`, `pstbloom` or `psthash`, whichever is fast with what is subscribed.

The three differ in where a row lies, and so each may become another one whenever rows are laid out
anew: when as many came as there were, when most are gone, when statistics are given, and when what
events were like says so. The new arrays are made beside the old ones, and take their place whole.
The borders were measured (`tamis bench index`) and are counts: time decides nothing, so that
the same changes and events lead to the same index.
Invariant: answers do not depend on the choice. Cost: that of the index, and O(terms) a choice.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from tamis.index.buckets.access import BLOOM, HASH, LANES
from tamis.index.buckets.index import BucketIndex
from tamis.index.known import knowledge_from
from tamis.index.terms import RANGE, TermColumns
from tamis.numeric.types import Floats

FEW_ROWS = 10_000
"""Up to so many rows looking few places up is what counts: `lanes`."""
SHORT_LISTS = 500
"""Up to so many rows under the rarest attribute of a row `lanes` finds them at once."""
PAIR_ROWS = 4_096
"""So many rows take as long as looking a pair up, and what comes with it."""
_NAMES = {LANES: "lanes", BLOOM: "pstbloom", HASH: "psthash"}
_RULES = {name: rule for rule, name in _NAMES.items()}
_FILE = "choice.txt"


class Choice(NamedTuple):
    """A chosen index, and why."""

    rule: int
    why: str

    @property
    def text(self) -> str:
        """The name of the index, and why it is that one."""
        return f"{_NAMES[self.rule]}: {self.why}"


def chosen(terms: TermColumns, presence: Floats) -> Choice:
    """Returns the index for these rows; `presence` says how many events have a dimension."""
    rows = len(terms.rows)
    if rows <= FEW_ROWS:
        return Choice(LANES, f"{rows:,} rows, {FEW_ROWS:,} at most")
    length = _list_length(terms, presence)
    if length <= SHORT_LISTS:
        return Choice(LANES, f"{length:,.0f} rows share their rarest attribute, few of {rows:,}")
    used = np.unique(terms.dimension)
    pairs = float(np.nansum(presence[used]))
    looks = PAIR_ROWS * pairs * (pairs - 1) / 2
    checked = _shared(terms) if looks < rows else 0.0
    if looks < checked:
        return Choice(HASH, f"{checked:,.0f} rows share a value, more than its pairs cost")
    return Choice(BLOOM, f"{rows:,} rows, {length:,.0f} of which share their rarest attribute")


def _list_length(terms: TermColumns, presence: Floats) -> float:
    """Returns the number of rows that have the rarest attribute of a row, in the mean of the rows.

    Rare is what few rows have, and few events where that is known."""
    counts = np.bincount(terms.dimension, minlength=len(presence)).astype(np.float64)
    weights = counts * np.where(np.isnan(presence), 1.0, presence)
    weights *= counts.sum() / max(1e-9, weights.sum())
    first = terms.start[:-1][np.diff(terms.start) > 0]
    if not len(first):
        return 0.0
    return float(np.minimum.reduceat(weights[terms.dimension], first).mean())


def _shared(terms: TermColumns) -> float:
    """Counts the rows that a value satisfies which satisfies the narrowest predicate of one."""
    equal = (terms.op == RANGE) & (terms.low == terms.high)
    pairs = np.stack([terms.dimension[equal].astype(np.float64), terms.low[equal]])
    dimensions = np.unique(pairs, axis=1)[0].astype(np.int64)
    values = np.bincount(dimensions, minlength=int(terms.dimension.max(initial=0)) + 1)
    share = np.ones(len(terms.dimension))
    share[equal] = 1.0 / values[terms.dimension[equal]]
    first = terms.start[:-1][np.diff(terms.start) > 0]
    return float(np.minimum.reduceat(share, first).mean()) * len(terms.rows)


class AutoIndex(BucketIndex):
    """The one of three indexes that is fast with what is subscribed."""

    def __init__(self, *, look_up_rows: float, vector: bool | None = None) -> None:
        super().__init__(LANES, look=look_up_rows, vector=vector)
        self._choice = Choice(LANES, "0 rows")

    @property
    def choice(self) -> str:
        """Returns which index it is, and why."""
        return self._choice.text

    def _chosen(self, terms: TermColumns) -> Choice:
        known = None
        if self._statistics is not None:
            known = knowledge_from(self._statistics, self._dimensions)
        known = self._seen.knowledge(self._store, self._dimensions, known)
        presence = np.ones(len(self._dimensions)) if known is None else known.presence
        return chosen(terms, presence)

    def _become(self, choice: Choice) -> None:
        self._choice, self._rule = choice, choice.rule
        self._accesses = 2 if choice.rule == HASH else 1

    def _lay_out_anew(self, terms: TermColumns) -> None:
        before = self._choice
        self._become(self._chosen(terms))
        try:
            super()._lay_out_anew(terms)
        except BaseException:
            self._become(before)
            raise

    def adapt(self) -> None:
        """Improves itself by what events were like, or becomes another one, which takes longer."""
        is_looking = not self._rehanging.segments
        super().adapt()
        if is_looking and len(self):
            terms = self._read_back()
            if self._chosen(terms).rule != self._rule:
                self._lay_out(terms)

    def save(self, folder: Path) -> None:
        """Writes its arrays, and what it is, into an existing folder."""
        super().save(folder)
        (folder / _FILE).write_text(self.choice, encoding="utf-8")

    def load(self, folder: Path) -> None:
        """Takes, when new, what `save` wrote."""
        super().load(folder)
        name, _, why = (folder / _FILE).read_text(encoding="utf-8").partition(": ")
        self._become(Choice(_RULES[name], why))
