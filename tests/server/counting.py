"""The operator of the servers that are killed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import tamis


@tamis.operator(inputs=("people",), outputs=("count",))
def peopleCount(event: Mapping[str, Any], count: object) -> list[int]:
    return [event["people"]]
