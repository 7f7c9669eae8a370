"""Notices that a folder of statistics was written anew, and hands on what it holds then.

Cost: the manifest is read once a second, and the folder where it has changed, in a thread.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tamis.errors import StatisticsError
from tamis.files.repeating import repeated
from tamis.statistics.folder import generation_of, load
from tamis.statistics.history import Statistics

POLL_SECONDS = 1.0


@contextmanager
def follow(
    folder: Path, take: Callable[[Statistics], object], poll_seconds: float = POLL_SECONDS
) -> Iterator[None]:
    """Hands on each new state of a folder, as to a matcher that runs:

    `follow(folder, lambda found: setattr(matcher, "statistics", found))`. What cannot be read is
    passed over: the statistics before stay."""
    taken = generation_of(folder)

    def look() -> None:
        nonlocal taken
        generation = generation_of(folder)
        if generation in (None, taken):
            return
        try:
            found = load(folder)
        except StatisticsError:
            return
        taken = generation
        take(found)

    with repeated(look, poll_seconds, "following statistics"):
        yield
