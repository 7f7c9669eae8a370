"""Matches the plates that a camera read with those that are looked for.

`plates` of an event are the texts that a camera read, all of them equally likely.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import tamis

from tamis_plates.patterns import PatternError, covers, folded, pattern_of

TWO = {"plates": ["7ABC 123", "KX-O8 ZZT"]}
NONE: dict[str, Any] = {"plates": []}
SEEN_SAMPLES = [
    tamis.Sample("plateSeen('7ABC123')", TWO, True),
    tamis.Sample("plateSeen('7A8C*')", TWO, True),
    tamis.Sample("plateSeen('7A*')", TWO, True),
    tamis.Sample("plateSeen('7ABC12')", TWO, False),
    tamis.Sample("plateSeen('7A*')", NONE, False),
]
READ_SAMPLES = [
    tamis.Sample("plateRead('KX08??T', ?plate)", TWO, ["KX-O8 ZZT"]),
    tamis.Sample("plateRead('7A*', ?plate)", NONE, []),
    tamis.Sample("plateRead('7A*', '7ABC 123')", TWO, True),
]


def compiled(pattern: Any, *plate: Any) -> list[Any]:
    """The pattern as it is compared, once a subscription rather than once an event."""
    try:
        return [pattern_of(pattern), *plate]
    except PatternError as bad:
        raise tamis.ArgumentError(str(bad), 0) from None


def read_plates(event: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What was read beside what it is compared by: made once an event, for both operators."""
    plates = event["plates"]
    if not isinstance(plates, (list, tuple)) or not all(isinstance(each, str) for each in plates):
        raise ValueError(f"plates is a list of texts, not {plates!r:.40}")
    return [(each, folded(each)) for each in plates]


def narrower(
    arguments: Sequence[Any], others: Sequence[Sequence[Any]]
) -> Iterator[tamis.Implication]:
    """Who saw 7ABC123 saw 7A*: then nobody has to ask for that."""
    for place, (other,) in enumerate(others):
        if covers(other, arguments[0]):
            yield tamis.Implication(True, place, True)


PLATES = tamis.Preparation("plates", read_plates, inputs=("plates",), cost_seconds=2e-6)


@tamis.operator(
    inputs=(),
    preparation=PLATES,
    deterministic=True,
    cost_seconds=2e-6,
    check=compiled,
    implications=narrower,
    samples=SEEN_SAMPLES,
)
def plateSeen(event: Any, pattern: str) -> bool:
    """Whether one of the plates may be the one that is looked for."""
    return any(covers(pattern, plate) for _, plate in event.prepared)


@tamis.operator(
    inputs=(),
    preparation=PLATES,
    outputs=("plate",),
    deterministic=True,
    cost_seconds=2e-6,
    check=compiled,
    samples=READ_SAMPLES,
)
def plateRead(event: Any, pattern: str, plate: tamis.Variable) -> list[str]:
    """The plates that may be the one that is looked for, as they were read."""
    return [read for read, known in event.prepared if covers(pattern, known)]
