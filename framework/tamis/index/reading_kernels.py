"""Opens the array that readings come in, for kernels. Cost: O(1)."""

from __future__ import annotations

import numpy as np

from tamis.index.readings import HEAD, Readings
from tamis.numeric.kernels import inlined
from tamis.numeric.types import Ints


@inlined
def opened_readings(readings: Ints) -> Readings:
    """Returns the columns of an array of readings, for kernels."""
    events, lines, bags, members = readings[0], readings[1], readings[2], readings[3]
    bag_start = HEAD + events + 1
    line = bag_start + events + 1
    bag = line + lines
    member_start = bag + bags
    value = member_start + bags + 1
    return Readings(
        readings[HEAD:bag_start],
        readings[line:bag],
        readings[value : value + lines].view(np.float64),
        readings[bag_start:line],
        readings[bag:member_start],
        readings[member_start:value],
        readings[value + lines : value + lines + members].view(np.float64),
    )
