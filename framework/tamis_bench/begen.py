"""Workloads as BE-Gen draws them: the parameters of Table 1 in papers/pstree.txt, by their names.

Each parameter may have several values; every combination is a workload of its own.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields

from tamis_bench.boxes import BoxShape

NAME = "begen"
_SPREAD = 0.4
"""Sizes of subscriptions are uniform around their average, as far as this share of it."""


@dataclass(frozen=True)
class Table1:
    """The parameters, each with the default of the paper."""

    subscriptions: int = 1_000_000
    zipf: float = 0.0
    dimensions: int = 100
    cardinality: int = 100
    subscription_size: int = 5
    event_size: int = 30
    matching: float = 0.001
    equality: float = 0.2

    def shape(self) -> BoxShape:
        """What is drawn."""
        reach = round(_SPREAD * self.subscription_size)
        return BoxShape(
            self.subscriptions,
            attributes=self.dimensions,
            values=self.cardinality,
            shortest=self.subscription_size - reach,
            longest=self.subscription_size + reach,
            equality=self.equality,
            pairs=self.event_size,
            zipf=self.zipf,
            prototype_size=self.event_size,
            match_ratio=self.matching,
        )

    def title(self) -> str:
        """The name of the workload, with what is not as usual."""
        words = [
            f"{field.name.replace('_', '-')} {getattr(self, field.name):,}"
            for field in fields(self)
            if getattr(self, field.name) != field.default
        ]
        return " ".join([NAME, *words])


def combinations(given: Mapping[str, Sequence[float] | None]) -> Iterator[Table1]:
    """Every combination of the values that are given for parameters."""
    names = [name for name, values in given.items() if values]
    for values in itertools.product(*(given[name] or () for name in names)):
        yield Table1(**dict(zip(names, values, strict=True)))  # type: ignore[arg-type]
