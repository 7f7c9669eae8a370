"""Draws chance in one stream a purpose, so that nothing drawn for one moves another.

Invariant: the same seed and keys give the same numbers, whatever was drawn before; a moment of the
world can be asked for without those before it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
_MIX = (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB)


def stream(seed: int, *keys: int) -> np.random.Generator:
    """A generator of its own for a purpose."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=keys))


def key_of(seed: int, *keys: int) -> int:
    """A number that stands for a seed and a purpose, for `hashed`."""
    return int(np.random.SeedSequence(seed, spawn_key=keys).generate_state(1, np.uint64)[0])


def hashed(key: int, *numbers: Any) -> Floats:
    """Numbers from 0 to 1 that depend on the key and on (arrays of) whole numbers alone."""
    mask = (1 << 64) - 1
    state: Any = np.uint64(key & mask)
    with np.errstate(over="ignore"):
        for number in numbers:
            state = state ^ np.asarray(number, np.int64).astype(np.uint64)
            state = state + np.uint64(_MIX[0])
            state = (state ^ (state >> np.uint64(30))) * np.uint64(_MIX[1])
            state = (state ^ (state >> np.uint64(27))) * np.uint64(_MIX[2])
            state = state ^ (state >> np.uint64(31))
    return np.asarray(np.asarray(state >> np.uint64(11), np.float64) / float(1 << 53))
