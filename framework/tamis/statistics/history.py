"""Knows predicates from history: how often a test is true, what a call costs.

Statistics never change an answer; they tell planners and indexes what to try first. They are keyed
by canonical text. What is not known has a prior: a test is as often true as not, a call costs what
its operator declares.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tamis.errors import StatisticsError
from tamis.event import Event
from tamis.event.clock import TIME_NAMES, derived_in, zone_of
from tamis.language.predicate import AttributePredicate
from tamis.numeric.types import Floats
from tamis.operators.asking import Call, Test
from tamis.operators.specification import Preparation
from tamis.planning import Scenes
from tamis.plugins.loader import installed
from tamis.spaces.attribute import AttributeSpaces, Marks
from tamis.spaces.estimates import expected_share
from tamis.spaces.opinions import EVENTS, spaces_of_opinions
from tamis.statistics.answers import (
    AnswerShare,
    CallAnswers,
    test_of,
)
from tamis.statistics.attributes import merged_rows, rows_of, spaces_of
from tamis.statistics.averages import Averages, operator_of, parts
from tamis.statistics.gathering import Gatherer
from tamis.statistics.predicates import (
    PredicateStatistics,
    attribute_predicate,
    given_shares,
)
from tamis.statistics.sample import ObservedSample
from tamis.words import counted

if TYPE_CHECKING:
    from tamis.statistics.scenes import Mixture

PRIOR_SELECTIVITY = 0.5
PRIOR_OUTCOMES = 2.0
"""The outcomes that an expectation without counts counts as."""
_fitting = threading.Lock()


class Statistics:
    """Selectivities and costs by canonical text.

    >>> known = Statistics(selectivity={"louderThan(3)": 0.2}, cost={"louderThan(3)": 0.004})
    >>> known.selectivity("louderThan(3)")
    0.2
    """

    stamp = 0
    """Statistics stay what they are; `OnlineStatistics` moves."""

    def __init__(
        self,
        selectivity: Mapping[str, float] | None = None,
        cost: Mapping[str, float] | None = None,
    ) -> None:
        selectivity, cost = selectivity or {}, cost or {}
        for predicate, share in selectivity.items():
            if not isinstance(share, (int, float)) or not 0 <= share <= 1:
                raise StatisticsError(
                    f"the selectivity of {predicate} is between 0 and 1, not {share!r}"
                )
        for predicate, seconds in cost.items():
            if not isinstance(seconds, (int, float)) or not seconds >= 0:
                raise StatisticsError(f"the cost of {predicate} is in seconds, not {seconds!r}")
        self.predicates: dict[str, PredicateStatistics] = {
            predicate: PredicateStatistics(
                selectivity=selectivity.get(predicate), cost_seconds=cost.get(predicate)
            )
            for predicate in dict.fromkeys([*selectivity, *cost])
        }
        self.attributes: list[dict[str, Any]] = []
        self.events: int | None = None
        self.rejects: int | None = None
        self.sample: ObservedSample | None = None
        """Events of which everything was observed: how tests go together."""
        self.spaces: dict[str, AttributeSpaces] = {}
        """The counts of each attribute, for predicates to come."""
        self.answers: dict[str, CallAnswers] = {}
        """The answers of calls with variables, for tests to come."""
        self.prepared: dict[str, tuple[int, float]] = {}
        """The number of times each preparation was made, and its seconds."""
        self.is_conditional = True
        """True if tests were counted on the events in which their declarations held."""
        self.about: dict[str, Any] = {}
        """Their origin, as the manifest has it."""
        self._averages: tuple[int, Averages] | None = None
        self._mixture: tuple[ObservedSample, Mixture | None] | None = None
        self._tried: dict[str, AnswerShare | None] = {}
        self._of_rows: tuple[list[dict[str, Any]], dict[str, AttributeSpaces]] | None = None

    @classmethod
    def from_events(
        cls, events: Iterable[Mapping[str, Any]], *, time_zone: str | None = None
    ) -> Statistics:
        """Counts the attributes of these events: how often each is there, and where its values lie.

        Derived attributes are among them, those of plugins too; `time.hour` and its kin go by the
        clock of `time_zone`, as with a matcher.

        >>> known = Statistics.from_events([{"altitude": 120}, {"altitude": 80, "camera": "north"}])
        >>> [(row["attribute"], row["kind"], row["events"]) for row in known.attributes]
        [('altitude', 'number', 2), ('camera', 'string', 1)]
        """
        zone = zone_of(time_zone)
        derived = derived_in(installed().attributes, zone)
        marks = {name: Marks() for name in derived if name not in TIME_NAMES}
        gatherer = Gatherer(marks, derived, zone=zone)
        statistics = cls()
        statistics.events = 0
        for document in events:
            gatherer.add(Event.of(document, str, derived))
            statistics.events += 1
        statistics.spaces = gatherer.finish()
        statistics.settle()
        return statistics

    def __repr__(self) -> str:
        """Tells how much is known."""
        events = "" if self.events is None else f" of {counted(self.events, 'event')}"
        return (
            f"<statistics{events}: {counted(len(self.predicates), 'predicate')}, "
            f"{counted(len(self.attributes), 'attribute')}>"
        )

    def __bool__(self) -> bool:
        return bool(self.predicates or self.attributes or self.sample)

    def selectivity(self, predicate: str) -> float | None:
        """Returns the share of events that satisfy a predicate or test; `None` if unknown."""
        found = self.predicates.get(predicate)
        return None if found is None else found.share

    def cost(self, predicate: str) -> float | None:
        """Returns the seconds of a call, `None` if they are not known."""
        found = self.predicates.get(predicate)
        return None if found is None else found.cost_seconds

    def estimate(self, predicate: Test | AttributePredicate | str) -> float:
        """Returns the selectivity to expect of a predicate or test.

        Its own where it is known; few counts are drawn towards what is expected without them: what
        the answers of its call would have made it, else the selectivity of its call without
        constraints, else the average of what was counted of its operator, else that it is as often
        true as not. An attribute predicate that was not counted is what the counts of its
        attribute say.

        >>> known = Statistics(selectivity={"mobPattern(?1)": 0.9})
        >>> known.estimate("mobPattern(?1), ?1 > 50"), known.estimate("not mobPattern(?1)")
        (0.9, 0.09999999999999998)
        """
        if isinstance(predicate, AttributePredicate):
            return self._expected_of(predicate)
        if isinstance(predicate, str):
            attribute = self._uncounted(predicate)
            if attribute is not None:
                return self._expected_of(attribute)
            if predicate.startswith("not "):
                return 1.0 - self.estimate(predicate.removeprefix("not "))
            call, guarded = parts(predicate)
            return self._expected(predicate, call, operator_of(call), guarded)
        call = predicate.call.text
        name = predicate.call.specification.name
        return self._expected(predicate, call, name, predicate.text != call)

    def _uncounted(self, text: str) -> AttributePredicate | None:
        """Returns the attribute predicate that a text is, where only its attribute was counted."""
        if not self.attributes or text in self.predicates:
            return None
        return attribute_predicate(text)

    def _expected_of(self, predicate: AttributePredicate) -> float:
        found = self.predicates.get(predicate.text())
        if found is not None and found.share is not None:
            return found.share
        share = expected_share(self._counted(), predicate, self.events or 0)
        return PRIOR_SELECTIVITY if share is None else share

    def _counted(self) -> Mapping[str, AttributeSpaces]:
        """Returns the spaces of attributes, made of their rows where nothing else was kept."""
        if self.spaces:
            return self.spaces
        if self._of_rows is None or self._of_rows[0] is not self.attributes:
            self._of_rows = (self.attributes, spaces_of(self.attributes))
        return self._of_rows[1]

    def known_spaces(self) -> Mapping[str, tuple[AttributeSpaces, int]]:
        """Returns the spaces of each attribute, and among how many events they were counted.

        Selectivities that somebody gave count where nothing was counted of their attribute."""
        counted = self._counted() if self.events else {}
        known = {name: (spaces, self.events or 0) for name, spaces in counted.items()}
        given = {
            predicate: share
            for predicate, share in given_shares(self.predicates).items()
            if predicate.attribute not in known
        }
        opinions = spaces_of_opinions(given)
        return known | {name: (spaces, EVENTS) for name, spaces in opinions.items()}

    def tried(self, test: Test | str) -> AnswerShare | None:
        """Returns how often a test would have been true of its call's answers in history.

        `None` where its call has no variables, was not asked, or the test needs the event, as one
        does that is asked only where its declarations hold."""
        text = test if isinstance(test, str) else test.text
        if not self.answers or (isinstance(test, Test) and test.necessary):
            return None
        if text not in self._tried:
            found: tuple[str, Test] | None
            found = test_of(test) if isinstance(test, str) else (test.call.text, test)
            answers = None if found is None else self.answers.get(found[0])
            self._tried[text] = None if not answers or not found else answers.satisfying(found[1])
        return self._tried[text]

    def _expected(self, test: Test | str, call: str, operator: str, guarded: bool) -> float:
        text = test if isinstance(test, str) else test.text
        found = self.predicates.get(text)
        if found is not None and not found.known and found.selectivity is not None:
            return found.selectivity
        tried = self.tried(test) if found is None and guarded else None
        of_call = self.selectivity(call) if guarded else None
        if tried is not None:
            of_call = tried.share
        if of_call is None:
            of_call = self.averages.expected(operator, guarded, PRIOR_SELECTIVITY)
        if found is None or not found.known:
            return of_call
        satisfied = (found.satisfied or 0) + PRIOR_OUTCOMES * of_call
        return satisfied / (found.known + PRIOR_OUTCOMES)

    @property
    def averages(self) -> Averages:
        """The averages of the operators, of the counts when it was first asked for."""
        known = self._averages
        if known is None or known[0] != len(self.predicates):
            known = self._averages = (len(self.predicates), Averages(self.predicates))
        return known[1]

    def selectivities(self, tests: Sequence[Test]) -> Floats:
        """Returns the selectivity to expect of each test."""
        if not self.predicates:
            return np.full(len(tests), PRIOR_SELECTIVITY)
        return np.array([self.estimate(test) for test in tests], np.float64)

    def costs(self, calls: Sequence[Call]) -> Floats:
        """Returns the expected seconds of each call."""
        return np.array([self._cost_of(call) for call in calls], np.float64)

    def _cost_of(self, call: Call) -> float:
        known = self.cost(call.text)
        return call.specification.expected_cost_seconds if known is None else known

    def marginal_costs(self, calls: Sequence[Call]) -> Floats:
        """Returns the expected seconds of each call when it is made together with others."""
        return np.array(
            [
                min(self._cost_of(call), call.specification.expected_marginal_seconds)
                if call.batched
                else self._cost_of(call)
                for call in calls
            ],
            np.float64,
        )

    def failures(self, calls: Sequence[Call]) -> Floats:
        """Returns the share of events for which each call is expected to fail."""
        if not self.predicates:
            return np.zeros(len(calls))
        return np.array([self._failure_of(call) for call in calls], np.float64)

    def _failure_of(self, call: Call) -> float:
        found = self.predicates.get(call.text)
        if found is None or not found.tested:
            return 0.0
        return (found.failed or 0) / found.tested

    def prices(self, preparations: Sequence[Preparation]) -> Floats:
        """Returns the expected seconds of each preparation, with what it builds on."""
        return np.array([sum(map(self.price_of, each.chain)) for each in preparations], np.float64)

    def price_of(self, preparation: Preparation) -> float:
        """Returns the expected seconds of a preparation by itself."""
        made, seconds = self.prepared.get(preparation.name, (0, 0.0))
        return seconds / made if made else preparation.cost_seconds

    @property
    def stretch(self) -> list[float] | None:
        """The earliest and the latest time of the events, in seconds since 1970."""
        times = self.spaces.get("time.epoch")
        if times is None or not len(times.number_cells.first):
            return None
        return [float(times.number_cells.first.min()), float(times.number_cells.last.max())]

    def settle(self) -> None:
        """Makes the rows of attributes from what was counted of them."""
        self.attributes = rows_of(self.spaces)

    def add_observed(self, events: Iterable[Mapping[str, bool | None]]) -> None:
        """Adds events of which much was observed at once: what each of their predicates was.

        A hundred of them tell which predicates go together. They count for nothing else.

        >>> known = Statistics()
        >>> known.add_observed([{"seen(boat)": True, "seen(pier)": True, "seen(car)": None}])
        >>> len(known.sample)
        1
        """
        more = ObservedSample.of(events)
        self.sample = more if self.sample is None else self.sample.merged(more)

    def mixture(self) -> Mixture | None:
        """Returns the scenes of the sample, found when first asked for; `None` if there are none.

        Tests that were counted have their own selectivities as means over the scenes."""
        from tamis.statistics.scenes import fitted

        sample = self.sample
        if sample is None:
            return None
        with _fitting:
            if self._mixture is None or self._mixture[0] is not sample:
                found = fitted(sample.truths(), sample.knowns())
                if found is not None:
                    shares = [self.selectivity(text) for text in sample.predicates]
                    found = found.with_means(np.array(shares, np.float64))
                self._mixture = (sample, found)
            return self._mixture[1]

    def scenes(self, tests: Sequence[Test]) -> Scenes | None:
        """Returns how the tests go together, where known; others are the same in every scene."""
        mixture, sample = self.mixture(), self.sample
        if mixture is None or sample is None:
            return None
        places = sample.places
        found = [(at, places[test.text]) for at, test in enumerate(tests) if test.text in places]
        if len(found) < 2:
            return None
        selectivity = np.tile(self.selectivities(tests), (len(mixture.weight), 1))
        own, columns = map(list, zip(*found, strict=True))
        selectivity[:, own] = mixture.selectivity[:, columns]
        return Scenes(weight=mixture.weight.copy(), selectivity=selectivity)

    def merged(self, other: Statistics) -> Statistics:
        """Adds up the counts of both, in whatever order they are merged.

        >>> one, two = Statistics(), Statistics()
        >>> one.predicates["p(1)"] = PredicateStatistics(tested=10, satisfied=2)
        >>> two.predicates["p(1)"] = PredicateStatistics(tested=30, satisfied=2)
        >>> one.merged(two).selectivity("p(1)")
        0.1
        """
        merged = Statistics()
        merged.predicates = dict(self.predicates)
        for text, found in other.predicates.items():
            mine = merged.predicates.get(text)
            merged.predicates[text] = found if mine is None else mine.merged(found)
        if not (self.attributes and other.attributes):
            whole = self if self.attributes else other
            merged.attributes, merged.spaces = whole.attributes, whole.spaces
        elif self.spaces or other.spaces:
            merged.spaces = dict(self._counted())
            for name, spaces in other._counted().items():
                before = merged.spaces.get(name)
                merged.spaces[name] = spaces if before is None else before.merged(spaces)
            merged.settle()
        else:
            merged.attributes = merged_rows(self.attributes, other.attributes)
        for text, answers in (*self.answers.items(), *other.answers.items()):
            known = merged.answers.get(text)
            merged.answers[text] = answers if known is None else known.merged(answers)
        for name, (made, seconds) in (*self.prepared.items(), *other.prepared.items()):
            times, spent = merged.prepared.get(name, (0, 0.0))
            merged.prepared[name] = (times + made, spent + seconds)
        merged.about = {**self.about, **other.about}
        for name in ("operators", "codes"):
            if name in self.about or name in other.about:
                merged.about[name] = {**self.about.get(name, {}), **other.about.get(name, {})}
        if "reads" in self.about and "reads" in other.about:
            merged.about["reads"] = sorted({*self.about["reads"], *other.about["reads"]})
        sources = [*self.about.get("sources", ()), *other.about.get("sources", ())]
        if sources:
            merged.about["sources"] = sources
        merged.events = _sum(self.events, other.events)
        merged.rejects = _sum(self.rejects, other.rejects)
        samples = [each.sample for each in (self, other) if each.sample is not None]
        if samples:
            merged.sample = samples[0] if len(samples) == 1 else samples[0].merged(samples[1])
        return merged

    def decayed(self, factor: float) -> Statistics:
        """Returns them as if so much less had been seen: what is merged with them weighs more.

        >>> known = Statistics()
        >>> known.predicates["p(1)"] = PredicateStatistics(tested=40, satisfied=4)
        >>> known.decayed(0.25).predicates["p(1)"].tested
        10
        """
        if not 0 <= factor <= 1:
            raise StatisticsError(f"statistics decay by a factor from 0 to 1, not {factor!r}")
        decayed = Statistics()
        decayed.predicates = {
            text: found.decayed(factor) for text, found in self.predicates.items()
        }
        decayed.attributes = [
            {**row, "events": round(factor * row["events"])} for row in self.attributes
        ]
        decayed.events = None if self.events is None else round(factor * self.events)
        decayed.rejects = None if self.rejects is None else round(factor * self.rejects)
        decayed.answers, decayed.about = dict(self.answers), dict(self.about)
        decayed.prepared = {
            name: (round(factor * made), round(factor * made) * seconds / made)
            for name, (made, seconds) in self.prepared.items()
            if made
        }
        if self.sample is not None:
            decayed.sample = self.sample.latest(round(factor * len(self.sample)))
        return decayed

    def save(self, path: str | Path) -> None:
        """Writes a folder of Parquet tables and a manifest; an older one there is replaced."""
        from tamis.statistics.folder import save

        save(self, Path(path))

    @classmethod
    def load(cls, path: str | Path) -> Statistics:
        """Reads what `save` or `tamis learn` wrote."""
        from tamis.statistics.folder import load

        return load(Path(path))


def checked_statistics(statistics: object) -> Statistics:
    """Returns statistics; `StatisticsError` where something else was given."""
    if not isinstance(statistics, Statistics):
        raise StatisticsError(f"statistics are a tamis.Statistics, not {statistics!r:.80}")
    return statistics


def _sum(one: int | None, other: int | None) -> int | None:
    return other if one is None else one if other is None else one + other
