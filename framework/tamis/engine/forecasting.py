"""Forecasts what a text would add to what is subscribed, in calls, seconds and cost.

Known events, of history or of recent matches, are decided for what is subscribed, then for the
text, which shares the answers. Nothing is called: the outcome of a test is that of the event in
history, else drawn by its selectivity. Joins are taken to hold. Where no event is known, attribute
predicates are drawn by their selectivity too, and the text shares no calls.
Cost: the planner's time for each event, once for each change of what is subscribed.
"""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from hashlib import blake2b

import numpy as np

from tamis.calling.answers import Answer
from tamis.calling.event_calls import EventCalls
from tamis.calling.executor import Inline
from tamis.calling.memo import Memo
from tamis.catalog import Catalog
from tamis.catalog.catalog import stretches
from tamis.catalog.intake import Intake
from tamis.catalog.resolve import ResolvedAlternative
from tamis.catalog.sieve import Sieve
from tamis.engine.deciding import Decider, unsaid
from tamis.engine.decision import MEMO, Decision
from tamis.engine.following import PlannerHolder
from tamis.engine.learned import OnlineStatistics
from tamis.engine.paying import Purse
from tamis.engine.problem import Skeleton
from tamis.engine.recent import Recent, RecentEvent
from tamis.engine.stages import StageClock
from tamis.errors import TamisError
from tamis.event import DerivedAttribute, Event
from tamis.index.scan import Scan
from tamis.language.predicate import parts_of
from tamis.limits import Limits
from tamis.numeric.types import Ints
from tamis.operators.asking import Call, Solution, Test
from tamis.operators.specification import Preparation
from tamis.planning import FALSE, TRUE, Planner
from tamis.statistics import Statistics
from tamis.statistics.sample import ObservedSample, SampleEvent
from tamis.words import counted, duration

MOST_EVENTS = 512
_MOST_EDGES = 1_000_000
"""The most edges of the candidates of all events; beyond that, no further event is imagined."""
HISTORY, SEEN, SHARES = "events of history", "events that were matched", "events without values"
_DAY_SECONDS = 86_400.0
_WHOLE = 2.0**64
_ASKED = Answer(solutions=[])


@dataclass(frozen=True)
class Forecast:
    """The calls, matches and time that a text is expected to add to what is subscribed."""

    calls_per_event: float
    matches_per_event: float
    seconds_per_event: float
    cost_per_event: float
    events_per_day: float | None
    """As given, or as in history."""
    calls: Mapping[str, float]
    """The calls of the text, and how often an event needs each that no other subscription makes."""
    shared: Mapping[str, int]
    """The calls that other subscriptions share, and how many do."""
    events: int
    """The number of imagined events, and their sort (`basis`)."""
    basis: str

    @property
    def seconds_per_day(self) -> float | None:
        """Expected seconds of operators a day; `None` where the number of events is unknown."""
        return None if self.events_per_day is None else self.events_per_day * self.seconds_per_event

    @property
    def cost_per_day(self) -> float | None:
        """Expected cost a day, in the unit of the operators' `cost`."""
        return None if self.events_per_day is None else self.events_per_day * self.cost_per_event

    def as_dict(self) -> dict[str, object]:
        """Returns the same in plain values, ready for JSON."""
        days = {"seconds_per_day": self.seconds_per_day, "cost_per_day": self.cost_per_day}
        return asdict(self) | days

    def __str__(self) -> str:
        matches = f"matches {self.matches_per_event:.2%} of the events"
        took = duration(self.seconds_per_event)
        lines = [f"{self.calls_per_event:.3g} calls an event, {took}; {matches}"]
        if self.events_per_day is not None:
            spent = f"{duration(self.events_per_day * self.seconds_per_event)} of operators"
            cost = f" and {self.cost_per_day:.3g} of cost" if self.cost_per_event else ""
            lines.append(f"{self.events_per_day:,.0f} events a day: {spent}{cost}")
        for predicate, share in self.calls.items():
            others = self.shared.get(predicate)
            words = f", shared with {counted(others, 'subscription')}" if others else ""
            lines.append(f"  {predicate}: {share:.3g} an event{words}")
        return "\n".join([*lines, f"imagined on {self.events:,} {self.basis}"])


Reading = AbstractContextManager[None]


class ImaginedEvents:
    """Events to imagine, and what is true of them."""

    def __init__(
        self,
        history: Statistics,
        matched: Sequence[RecentEvent],
        derived: Mapping[str, DerivedAttribute],
    ) -> None:
        sample = history.sample or ObservedSample.of(())
        places = [at for at, each in enumerate(sample.kept) if each.content][:MOST_EVENTS]
        self._columns, self._history = sample.places, history.answers
        self._truths, self._knowns = sample.truths()[places], sample.knowns()[places]
        self._by_event: dict[str, dict[int, str]] = {}
        self._matched = () if places else tuple(matched)
        if places:
            self.basis = HISTORY
            kept = [sample.kept[at] for at in places]
        elif matched:
            self.basis = SEEN
            kept = [SampleEvent(each.number, each.content) for each in matched]
        else:
            self.basis = SHARES
            kept = [SampleEvent(at, "{}") for at in range(MOST_EVENTS)]
        self._numbers = [each.event for each in kept]
        self.events = [Event.of(json.loads(each.content), str, derived) for each in kept]

    def outcome(self, at: int, test: Test, share: float) -> int:
        """Returns the outcome of a test for an event: as it was, else true for such a share."""
        call = test.call.text
        column = self._columns.get(test.text) if self.basis == HISTORY else None
        if column is not None and self._knowns[at, column]:
            return TRUE if self._truths[at, column] else FALSE
        answer = self._matched[at].answers.get(call) if self._matched else self._answer(at, call)
        if answer is None:
            answer = self.happens(at, call, share)
        elif not isinstance(answer, bool):
            answer = bool(test.select(answer, self.events[at]))
        return TRUE if answer else FALSE

    def _answer(self, at: int, call: str) -> list[Solution] | None:
        """Returns the answer that a call gave about an event in history."""
        found = self._by_event.get(call)
        if found is None:
            answers = self._history.get(call)
            found = self._by_event[call] = {} if answers is None else dict(answers.kept)
        text = found.get(self._numbers[at])
        return None if text is None else [tuple(each) for each in json.loads(text)]

    def happens(self, at: int, what: str, share: float) -> bool:
        """Draws whether something is true of an event; it is, of such a share of all events."""
        text = f"{self._numbers[at]} {what}".encode("utf-8", "surrogatepass")
        drawn = int.from_bytes(blake2b(text, digest_size=8).digest(), "big")
        return drawn < share * _WHOLE


class _ImaginedDecision(Decision):
    """A decision whose tests are imagined."""

    def __init__(self, skeleton: Skeleton, world: ImaginedEvents, at: int, limits: Limits) -> None:
        super().__init__(skeleton, world.events[at], limits, StageClock(float))
        self._world, self._at = world, at

    def without_implications(self) -> Decision:
        """Returns the same event from its beginning, with nothing declared of its tests."""
        return _ImaginedDecision(
            self.skeleton.without_implications(), self._world, self._at, self.limits
        )

    def _check_conditions(self) -> None:
        if self._world.basis != SHARES:
            super()._check_conditions()

    def _check_inputs(self) -> None:
        if self._world.basis != SHARES:
            super()._check_inputs()

    def _exclude(self) -> None:
        if self._world.basis != SHARES:
            super()._exclude()

    def _outcome_by(self, test: int, answer: Answer) -> int:
        share = float(self.problem.test_selectivity[test])
        return self._world.outcome(self._at, self.skeleton.tests[test], share)


class _Nobody:
    """Pretends to make calls."""

    def call(self, call: Call, event_calls: EventCalls) -> Answer:
        """Says that a call was made."""
        return _ASKED

    def call_together(self, calls: Sequence[Call], event_calls: EventCalls) -> list[Answer]:
        """Says that calls were made."""
        return [_ASKED for _ in calls]


_DECIDER = Decider(_Nobody(), Inline(), Memo(0), unsaid)


@dataclass(frozen=True)
class _CallsBefore:
    """The calls and preparations that an event needs before the text asks for anything."""

    calls: frozenset[str] = frozenset()
    preparations: frozenset[Preparation] = frozenset()


class Outlook:
    """Decides imagined events by what is subscribed."""

    def __init__(
        self,
        world: ImaginedEvents,
        known: Statistics | OnlineStatistics,
        limits: Limits,
        following: PlannerHolder,
    ) -> None:
        self._world, self._known, self._limits = world, known, limits
        self._following = following
        self._made = [_CallsBefore()] * len(world.events)

    def look(self, catalog: Catalog, sieve: Sieve, reading: Reading) -> None:
        """Decides all events that have values for what is subscribed."""
        edges = 0
        for at, event in enumerate(self._world.events if not self._is_blind else ()):
            with reading:
                skeleton, plain = _skeleton(catalog, sieve.search(event).rows, self._known)
                planner = self._following.planner  # one that was replaced knows of nothing new
            if skeleton is not None:
                self._made[at] = self._made_for(at, skeleton, plain, planner)
                edges += len(skeleton.problem.edge_test)
            if edges > _MOST_EDGES:
                del self._world.events[at + 1 :]
                break

    def _made_for(self, at: int, skeleton: Skeleton, plain: Ints, planner: Planner) -> _CallsBefore:
        decision = self._decided(at, skeleton, plain, planner)
        calls = [skeleton.calls[each] for each in decision.made]
        every = (each for call in calls for each in call.specification.preparations)
        return _CallsBefore(frozenset(call.text for call in calls), frozenset(every))

    def _decided(self, at: int, skeleton: Skeleton, plain: Ints, planner: Planner) -> Decision:
        made = self._made[at].calls
        answered = [
            (number, _ASKED, MEMO)
            for number, call in enumerate(skeleton.calls)
            if call.text in made
        ]
        return _DECIDER.decide(
            planner,
            _ImaginedDecision(skeleton, self._world, at, self._limits),
            EventCalls(self._world.events[at]),
            skeleton.needless(plain) if len(plain) else (),
            answered,
        )

    def forecast(
        self,
        alternatives: Sequence[ResolvedAlternative],
        planner: Planner,
        shared: Mapping[str, int],
        statistics: Statistics,
        events_per_day: float | None,
    ) -> Forecast:
        """Forecasts what a text adds, of which these are the alternatives, not subscribed."""
        catalog = Catalog(self._limits.implications)
        sieve = Sieve(Scan, catalog)
        entries = catalog.add("forecast", "", None, alternatives)
        sieve.add(entries)
        calls: Counter[str] = Counter({call.text: 0 for call in catalog.calls})
        matches, seconds, cost = 0, 0.0, 0.0
        for at, event in enumerate(self._world.events):
            rows = (
                self._drawn(at, entries, statistics) if self._is_blind else sieve.search(event).rows
            )
            skeleton, plain = _skeleton(catalog, rows, self._known)
            if skeleton is None:
                matches += bool(len(plain))
                continue
            decision = self._decided(at, skeleton, plain, planner)
            matches += bool(len(plain) or decision.matched)
            purse = Purse(skeleton, None, EventCalls(event))
            purse.prepared.update(self._made[at].preparations)
            for number in decision.made:
                calls[skeleton.calls[number].text] += 1
                price = purse.price(number, set())
                seconds, cost = seconds + price[0], cost + price[1]
        count = len(self._world.events)
        return Forecast(
            calls_per_event=calls.total() / count,
            matches_per_event=matches / count,
            seconds_per_event=seconds / count,
            cost_per_event=cost / count,
            events_per_day=_rate(statistics) if events_per_day is None else events_per_day,
            calls={text: made / count for text, made in calls.items()},
            shared={text: shared[text] for text in calls if shared.get(text)},
            events=count,
            basis=self._world.basis,
        )

    @property
    def _is_blind(self) -> bool:
        return self._world.basis == SHARES

    def _drawn(
        self, at: int, entries: Sequence[tuple[int, ResolvedAlternative]], statistics: Statistics
    ) -> Ints:
        """Draws the alternatives whose attribute predicates hold, by their selectivities."""
        return np.array(
            [
                row
                for row, asked in entries
                if all(
                    any(
                        self._world.happens(at, part.attribute, statistics.estimate(part))
                        for part in parts_of(each)
                    )
                    for each in asked.indexed
                )
            ],
            np.int64,
        )


def _skeleton(
    catalog: Catalog, rows: Ints, known: Statistics | OnlineStatistics
) -> tuple[Skeleton | None, Ints]:
    """Returns what an event leaves to decide, and the subscriptions that match without any call."""
    asks = catalog.alternative_flags[rows] != 0
    plain = np.unique(catalog.alternative_subscription[rows[~asks]])
    if not asks.any():
        return None, plain
    return Skeleton(catalog, np.sort(rows[asks]), known).without_joins(), plain


class Forecaster:
    """Forecasts for one matcher; subscriptions are decided again when they have changed."""

    def __init__(
        self,
        intake: Intake,
        catalog: Catalog,
        sieve: Sieve,
        reading: Reading,
        derived: Mapping[str, DerivedAttribute],
    ) -> None:
        self._intake = intake
        self._catalog, self._sieve, self._reading = catalog, sieve, reading
        self._derived = derived
        self.recent = Recent(MOST_EVENTS)
        self._last: tuple[object, Outlook] | None = None
        self._looking = threading.Lock()

    def forecast(
        self,
        where: str,
        statistics: Statistics,
        learned: OnlineStatistics | None,
        following: PlannerHolder,
        events_per_day: float | None,
    ) -> Forecast:
        """Forecasts what a text adds; `SubscriptionError` where it cannot be subscribed."""
        rate = checked_rate(events_per_day)
        limits = self._intake.language.limits
        alternatives = self._intake.alone(where).alternatives
        learned_events = 0 if learned is None else learned.events.bit_length()
        with self._looking:  # who comes meanwhile takes what is found
            state = self._catalog.version, statistics, learned_events, following.planner
            if self._last is None or self._last[0] != state:
                world = ImaginedEvents(statistics, list(self.recent.kept), self._derived)
                outlook = Outlook(world, learned or statistics, limits, following)
                outlook.look(self._catalog, self._sieve, self._reading)
                self._last = state, outlook
            outlook = self._last[1]
        with self._reading:
            shared = sharers(self._catalog, alternatives)
        return outlook.forecast(alternatives, following.stranger(), shared, statistics, rate)


def checked_rate(events_per_day: object) -> float | None:
    """Returns a number of events a day, `TamisError` where it is none."""
    if events_per_day is None:
        return None
    is_number = isinstance(events_per_day, (int, float)) and not isinstance(events_per_day, bool)
    if not is_number or not events_per_day >= 0:  # type: ignore[operator]
        raise TamisError(f"events_per_day is a number from 0, not {events_per_day!r}")
    return float(events_per_day)  # type: ignore[arg-type]


def _rate(statistics: Statistics) -> float | None:
    """Returns how many events a day history has."""
    stretch = statistics.stretch
    if stretch is None or not statistics.events or stretch[1] <= stretch[0]:
        return None
    return statistics.events * _DAY_SECONDS / (stretch[1] - stretch[0])


def sharers(catalog: Catalog, alternatives: Sequence[ResolvedAlternative]) -> dict[str, int]:
    """Counts the subscriptions that ask for each call of a text."""
    rows = np.arange(len(catalog.edge_count))
    counts = catalog.edge_count[rows]
    tests = catalog.edge_test[stretches(catalog.edge_start[rows], counts)]
    owners = np.repeat(catalog.alternative_subscription[rows], counts)
    found = {}
    for call in {
        test.call.text: test.call for each in alternatives for test, _ in each.edges
    }.values():
        mine = catalog.calls.known(call.key)
        if mine is not None:
            asking = catalog.traits.call_of[tests] == mine.number
            found[call.text] = len(np.unique(owners[asking]))
    return found
