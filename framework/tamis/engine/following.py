"""Which planner is asked, and what one that follows is told of what is subscribed.

A planner that fails while it follows is told everything anew, or gives way to the default one.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np

from tamis.catalog import Catalog
from tamis.engine.guarded import made_planner
from tamis.engine.problem import standing
from tamis.errors import PlannerError, PluginWarning
from tamis.planning import FollowingPlanner, Planner
from tamis.plugins import Plugins
from tamis.statistics import Statistics


class Following:
    """The planner of a matcher, following if it wants to."""

    def __init__(
        self, plugins: Plugins, planner: str | Planner, catalog: Catalog, instead: str
    ) -> None:
        self._plugins = plugins
        self._catalog = catalog
        self._instead = instead
        self.planner = made_planner(plugins, planner)
        self._troubles: list[str] = []

    def replace(self, planner: str | Planner, statistics: Statistics) -> None:
        """Takes another planner; the one before stays if this one fails to follow."""
        before, self.planner = self.planner, made_planner(self._plugins, planner)
        try:
            self.reset(statistics)
        except Exception as failure:
            name, self.planner = type(self.planner).__name__, before
            raise PlannerError(f"planner {name} failed in reset: {failure!r}") from failure

    @property
    def _follower(self) -> FollowingPlanner | None:
        follows = hasattr(self.planner, "subscribed")
        return cast(FollowingPlanner, self.planner) if follows else None

    def subscribed(self, rows: list[int], statistics: Statistics) -> None:
        """Tells of new alternatives that ask something."""
        follower = self._follower
        if follower is not None and rows:
            self._tell(follower.subscribed, self._standing(rows, statistics), statistics)

    def unsubscribed(self, rows: Sequence[int], statistics: Statistics) -> None:
        """Tells of alternatives that are gone."""
        follower = self._follower
        if follower is not None:
            self._tell(follower.unsubscribed, rows, statistics)

    def reset(self, statistics: Statistics) -> None:
        """Tells of everything anew."""
        follower = self._follower
        if follower is not None:
            follower.reset(self._standing(self._catalog.asking(), statistics))

    def in_order(self) -> Sequence[int] | None:
        """The order that the planner keeps, if it keeps one."""
        follower = self._follower
        return None if follower is None else follower.in_order()

    def _standing(self, rows: list[int], statistics: Statistics) -> Any:
        return standing(self._catalog, np.array(rows, np.int64), statistics)

    def _tell(self, hear: Callable[[Any], None], change: object, statistics: Statistics) -> None:
        try:
            hear(change)
        except Exception as failure:
            name = type(self.planner).__name__
            words = f"planner {name} failed in {getattr(hear, '__name__', 'a change')}: {failure!r}"
            try:
                self.reset(statistics)
            except Exception:
                words += f"; {self._instead} takes its place"
                self.planner = made_planner(self._plugins, self._instead)
            self._troubles.append(words)

    def warn_of_troubles(self) -> None:
        """Warns once the change is done: a warning may be an error, and nothing stays half-done."""
        troubles, self._troubles = self._troubles, []
        for words in troubles:
            warnings.warn(words, PluginWarning, stacklevel=4)
