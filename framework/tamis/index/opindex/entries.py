"""Turns terms into entries of predicate lists, one list for each operator.

A row is a conjunction of clauses. Most rows are *counted*: each of their clauses is one predicate
of which an event satisfies at most one entry, so that a counter decides the row. The others have a
bit a clause (paper, section 6.1), and predicates of two more kinds: of a *broken* one (`not in`,
`has none`) an event satisfies the entry of its presence and no other; a *whole* one (`has all`
among others of its clause) holds when all its parts do.
Cost: O(terms and members).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from tamis.index.dimensions import Dimensions
from tamis.index.labels import ChangedLabels
from tamis.index.terms import ANY, IN, NONE, NOT_ALL, NOT_IN, OUTSIDE, RANGE, TermColumns
from tamis.indexing import Entry
from tamis.language.predicate import Disjunction
from tamis.numeric.kernels import inlined, kernel
from tamis.numeric.types import Bytes, Flags, Floats, Ints, SmallInts

EQUAL, AT_MOST, AT_LEAST, BETWEEN, BEYOND = range(5)
"""The operators of lists. The same, moved by `CLEARING`, are those that clear a clause's bit."""
CLEARING = 5
BREAKS, PART, PRESENT, KINDS = 10, 11, 12, 13
MOST_COUNTED = 250
"""The predicates of a row that a byte can count, and say beside that the row is gone."""
NO_GROUP = -1


class Entries(NamedTuple):
    """Rows in columns; the entries of row `rows[i]` are those from `start[i]` to `start[i + 1]`."""

    rows: Ints
    start: Ints
    clauses: SmallInts
    groups: SmallInts
    """The numbers of clauses, and of broken or whole predicates, of each row."""
    counted: Flags
    kind: Bytes
    dimension: SmallInts
    key: Floats
    """The sort key of a list: the upper bound for `AT_MOST`, else the lower one, or the value."""
    other: Floats
    """The other bound."""
    clause: SmallInts
    group: SmallInts
    """Of an entry that breaks, is part of, or says that there is such a predicate, its number."""


class NewEntries(NamedTuple):
    """Rows on their way to entries: terms, the clause of each, and which are one predicate."""

    terms: TermColumns
    clause: Ints
    whole: Ints
    """The same number for all terms of a predicate that has several, else -1; from 0 in a row."""


def conjunctions(entries: Iterable[Entry], disjunction: dict[int, int]) -> Iterator[Entry]:
    """Yields rows without disjunctions, and behind a row each part of those that it had.

    Where a part is among what is yielded, its disjunction, from 0 in a row, is noted."""
    place = 0
    for row, predicates in entries:
        mine = [each for each in predicates if isinstance(each, Disjunction)]
        place += 1
        if not mine:
            yield row, predicates
            continue
        yield row, [each for each in predicates if not isinstance(each, Disjunction)]
        for number, each in enumerate(mine):
            for part in each.parts:
                disjunction[place] = number
                place += 1
                yield row, [part]


def wanted_of(terms: TermColumns, disjunction: Mapping[int, int]) -> NewEntries:
    """Returns rows of clauses: one for each term, and one for each disjunction."""
    counts = np.diff(terms.start)
    clause = np.arange(len(terms.dimension)) - np.repeat(terms.start[:-1], counts)
    whole = np.full(len(clause), NO_GROUP)
    if not disjunction:
        return NewEntries(terms, clause, whole)
    number = np.full(len(terms.rows), NO_GROUP)
    number[list(disjunction)] = list(disjunction.values())
    is_row = number == NO_GROUP
    row = np.flatnonzero(is_row)[np.cumsum(is_row) - 1]
    of = np.repeat(np.arange(len(terms.rows)), counts)
    parts = ~is_row[of]
    clause[parts] = (counts[row] + number)[of[parts]]
    several = parts & (counts[of] > 1)
    whole[several] = (np.arange(len(row)) - row)[of[several]]
    start = np.append(terms.start[:-1][is_row], terms.start[-1])
    return NewEntries(terms._replace(rows=terms.rows[is_row], start=start), clause, whole)


def entries_of(wanted: NewEntries) -> Entries:
    """Returns rows as entries."""
    terms, rows = wanted.terms, len(wanted.terms.rows)
    sizes = np.where(terms.op > OUTSIDE, terms.high, 1)
    sizes *= 1 + (terms.op == NOT_ALL)
    count = int(sizes.sum()) + int(((terms.op == NOT_IN) | (terms.op == NONE)).sum())
    made = Entries(
        terms.rows,
        np.zeros(rows + 1, np.int64),
        np.zeros(rows, np.int32),
        np.zeros(rows, np.int32),
        np.zeros(rows, np.bool_),
        np.zeros(count, np.uint8),
        np.zeros(count, np.int32),
        np.zeros(count),
        np.zeros(count),
        np.zeros(count, np.int32),
        np.zeros(count, np.int32),
    )
    _fill(wanted, made)
    return made


def joined_entries(first: Entries, second: Entries) -> Entries:
    """Returns the rows of both."""
    start = np.concatenate([first.start, second.start[1:] + first.start[-1]])
    both: dict[str, Any] = {
        name: np.concatenate([getattr(first, name), getattr(second, name)])
        for name in Entries._fields
    }
    return Entries(**{**both, "start": start})


def relabeled_entries(entries: Entries, number: int, move: ChangedLabels) -> None:
    """Moves the bounds of a dimension whose labels have moved."""
    mine = entries.dimension == number
    is_upper = entries.kind % CLEARING == AT_MOST
    is_upper &= entries.kind < BREAKS
    for column, upper in ((entries.key, is_upper), (entries.other, ~is_upper)):
        highs, lows = mine & upper, mine & ~upper
        column[highs] = move.upper(column[highs])
        column[lows] = move.lower(column[lows])
    # what lies between two values is one place only as long as their labels are close
    wider = mine & (entries.kind % CLEARING == EQUAL) & (entries.key != entries.other)
    entries.kind[wider & (entries.kind < BREAKS)] += BETWEEN


def used_terms(entries: Entries, dimensions: Dimensions) -> TermColumns:
    """Returns what entries use of dimensions as terms, for `Dimensions.kept`."""
    bags = np.array([dimensions.is_bag(at) for at in range(len(dimensions))], np.bool_)
    is_member = bags[entries.dimension] if len(bags) else np.zeros(0, np.bool_)
    count = len(entries.dimension)
    low, high = np.minimum(entries.key, entries.other), np.maximum(entries.key, entries.other)
    return TermColumns(
        np.zeros(1, np.int64),
        np.array([0, count]),
        entries.dimension,
        np.where(is_member, ANY, RANGE).astype(np.uint8),
        np.where(is_member, np.arange(count), low),
        np.where(is_member, (entries.kind != PRESENT).astype(np.float64), high),
        entries.key,
    )


@kernel
def _fill(wanted: NewEntries, made: Entries) -> None:
    """Writes the entries of all rows."""
    terms, at = wanted.terms, 0
    for row in range(len(terms.rows)):
        first, last = terms.start[row], terms.start[row + 1]
        made.counted[row] = _is_counted(wanted, first, last)
        clauses, groups, begin = 0, 0, at
        for term in range(first, last):
            if wanted.whole[term] >= groups:
                groups = wanted.whole[term] + 1
        for term in range(first, last):
            clauses = max(clauses, wanted.clause[term] + 1)
            at, groups = _add(wanted, term, made, at, groups)
        for entry in range(begin, at):
            if made.counted[row]:
                made.clause[entry] = 0
            elif made.kind[entry] < CLEARING:
                made.kind[entry] += CLEARING
        made.clauses[row], made.groups[row] = clauses, groups
        made.start[row + 1] = at


@inlined
def _is_counted(wanted: NewEntries, first: int, last: int) -> bool:
    """Returns whether each clause of a row is one predicate that one entry at most satisfies."""
    terms = wanted.terms
    if last - first > MOST_COUNTED:
        return False
    for term in range(first, last):
        op = terms.op[term]
        if wanted.clause[term] != term - first or wanted.whole[term] >= 0 or op > ANY:
            return False
        if op == NOT_IN or (op == ANY and terms.high[term] != 1):
            return False
    return True


@inlined
def _put(
    made: Entries, at: int, kind: int, dimension: int, key: float, other: float, clause: int,
    group: int,
) -> int:  # fmt: skip
    made.kind[at], made.dimension[at] = kind, dimension
    made.key[at], made.other[at] = key, other
    made.clause[at], made.group[at] = clause, group
    return at + 1


@inlined
def _add(wanted: NewEntries, term: int, made: Entries, at: int, groups: int) -> tuple[int, int]:
    """Writes the entries of a term; where the next ones go, and how many groups there are."""
    terms, clause = wanted.terms, wanted.clause[term]
    op, dimension, whole = terms.op[term], terms.dimension[term], wanted.whole[term]
    low, high = terms.low[term], terms.high[term]
    if op <= OUTSIDE:
        kind, key, other = BETWEEN, low, high
        if op == OUTSIDE:
            kind = BEYOND
        elif low == high:
            kind = EQUAL
        elif high == np.inf:
            kind = AT_LEAST
        elif low == -np.inf:
            kind, key, other = AT_MOST, high, low
        return _put(made, at, kind, dimension, key, other, clause, NO_GROUP), groups
    for place in range(np.int64(low), np.int64(low + high)):
        member = terms.members[place]
        if op in (IN, ANY):
            kind = EQUAL if whole < 0 else PART
            at = _put(made, at, kind, dimension, member, member, clause, whole)
            continue
        at = _put(made, at, BREAKS, dimension, member, member, clause, groups)
        if op == NOT_ALL:
            at = _put(made, at, PRESENT, dimension, -np.inf, np.inf, clause, groups)
            groups += 1
    if op in (NOT_IN, NONE):
        at = _put(made, at, PRESENT, dimension, -np.inf, np.inf, clause, groups)
        groups += 1
    return at, groups
