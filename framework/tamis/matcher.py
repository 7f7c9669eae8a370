"""The one path: event, attributes, index, candidates, planner and operators, joins, result.

Invariant: a match sees one consistent set of subscriptions. It reads index and catalog under a
reader lock and works on its own arrays afterwards; a lease keeps the rows they name.
Cost: that of the index, O(edges of the candidates), and the calls.
"""

from __future__ import annotations

import itertools
import json
import math
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from tamis.catalog import Catalog, Subscribed
from tamis.engine.asking import Operators
from tamis.engine.decision import Decision
from tamis.engine.gateway import Asking, Gateway
from tamis.engine.guarded import GuardedRun, made_planner
from tamis.engine.problem import Skeleton, standing
from tamis.engine.resolve import Asked, Resolver, doubts
from tamis.errors import (
    PlannerError,
    PluginWarning,
    StatisticsError,
    SubscriptionError,
    SubscriptionErrors,
    SubscriptionWarning,
    TamisError,
)
from tamis.event import Event
from tamis.expiry import Expiry, end_of
from tamis.explain import explain
from tamis.graphs import chain_graph, subscription_graph
from tamis.indexing import Index
from tamis.language import Language
from tamis.limits import DEFAULT_LIMITS, Limits
from tamis.locks import ReaderWriterLock
from tamis.nearest import did_you_mean
from tamis.planning import FALSE, FollowingPlanner, Planner, Standing
from tamis.plugins import installed
from tamis.predicate import AttributePredicate
from tamis.result import Result, Seen
from tamis.specification import records_of
from tamis.statistics import Statistics

if TYPE_CHECKING:
    import networkx

DEFAULT_INDEX = "pstbloom"
DEFAULT_PLANNER = "sequential"


class _Prepared(NamedTuple):
    """A subscription that can be inserted."""

    id: str
    text: str
    data: str | None
    alternatives: list[Asked]
    expires: float
    warnings: list[SubscriptionWarning]


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
    """

    def __init__(
        self,
        operators: Iterable[object] | None = None,
        *,
        index: str = DEFAULT_INDEX,
        planner: str | Planner = DEFAULT_PLANNER,
        statistics: Statistics | None = None,
        limits: Limits = DEFAULT_LIMITS,
        clock: Callable[[], float] = time.time,
        timer: Callable[[], float] = time.perf_counter,
    ) -> None:
        plugins = installed()
        records = plugins.operators.values() if operators is None else records_of(operators)
        self.operators = Operators(records)
        self._statistics = statistics if statistics is not None else Statistics()
        self.limits = limits
        if not isinstance(self._statistics, Statistics):
            raise StatisticsError(f"statistics are a tamis.Statistics, not {statistics!r:.80}")
        if not isinstance(limits, Limits):
            raise TamisError(f"limits are a tamis.Limits, not {limits!r:.80}")
        self.planner = made_planner(plugins, planner)
        self._follower: FollowingPlanner | None = (
            cast(FollowingPlanner, self.planner) if hasattr(self.planner, "subscribed") else None
        )
        self._index: Index = plugins.index(index).made({})
        self._index.inform(self._statistics)
        self._derived = plugins.attributes
        self._catalog = Catalog()
        self._language = Language(limits)
        self._gateway = Gateway(limits, timer)
        self._clock = clock
        self._timer = timer
        self._lock = ReaderWriterLock()
        self._changing = threading.Lock()
        self._skeleton: Skeleton | None = None
        self._expiry = Expiry()
        self._reserved: set[str] = set()
        self._troubles: list[str] = []
        self._event_numbers = itertools.count(1)
        self._subscription_numbers = itertools.count(1)

    # subscribing

    def subscribe(
        self,
        where: str,
        id: str | None = None,
        *,
        replace: bool = False,
        validity: float | None = None,
        data: Mapping[str, Any] | None = None,
    ) -> str:
        """Adds a subscription and returns its id, made up when not given.

        `validity` is in seconds by the matcher's clock. With `replace`, one of the same id is
        replaced at once: no match sees neither or both."""
        if data is not None and not {"id", "where"}.isdisjoint(data):
            raise SubscriptionError("data holds the other keys, not id and where", subscription=id)
        entry: dict[str, Any] = {**(data or {}), "where": where}
        if id is not None:
            entry["id"] = id
        return self._insert([(entry, validity)], replace)[0]

    def subscribe_many(
        self,
        subscriptions: Iterable[Mapping[str, Any]],
        *,
        replace: bool = False,
        validity: float | None = None,
    ) -> list[str]:
        """Adds subscriptions (`where`, `id`, and any other keys), all or none; their ids."""
        return self._insert([(entry, validity) for entry in subscriptions], replace)

    def _insert(
        self, entries: list[tuple[Mapping[str, Any], float | None]], replace: bool
    ) -> list[str]:
        with self._changing:
            self._drop_expired()
            resolver = self._resolver()
            prepared: list[_Prepared] = []
            errors: list[SubscriptionError] = []
            taken: set[str] = set()
            named = (entry.get("id") for entry, _ in entries if isinstance(entry, Mapping))
            self._reserved = {id for id in named if isinstance(id, str)}
            for entry, validity in entries:
                try:
                    each = self._prepare(entry, validity, resolver, taken, replace)
                except SubscriptionError as bad:
                    errors.append(bad)
                else:
                    taken.add(each.id)
                    prepared.append(each)
            if errors:
                raise errors[0] if len(errors) == 1 else SubscriptionErrors(errors)
            for each in prepared:
                for warning in each.warnings:
                    warnings.warn(warning, stacklevel=3)
            with self._lock.writing():
                self._add(prepared)
            self._warn_of_troubles()
        return [each.id for each in prepared]

    def _resolver(self) -> Resolver:
        return Resolver(self.operators, self._catalog.calls.known, self._catalog.tests.known)

    def _prepare(
        self,
        entry: Mapping[str, Any],
        validity: float | None,
        resolver: Resolver,
        taken: set[str],
        replace: bool,
    ) -> _Prepared:
        id, where, data = self._checked(entry, taken, replace)
        try:
            condition = self._language.parse(
                where, lambda leaves, several: resolver.check(leaves, where, several=several)
            )
            asked = [resolver.resolve(each, where) for each in condition.alternatives]
        except SubscriptionError as bad:
            raise bad.of(id) from bad.__cause__
        return _Prepared(
            id,
            where,
            data,
            [each for each in asked if not each.empty],
            self._end_of(validity, id),
            doubts(id, condition, asked),
        )

    def _checked(
        self, entry: Mapping[str, Any], taken: set[str], replace: bool
    ) -> tuple[str, str, str | None]:
        """The id, the text, and the other keys as JSON."""
        if not isinstance(entry, Mapping):
            raise SubscriptionError(f"a subscription is an object with 'where', not {entry!r:.80}")
        id = entry.get("id")
        if id is None:
            id = self._made_up_id(taken)
        if not isinstance(id, str) or not id:
            raise SubscriptionError(f"the id of a subscription is a non-empty string, not {id!r}")
        if id in taken or (id in self._catalog.rows and not replace):
            raise SubscriptionError(
                "this id is taken: choose another, or replace it with replace=True",
                subscription=id,
            )
        where = entry.get("where")
        if not isinstance(where, str):
            found = f"not {where!r:.80}"
            if "where" not in entry:
                found = f"and there is none{did_you_mean('where', map(str, entry))}"
            raise SubscriptionError(
                f"'where' is the text of the condition, {found}", subscription=id
            )
        rest = {key: value for key, value in entry.items() if key not in ("id", "where")}
        try:
            return id, where, json.dumps(rest, ensure_ascii=False) if rest else None
        except (TypeError, ValueError, RecursionError) as bad:
            raise SubscriptionError(
                f"the other keys of a subscription are JSON: {bad}", subscription=id
            ) from None

    def _made_up_id(self, taken: set[str]) -> str:
        while True:
            id = f"subscription-{next(self._subscription_numbers)}"
            if id not in taken and id not in self._reserved and id not in self._catalog.rows:
                return id

    def _add(self, prepared: list[_Prepared]) -> None:
        entries: list[tuple[int, Sequence[AttributePredicate]]] = []
        asking: list[int] = []
        for each in prepared:
            if each.id in self._catalog.rows:
                self._remove(each.id)
            added = self._catalog.add(each.id, each.text, each.data, each.alternatives)
            entries.extend((row, asked.predicates) for row, asked in added)
            asking.extend(row for row, asked in added if asked.edges or asked.conditions)
            self._expiry.set(each.id, each.expires)
        if entries:
            self._index.build(entries)
        if self._follower is not None and asking:
            self._tell(self._follower.subscribed, self._standing(asking))

    def _tell(self, hear: Callable[[Any], None], change: object) -> None:
        """Tells the planner of a change; one that fails is told everything anew, or is left."""
        assert self._follower is not None
        try:
            hear(change)
        except Exception as failure:
            name = type(self.planner).__name__
            words = f"planner {name} failed in {getattr(hear, '__name__', 'a change')}: {failure!r}"
            try:
                self._follower.reset(self._standing(self._catalog.asking()))
            except Exception:
                words += f"; {DEFAULT_PLANNER} takes its place"
                self.planner, self._follower = made_planner(installed(), DEFAULT_PLANNER), None
            self._troubles.append(words)

    def _warn_of_troubles(self) -> None:
        """Warns once the change is done: a warning may be an error, and nothing stays half-done."""
        troubles, self._troubles = self._troubles, []
        for words in troubles:
            warnings.warn(words, PluginWarning, stacklevel=4)

    def _standing(self, rows: list[int]) -> Standing:
        return standing(self._catalog, np.array(rows, np.int64), self._statistics)

    def unsubscribe(self, id: str) -> None:
        """Removes a subscription; `KeyError` if there is none of that id."""
        with self._changing:
            self._drop_expired()
            self._check_known(id)
            with self._lock.writing():
                self._remove(id)
            self._warn_of_troubles()

    def _check_known(self, id: str) -> None:
        if id not in self._catalog.rows:
            raise KeyError(f"there is no subscription {id!r}")

    def _remove(self, id: str) -> None:
        rows = self._catalog.remove(id)
        for row in rows:
            self._index.delete(row)
        if self._follower is not None:
            self._tell(self._follower.unsubscribed, rows)
        self._expiry.forget(id)

    @property
    def statistics(self) -> Statistics:
        """What planners and indexes know from history; may be replaced at any time."""
        return self._statistics

    @statistics.setter
    def statistics(self, statistics: Statistics) -> None:
        with self._changing, self._lock.writing():
            self._statistics = statistics
            self._skeleton = None
            self._index.inform(statistics)
            if self._follower is not None:
                self._follower.reset(self._standing(self._catalog.asking()))

    # validity

    def renew(self, id: str, *, validity: float | None) -> None:
        """Lets a subscription live for so many seconds from now (`None`: for ever)."""
        with self._changing:
            self._drop_expired()
            self._check_known(id)
            self._expiry.set(id, self._end_of(validity, id))

    def _end_of(self, validity: float | None, id: str) -> float:
        end = end_of(validity, self._clock())
        if end is None:
            raise SubscriptionError(
                f"validity is a number of seconds above 0, not {validity!r}", subscription=id
            )
        return end

    def _drop_expired(self) -> None:
        """Removes what has expired; called with `_changing` held."""
        for id in self._expiry.ended(self._clock()):
            with self._lock.writing():
                self._remove(id)
        self._warn_of_troubles()

    # reading

    def __len__(self) -> int:
        self._notice_time()
        return len(self._catalog)

    def __contains__(self, id: object) -> bool:
        self._notice_time()
        return id in self._catalog.rows

    def subscription(self, id: str) -> Subscribed:
        """A subscription as it was handed in; `KeyError` if there is none of that id."""
        self._notice_time()
        with self._lock.reading():
            self._check_known(id)
            return self._catalog.subscribed(id)

    def __iter__(self) -> Iterator[str]:
        """The ids of what is subscribed, in the order of subscribing."""
        self._notice_time()
        with self._lock.reading():
            return iter(list(self._catalog.rows))

    def _notice_time(self) -> None:
        if self._expiry.next != math.inf and self._expiry.next <= self._clock():
            with self._changing:
                self._drop_expired()

    # matching

    def match(
        self, event: Mapping[str, Any], *, folder: str = "", default_id: str | None = None
    ) -> Result:
        """Matches one event; `EventError` if it is none.

        `folder` is what a relative path in `image` is relative to, `default_id` names an event that
        has no id; made up when not given."""
        self._notice_time()
        made_up = self._made_up_event_id if default_id is None else lambda: default_id
        taken = Event.of(event, made_up, self._derived, folder)
        started = self._timer()
        catalog = self._catalog
        with self._lock.reading():
            rows = self._index.match(taken)
            owners = catalog.alternative_subscription[rows]
            asking = catalog.alternative_flags[rows] != 0
            lease, version, count = catalog.epochs.lease(), catalog.version, len(catalog)
            skeleton = self._problem(np.sort(rows[asking])) if asking.any() else None
        plain = np.unique(owners[~asking])
        seconds = {"index": self._timer() - started, "planner": 0.0, "operators": 0.0, "joins": 0.0}
        decision = None
        if skeleton is not None:
            decision = Decision(skeleton, taken, self.limits)
            self._decide(decision, skeleton.needless(plain) if len(plain) else (), seconds)
        return Result(
            Seen(
                event=taken,
                catalog=catalog,
                lease=lease,
                version=version,
                subscriptions=count,
                candidates=len(np.unique(owners)),
                plain=plain,
                decision=decision,
                seconds=seconds,
                explain=self._explain,
                has_statistics=bool(self._statistics),
            )
        )

    def _made_up_event_id(self) -> str:
        return f"event-{next(self._event_numbers)}"

    def _problem(self, rows: Any) -> Skeleton:
        """The problem of these candidates; the last one when they are the same."""
        skeleton = self._skeleton
        if skeleton is None or not skeleton.fits(self._catalog, rows):
            skeleton = self._skeleton = Skeleton(self._catalog, rows, self._statistics)
        return skeleton

    def _decide(
        self, decision: Decision, needless: Iterable[int], seconds: dict[str, float]
    ) -> None:
        """Makes the calls that the planner asks for, then those it left over."""
        timer, skeleton = self._timer, decision.skeleton
        asking = Asking(decision.event)
        refused: set[int] = set()
        planner_seconds = operator_seconds = join_seconds = 0.0
        started = timer()
        decided = decision.begin(needless)
        begun = timer()
        join_seconds += begun - started
        run = GuardedRun(self.planner, skeleton.problem)
        if decided:
            run.observe((), (), decided)
        while True:
            calls = run.next(1)
            if not len(calls):
                left_over = decision.next_needed() if decision.open else None
                if left_over is None:
                    break
                calls = (left_over,)
            asked = timer()
            planner_seconds += asked - begun
            for call in calls:
                self._check_call(decision, call, refused)
                if call in decision.missing:
                    refused.add(call)
                    tests = skeleton.call_tests[call]
                    begun = timer()
                    run.observe(tuple(tests), (FALSE,) * len(tests), ())
                    continue
                answer = self._gateway.call(skeleton.calls[call], asking)
                answered = timer()
                tests, outcomes, decided = decision.take(call, answer)
                begun = timer()
                operator_seconds += answered - asked
                join_seconds += begun - answered
                run.observe(tuple(tests), outcomes, decided)
                asked = begun
        planner_seconds += timer() - begun
        seconds["planner"] += planner_seconds
        seconds["operators"] += operator_seconds
        seconds["joins"] += join_seconds

    def _check_call(self, decision: Decision, call: int, refused: set[int]) -> None:
        name = type(self.planner).__name__
        if not 0 <= call < len(decision.skeleton.calls):
            raise PlannerError(f"planner {name} asked for call {call}, which does not exist")
        if call in decision.answers or call in refused:
            raise PlannerError(f"planner {name} asked for call {call} twice")

    # for people

    def graph(self) -> networkx.Graph:
        """The subscription graph for networkx: who holds which predicate (Figure 1)."""
        with self._lock.reading():
            return subscription_graph(self._catalog, self._language, self._resolver())

    def chains(self) -> networkx.DiGraph:
        """The linked chains for networkx (Figure 3), in the order of a planner that keeps one."""
        with self._changing:
            order = None if self._follower is None else self._follower.in_order()
            return chain_graph(self._catalog, self._statistics, order)

    def _explain(self, result: Result, id: str) -> Any:
        with self._lock.reading():
            return explain(result, id, self._language, self._resolver())
