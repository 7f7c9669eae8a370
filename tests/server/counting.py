"""The operator of the servers that are killed: some events have it raise or hang, at times."""

from __future__ import annotations

import random
import time
from collections.abc import Mapping
from typing import Any

import tamis

MOODS = ("", "", "", "", "", "", "raises", "raises", "hangs")
TIMEOUT_SECONDS = 0.1
calm = False
"""Whether it answers whatever the mood."""


@tamis.operator(
    inputs=("people", "mood"), outputs=("count",), timeout=TIMEOUT_SECONDS, isolation="thread"
)
def peopleCount(event: Mapping[str, Any], count: object) -> list[int]:
    if event["mood"] and not calm and random.random() < 0.5:
        if event["mood"] == "raises":
            raise RuntimeError("the camera is broken")
        time.sleep(3 * TIMEOUT_SECONDS)
    return [event["people"]]
