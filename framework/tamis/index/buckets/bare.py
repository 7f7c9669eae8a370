"""Makes views of what kernels of buckets hand on for every row (`tamis.numeric.views`)."""

from __future__ import annotations

from tamis.index.buckets.batch import Batch
from tamis.index.buckets.store import Store
from tamis.index.terms import TermColumns
from tamis.numeric.kernels import inlined
from tamis.numeric.views import bare


@inlined
def bare_store(store: Store) -> Store:
    """Returns a store of views."""
    return Store(
        bare(store.dimensions),
        bare(store.presence),
        bare(store.cuts),
        bare(store.spaces),
        bare(store.space_table),
        bare(store.space_node),
        bare(store.space_deep),
        bare(store.nodes),
        bare(store.node_table),
        bare(store.chains),
        bare(store.pairs),
        bare(store.children),
        bare(store.node_rows),
        bare(store.segments),
        bare(store.lanes),
        bare(store.rows),
        bare(store.records),
        bare(store.dictionary),
        bare(store.places),
        bare(store.more),
        bare(store.tops),
        bare(store.known_start),
        bare(store.known_at),
        bare(store.known_before),
    )


@inlined
def bare_terms(terms: TermColumns) -> TermColumns:
    """Returns terms of views."""
    return TermColumns(
        bare(terms.rows),
        bare(terms.start),
        bare(terms.dimension),
        bare(terms.op),
        bare(terms.low),
        bare(terms.high),
        bare(terms.members),
    )


@inlined
def bare_batch(batch: Batch) -> Batch:
    """Returns a batch of views."""
    return Batch(bare_terms(batch.terms), bare(batch.codes), bare(batch.about), bare(batch.sorted))
