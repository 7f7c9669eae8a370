"""Chooses the predicates that give access to a row, and so its buckets.

Each index has its rule, all of them with the selectivities of statistics where there are any:

- `BLOOM` (PSTBloom, paper 5): the most selective predicate; without statistics by the rank of its
  operator, then by how much of its dimension it covers.
- `HASH` (PSTHash, paper 6): the same, and a further predicate on another dimension where the rows
  that it spares an event cost more than looking it up beside each of the event's values.
- `LANES`: the rarest dimension alone while that list is short; else as `BLOOM` while there are few
  rows for each pair of dimensions; else a value, else a pair of rare dimensions.

A range gives access through up to `most` stretches of cells; where it is the only access, through
more than one only if these let clearly fewer events in. So no row is in more than a bounded number
of buckets.
Cost: O(terms of a row).
"""

from __future__ import annotations

import numpy as np

from tamis.index.buckets.batch import (
    Batch,
    dimension_of,
    is_exact,
    is_point,
    low_of,
    passing_code,
    width_of,
)
from tamis.index.buckets.cells import Cuts, after, before, term_code
from tamis.index.buckets.hashing import node_number, point, space_number
from tamis.index.buckets.opening import opened_store
from tamis.index.buckets.records import describe
from tamis.index.buckets.store import MOST_ACCESSES, MOST_CELLS, Store
from tamis.index.terms import ANY, IN, NOT_ALL, OUTSIDE, RANGE, TermColumns
from tamis.numeric.kernels import inlined, kernel, portable_parts
from tamis.numeric.types import Flags, Ints
from tamis.numeric.views import bare
from tamis.spaces.curve import share_before

portable_parts()

BLOOM, HASH, LANES = range(3)
MOST_REPLICAS = 16
_FEW_MEMBERS = 4
SHORT_LIST, SHORT_AMONG_MANY, _LONG_LIST = 500, 2_000, 2_000
"""Rows that are tested sooner than pairs are looked up, where few or many are looked up in vain."""
_SHORT_PAIR = 100
"""With fewer rows for each pair there is, looking pairs up takes longer than what it spares."""
_LOOK = 3.0
"""The cost of looking into a pair's list, in times of testing its rows if it is short."""
_COARSE_VALUES = 10
"""The values that a coarse cell is taken to hold."""
_THINGS = 16.0
"""Of how many things an event is taken to have one."""
_RANKS = 8.0
"""More than any rank of an operator."""


@inlined
def is_few_points(terms: TermColumns, term: int) -> bool:
    """Returns whether a term asks for one of a few values, of which an event has at most one."""
    return bool(terms.op[term] == IN and terms.high[term] <= _FEW_MEMBERS)


@inlined
def share_of(store: Store, terms: TermColumns, term: int, width: int) -> float:
    """Returns the share of events that satisfy a term, as far as it is known."""
    dimension, op = np.int64(terms.dimension[term]), terms.op[term]
    inside = 0.0
    if _is_known(store, dimension):
        if op <= OUTSIDE:
            inside = _known_share(store, dimension, terms.low[term], terms.high[term])
        else:
            first = np.int64(terms.low[term])
            for member in range(first, first + np.int64(terms.high[term])):
                value = terms.members[member]
                inside += _known_share(store, dimension, value, value)
    elif op >= ANY:
        inside = terms.high[term] / _THINGS
    else:
        inside = (width + 1) / store.dimensions[dimension].cells
        if op >= IN:
            inside = terms.high[term] / store.dimensions[dimension].cells
        if store.dimensions[dimension].coarse and (op >= IN or is_point(terms, term)):
            inside /= _COARSE_VALUES
    if op == NOT_ALL:
        inside /= terms.high[term]
    inside = min(1.0, inside)
    if op != RANGE and op != IN and op != ANY:
        inside = 1.0 - inside
    return float(store.presence[dimension] * inside)


@inlined
def _is_known(store: Store, dimension: int) -> bool:
    """Tells whether it is known where on a dimension events lie."""
    if not store.tops[0].known or dimension + 1 >= len(store.known_start):
        return False
    return bool(store.known_start[dimension] < store.known_start[dimension + 1])


@inlined
def _known_share(store: Store, dimension: int, low: float, high: float) -> float:
    """Returns the share of the events with a dimension that lie in a range, or have a thing."""
    if not _is_known(store, dimension):
        return 1.0
    first, last = store.known_start[dimension], store.known_start[dimension + 1]
    end = np.inf
    if store.dimensions[dimension].bag:
        end = low + 1.0
        if end > store.known_at[last - 1]:
            return 1.0 / _THINGS
    elif high < np.inf:
        end = after(high)
    return share_before(store.known_at, store.known_before, first, last, end) - share_before(
        store.known_at, store.known_before, first, last, low
    )


@inlined
def node_share(store: Store, node: int) -> float:
    """Returns the share of events that are in a node, its spaces taken to be independent."""
    share = 1.0
    while node:
        space = store.nodes[node] & 0xFFFFFFFF
        what, where = store.spaces[space, 0], store.spaces[space, 1]
        dimension = what >> 1
        share *= store.presence[dimension]
        if what & 1:
            value = np.int64(where).view(np.float64)
            share *= _known_share(store, dimension, value, value)
        elif where > 1:
            level = 0
            while where << level < 256:
                level += 1
            low = (where << level) - 256
            share *= _share_of_cells(store, dimension, low, low + (1 << level))
        node = store.nodes[node] >> 32
    return share


@inlined
def _share_of_cells(store: Store, dimension: int, low: int, high: int) -> float:
    """Returns the share of the events with a dimension that lie in cells from `low` to `high`."""
    first, cells = store.dimensions[dimension].cuts, store.dimensions[dimension].cells
    begin = store.cuts[first + low - 1] if low else -np.inf
    end = before(store.cuts[first + high - 1]) if high < cells else np.inf
    return _known_share(store, dimension, begin, end)


@inlined
def _rank(store: Store, terms: TermColumns, term: int, width: int) -> float:
    """Ranks a term without statistics, the most selective least (paper 3.3)."""
    op = terms.op[term]
    cells = store.dimensions[terms.dimension[term]].cells
    part = min(1.0, (width + 1) / cells)
    if is_point(terms, term):
        return 0.0 + part
    if op == IN:
        return 1.0 + part
    if op == RANGE:
        return (3.0 if np.isinf(terms.low[term]) or np.isinf(terms.high[term]) else 2.0) + part
    if op == ANY:
        return 4.0 + part
    return 5.0 if op == OUTSIDE else 6.0


@inlined
def _best(store: Store, batch: Batch, first: int, last: int, count: int, picked: Ints) -> int:
    """Picks the most selective terms, on as many dimensions; how many there are."""
    terms, known = batch.terms, store.tops[0].known
    taken = 0
    while taken < count:
        best, least = -1, np.inf
        for term in range(first, last):
            width = width_of(batch.codes[term])
            if known:
                score = share_of(store, terms, term, width)
            else:
                score = _rank(store, terms, term, width)
                score += store.presence[terms.dimension[term]] / _RANKS / 1e6
            new = True
            for other in range(taken):
                new &= terms.dimension[picked[other]] != terms.dimension[term]
            if new and score < least:
                best, least = term, score
        if best < 0:
            break
        picked[taken] = best
        taken += 1
    return taken


@inlined
def rarest(store: Store, terms: TermColumns, first: int, last: int) -> int:
    """Returns the first term on the rarest dimension, of some terms."""
    best = first
    for term in range(first + 1, last):
        if store.presence[terms.dimension[term]] < store.presence[terms.dimension[best]]:
            best = term
    return best


@inlined
def _pick_lanes(
    store: Store, batch: Batch, first: int, last: int, picked: Ints, whole: Flags
) -> int:
    """Returns the rule of `lanes`."""
    terms = batch.terms
    best = rarest(store, terms, first, last)
    picked[0], whole[0] = best, True
    short = SHORT_AMONG_MANY if store.tops[0].wide else SHORT_LIST
    if store.dimensions[terms.dimension[best]].alone < short:
        return 1
    pairs = store.tops[0].dimensions * (store.tops[0].dimensions - 1) // 2
    rows = len(terms.rows) + store.tops[0].live
    if rows < pairs * _SHORT_PAIR and not store.tops[0].wide:
        whole[0] = False
        return _best(store, batch, first, last, 1, picked)
    least = np.inf
    for term in range(first, last):
        if is_point(terms, term) or is_few_points(terms, term):
            code = batch.codes[term]
            share = share_of(store, terms, term, width_of(code))
            if not is_point(terms, term):
                share += 1.0
            if share < least:
                picked[0], whole[0], least = term, False, share
    if least < np.inf and not store.tops[0].known:
        return 1
    one, other = _best_pair(store, terms, first, last)
    both = store.presence[terms.dimension[one]] * store.presence[terms.dimension[other]]
    if least < np.inf and (one == other or both >= least):
        return 1
    if one == other or rows > pairs * _LONG_LIST:
        whole[0] = False
        return _best(store, batch, first, last, 1, picked)
    picked[0], picked[1] = one, other
    whole[0], whole[1] = True, True
    return 2


@inlined
def _best_pair(store: Store, terms: TermColumns, first: int, last: int) -> tuple[int, int]:
    """Returns two terms whose pair of dimensions costs events least; one twice if it is alone.

    Pairs that agree in more of the last bits are fewer, so their lists are longer: rows that could
    be in many lists meet in few, which spares events looking into all of them."""
    best, least = (first, first), np.inf
    for one in range(first, last):
        for other in range(first, one):
            apart = int(terms.dimension[one]) ^ int(terms.dimension[other])
            both = store.presence[terms.dimension[one]] * store.presence[terms.dimension[other]]
            if apart and both < least:
                both *= 1.0 + _LOOK / (apart & -apart)
                if both < least:
                    best, least = (one, other), both
    return best


@inlined
def _spaces_of(
    store: Store, terms: TermColumns, term: int, code: int, whole: bool, most: int, alone: bool,
    spaces: Ints,
) -> int:  # fmt: skip
    """Returns the spaces through which a term gives access, disjoint for every event; how many."""
    dimension, low, width = dimension_of(code), low_of(code), width_of(code)
    if whole:
        spaces[0] = space_number(store, 2 * dimension, 1)
        return 1
    if is_point(terms, term):
        value = terms.low[term]
        if terms.op[term] == ANY:
            value = terms.members[np.int64(value)]
        what, where = point(dimension, value)
        spaces[0] = space_number(store, what, where)
        return 1
    if is_few_points(terms, term) and terms.high[term] <= most:
        for member in range(np.int64(terms.high[term])):
            what, where = point(dimension, terms.members[np.int64(terms.low[term]) + member])
            spaces[member] = space_number(store, what, where)
        return np.int64(terms.high[term])
    level = 8
    if terms.op[term] == RANGE or terms.op[term] == IN:
        level = _level_of(store, dimension, low, low + width, most, alone)
    count = ((low + width) >> level) - (low >> level) + 1 if level < 8 else 1
    for stretch in range(count):
        where = (256 >> level) + (low >> level) + stretch if level < 8 else 1
        spaces[stretch] = space_number(store, 2 * dimension, where)
    return np.int64(count)


@inlined
def _level_of(store: Store, dimension: int, first: int, last: int, most: int, alone: bool) -> int:
    """Returns the level of the stretches through which a range of cells gives access.

    Finer ones let fewer events in, and take more replicas. Where a row has no other access, what
    they let in, squared and times their number, is to be half of that of coarser ones."""
    best, least, level, count = 8, np.inf, 8, 1
    cells = store.dimensions[dimension].cells
    is_known = _is_known(store, dimension)
    while count <= most:
        low, high = first >> level << level, ((last >> level) + 1) << level
        inside = min(count << level, cells) / cells
        if is_known:
            inside = _share_of_cells(store, dimension, low, high)
        if not alone or 2 * inside * inside * count < least:
            best, least = level, inside * inside * count
        level -= 1
        count = (last >> level) - (first >> level) + 1 if level >= 0 else most + 1
    return best


@inlined
def _is_implied(terms: TermColumns, term: int, whole: bool, spaces: int) -> bool:
    """Returns whether being in one of the spaces of an access implies its term."""
    if whole:
        return False
    return is_point(terms, term) or (is_few_points(terms, term) and spaces == terms.high[term])


@kernel
def count_rarest(places: Ints, terms: TermColumns) -> None:
    """Adds up for how many rows each dimension is the rarest, for the rule that asks for it."""
    store, terms = opened_store(places), bare(terms)
    for row in range(len(terms.rows)):
        if terms.start[row] < terms.start[row + 1]:
            term = rarest(store, terms, terms.start[row], terms.start[row + 1])
            store.dimensions[terms.dimension[term]].alone += 1


Use = tuple[Ints, Flags, Ints, Ints, Ints]
"""The notes on one row while its nodes are sought."""


def new_use() -> Use:
    """Returns room for one row."""
    most = MOST_ACCESSES
    return (
        np.zeros(most, np.int64),
        np.zeros(most, np.bool_),
        np.zeros((most, MOST_REPLICAS), np.int64),
        np.ones(most, np.int64),
        np.zeros(most, np.int64),
    )


@inlined
def _note_nodes(
    store: Store, row: int, depth: int, use: Use, row_of: Ints, node_of: Ints, filled: int
) -> int:
    """Notes a row's nodes, one for each choice of a space of every access; returns how many notes
    there are then."""
    _, _, spaces, counts, turn = use
    while True:
        node = 0
        for access in range(depth):
            node = node_number(store, node, spaces[access, turn[access]])
        row_of[filled], node_of[filled] = row, node
        store.node_rows[node] += 1
        filled += 1
        access = depth - 1
        while access >= 0 and turn[access] == counts[access] - 1:
            turn[access] = 0
            access -= 1
        if access < 0:
            return filled
        turn[access] += 1


@kernel
def assign(
    places: Ints, batch: Batch, cuts: Cuts, encoded: bool, is_new: bool, begin: int, rule: int,
    accesses: int, look: float, row_of: Ints, node_of: Ints, use: Use,
) -> tuple[int, int]:  # fmt: skip
    """Encodes the rows from `begin` on, finds their nodes, and notes what rows need in them.

    New rows are counted beside those that were laid out. Returns the first row for which room is
    lacking, and how many replicas were written."""
    store, batch, cuts = opened_store(places), bare(batch), bare(cuts)
    row_of, node_of = bare(row_of), bare(node_of)
    terms, filled = batch.terms, 0
    use = bare(use)
    picked, whole, spaces, counts, turn = use
    most_new = MOST_ACCESSES * MOST_REPLICAS
    for term in range(0 if encoded else len(batch.codes)):
        batch.codes[term] = term_code(store, terms, term, batch.codes[term], cuts)
    for row in range(begin, len(terms.rows)):
        if (
            store.tops[0].spaces + most_new > len(store.spaces)
            or store.tops[0].nodes + most_new > len(store.nodes)
            or filled + MOST_REPLICAS > len(row_of)
        ):
            return row, filled
        first, last = terms.start[row], terms.start[row + 1]
        batch.about[row].first, batch.about[row].last = first, last
        if is_new:
            _count_new(store, batch, first, last)
        _note_passing(store, batch, first, last)
        whole[:] = False
        if first == last:
            count = 0
        elif rule == LANES:
            count = _pick_lanes(store, batch, first, last, picked, whole)
            _sort_by_dimension(terms, picked, whole, count)
        else:
            count = _best(store, batch, first, last, accesses, picked)
        most = _FEW_MEMBERS if count < 2 else 2
        if count > 4:
            most = 1
        depth, node, skipped = 0, 0, 0
        while depth < count:
            term = picked[depth]
            counts[depth] = _spaces_of(
                store, terms, term, batch.codes[term], whole[depth], most, count < 2, spaces[depth]
            )
            if term - first < 63 and _is_implied(terms, term, whole[depth], counts[depth]):
                skipped |= 1 << (term - first)
            turn[depth] = 0
            node = node_number(store, node, spaces[depth, 0])
            depth += 1
            if rule == HASH and depth < count:
                share = share_of(store, terms, picked[depth], width_of(batch.codes[picked[depth]]))
                if store.node_rows[node] * (1.0 - share) < look:
                    break
        batch.about[row].skipped = skipped
        describe(batch, row)
        filled = _note_nodes(store, row, depth, use, row_of, node_of, filled)
    return len(terms.rows), filled


@kernel
def spaces_met(store: Store) -> float:
    """Returns how many spaces an event is in, on average: so many pairs are looked up in a node."""
    met = 0.0
    for dimension in range(len(store.presence)):
        fields = store.dimensions[dimension]
        levels, kinds = fields.levels, np.int64(fields.root >= 0) + np.int64(fields.points > 0)
        while levels:
            kinds += levels & 1
            levels >>= 1
        met += store.presence[dimension] * kinds
    return met


@inlined
def _count_new(store: Store, batch: Batch, first: int, last: int) -> None:
    """Counts for which dimension a row is the rarest, and its bounds that cells do not have."""
    terms = batch.terms
    if store.tops[0].ordered and first < last:
        store.dimensions[terms.dimension[rarest(store, terms, first, last)]].alone += 1
    for term in range(first, last):
        if terms.op[term] == RANGE and not is_exact(batch.codes[term]):
            store.tops[0].improvable += not store.dimensions[terms.dimension[term]].coarse


@inlined
def _note_passing(store: Store, batch: Batch, first: int, last: int) -> None:
    """Notes how many events each term of a row lets pass: lanes come in this order."""
    for term in range(first, last):
        code = batch.codes[term]
        share = store.presence[dimension_of(code)] * (width_of(code) + 1) / MOST_CELLS
        if store.tops[0].known:
            share = share_of(store, batch.terms, term, width_of(code))
        batch.codes[term] = passing_code(code, share)


@inlined
def _sort_by_dimension(terms: TermColumns, picked: Ints, whole: Flags, count: int) -> None:
    """Pairs have their spaces in the order of dimensions, as events do: one look-up for two."""
    for place in range(1, count):
        at = place
        while at and terms.dimension[picked[at - 1]] > terms.dimension[picked[at]]:
            picked[at - 1], picked[at] = picked[at], picked[at - 1]
            whole[at - 1], whole[at] = whole[at], whole[at - 1]
            at -= 1
