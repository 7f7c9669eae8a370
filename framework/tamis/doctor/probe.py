"""A kernel that is compiled to see whether kernels can be compiled."""

from __future__ import annotations

from typing import Any

from tamis.kernels import kernel


@kernel
def counted(values: Any) -> int:
    """The sum of integers."""
    total = 0
    for value in values:
        total += value
    return total
