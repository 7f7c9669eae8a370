"""Says of what types the arrays of a store are, and opens them in kernels by their places."""

from __future__ import annotations

import numpy as np
from numpy.typing import DTypeLike

from tamis.index.buckets.store import DIMENSION, LADDER, SEGMENT, TOPS, Store
from tamis.numeric.views import opener

TYPES: dict[str, tuple[DTypeLike, int]] = {
    "dimensions": (DIMENSION, 0),
    "presence": (np.float64, 0),
    "cuts": (np.float64, 0),
    "ladders": (LADDER, 0),
    "rungs": (np.uint8, 0),
    "spaces": (np.int64, 2),
    "space_table": (np.int32, 0),
    "space_node": (np.int32, 0),
    "space_deep": (np.uint8, 0),
    "nodes": (np.int64, 0),
    "node_table": (np.int32, 0),
    "chains": (np.int32, 0),
    "pairs": (np.int32, 0),
    "children": (np.int32, 0),
    "node_rows": (np.int32, 0),
    "segments": (SEGMENT, 0),
    "lanes": (np.uint8, 0),
    "rows": (np.int32, 0),
    "records": (np.float64, 0),
    "dictionary": (np.int32, 0),
    "places": (np.int32, 0),
    "more": (np.int32, 0),
    "tops": (TOPS, 0),
    "known_start": (np.int64, 0),
    "known_at": (np.float64, 0),
    "known_before": (np.float64, 0),
}
"""The type of each array, and how many columns it has where it has two dimensions."""

opened_store = opener(
    Store(**{name: np.zeros((0, n) if n else 0, dtype) for name, (dtype, n) in TYPES.items()})
)
