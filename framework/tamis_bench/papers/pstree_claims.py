"""Lists what the text of the PS-Tree paper states as results, and what decides it."""

from __future__ import annotations

import math

from tamis_bench.papers.claims import (
    Claim,
    Figures,
    best,
    both,
    everywhere,
    grows,
    grows_less,
    ranked,
    saved,
    steady,
    times,
)

BLOOM, HASH, OP, BE, K = "pstbloom", "psthash", "opindex", "be-tree", "k-index"
PROPAGATION, SCAN = "propagation", "naive"
_ALL = (BLOOM, HASH, OP, BE, K, PROPAGATION, SCAN)
_OTHERS = (OP, BE, K, PROPAGATION, SCAN)
_N, _NS = "pstree-subscriptions-dense", "pstree-subscriptions-sparse"
_Z, _ZS = "pstree-zipf-dense", "pstree-zipf-sparse"
_D, _DK, _READY = "pstree-attributes", "pstree-attributes-kept", "pstree-ready"
_V, _L, _LS = "pstree-values-dense", "pstree-lengths-dense", "pstree-lengths-sparse"
_P, _PS = "pstree-pairs-dense", "pstree-pairs-sparse"
_M, _MS = "pstree-matching-dense", "pstree-matching-sparse"
_E, _ES = "pstree-equality-dense", "pstree-equality-sparse"
_Q, _ADS, _ONE = "pstree-queries", "pstree-ads", "pstree-one-dimension"

_BUCKETS = (
    "rows of pstbloom lie in buckets with all that it takes to check them, 64 at a time, so that a "
    "second access predicate seldom pays before very many subscriptions"
)
_BULK = "building is in bulk and compiled for all; what a subscription costs falls as more come"
_TREE = "this BE-Tree is compiled, its layout flat, and so faster than the one that was measured"
_SMALL = "at a small scale most of the figure is what an index costs whatever it holds"
_FEW = "at a small scale very many attributes have a few subscriptions each"
_PAIRED = "psthash pairs only where pairs pay, and is pstbloom elsewhere: the two are nearly equal"
_OUTPUT = "most of the time is writing down what matches, for all alike"
_ROWS = "rows lie with their predicates in their buckets; a longer row is a longer record"


def _power(figures: Figures, name: str, column: str = "build_us") -> float:
    """Returns the exponent of what everything takes together, in subscriptions."""
    line = figures.several(_N, name, column)
    counts = [float(at.replace(",", "")) for at in line]
    values = [
        value * (count if column == "build_us" else 1.0)
        for value, count in zip(line.values(), counts, strict=True)
    ]
    return math.log(values[-1] / values[0]) / math.log(counts[-1] / counts[0])


CLAIMS = (
    Claim("§7.2.1, Figure 5(a)", "building any index takes longer with more subscriptions",
          lambda figures: (
              ", ".join(f"{name} n^{_power(figures, name):.2f}" for name in (BLOOM, HASH, OP, BE)),
              all(_power(figures, name) > 0.1 for name in (BLOOM, HASH, OP, BE)),
          ), _SMALL),
    Claim("§7.2.1, Figure 5(a)", "PSTBloom is built fastest",
          best(_N, BLOOM, [HASH, OP, BE, K], "build_us"), _PAIRED),
    Claim("§7.2.1, Figure 5(a)", "PSTBloom is built in 78% less time than BE-Tree",
          saved(_N, BLOOM, BE, 0.78, "build_us"), _SMALL),
    Claim("§7.2.1, Figure 5(b)", "BE-Tree and Propagation cost more to build with more attributes",
          grows(_D, [BE, PROPAGATION], 1.2, column="build_us"),
          "the more attributes there are, the seldomer a node of a BE-Tree has too many"),
    Claim("§7.2.1, Figure 5(b)", "attributes hardly matter to building PSTBloom, PSTHash, k-index",
          steady(_D, [BLOOM, HASH, K], "build_us"), _FEW),
    Claim("§7.2.1, Figure 5(b)", "kept ready all the time, OpIndex takes inserts a thousand times "
          "slower than PSTBloom where attributes are few",
          times(_READY, OP, BLOOM, 300, column="build_us", at=0),
          "this OpIndex appends in place and sorts seldom"),
    Claim("§7.2.1, Figure 5(c)", "longer subscriptions cost PSTBloom, OpIndex and k-index more",
          grows(_L, [BLOOM, OP, K], 1.1, column="build_us")),
    Claim("§7.2.1, Figure 5(c)", "length hardly matters to building BE-Tree and Propagation",
          steady(_L, [BE, PROPAGATION], "build_us"),
          "all predicates are laid out in the order of the tree or the clusters"),
    Claim("§7.2.1, Figure 5(c)", "PSTHash is built faster the longer subscriptions are",
          grows(_L, [HASH], 0, 1, "build_us"), _ROWS),
    Claim("§7.2.1, Figure 5(d)", "all are built faster the more predicates are =",
          grows(_E, [BLOOM, HASH, OP, BE, K], 0, 1.05, "build_us"), _SMALL),
    Claim("§7.2.1, Figure 5(d)", "PSTHash gains most from = in building",
          grows_less(_E, [HASH], [BLOOM, OP, BE, K], "build_us"),
          "what k-index writes out falls by more: each = is one value and not sixty"),
    Claim("§7.2.1, Figure 5(d)", "PSTBloom is built fastest at any share of =",
          everywhere(_E, [HASH, OP, BE, K], BLOOM, "build_us"), _PAIRED),
    Claim("§7.2.2, Figure 6", "matching grows linearly with subscriptions in all",
          lambda figures: (
              ", ".join(f"{name} n^{_power(figures, name, 'mean_us'):.2f}" for name in _ALL),
              all(0.6 < _power(figures, name, "mean_us") < 1.3 for name in _ALL),
          ), "the faster an index, the more of an event is what any number of subscriptions costs"),
    Claim("§7.2.2, Figure 6", "PSTHash grows slowest, above all where attributes are few",
          grows_less(_N, [HASH], [BLOOM, *_OTHERS]), _BUCKETS),
    Claim("§7.2.2, Figure 6(a)", "at the fewest subscriptions PSTBloom is the fastest",
          best(_N, BLOOM, [HASH, *_OTHERS], at=0), _PAIRED),
    Claim("§7.2.2, Figure 6(a)", "at the fewest subscriptions PSTBloom saves 84% of OpIndex",
          saved(_N, BLOOM, OP, 0.84, at=0), _SMALL),
    Claim("§7.2.2, Figure 6(a)", "at the most subscriptions PSTHash is the fastest",
          best(_N, HASH, [BLOOM, *_OTHERS]), _BUCKETS),
    Claim("§7.2.2, Figure 6(a)", "at the most subscriptions PSTHash saves 92% of OpIndex",
          saved(_N, HASH, OP, 0.92), _SMALL),
    Claim("§7.2.2, Figure 6(b)", "over very many attributes PSTBloom is always the fastest",
          everywhere(_NS, [HASH, *_OTHERS], BLOOM), _FEW),
    Claim("§7.2.2, Figure 6(b)", "over very many attributes PSTHash gets as good as OpIndex",
          times(_NS, OP, HASH, 0.8)),
    Claim("§7.2.2, Figure 7", "under Zipf PSTHash is the fastest, over few attributes or many",
          both(best(_Z, HASH, [BLOOM, *_OTHERS]), best(_ZS, HASH, [BLOOM, *_OTHERS])), _BUCKETS),
    Claim("§7.2.2, Figure 7", "with uniform popularity OpIndex is faster than BE-Tree",
          times(_Z, BE, OP, 1, at=0), _TREE),
    Claim("§7.2.2, Figure 7", "under Zipf BE-Tree is faster than OpIndex", times(_Z, OP, BE, 1),
          "nearly all pairs are of the same few attributes, whose lists are read in a row"),
    Claim("§7.2.2, Figure 7", "under Zipf k-index is slower than a scan", times(_Z, K, SCAN, 1)),
    Claim("§7.2.2, Figure 8(a)", "all but Propagation and SCAN match faster over more attributes",
          grows(_D, [BLOOM, HASH, OP, BE, K], 0, 1, "mean_us"), _FEW),
    Claim("§7.2.2, Figure 8(a)", "PSTBloom, OpIndex, k-index gain more from that than the others",
          grows_less(_D, [BLOOM, OP, K], [HASH, BE]), _PAIRED),
    Claim("§7.2.2, Figure 8(b)", "with as many subscriptions an attribute, PSTBloom, OpIndex and "
          "k-index do not depend on attributes",
          steady(_DK, [BLOOM, OP, K]),
          "subscriptions grow with attributes here, and clauses of an event meet as many as before "
          "only where an event is met by its own attributes alone"),
    Claim("§7.2.2, Figure 8(b)", "over more than 300 attributes PSTBloom is always the fastest",
          best(_DK, BLOOM, [HASH, *_OTHERS]), _PAIRED),
    Claim("§7.2.2, Figure 9(a)", "below 300 values PSTHash is the fastest",
          best(_V, HASH, [BLOOM, *_OTHERS], at=0), _BUCKETS),
    Claim("§7.2.2, Figure 9(a)", "at 1,000 values PSTBloom is the fastest",
          best(_V, BLOOM, [HASH, *_OTHERS]), _PAIRED),
    Claim("§7.2.2, Figure 9(a)", "at 1,000 values PSTBloom saves 91% of OpIndex",
          saved(_V, BLOOM, OP, 0.91), _SMALL),
    Claim("§7.2.2, Figure 10(a)", "PSTBloom, PSTHash, BE-Tree and Propagation get faster with "
          "longer subscriptions",
          grows(_L, [BLOOM, HASH, BE, PROPAGATION], 0, 1), _ROWS),
    Claim("§7.2.2, Figure 10(b)", "over very many attributes, length matters to Propagation alone",
          steady(_LS, [BLOOM, HASH, BE]), _FEW),
    Claim("§7.2.2, Figure 10(a)", "OpIndex is 4.5 times as slow at 30 predicates as at 5",
          grows(_L, [OP], 3, 7), "a pivot is left when none of its own predicates holds"),
    Claim("§7.2.2, Figure 10(b)", "over very many attributes OpIndex is 3 times as slow at 30",
          grows(_LS, [OP], 2, 5), "a pivot is left when none of its own predicates holds"),
    Claim("§7.2.2, Figure 11", "all but Propagation and SCAN get slower with pairs",
          both(grows(_P, [BLOOM, HASH, OP, BE, K]), grows(_PS, [BLOOM, HASH, OP, BE, K])),
          "the wanted share of matches is kept, for which ranges are drawn narrower"),
    Claim("§7.2.2, Figure 11(a)", "at 90 pairs of 100 PSTHash is the fastest",
          best(_P, HASH, [BLOOM, *_OTHERS]), _BUCKETS),
    Claim("§7.2.2, Figure 11(a)", "at 90 pairs PSTHash saves 85% of BE-Tree",
          saved(_P, HASH, BE, 0.85), _TREE),
    Claim("§7.2.2, Figure 11(b)", "at 90 pairs of very many attributes PSTBloom is the fastest",
          best(_PS, BLOOM, [HASH, *_OTHERS]), _FEW),
    Claim("§7.2.2, Figure 11(b)", "at 90 pairs of very many PSTBloom saves 80% of OpIndex",
          saved(_PS, BLOOM, OP, 0.8), _SMALL),
    Claim("§7.2.2, Figure 12", "all but Propagation and SCAN get slower the more matches",
          both(grows(_M, [BLOOM, HASH, OP, BE, K]), grows(_MS, [BLOOM, HASH, OP, BE, K]))),
    Claim("§7.2.2, Figure 12", "where half match, BE-Tree, OpIndex, Propagation are as SCAN",
          both(*(times(_M, SCAN, name, 0.5, 2) for name in (BE, OP, PROPAGATION))),
          "a scan over scattered objects is what it is compared with; all others lie in a row"),
    Claim("§7.2.2, Figure 12", "where half match, PSTBloom and PSTHash take a quarter of SCAN",
          both(times(_M, SCAN, BLOOM, 3), times(_M, SCAN, HASH, 3),
               times(_MS, SCAN, BLOOM, 3), times(_MS, SCAN, HASH, 3)), _OUTPUT),
    Claim("§7.2.2, Figure 13", "all match faster the more predicates are =",
          both(grows(_E, _ALL, 0, 1.05), grows(_ES, _ALL, 0, 1.05)),
          "the wanted share of matches is kept; a scan leaves a row at its first predicate anyhow"),
    Claim("§7.2.2, Figure 13(b)", "with = alone, over very many attributes, Propagation is as "
          "good as PSTBloom",
          times(_ES, PROPAGATION, BLOOM, 0, 1.5), _SMALL),
    Claim("§7.2.2, Figure 13(a)", "over few attributes PSTHash is the fastest at any share of =",
          everywhere(_E, [BLOOM, *_OTHERS], HASH), _BUCKETS),
    Claim("§7.2.2, Figure 13(a)", "PSTHash gains more from = than others",
          grows_less(_E, [HASH], [BLOOM, OP, BE]), _SMALL),
    Claim("§7.2.3, Figure 14(a)", "the memory of PSTBloom and PSTHash grows slower with "
          "subscriptions than that of OpIndex and BE-Tree",
          grows_less(_N, [BLOOM, HASH], [OP, BE], "bytes"), _SMALL),
    Claim("§7.2.3, Figure 14(b)", "OpIndex and k-index take more memory for longer subscriptions",
          grows(_L, [OP, K], 1.5, column="bytes")),
    Claim("§7.2.3, Figure 14(b)", "length hardly matters to the memory of BE-Tree and Propagation",
          steady(_L, [BE, PROPAGATION], "bytes"), "their bytes include the predicates themselves"),
    Claim("§7.2.3, Figure 14(b)", "PSTBloom and PSTHash take less memory for longer subscriptions",
          grows(_L, [BLOOM, HASH], 0, 1, "bytes"), _ROWS),
    Claim("§7.2.3, Figure 14", "Propagation takes the least memory",
          best(_N, PROPAGATION, [BLOOM, HASH, OP, BE, K], "bytes"),
          "its bytes include the predicates themselves"),
    Claim("§7.2.3, Figure 14", "PSTBloom takes 94% less memory than BE-Tree",
          saved(_N, BLOOM, BE, 0.94, "bytes"), "the tree's nodes are of a kernel's arrays"),
    Claim("§7.2.3, Figure 14", "PSTBloom takes 99% less memory than OpIndex",
          saved(_N, BLOOM, OP, 0.99, "bytes"), "the lists of this OpIndex are arrays"),
    Claim("§7.3, Figure 15(a)", "on queries: PSTBloom, OpIndex, PSTHash, BE-Tree, k-index, "
          "Propagation, SCAN, the fastest first",
          ranked(_Q, [BLOOM, OP, HASH, BE, K, PROPAGATION, SCAN]), f"{_PAIRED}; {_TREE}"),
    Claim("§7.3, Figure 15(a)", "on queries PSTBloom is considerably faster than OpIndex, PSTHash "
          "and BE-Tree",
          both(*(times(_Q, name, BLOOM, 1.5) for name in (OP, HASH, BE))), f"{_PAIRED}; {_TREE}"),
    Claim("§7.3, Figure 15(b)", "on queries PSTBloom is built as fast as OpIndex",
          times(_Q, OP, BLOOM, 0.5, 2, "build_us"), _SMALL),
    Claim("§7.3, Figure 15(b)", "on queries BE-Tree is built as fast as k-index",
          times(_Q, K, BE, 0.5, 2, "build_us"), _BULK),
    Claim("§7.4, Table 2", "on ads PSTHash is the fastest, PSTBloom the next",
          ranked(_ADS, [HASH, BLOOM, BE, OP, PROPAGATION, SCAN, K]), f"{_PAIRED}; {_TREE}"),
    Claim("§7.4, Table 2", "on ads BE-Tree is a little faster than OpIndex",
          times(_ADS, OP, BE, 1, 2), _TREE),
    Claim("§7.4, Table 2", "on ads PSTHash saves 89% of BE-Tree",
          saved(_ADS, HASH, BE, 0.89), _TREE),
    Claim("§7.4, Table 2", "on ads PSTBloom is built fastest",
          best(_ADS, BLOOM, [HASH, OP, BE, K, PROPAGATION], "build_us"),
          "sorting into clusters is less work than cutting spaces"),
    Claim("§7.4, Table 2", "on ads PSTBloom takes less memory than BE-Tree and OpIndex",
          best(_ADS, BLOOM, [BE, OP], "bytes")),
    Claim("§7.5, Table 3", "PS-Tree is queried fastest",
          both(*(best(_ONE, BLOOM, ["interval-tree", "segment-tree", "scan"], at=at)
                 for at in (0, -1))),
          "all write out what they find, where the paper's 7 ns a query end at a list; rows of "
          "pstbloom hang in stretches and are checked, a segment tree's lists are exact"),
    Claim("§7.5, Table 3", "PS-Tree takes longer to build than both trees",
          both(times(_ONE, BLOOM, "interval-tree", 1, column="build_us"),
               times(_ONE, BLOOM, "segment-tree", 1, column="build_us")),
          "rows are laid out in bulk, from columns"),
    Claim("§7.5, Table 3", "PS-Tree takes more memory than both trees",
          both(times(_ONE, BLOOM, "interval-tree", 1, column="bytes"),
               times(_ONE, BLOOM, "segment-tree", 1, column="bytes")),
          "with all bounds distinct, rows hang in a bounded number of stretches"),
    Claim("§7.5, Table 3", "PS-Tree saves 99.97% of the interval tree's time",
          saved(_ONE, BLOOM, "interval-tree", 0.99), "all write out what they find"),
    Claim("§7.5, Table 3", "PS-Tree saves 89% of the segment tree's time",
          saved(_ONE, BLOOM, "segment-tree", 0.89), "all write out what they find"),
)  # fmt: skip
