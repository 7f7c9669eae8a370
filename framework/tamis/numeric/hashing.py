"""Spreads integers over all 64 bits: the finalizer of splitmix64 (Steele and others, 2014).

The same everywhere and for ever: what is on disk was counted by it.
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np

from tamis.numeric.kernels import portable
from tamis.numeric.types import Words

W = TypeVar("W", np.uint64, Words)

_GAMMA = np.uint64(0x9E37_79B9_7F4A_7C15)
_FIRST = np.uint64(0xBF58_476D_1CE4_E5B9)
_SECOND = np.uint64(0x94D0_49BB_1331_11EB)


@portable
def spread(words: W) -> W:
    """Returns the hashes of words: of arrays in the interpreter, of one word in a kernel too."""
    mixed = words + _GAMMA
    mixed = (mixed ^ (mixed >> np.uint64(30))) * _FIRST
    mixed = (mixed ^ (mixed >> np.uint64(27))) * _SECOND
    return mixed ^ (mixed >> np.uint64(31))
