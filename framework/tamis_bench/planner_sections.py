"""What `tamis bench planners` measures: the paper's figures, and sections with their own tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from tamis_bench import groups, learning, rounds, scenes
from tamis_bench import planners as figures
from tamis_bench.effort import Effort

SECTIONS: dict[str, Callable[[Effort], Iterator[dict[str, Any]]]] = {
    "groups": groups.run,
    "rounds": rounds.run,
    "scenes": scenes.run,
    "learning": learning.run,
}
TITLES = {
    **figures.TITLES,
    "groups": "One invocation answers many predicates",
    "rounds": "Calls made at once",
    "scenes": "Hidden scenes, after 300 observed events",
    "learning": "What is learned while events are matched",
}


def measured(
    chosen: Sequence[str], effort: Effort, planners: Sequence[str] | None = None
) -> Iterator[dict[str, Any]]:
    """The rows of what is chosen, figures first."""
    yield from figures.run([name for name in chosen if name not in SECTIONS], effort, planners)
    for name in chosen:
        if name in SECTIONS:
            yield from SECTIONS[name](effort)
