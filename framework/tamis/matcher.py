"""Matches events: from attributes by index, planner, operators and joins to a result.

Invariant: a match sees one consistent set of subscriptions. It reads index and catalog under a
reader lock, then works on arrays of its own; a lease keeps the rows that they name.
Cost: that of the index, O(edges of the candidates), and the calls. The file is long because all
that users ask of a matcher stands in it.
"""

from __future__ import annotations

import itertools
import math
import threading
import time
import warnings
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tamis.calling.event_calls import EventCalls
from tamis.calling.executor import executor_of
from tamis.calling.gateway import Gateway
from tamis.calling.memo import DEFAULT_BYTES, Memo
from tamis.catalog import Catalog, CatalogSubscription
from tamis.catalog.compiled import compiled, opened
from tamis.catalog.expiry import Expiry, end_of
from tamis.catalog.intake import Intake, NewSubscription, entry_of
from tamis.catalog.renewal import Renewal, rebound, renewal, swap
from tamis.catalog.resolve import ResolvedAlternative
from tamis.catalog.sieve import Sieve
from tamis.engine.deciding import Decider, Underway
from tamis.engine.decision import Decision
from tamis.engine.following import PlannerHolder
from tamis.engine.forecasting import Forecast, Forecaster
from tamis.engine.learned import OnlineStatistics
from tamis.engine.lessons import Lessons
from tamis.engine.loading import LOADING
from tamis.engine.paying import checked_budget, checked_seconds
from tamis.engine.problem import Problems
from tamis.engine.stages import StageClock
from tamis.engine.window import Window, checked_in_flight, is_batched
from tamis.errors import PluginWarning, TamisError
from tamis.event import Event
from tamis.event.clock import derived_in, zone_of
from tamis.event.types import EventType, check_fits, checked_types, domains_of
from tamis.files.repeating import repeated
from tamis.index.disjunctions import taking_disjunctions
from tamis.indexing import IndexRecord, spelled
from tamis.language.condition import Language
from tamis.limits import DEFAULT_LIMITS, Budget, Limits, checked_limits
from tamis.log import log
from tamis.numeric.collecting import seldom_collected
from tamis.numeric.lists import distinct
from tamis.numeric.locks import OwnedLock, ReaderWriterLock
from tamis.operators.asking import Operators
from tamis.planning import Planner, PlannerRecord
from tamis.plugins.loader import installed, operators_of
from tamis.result import Result, ResultParts
from tamis.result.explain import explain
from tamis.result.graphs import chain_graph, subscription_graph
from tamis.result.pending import PendingResult
from tamis.result.plan import Plan, plan_of
from tamis.statistics import Statistics, checked_statistics
from tamis.words import counted, without_passwords

if TYPE_CHECKING:
    import networkx

    from tamis.engine.coming import Events


DEFAULT_INDEX = "pstbloom"
DEFAULT_PLANNER = "savings"
IN_FLIGHT = 64


class Matcher:
    """Matches events against everything that is subscribed.

    >>> from tamis import Matcher, operator
    >>> @operator(inputs=("loudness",))
    ... def louderThan(event, level):
    ...     return event["loudness"] > level
    >>> matcher = Matcher(operators=[louderThan])
    >>> matcher.subscribe("louderThan(3) and altitude < 400", id="s1")
    's1'
    >>> result = matcher.match({"id": "e1", "loudness": 7, "altitude": 120})
    >>> [match.subscription for match in result.matches]
    ['s1']

    `operators` replace the installed ones, `also` are added to them.
    """

    def __init__(
        self,
        operators: Iterable[object] | None = None,
        *,
        also: Iterable[object] = (),
        index: str = DEFAULT_INDEX,
        index_options: Mapping[str, object] | None = None,
        planner: str | Planner | PlannerRecord = DEFAULT_PLANNER,
        statistics: Statistics | None = None,
        learning: bool = True,
        workers: int = 1,
        in_flight: int = IN_FLIGHT,
        memo_bytes: int = DEFAULT_BYTES,
        memo_seconds: float | None = None,
        limits: Limits = DEFAULT_LIMITS,
        time_zone: str | None = None,
        types: Iterable[EventType] = (),
        clock: Callable[[], float] = time.time,
        timer: Callable[[], float] = time.perf_counter,
    ) -> None:
        if not isinstance(learning, bool):
            raise TamisError(f"learning is True or False, not {learning!r:.80}")
        plugins, records = installed(), operators_of(operators, also)
        self._statistics = Statistics() if statistics is None else checked_statistics(statistics)
        self.limits = checked_limits(limits)
        self._gateway = Gateway(limits, timer, clock, records)
        self.operators = Operators(records, self._gateway.expect)
        self._learned = OnlineStatistics(self._statistics) if learning else None
        self._catalog = Catalog(limits.implications)
        self._following = PlannerHolder(
            plugins, planner, self._catalog, self._statistics, DEFAULT_PLANNER
        )
        self._index_name = spelled(index, index_options or {})
        self._types = checked_types(types)
        self._sieve = self._made_sieve(plugins.index(self._index_name))
        self._derived = derived_in(plugins.attributes, zone_of(time_zone))
        self._language = Language(limits)
        self._intake = Intake(self._language, self.operators, self._catalog, self._types)
        self.memo = Memo(memo_bytes, memo_seconds, clock)
        self._executor = executor_of(workers)
        self.in_flight = checked_in_flight(in_flight)
        """The number of events matched at once where many are given."""
        self._lock, self._changing = ReaderWriterLock(), OwnedLock()
        self._refreshing = threading.Lock()
        self._lessons = Lessons(
            self._catalog, self._sieve, self._following, self._changing, self._lock
        )
        self._decider = Decider(
            self._gateway, self._executor, self.memo, self._lessons.contradicted, timer
        )
        self._clock, self._timer = clock, timer
        self._problems = Problems(self._catalog)
        self._forecaster = Forecaster(
            self._intake, self._catalog, self._sieve, self._lock.reading, self._derived
        )
        self._expiry = Expiry(self._sieve.keeper, self._catalog)
        self._event_ids = map("event-{}".format, itertools.count(1))
        with self._expiry.opening(self._intake) as kept:
            self._add(*kept)

    def _made_sieve(self, record: IndexRecord) -> Sieve:
        takes_domains = record.options.get("domains", ()) is None
        options = {"domains": domains_of(self._types)} if takes_domains else {}
        sieve = Sieve(lambda: taking_disjunctions(record.made(options)), self._catalog)
        sieve.inform(self._statistics)
        return sieve

    def close(self) -> None:
        """Ends the threads and worker processes; a later match begins those that it needs.

        Also happens at the end of `with`, on garbage collection and at exit. A matcher whose index
        is a database or a folder closes it, and is not used any more."""
        self._expiry.close()
        self._executor.close()
        self._gateway.close()
        self._sieve.close()

    def __enter__(self) -> Matcher:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    # subscribing

    def subscribe(
        self,
        where: str,
        id: str | None = None,
        *,
        replace: bool = False,
        validity: float | None = None,
        deliver: object = None,
        data: Mapping[str, Any] | None = None,
    ) -> str:
        """Adds a subscription and returns its id, which is made up when not given.

        `validity` is in seconds by the matcher's clock, `deliver` holds delivery policies. With
        `replace`, it takes the place of one of the same id: no match sees neither or both."""
        return self._insert([entry_of(where, id, deliver, data)], replace, validity)[0]

    def subscribe_many(
        self,
        subscriptions: Iterable[Mapping[str, Any]],
        *,
        replace: bool = False,
        validity: float | None = None,
    ) -> list[str]:
        """Adds subscriptions (`where`, `id`, any other keys), all or none; returns their ids."""
        return self._insert(subscriptions, replace, validity)

    def _insert(
        self,
        entries: Iterable[Mapping[str, Any]],
        replace: bool,
        validity: float | None,
        is_again: bool = False,
    ) -> list[str]:
        """Adds subscriptions; those that were accepted before warn of nothing, and are undetermined
        where an operator refuses by now what they ask, as after a refresh."""
        entries = list(entries) if isinstance(entries, Iterator) else entries  # outside the lock
        with seldom_collected() as waste, self._changing:
            self._drop_expired()
            resolver = self._intake.resolver_again() if is_again else self._intake.resolver()
            accepted = self._intake.accept(entries, replace, resolver)
            expires = end_of(validity, self._clock(), accepted[0].id if accepted else None)
            for each in () if is_again else accepted:
                for warning in each.warnings:
                    warnings.warn(warning, stacklevel=3)
            with self._lock.writing(), self._expiry.change():
                self._add(accepted, itertools.repeat(expires))
            self._following.warn_of_troubles()
            ids = [each.id for each in accepted]
            waste += accepted, resolver
            del accepted, resolver
        return ids

    def _add(self, accepted: Iterable[NewSubscription], ends: Iterable[float]) -> None:
        entries: list[tuple[int, ResolvedAlternative]] = []
        for each, end in zip(accepted, ends, strict=False):
            if each.id in self._catalog.rows:
                self._remove(each.id, replaced=True)
            entries += self._catalog.add(
                each.id, each.text, each.data, each.alternatives, each.policies
            )
            self._expiry.set(each.id, end)
        self._sieve.add(entries)
        asking = [row for row, asked in entries if asked.edges or asked.conditions]
        self._following.subscribed(asking)

    def unsubscribe(self, id: str) -> None:
        """Removes a subscription; `KeyError` if there is none of that id."""
        with self._changing:
            self._drop_expired()
            self._check_known(id)
            with self._lock.writing(), self._expiry.change():
                self._remove(id)
            self._following.warn_of_troubles()

    def _check_known(self, id: str) -> None:
        if id not in self._catalog.rows:
            raise KeyError(f"there is no subscription {id!r}")

    def _remove(self, id: str, *, replaced: bool = False) -> None:
        rows = self._catalog.remove(id, replaced=replaced)
        self._sieve.remove(rows)
        self._following.unsubscribed(rows)
        self._expiry.forget(id)

    def refresh(self) -> list[str]:
        """Reloads operators whose sources (files of places) changed, and returns their names.

        Matching goes on while sources are read; no match sees two versions of an operator.
        Subscriptions that the new version refuses are undetermined, with that reason. An
        operator whose sources cannot be read stays as it is, with a `PluginWarning`."""
        with self._refreshing:  # sources that were read before would undo what another one took
            made = renewal(self.operators)
            if made.names:
                self._renew(made)
        for words in made.troubles:
            log.warning("%s", words)
            warnings.warn(words, PluginWarning, stacklevel=2)
        return sorted(made.names)

    def _renew(self, made: Renewal) -> None:
        """Takes operators that were made anew, and binds subscriptions to them."""
        try:
            with seldom_collected(), self._changing:
                self._drop_expired()
                bound = rebound(self._catalog, self._intake.renewed(made.operators, made.names))
                ends = self._expiry.ends()
                with self._lock.writing(), self._expiry.change():
                    self.operators.take(made.operators)
                    for each in bound.moved:  # all of them first: calls of one key are one thing
                        self._remove(each.id, replaced=True)
                    swap(self._catalog, bound.still)
                    self._add(bound.moved, (ends.get(each.id, math.inf) for each in bound.moved))
                    self._problems.forget()
                    self._catalog.traits.forget_unused(self._catalog.calls)
                    self._catalog.implications.is_deferred = True
                for name in made.names:
                    self.memo.forget(name)
                self._following.warn_of_troubles()
        finally:  # also where a warning of it is an error
            self._lessons.ask_implications(is_deferred=True)

    def refreshing(self, seconds: float = 60.0) -> AbstractContextManager[None]:
        """Refreshes every so many seconds in a thread of its own, for `with`."""
        return repeated(self.refresh, seconds, "refreshing")

    @property
    def planner(self) -> Planner:
        """The planner, which orders the calls; may be replaced by a name, a planner or a record."""
        return self._following.planner

    @planner.setter
    def planner(self, planner: str | Planner | PlannerRecord) -> None:
        with self._changing, self._lock.writing():
            self._following.replace(planner)

    @property
    def statistics(self) -> Statistics:
        """The statistics that planners and indexes use; may be replaced at any time."""
        return self._statistics

    @statistics.setter
    def statistics(self, statistics: Statistics) -> None:
        with self._changing, self._lock.writing():
            self._statistics = checked_statistics(statistics)
            self._problems.forget()
            self._sieve.inform(statistics)
            self._learned = None if self._learned is None else OnlineStatistics(statistics)
            self._following.reset(statistics)

    def learned(self) -> Statistics:
        """Returns statistics of history and of the events since, ready to be saved."""
        return self._statistics if self._learned is None else self._learned.statistics()

    # validity

    def renew(self, id: str, *, validity: float | None) -> None:
        """Lets a subscription live for so many seconds from now (`None`: for ever)."""
        with self._changing:
            self._drop_expired()
            self._check_known(id)
            self._expiry.renew(id, end_of(validity, self._clock(), id))

    def _drop_expired(self) -> None:
        """Removes what has expired; called with `_changing` held."""
        for id in self._expiry.ended(self._clock()):
            with self._lock.writing(), self._expiry.change():
                self._remove(id)
        self._following.warn_of_troubles()

    # reading

    def __len__(self) -> int:
        self._notice_time()
        return len(self._catalog)

    def __repr__(self) -> str:
        return (
            f"<matcher: {counted(len(self), 'subscription')}, "
            f"{counted(len(self.operators.records), 'operator')}, "
            f"index {without_passwords(self._index_name)}, planner {type(self.planner).__name__}>"
        )

    def __contains__(self, id: object) -> bool:
        self._notice_time()
        return id in self._catalog.rows

    def subscription(self, id: str) -> CatalogSubscription:
        """Returns a subscription as it was given; `KeyError` if there is none of that id."""
        self._notice_time()
        with self._lock.reading:
            self._check_known(id)
            return self._catalog.subscribed(id)

    def __iter__(self) -> Iterator[str]:
        """Returns the ids of the subscriptions, in the order of subscribing."""
        self._notice_time()
        with self._lock.reading:
            return iter(list(self._catalog.rows))

    def _notice_time(self) -> None:
        """Removes what has expired; not for an operator that matches while it is asked of a change,
        by whose end it would wait for itself."""
        is_due = self._expiry.next != math.inf and self._expiry.next <= self._clock()
        if is_due and not self._changing.is_mine:
            with self._changing:
                self._drop_expired()

    # matching

    def match(
        self,
        event: Mapping[str, Any],
        *,
        folder: str = "",
        default_id: str | None = None,
        deadline_seconds: float | None = None,
        budget: Budget | None = None,
    ) -> Result:
        """Matches one event; raises `EventError` for what is not an event.

        Relative paths in `image` are relative to `folder`; `default_id` names an event without an
        id, made up when not given. Subscriptions that are open when `deadline_seconds` are over, or
        when the `budget` cannot pay the next call, are undetermined, and in `result.possible`."""
        seen, stages, underway = self._begun(event, folder, default_id, deadline_seconds, budget)
        decision = None if underway is None else underway.finish()
        return self._ended(seen, stages, decision)

    def match_many(self, events: Iterable[Mapping[str, Any]]) -> Iterator[Result]:
        """Yields the results of events in order; up to `in_flight` are matched at once."""
        for _, result in self.window(self.in_flight).run(events, self.begin):
            assert result is not None
            yield result

    def results(self, events: Events) -> AsyncIterator[Result]:
        """Yields results as events come, for `async for`: at most `in_flight` are read ahead."""
        from tamis.engine.coming import results

        return results(self.window(self.in_flight), self.begin, events)

    def window(self, most: int | None = None) -> Window[Result]:
        """Returns a window for so many events in flight, which takes what `begin` makes; by default
        `in_flight` where operators answer about several events at once, else one."""
        if most is None:
            with self._lock.reading:
                most = self.in_flight if any(map(is_batched, self._catalog.calls)) else 1
        return Window(checked_in_flight(most), self._decider, self._gateway)

    def begin(
        self,
        event: Mapping[str, Any],
        *,
        folder: str = "",
        default_id: str | None = None,
        deadline_seconds: float | None = None,
        budget: Budget | None = None,
    ) -> PendingResult:
        """Begins to match an event: reads it, finds its candidates and its first calls."""
        return PendingResult(
            self._ended, *self._begun(event, folder, default_id, deadline_seconds, budget)
        )

    def _begun(
        self,
        event: Mapping[str, Any],
        folder: str,
        default_id: str | None,
        deadline_seconds: float | None,
        budget: Budget | None,
    ) -> tuple[ResultParts, StageClock, Underway | None]:
        stages, seconds = StageClock(self._timer), None
        if deadline_seconds is not None or budget is not None:
            seconds, budget = checked_seconds(deadline_seconds), checked_budget(budget)
        self._notice_time()
        catalog = self._catalog
        if catalog.implications.unasked:
            self._lessons.ask_implications()
        made_up = partial(next, self._event_ids) if default_id is None else lambda: default_id
        taken = Event.of(event, made_up, self._derived, folder)
        if self._types:
            check_fits(self._types, taken)
        with self._lock.reading:
            rows, checked = found = self._sieve.search(taken)
            searched = self._timer()
            owners = catalog.alternative_subscription.room[rows]
            asks = catalog.alternative_flags.room[rows] != 0
            asking = rows if np.count_nonzero(asks) == len(rows) else rows[asks]
            lease, version, count = catalog.epochs.lease(), catalog.version, len(catalog.rows)
            choice = self._sieve.choice
            known = self._learned or self._statistics
            skeleton = self._problems.of(asking, known) if len(asking) else None
            # one that follows knows what is subscribed now, another one may know more or less
            planner = self.planner
        stages.seconds["index"], stages.last = searched - stages.last, searched
        plain = distinct(owners[~asks]) if len(asking) < len(rows) else owners[:0]
        seen = ResultParts(
            event=taken,
            catalog=catalog,
            lease=lease,
            version=version,
            subscriptions=count, checked=checked, index=choice, page_reads=found.reads,
            owners=owners, plain=plain, decision=None, seconds=stages.seconds,
            explain=self._explain,
            statistics=self._statistics,
        )  # fmt: skip
        if skeleton is None:
            stages.end("problem")
            return seen, stages, None
        if not skeleton.problem.is_large:
            LOADING.count(skeleton.problem, self._following.compile)
        decision = Decision(skeleton, taken, self.limits, stages)
        needless = seen.needless = skeleton.needless(plain) if len(plain) else ()
        calls = EventCalls(taken, seconds)
        return seen, stages, self._decider.begin(planner, decision, calls, needless, budget=budget)

    def _ended(self, seen: ResultParts, stages: StageClock, decision: Decision | None) -> Result:
        """Learns from an event that is decided, and makes its result."""
        if self._learned is not None:
            self._lessons.teach(self._learned, decision)
            self._forecaster.recent.add(seen.event, decision)
        call_seconds = None if decision is None else decision.call_seconds
        stages.close(seen.event.id, self.limits.slow_event_seconds, call_seconds)
        seen.event.views.clear()  # views hold their event: a circle, which keeps frames for long
        seen.decision = decision
        return Result(seen)

    # folders

    def save(self, folder: str | Path) -> str:
        """Writes the subscriptions to a folder, ready to match; returns its fingerprint.

        `Matcher.open` maps it into memory. It holds neither operators nor learned statistics."""
        self._lessons.ask_implications()
        with self._changing:
            self._drop_expired()
            with self._lock.reading:
                return compiled(
                    Path(folder), self._index_name, self._sieve, self._catalog, self._expiry.ends()
                )

    @classmethod
    def open(
        cls,
        folder: str | Path,
        operators: Iterable[object] | None = None,
        *,
        fingerprint: str | None = None,
        **settings: Any,
    ) -> Matcher:
        """Returns a matcher of what `save` wrote, which accepts subscriptions like any other.

        Raises `MatcherFolderError` if the operators are of other versions than when it was saved,
        or if its fingerprint is another than the given one. `settings` are those of `Matcher`.
        Its changes stay in memory; the folder is as it was."""
        with opened(Path(folder), fingerprint) as saved:
            matcher = cls(operators, index=saved.index_name, **settings)
            saved.fill(matcher._catalog, matcher.operators)
            matcher._sieve.load(saved.folder)
            for id, end in saved.ends.items():
                matcher._expiry.set(id, end)
            matcher._following.reset(matcher._statistics)
        return matcher

    # for people

    def plan(self, event: Mapping[str, Any], *, folder: str = "", steps: int = 10) -> Plan:
        """Shows how an event would be decided, and the first calls, without making any."""
        return plan_of(self.begin(event, folder=folder), type(self.planner).__name__, steps)

    def forecast(self, where: str, *, events_per_day: float | None = None) -> Forecast:
        """Forecasts the calls, seconds and cost that a new text would add."""
        self._notice_time()
        self._lessons.ask_implications()
        return self._forecaster.forecast(
            where, self._statistics, self._learned, self._following, events_per_day
        )

    def graph(self) -> networkx.Graph:
        """Returns the subscription graph for networkx: who holds which predicate (Figure 1)."""
        with self._lock.reading:
            resolver = self._intake.resolver_again()
            return subscription_graph(self._catalog, self._language, resolver)

    def chains(self) -> networkx.DiGraph:
        """Returns the linked chains for networkx (Figure 3), in the order of a planner with one."""
        known, following = self._catalog, self._following
        with self._changing:
            return chain_graph(known, following.statistics, following.in_order())

    def _explain(self, result: Result, id: str) -> Any:
        with self._lock.reading:
            return explain(result, id, self._language, self._intake.resolver_again())
