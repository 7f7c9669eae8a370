"""Says how many events operators are asked about: as many as shares need, and time allows.

A share of n events is known to 0.98/√n, 19 times in 20, whatever it is.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from typing import NamedTuple

from tamis.files.parquet import require_arrow
from tamis.files.reading import is_table, opened
from tamis.learning.chunks import Chunk, lines_of
from tamis.statistics.predicates import CERTAINTY
from tamis.words import counted, duration

ACCURACY = 0.01
SECONDS = 600.0
TRIED = 5
"""Events on which operators are tried beforehand."""
_HEAD_BYTES = 1 << 18
_FILES = 16


class SampleSize(NamedTuple):
    """The number of events that operators are asked about, and the time that takes."""

    asked: int
    events: int
    seconds: float

    @property
    def share(self) -> float:
        """Of the events."""
        return min(1.0, self.asked / self.events) if self.events else 1.0

    @property
    def accuracy(self) -> float:
        """Of the shares, 19 times in 20."""
        return CERTAINTY / 2 / math.sqrt(max(1, self.asked))

    def __str__(self) -> str:
        """Returns the same in a sentence."""
        return (
            f"operators are asked about some {counted(self.asked, 'event')} of {self.events:,}, "
            f"for about {duration(self.seconds)}: shares are then known to ±{self.accuracy:.1%} "
            f"(--sample {self.share:.2g}; --sample 1 asks about all)"
        )


def sampling(
    events: int,
    seconds_an_event: float,
    at_once: int,
    accuracy: float = ACCURACY,
    most_seconds: float = SECONDS,
) -> SampleSize:
    """Returns as many of so many events as the accuracy needs, where so many at once take no
    longer.

    >>> print(sampling(500_000, 0.3, 2))
    operators are asked about some 4,000 events of 500,000, for about 600 s: shares are then known \
to ±1.5% (--sample 0.008; --sample 1 asks about all)
    >>> sampling(500_000, 0.0001, 2).asked, sampling(800, 0.01, 2).share
    (9604, 1.0)
    """
    asked = min(events, math.ceil((CERTAINTY / 2 / accuracy) ** 2))
    if seconds_an_event > 0:
        asked = max(min(events, 1), min(asked, int(most_seconds * at_once / seconds_an_event)))
    return SampleSize(asked, events, asked * seconds_an_event / at_once)


def events_in(chunks: Sequence[Chunk]) -> int:
    """Returns about how many events there are: of tables exactly, of lines by the heads of some
    files."""
    files = list(dict.fromkeys(chunk.file for chunk in chunks))
    tables = [file for file in files if is_table(file)]
    rows: int = sum(require_arrow().parquet.read_metadata(file).num_rows for file in tables)
    lined = [file for file in files if not is_table(file)]
    lines = size = 0
    for file in lined[:: math.ceil(len(lined) / _FILES) or 1]:
        with opened(file) as (stream, position):
            lines += max(1, stream.read(_HEAD_BYTES).count(b"\n"))
            size += min(position(), os.path.getsize(file))
    total = sum(map(os.path.getsize, lined))
    return rows + (math.ceil(lines * total / size) if size else 0)


def heads(chunks: Sequence[Chunk]) -> list[dict[str, object]]:
    """Returns the first few events, to try operators on."""
    found: list[dict[str, object]] = []
    for line in lines_of(chunks[0]) if chunks else ():
        if isinstance(line.document, dict):
            found.append(line.document)
        if len(found) == TRIED:
            break
    return found
