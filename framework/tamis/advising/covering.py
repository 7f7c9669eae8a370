"""Bounds what covering everything costs: linear programs of zeros and ones.

A covering has columns of non-negative weight and rows; a row asks that its columns add up to 1, or
to the value of the column it `serves`. Invariant: what is given as a lower bound is one, for every
solution in whole columns and in parts of them; what is chosen covers every row.
Cost: HiGHS takes milliseconds for thousands of rows by the simplex method, and 16 s for 55,000 rows
with 28,000 columns by interior points, which larger programs are solved by; who waits is told.
"""

from __future__ import annotations

import heapq
import importlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tamis.errors import TamisError
from tamis.numeric.types import Flags, Floats, Ints
from tamis.waiting import waiting_for

SERVES_NONE = -1
SIMPLEX_ROWS = 8_000


@dataclass(frozen=True)
class CoverProblem:
    """Rows `column[start[r]:start[r + 1]]`, none empty, over columns of some weight."""

    weight: Floats
    start: Ints
    column: Ints
    serves: Ints
    """The column whose value a row must reach; `SERVES_NONE` where it must reach 1."""

    @classmethod
    def of(cls, weight: Floats, row: Ints, column: Ints, serves: Ints) -> CoverProblem:
        """Returns the covering whose row `row[i]` has the column `column[i]`, in any order."""
        columns = max(1, len(weight))
        keys = np.unique(row * columns + column)
        counts = np.bincount(keys // columns, minlength=len(serves))
        if len(serves) and not counts.all():
            raise ValueError("a row without columns cannot be covered")
        start = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        return cls(weight, start, keys % columns, serves)

    @property
    def rows(self) -> int:
        """The number of rows."""
        return len(self.serves)

    def _row(self, at: int) -> list[int]:
        row: list[int] = self.column[self.start[at] : self.start[at + 1]].tolist()
        return row

    def _settled(self) -> tuple[Flags, Flags]:
        """Returns the columns that every solution takes or that are free, and the other rows."""
        taken = self.weight <= 0
        taken[self.serves[self.serves >= 0]] = False
        lengths = np.diff(self.start)
        while True:
            live = ~np.logical_or.reduceat(taken[self.column], self.start[:-1])
            lone = live & (lengths == 1) & ((self.serves < 0) | taken[self.serves])
            fresh = self.column[self.start[:-1][lone]]
            if not len(fresh):
                return taken, live
            taken[fresh] = True

    def at_least(self) -> float:
        """Bounds the weight of a solution from below, by one in parts of columns."""
        if not self.rows:
            return 0.0
        taken, live = self._settled()
        settled = float(self.weight[taken].sum())
        left = self._left(taken, live)
        if left is None:
            return settled
        with waiting_for(f"solving a linear program of {left.rows:,} rows for a bound"):
            return settled + left._solved()

    def _left(self, taken: Flags, live: Flags) -> CoverProblem | None:
        """Returns the rows that are left, each once, over the columns that they have."""
        found = {
            (int(serves) if serves >= 0 and not taken[serves] else SERVES_NONE, *self._row(at))
            for at, serves in zip(
                np.flatnonzero(live).tolist(), self.serves[live].tolist(), strict=True
            )
        }
        if not found:
            return None
        rows = sorted(found)
        lengths = np.array([len(row) - 1 for row in rows], np.int64)
        serves = np.array([row[0] for row in rows], np.int64)
        flat = np.array([column for row in rows for column in row[1:]], np.int64)
        used = np.unique(np.concatenate([flat, serves[serves >= 0]]))
        return CoverProblem(
            self.weight[used],
            np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
            np.searchsorted(used, flat),
            np.where(serves >= 0, np.searchsorted(used, serves), SERVES_NONE),
        )

    def _solved(self) -> float:
        """Returns the optimum by HiGHS."""
        optimize, sparse = scipy_part("optimize"), scipy_part("sparse")
        serving = np.flatnonzero(self.serves >= 0)
        row = np.repeat(np.arange(self.rows), np.diff(self.start))
        matrix = sparse.csr_matrix(
            (
                np.concatenate([np.full(len(row), -1.0), np.ones(len(serving))]),
                (
                    np.concatenate([row, serving]),
                    np.concatenate([self.column, self.serves[serving]]),
                ),
            ),
            shape=(self.rows, len(self.weight)),
        )
        limit = np.where(self.serves < 0, -1.0, 0.0)
        method = "highs-ds" if self.rows <= SIMPLEX_ROWS else "highs-ipm"
        solved = optimize.linprog(
            self.weight, A_ub=matrix, b_ub=limit, bounds=(0, 1), method=method
        )
        if not solved.success:
            raise TamisError(f"the linear program of a bound was not solved: {solved.message}")
        return float(solved.fun)

    def packed(self) -> float:
        """Bounds the weight without a linear program: rows ask what their columns have left.

        With weights of 1 it counts rows that have no column in common."""
        if not self.rows:
            return 0.0
        room: list[float] = self.weight.tolist()
        total = 0.0
        lengths = np.diff(self.start)
        order = np.flatnonzero(self.serves < 0)
        for at in order[np.argsort(lengths[order], kind="stable")].tolist():
            row = self._row(at)
            price = min(room[column] for column in row)
            if price > 0:
                total += price
                for column in row:
                    room[column] -= price
        return total

    def chosen(self) -> list[int]:
        """Returns whole columns that cover every row: by turns the cheapest for what it newly
        covers."""
        if (self.serves >= 0).any():
            raise ValueError("columns are chosen where every row must reach 1")
        row_of = np.repeat(np.arange(self.rows), np.diff(self.start))
        order = np.argsort(self.column, kind="stable")
        begin = np.searchsorted(self.column[order], np.arange(len(self.weight) + 1))
        weight: list[float] = self.weight.tolist()
        covered = bytearray(self.rows)
        held = row_of[order]
        gain = np.diff(begin).tolist()
        heap = [(weight[at] / gain[at], at) for at in range(len(weight)) if gain[at]]
        heapq.heapify(heap)
        left = self.rows
        chosen = []
        while left:
            score, column = heapq.heappop(heap)
            mine: Iterable[int] = held[begin[column] : begin[column + 1]].tolist()
            fresh = [row for row in mine if not covered[row]]
            if not fresh:
                continue
            if weight[column] / len(fresh) > score:
                heapq.heappush(heap, (weight[column] / len(fresh), column))
                continue
            chosen.append(column)
            left -= len(fresh)
            for row in fresh:
                covered[row] = 1
        return chosen


def scipy_part(part: str) -> Any:
    """Returns a module of SciPy, or what to install."""
    try:
        return importlib.import_module(f"scipy.{part}")
    except ImportError:
        raise TamisError(
            "bounds and tests of significance are SciPy's: pip install 'tamis[bench]'"
        ) from None
