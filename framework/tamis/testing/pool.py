"""The small pool that the strategies draw from: few names and few values, so that things meet.

Every attribute may hold a value of any kind; the numbers are those where doubles and integers part.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from tamis.operators import Implication, Operator
from tamis.operators.specification import Preparation
from tamis.testing.operators import TableOperator, nonsense, raising

ATTRIBUTES = ("altitude", "speed", "camera", "armed", "tags", "meta.speed", "Camera ID", "élan")

SMALL_NUMBERS: tuple[int | float, ...] = (0, 1, 2, 3, 5, 2.5, -1)
LARGE_NUMBERS: tuple[int | float, ...] = (
    *(2**53 + 1, 2**53, 2.0**53, -(2**53) - 1, 10**25, 1e25, 10**25 + 1, 2**63),
    *(10**400, -(10**400), 1e300, 1.7976931348623157e308, 1e-300),
)
NUMBERS = (*SMALL_NUMBERS, 1.0, 0.1, -0.0, 400, *LARGE_NUMBERS)
STRINGS = ("", "a", "ab", "b", "uav-1", "uav-2", "fire", "é", "😀", "1", "true", 'say "hi"', "a\nb")
BOOLEANS = (True, False)
PATTERNS = ("^uav", "[0-9]+", "e$", "fire|a", "^$", "\\d", "(?i)UAV", "a.b", "")
TIMES = (
    "2024-02-29T23:59:60Z",
    "2024-03-01T05:30:00.5+02:00",
    "2024-03-03t00:00:00z",
    "1969-12-31T23:00:00-05:30",
    "2024-03-01T05:30:00",
    "2024-03-01",
    "2024-02-30T00:00:00Z",
    "",
)
HOURS: tuple[int | float, ...] = (0, 5, 23, 1, 7, 1709271000.5, 1709251200)

KEYS = ("a", "b", "c")
TRUTHS = ("seen", "heard", "inside")
COUNTS = ("count", "size")
PAIRS = ("near",)


def _decoded(event: Any) -> object:
    """Decodes the frame that two of the operators share; fails where the event says so."""
    frame = event.get("frame")
    if frame == "damaged":
        raise ValueError("the frame is damaged")
    return frame


class _Together(TableOperator):
    """Answers all lists at once, each with its answer or its failure."""

    def solve_many(self, event: Any, lists: Sequence[Sequence[Any]]) -> Sequence[Any]:
        return [self._tried(event, arguments) for arguments in lists]

    def _tried(self, event: Any, arguments: Sequence[Any]) -> Any:
        try:
            return self.solve(event, *arguments)
        except RuntimeError as failure:
            return failure


class _NestedKeys(TableOperator):
    """Each key lies inside of the next one."""

    def implications(
        self, arguments: Sequence[Any], others: Sequence[Sequence[Any]]
    ) -> Iterable[Implication]:
        (key,) = arguments
        if key in KEYS:
            for place, (other,) in enumerate(others):
                if other in KEYS and other > key:
                    yield Implication(True, place, True)


def pool_operators() -> list[Operator]:
    """Returns the operators of the strategies' conditions; events hold their answers.

    `seen` and `count` answer several calls at once, `inside` declares that each key is inside of
    the next one, `size` is deterministic; some share a preparation that may fail.

    >>> [operator.specification.signature for operator in pool_operators()][:3]
    ['seen(key)', 'heard(key)', 'inside(key)']
    """
    frame = Preparation("frame", _decoded, cost_seconds=0.02)
    return [
        _Together("seen", cost_seconds=0.005, marginal_cost_seconds=0.0),
        TableOperator("heard", preparation=frame),
        _NestedKeys("inside"),
        _Together("count", outputs=("n",), preparation=frame, marginal_cost_seconds=0.0001),
        TableOperator("size", outputs=("n",), deterministic=True),
        TableOperator("near", outputs=("x", "y"), cost_seconds=0.01),
        raising("broken"),
        nonsense("odd"),
    ]
