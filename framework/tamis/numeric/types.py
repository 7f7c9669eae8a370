"""Names the arrays that annotations speak of, by what an element is."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
SmallFloats = NDArray[np.float32]
Ints = NDArray[np.int64]
SmallInts = NDArray[np.int32]
TinyInts = NDArray[np.int8]
Words = NDArray[np.uint64]
Bytes = NDArray[np.uint8]
Flags = NDArray[np.bool_]
