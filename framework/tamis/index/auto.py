"""Becomes `lanes`, `pstbloom` or `psthash`, whichever is fast with what is subscribed.

The three differ in where a row lies, and so each may become another one whenever rows are laid out
anew: when as many came as there were, when most are gone, when statistics are given, and when what
events were like says so. The new arrays are made beside the old ones, and take their place whole.
The borders were measured (`tamis bench index`) and are counts: time decides nothing, so that
the same changes and events lead to the same index.
Invariant: answers do not depend on the choice. Cost: that of the index; O(terms) where rows are
laid out; O(dimensions, and some rows) where it looks what events were like.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from tamis.index.buckets.access import BLOOM, HASH, LANES, SHORT_AMONG_MANY, SHORT_LIST
from tamis.index.buckets.index import BucketIndex
from tamis.index.buckets.store import SLOTS
from tamis.index.known import knowledge_from
from tamis.index.terms import RANGE, TermColumns
from tamis.numeric.types import Flags, Floats

FEW_ROWS = 10_000
"""Up to so many rows looking few places up is what counts: `lanes`."""
PAIR_ROWS = 4_096
"""So many rows take as long as looking a pair up, and what comes with it."""
_SOME_ROWS = 1 << 14
"""So many rows tell about all of them."""
_ODD = np.uint64(0x9E37_79B9_7F4A_7C15)
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


class AskedTerms(NamedTuple):
    """The terms that the rows ask for which were laid out."""

    rows: int
    uses: Floats
    """The number of terms on each dimension."""
    values: Floats
    """The number of values that terms on each dimension ask to be equal to."""
    some: TermColumns
    """Some of the rows that have terms."""

    @classmethod
    def of(cls, terms: TermColumns, dimensions: int) -> AskedTerms:
        """Returns what these rows ask for."""
        equal = np.flatnonzero(_is_equal(terms))
        mixed = terms.dimension[equal].astype(np.uint64) * _ODD
        mixed ^= (terms.low[equal] + 0.0).view(np.uint64)
        distinct = equal[np.unique(mixed, return_index=True)[1]]
        having = np.flatnonzero(np.diff(terms.start))
        return cls(
            len(terms.rows),
            np.bincount(terms.dimension, minlength=dimensions).astype(np.float64),
            np.bincount(terms.dimension[distinct], minlength=dimensions).astype(np.float64),
            # without members, which are those of all rows
            terms.of(having[:: max(1, len(having) // _SOME_ROWS)])._replace(members=np.zeros(0)),
        )


def _is_equal(terms: TermColumns) -> Flags:
    is_equal: Flags = (terms.op == RANGE) & (terms.low == terms.high)
    return is_equal


def chosen(asked: AskedTerms, rows: int, presence: Floats) -> Choice:
    """Returns the index for so many rows like these; `presence` says how many events have a
    dimension."""
    if rows <= FEW_ROWS:
        return Choice(LANES, f"{rows:,} rows, {FEW_ROWS:,} at most")
    length = _list_length(asked, presence) * rows / max(1, asked.rows)
    # what `lanes` itself takes for short, by how many attributes there are
    if length <= (SHORT_AMONG_MANY if len(presence) > SLOTS else SHORT_LIST):
        return Choice(LANES, f"{length:,.0f} rows share their rarest attribute, few of {rows:,}")
    pairs = float(np.nansum(presence[asked.uses > 0]))
    looks = PAIR_ROWS * pairs * (pairs - 1) / 2
    checked = _shared(asked) * rows if looks < rows else 0.0
    if looks < checked:
        return Choice(HASH, f"{checked:,.0f} rows share a value, more than its pairs cost")
    return Choice(BLOOM, f"{rows:,} rows, {length:,.0f} of which share their rarest attribute")


def _list_length(asked: AskedTerms, presence: Floats) -> float:
    """Returns the number of rows that have the rarest attribute of a row, in the mean of the rows.

    Rare is what few rows have, and few events where that is known."""
    some = asked.some
    if not len(some.rows):
        return 0.0
    weights = asked.uses * np.where(np.isnan(presence), 1.0, presence)
    weights *= asked.uses.sum() / max(1e-9, weights.sum())
    return float(np.minimum.reduceat(weights[some.dimension], some.start[:-1]).mean())


def _shared(asked: AskedTerms) -> float:
    """Returns the share of rows that a value satisfies which satisfies the narrowest predicate of
    one."""
    some = asked.some
    equal = _is_equal(some)
    share = np.ones(len(some.dimension))
    share[equal] = 1.0 / asked.values[some.dimension[equal]]
    return float(np.minimum.reduceat(share, some.start[:-1]).mean())


class AutoIndex(BucketIndex):
    """The one of three indexes that is fast with what is subscribed."""

    def __init__(self, *, look_up_rows: float, vector: bool | None = None) -> None:
        super().__init__(LANES, look=look_up_rows, vector=vector)
        self._choice = Choice(LANES, "0 rows")
        self._asked: AskedTerms | None = None
        """What rows asked for when they were laid out; `None` where they were loaded, or dimensions
        have other numbers since."""

    @property
    def choice(self) -> str:
        """Returns which index it is, and why."""
        return self._choice.text

    def _chosen(self, asked: AskedTerms, rows: int) -> Choice:
        known = None
        if self._statistics is not None:
            known = knowledge_from(self._statistics, self._dimensions)
        known = self._seen.knowledge(self._store, self._dimensions, known)
        presence = np.ones(len(self._dimensions)) if known is None else known.presence
        return chosen(asked, rows, presence[: len(asked.uses)])

    def _become(self, choice: Choice) -> None:
        self._choice, self._rule = choice, choice.rule
        self._accesses = 2 if choice.rule == HASH else 1

    def _lay_out_anew(self, terms: TermColumns) -> None:
        before, dimensions = self._choice, self._dimensions
        asked = AskedTerms.of(terms, len(dimensions))
        self._become(self._chosen(asked, len(terms.rows)))
        try:
            super()._lay_out_anew(terms)
        except BaseException:
            self._become(before)
            raise
        self._asked = asked if self._dimensions is dimensions else None

    def adapt(self) -> None:
        """Improves itself by what events were like, or becomes another one, which takes longer."""
        is_looking = not self._rehanging.segments
        super().adapt()
        if is_looking and len(self):
            if self._asked is None:
                self._asked = AskedTerms.of(self._read_back(), len(self._dimensions))
            if self._chosen(self._asked, len(self)).rule != self._rule:
                self._lay_out(self._read_back())

    def save(self, folder: Path) -> None:
        """Writes its arrays, and what it is, into an existing folder."""
        super().save(folder)
        (folder / _FILE).write_text(self.choice, encoding="utf-8")

    def load(self, folder: Path) -> None:
        """Takes, when new, what `save` wrote."""
        super().load(folder)
        name, _, why = (folder / _FILE).read_text(encoding="utf-8").partition(": ")
        self._become(Choice(_RULES[name], why))
