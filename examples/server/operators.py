"""An operator that looks at one attribute, so that the example is about the server."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import tamis


@tamis.operator(inputs=("loudness",))
def louderThan(event: Mapping[str, Any], level: float) -> bool:
    return bool(event["loudness"] > level)
