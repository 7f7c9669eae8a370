"""Decides whether the value of an event is above a level."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import tamis

SAMPLES = [
    tamis.Sample("newOperator(3)", {"value": 7}, True),
    tamis.Sample("newOperator(9)", {"value": 7}, False),
    tamis.Sample("newOperator(0.5)", {"value": -1.5}, False),
]


@tamis.operator(
    inputs=("value",),
    deterministic=True,
    cost_seconds=1e-6,
    samples=SAMPLES,
)
def newOperator(event: Mapping[str, Any], level: float) -> bool:
    """Returns whether the value of the event is above a level."""
    value = event["value"]
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError(f"value is a number, not {value!r:.40}")
    return value > level
