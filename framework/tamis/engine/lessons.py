"""Passes on what events and operators teach: to expectations, planners, the index and the catalog.

Invariant: who changes subscriptions is never kept waiting; what cannot be told now is told later.
Cost: that of `OnlineStatistics.observe` an event; a planner that follows hears of it very seldom.
"""

from __future__ import annotations

import warnings

from tamis.catalog import Catalog
from tamis.catalog.sieve import Sieve
from tamis.engine.decision import Decision, ImplicationError
from tamis.engine.following import PlannerHolder
from tamis.engine.learned import OnlineStatistics
from tamis.engine.reasons import contradiction_text
from tamis.errors import PluginWarning
from tamis.log import log
from tamis.numeric.locks import OwnedLock, ReaderWriterLock


class Lessons:
    """Teaches the parts of one matcher, which share two locks."""

    def __init__(
        self,
        catalog: Catalog,
        sieve: Sieve,
        following: PlannerHolder,
        changing: OwnedLock,
        lock: ReaderWriterLock,
    ) -> None:
        self._catalog = catalog
        self._sieve = sieve
        self._following = following
        self._changing = changing
        self._lock = lock

    def teach(self, learned: OnlineStatistics, decision: Decision | None) -> None:
        """Takes what an event has shown."""
        if decision is not None:
            learned.observe(decision)
            is_due = learned.events >= self._following.next_telling
            if is_due and self._changing.acquire(blocking=False):
                try:
                    known = learned.statistics()
                    with self._lock.writing():
                        self._following.learned(known)
                    self._following.warn_of_troubles()
                finally:
                    self._changing.release()
        is_restless = any(index.is_restless for index in self._sieve.watched)
        if is_restless and self._changing.acquire(blocking=False):
            try:
                with self._lock.writing():
                    self._sieve.adapt()
            finally:
                self._changing.release()

    def ask_implications(self, *, is_deferred: bool = False) -> None:
        """Asks operators what the answers to new calls mean for others.

        What is deferred is asked beside matching, by who deferred it. Nor does the thread ask that
        asks already, or changes what is subscribed: an operator may match events meanwhile."""
        implications = self._catalog.implications
        if not (implications.pending or is_deferred) or self._changing.is_mine:
            return
        with self._changing:
            if not (implications.pending or is_deferred):  # another thread has asked meanwhile
                return
            try:
                found, troubles = implications.asked()
            finally:
                implications.is_deferred = implications.is_deferred and not is_deferred
            with self._lock.writing():
                for name in troubles:
                    implications.distrust(name)
                implications.take(found)
                self._catalog.version += 1
        for words in troubles.values():
            warnings.warn(words, PluginWarning, stacklevel=4)

    def contradicted(self, decision: Decision, found: ImplicationError) -> None:
        """Stops using the declarations of an operator that contradicts them."""
        name = decision.skeleton.tests[found.test].call.specification.name
        if not self._changing.is_mine:  # else it is told when it comes out again
            with self._changing, self._lock.writing():
                self._catalog.implications.distrust(name)
                self._catalog.version += 1
        words = contradiction_text(decision, found)
        log.warning("%s", words)
        warnings.warn(words, PluginWarning, stacklevel=4)
