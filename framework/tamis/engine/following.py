"""Holds the planner, and tells a following one of changes to the subscriptions.

A planner that fails while it follows is told everything again, or replaced by the default one.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from typing import cast

import numpy as np

from tamis.catalog import Catalog
from tamis.engine.guarded import made_planner
from tamis.engine.problem import standing
from tamis.errors import PlannerError, PluginWarning
from tamis.planning import FollowingPlanner, Planner, PlannerRecord, Standing
from tamis.plugins.loader import Plugins
from tamis.statistics import Statistics

FIRST_TELLING, TELLING_FACTOR = 64, 8
"""A following planner hears what was learned after so many events, then so many times later."""


class PlannerHolder:
    """The planner of a matcher, following if it wants to."""

    def __init__(
        self,
        plugins: Plugins,
        planner: str | Planner | PlannerRecord,
        catalog: Catalog,
        statistics: Statistics,
        instead: str,
    ) -> None:
        self._plugins = plugins
        self._catalog = catalog
        self._instead = instead
        self.statistics = statistics
        """The statistics that the planner was told last."""
        self._telling = FIRST_TELLING
        self._troubles: list[str] = []
        self._take(planner)

    def _take(self, planner: str | Planner | PlannerRecord) -> None:
        record = self._plugins.planner(planner) if isinstance(planner, str) else planner
        self.compile = record.compile if isinstance(record, PlannerRecord) else None
        """Compiles what the planner needs for large problems, if that is known."""
        self._hold(made_planner(self._plugins, record))

    def _hold(self, planner: Planner) -> None:
        self.planner = planner
        follows = hasattr(planner, "subscribed")
        self._follower = cast(FollowingPlanner, planner) if follows else None
        self.next_telling = self._telling if follows else math.inf
        """The events after which a planner that follows should hear what they have taught."""

    def stranger(self) -> Planner:
        """Returns a planner for texts that are not subscribed, unknown to a following one."""
        if self._follower is None:
            return self.planner
        return made_planner(self._plugins, self._instead)

    def replace(self, planner: str | Planner | PlannerRecord) -> None:
        """Takes another planner; the one before stays if this one fails to follow."""
        before = self.planner, self.compile
        self._take(planner)
        try:
            self._tell_all()
        except Exception as failure:
            name = type(self.planner).__name__
            planner_before, self.compile = before
            self._hold(planner_before)
            raise PlannerError(f"planner {name} failed in reset: {failure!r}") from failure

    def subscribed(self, rows: list[int]) -> None:
        """Tells of new alternatives that ask something."""
        follower = self._follower
        if follower is not None and rows:
            self._tell(lambda: follower.subscribed(self._standing(rows)), "subscribed")

    def unsubscribed(self, rows: Sequence[int]) -> None:
        """Tells of alternatives that are gone."""
        follower = self._follower
        if follower is not None:
            self._tell(lambda: follower.unsubscribed(rows), "unsubscribed")

    def reset(self, statistics: Statistics) -> None:
        """Tells everything again, with other statistics."""
        self.statistics, self._telling = statistics, FIRST_TELLING
        self._hold(self.planner)
        self._tell_all()

    def learned(self, statistics: Statistics) -> None:
        """Tells everything again, with what was learned."""
        self.statistics = statistics
        self._telling *= TELLING_FACTOR
        self._hold(self.planner)
        self._tell(self._tell_all, "reset")

    def in_order(self) -> Sequence[int] | None:
        """Returns the order that the planner keeps, if it keeps one."""
        follower = self._follower
        return None if follower is None else follower.in_order()

    def _tell_all(self) -> None:
        follower = self._follower
        if follower is not None:
            follower.reset(self._standing(self._catalog.asking()))

    def _standing(self, rows: list[int]) -> Standing:
        return standing(self._catalog, np.array(rows, np.int64), self.statistics)

    def _tell(self, tell: Callable[[], None], change: str) -> None:
        try:
            tell()
        except Exception as failure:
            name = type(self.planner).__name__
            words = f"planner {name} failed in {change}: {failure!r}"
            try:
                self._tell_all()
            except Exception:
                words += f"; {self._instead} takes its place"
                self._hold(made_planner(self._plugins, self._instead))
            self._troubles.append(words)

    def warn_of_troubles(self) -> None:
        """Warns once the change is done: a warning may be an error, and nothing stays half-done."""
        troubles, self._troubles = self._troubles, []
        for words in troubles:
            warnings.warn(words, PluginWarning, stacklevel=4)
