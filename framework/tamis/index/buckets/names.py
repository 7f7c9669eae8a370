"""Asks for the strings that rows are called, which lie all over memory, before each is counted.

An array of strings counts whoever has them, so that making one reads every string: where very many
are named, each is a wait for memory. Asked for together, they come together.
Cost: O(rows).
"""

from __future__ import annotations

import numpy as np

from tamis.index.buckets.bits import fetch_ahead
from tamis.numeric.kernels import kernel
from tamis.numeric.types import Ints
from tamis.numeric.views import bare_at


@kernel
def fetch_names(places: Ints, rows: Ints) -> None:
    """Asks for the names of rows; the array of all names is the only one on the list."""
    names = bare_at(places, 0, np.int64)
    for row in rows:
        fetch_ahead(names[row])
