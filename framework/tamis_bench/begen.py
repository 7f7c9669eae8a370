"""Reads the parameters of Table 1 in papers/pstree.txt, by their names, as shapes of workloads."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence

from tamis_bench.boxes import BoxShape

NAME = "begen"
DEFAULTS: dict[str, float] = {
    "subscriptions": 1_000_000, "zipf": 0.0, "dimensions": 100, "cardinality": 100,
    "subscription_size": 5, "event_size": 30, "matching": 0.001, "equality": 0.2,
}  # fmt: skip
_SPREAD = 0.4
"""Sizes of subscriptions are uniform around their average, as far as this share of it."""


def combinations(
    given: Mapping[str, Sequence[float] | None],
) -> Iterator[tuple[str, dict[str, float]]]:
    """Yields a title and its parameters for every combination of the values that are given."""
    names = [name for name, values in given.items() if values]
    for values in itertools.product(*(given[name] or () for name in names)):
        chosen = dict(zip(names, values, strict=True))
        unusual = [
            f"{name.replace('_', '-')} {value:,}"
            for name, value in chosen.items()
            if value != DEFAULTS[name]
        ]
        yield " ".join([NAME, *unusual]), DEFAULTS | chosen


def shape_of(parameters: Mapping[str, float]) -> BoxShape:
    """Returns what is drawn."""
    size, pairs = int(parameters["subscription_size"]), int(parameters["event_size"])
    reach = round(_SPREAD * size)
    return BoxShape(
        int(parameters["subscriptions"]),
        attributes=int(parameters["dimensions"]),
        values=int(parameters["cardinality"]),
        shortest=size - reach,
        longest=size + reach,
        equality=parameters["equality"],
        pairs=pairs,
        zipf=parameters["zipf"],
        prototype_size=pairs,
        match_ratio=parameters["matching"],
    )
