"""Recommends an index and a planner by what all of them cost on a sample of history.

Every call about an event of the sample is made once; planners and settings are then run on the
answers, indexes on the events. What answers otherwise than the others is broken, and never advised.
When time runs out, the events that are left are thinned, not cut off.
Cost: one full evaluation of the sample, which is said before it is begun.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from tamis.advising.asking_all import EveryCall
from tamis.advising.chosen import EventChoice, ReadEvent
from tamis.advising.covering import scipy_part
from tamis.advising.hints import Hint, HintGrounds, hints, share_saved
from tamis.advising.indexes import IndexCost, IndexTrial
from tamis.advising.planners import PlannerCost, PlannerTrial
from tamis.advising.shadow import Known, evaluated
from tamis.advising.stopwatch import Stopwatch
from tamis.advising.tally import AdviceTally
from tamis.catalog import Catalog
from tamis.catalog.intake import Intake
from tamis.catalog.resolve import ResolvedAlternative
from tamis.errors import TamisError
from tamis.event.clock import derived_in, zone_of
from tamis.indexing import Entry
from tamis.language.condition import Language
from tamis.language.predicate import parts_of
from tamis.matcher import DEFAULT_INDEX, DEFAULT_PLANNER, Matcher
from tamis.plugins.loader import Plugins, installed
from tamis.result import Result
from tamis.result.lines import ResultTexts
from tamis.statistics import Statistics

_AS_GOOD = 0.02
"""Within this share of the best, the default is as good: it is what most others run."""
_AS_FAST = 0.1
_OTHER_STAGES = ("index", "problem", "joins")
_INDEX_SHARE = 0.1
"""Of the time that there is, for each index."""


@dataclass(frozen=True)
class AdviceBounds:
    """Bounds the part of history that is evaluated, and the time for it."""

    share: float = 1.0
    events: int = 1_000
    seconds: float = 60.0
    workers: int = 4


@dataclass
class Bounds:
    """Calls at least, of the events that have bounds."""

    events: int = 0
    clairvoyant: float | None = None
    """Of who knows all answers."""
    non_anticipative: float | None = None
    """Of who knows all selectivities, on average."""
    lacking: str = ""
    """Why there are none."""


@dataclass
class Advice:
    """The planner, index and settings to use, and why."""

    read: int
    rejected: int
    chosen: int
    events: int
    """As many were evaluated."""
    subscriptions: int
    matches: int
    undetermined: int
    every: int
    """Calls of an evaluation of everything."""
    planners: list[PlannerCost]
    indexes: list[IndexCost]
    index_events: int
    bounds: Bounds
    other_seconds: float
    """The seconds of a run besides calls and planner: the index, the problem, joins, the lines."""
    hints: list[Hint]
    planner: str
    why_planner: str
    index: str
    why_index: str
    broken: list[str] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        """Returns the same in plain values, ready for JSON."""
        return asdict(self, dict_factory=_without_records)


def _without_records(fields: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    hidden = {"made", "together", "prepared"}
    return {name: value for name, value in fields if name not in hidden}


class Advisor:
    """Subscriptions that advice is wanted for."""

    def __init__(
        self,
        entries: Iterable[Mapping[str, Any]],
        operators: Iterable[object] | None = None,
        statistics: Statistics | None = None,
        time_zone: str | None = None,
    ) -> None:
        self.plugins: Plugins = installed()
        self.derived = derived_in(self.plugins.attributes, zone_of(time_zone))
        self.matcher = Matcher(
            operators,
            planner=EveryCall(),
            statistics=statistics,
            memo_bytes=0,
            time_zone=time_zone,
        )
        listed = list(entries)
        self.ids = self.matcher.subscribe_many(listed)
        asked = _asked(self.matcher, listed)
        self.entries: list[Entry] = [(row, each.indexed) for row, each in enumerate(asked)]
        self.calls = len({test.call.text for each in asked for test, _ in each.edges})
        self.declared_seconds = sum(
            {
                test.call.text: test.call.specification.expected_cost_seconds
                for each in asked
                for test, _ in each.edges
            }.values()
        )
        """The declared seconds of all calls about one event."""
        self.attributes = sorted(
            {
                part.attribute
                for each in asked
                for predicate in each.predicates
                for part in parts_of(predicate)
            }
        )

    def sample(self, budget: AdviceBounds) -> EventChoice:
        """Makes a choice among the events of a history."""
        return EventChoice(budget.share, budget.events, self.attributes, self.derived)

    def advice(
        self,
        sample: EventChoice,
        budget: AdviceBounds,
        progress: Callable[[int, float], None] | None = None,
    ) -> Advice:
        """Evaluates the sample, runs planners and indexes on it, and compares them."""
        documents = sample.documents
        trial = PlannerTrial(
            self.matcher, self.plugins, sorted(self.plugins.planners), budget.workers
        )
        trial.begin()
        run = _Evaluation(self.matcher, trial)
        with self.matcher:
            run.evaluate(documents, budget.seconds, progress or _silent)
        trial.finish()
        indexes = IndexTrial(
            self.entries,
            documents,
            self.derived,
            self.matcher.learned(),
            _INDEX_SHARE * budget.seconds,
        )
        costs = indexes.costs(self.plugins.indexes)
        tally, other = run.tally, run.other_seconds
        planner, why_planner = best_planner(list(trial.costs.values()), tally.events, other)
        whole = other + trial.costs[planner].seconds
        index, why_index = best_index(costs, whole / max(1, tally.events))
        found = HintGrounds(
            tally, trial, budget.workers, run.waiting, self.ids, sample.absent, sample.read, other
        )
        return Advice(
            read=sample.read,
            rejected=sample.rejected,
            chosen=len(documents),
            events=tally.events,
            subscriptions=len(self.ids),
            matches=tally.matches,
            undetermined=tally.undetermined,
            every=tally.every,
            planners=sorted(
                trial.costs.values(), key=lambda each: (not each.is_whole, each.seconds)
            ),
            indexes=sorted(costs, key=lambda each: (each.is_broken, each.event_seconds)),
            index_events=indexes.events,
            bounds=run.bounds,
            other_seconds=other,
            hints=hints(found),
            planner=planner,
            why_planner=why_planner,
            index=index,
            why_index=why_index,
            broken=_broken(trial, costs),
        )


def _broken(trial: PlannerTrial, indexes: Iterable[IndexCost]) -> list[str]:
    """Says which planners and indexes are broken, and why."""
    found = [
        f"planner {each.planner}: {each.trouble}" for each in trial.costs.values() if each.broken
    ]
    for each in indexes:
        if each.is_broken:
            why = each.trouble or f"answers {each.wrong:,} events otherwise than the scan"
            found.append(f"index {each.index}: {why}")
    return found


def advise(
    events: Iterable[Mapping[str, Any]],
    subscriptions: Iterable[Mapping[str, Any]],
    operators: Iterable[object] | None = None,
    statistics: Statistics | None = None,
    budget: AdviceBounds | None = None,
) -> Advice:
    """Advises by events at hand.

    >>> found = advise([{"a": at} for at in range(30)], [{"id": "s1", "where": "a < 9 and b = 1"}])
    >>> found.matches, [hint.about for hint in found.hints]
    (0, ['absent', 'unmatched'])
    """
    budget = budget or AdviceBounds()
    advisor = Advisor(subscriptions, operators, statistics)
    sample = advisor.sample(budget)
    for number, event in enumerate(events, 1):
        sample.add(event, id=f"event-{number}")
    return advisor.advice(sample, budget)


def _asked(matcher: Matcher, entries: Sequence[Mapping[str, Any]]) -> list[ResolvedAlternative]:
    """Returns the alternatives of subscriptions that were accepted already."""
    limits = matcher.limits
    intake = Intake(Language(limits), matcher.operators, Catalog(limits.implications))
    accepted = intake.accept(entries, replace=False)
    return [asked for each in accepted for asked in each.alternatives]


def _silent(done: int, share: float) -> None:
    """Does nothing: nobody looks."""


class _Evaluation:
    """The events of a sample on their way."""

    def __init__(self, matcher: Matcher, trial: PlannerTrial) -> None:
        self._matcher = matcher
        self._trial = trial
        self.tally = AdviceTally()
        self.bounds = _bounds()
        self._wall = self._waited = 0.0
        self._others: list[float] = []
        self._texts = ResultTexts()

    @property
    def other_seconds(self) -> float:
        """The seconds of a run beside calls and planner, without loading for the first event."""
        rest = self._others[1:]
        return sum(rest) * len(self._others) / len(rest) if rest else 0.0

    @property
    def waiting(self) -> float:
        """The share of the time of operators in which this process did nothing."""
        return self._waited / self._wall if self._wall else 0.0

    def evaluate(
        self, documents: Sequence[ReadEvent], seconds: float, progress: Callable[[int, float], None]
    ) -> None:
        """Evaluates the events, or evenly as many of them as there is time for."""
        begun = time.perf_counter()
        first = 0.0
        at = 0
        while at < len(documents):
            self._evaluate(documents[at])
            spent = time.perf_counter() - begun
            first = first or spent
            progress(self.tally.events, max((at + 1) / len(documents), min(1.0, spent / seconds)))
            if spent >= seconds:
                break
            left = len(documents) - at - 1
            # what is loaded for the first event says nothing of the others
            pace = (spent - first) / max(1, self.tally.events - 1)
            affordable = (seconds - spent) / pace if pace else left
            at += max(1, math.ceil(left / max(1.0, affordable)))

    def _evaluate(self, document: ReadEvent) -> None:
        stopwatch = Stopwatch()
        result: Result = self._matcher.match(
            document.content, folder=document.folder, default_id=document.id
        )
        wall, waited = stopwatch.read()
        self._wall += wall
        self._waited += waited
        begun, stages = time.perf_counter(), result.account.seconds
        self._texts.of(result).line()
        output = time.perf_counter() - begun
        self._others.append(output + sum(stages[each] for each in _OTHER_STAGES))
        known = evaluated(self._matcher, result)
        self.tally.take(result, known)
        if known is not None:
            needless = result.needless
            self._trial.take(known, result, needless)
            self._bound(known, needless)

    def _bound(self, known: Known, needless: Sequence[int]) -> None:
        bounds = self.bounds
        if bounds.lacking or known.contradictions():
            return
        clairvoyant, non_anticipative = known.bounds(needless)
        bounds.events += 1
        bounds.clairvoyant = (bounds.clairvoyant or 0.0) + (clairvoyant or 0.0)
        bounds.non_anticipative = (bounds.non_anticipative or 0.0) + (non_anticipative or 0.0)


def _bounds() -> Bounds:
    try:
        scipy_part("optimize")
    except TamisError as missing:
        return Bounds(lacking=str(missing))
    return Bounds()


def best_planner(
    costs: Sequence[PlannerCost], events: int, other_seconds: float = 0.0
) -> tuple[str, str]:
    """Picks the cheapest planner, or the default where a run takes as long with it; tells why."""
    able = [each for each in costs if each.is_whole and not each.is_small]
    if not able:
        return DEFAULT_PLANNER, "no planner could be compared: the default stays"
    if not any(each.events for each in able):
        return DEFAULT_PLANNER, "no event asks an operator anything: any planner does"
    best = min(able, key=lambda each: (each.seconds, each.planner != DEFAULT_PLANNER))
    usual = next((each for each in able if each.planner == DEFAULT_PLANNER), None)
    if usual is not None and _saved(best, usual, other_seconds) <= _AS_GOOD:
        best = usual
    others = [each for each in able if each is not best]
    words = (
        f"{best.calls:,} calls, {best.expected_seconds:.3g} s of calls and "
        f"{best.own_seconds:.3g} s of its own for {events:,} events"
    )
    if not others:
        return best.planner, words
    second = min(others, key=lambda each: each.seconds)
    beside = usual if usual is not None and usual is not best else second
    saved = _saved(best, beside, other_seconds)
    if saved <= _AS_GOOD:
        return best.planner, f"{words}; {beside.planner} is as good"
    return best.planner, f"{words}: {saved:.0%} less of the whole run than with {beside.planner}"


def _saved(best: PlannerCost, beside: PlannerCost, other_seconds: float) -> float:
    """Returns the share of a whole run with one planner that another one saves."""
    return share_saved(best.seconds, beside.seconds, other_seconds)


def best_index(costs: Sequence[IndexCost], event_seconds: float = 0.0) -> tuple[str, str]:
    """Picks the fastest index, or the default where it is as fast; an event takes so long."""
    able = [each for each in costs if not each.is_broken]
    if not able:
        return DEFAULT_INDEX, "no index could be compared: the default stays"
    best = min(able, key=lambda each: each.event_seconds)
    usual = next((each for each in able if each.index == DEFAULT_INDEX), None)
    if usual is not None and usual.event_seconds <= best.event_seconds * (1 + _AS_FAST):
        best = usual
    words = f"{1e6 * best.event_seconds:.3g} µs an event in {best.nbytes:,} bytes"
    others = [each for each in able if each is not best]
    if not others:
        return best.index, words
    beside = usual if usual is not None and usual is not best else min(
        others, key=lambda each: each.event_seconds
    )  # fmt: skip
    words += f", {beside.index} {1e6 * beside.event_seconds:.3g} µs in {beside.nbytes:,}"
    if event_seconds:
        apart = abs(best.event_seconds - beside.event_seconds)
        words += f": {min(1.0, apart / event_seconds):.0%} of the whole run apart"
    return best.index, words
