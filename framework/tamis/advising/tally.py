"""Counts what came out of a sample: outcomes of tests, costs of operators, what matched.

Cost: O(tests and calls of the candidates) an event.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from tamis.advising.shadow import Known
from tamis.engine.state import OPEN
from tamis.operators.specification import DEFAULT_COST_SECONDS, Specification
from tamis.planning import FALSE, TRUE, UNKNOWN
from tamis.result import Result


@dataclass
class CallCost:
    """The cost of an operator's calls, or of making a preparation."""

    declared: float | None
    calls: int = 0
    failed: int = 0
    seconds: float = 0.0

    @property
    def mean(self) -> float:
        """The seconds of one."""
        return self.seconds / self.calls if self.calls else 0.0

    @property
    def expected(self) -> float:
        """The declared seconds, or the default."""
        return DEFAULT_COST_SECONDS if self.declared is None else self.declared


@dataclass
class AdviceTally:
    """Counts over the events of a sample."""

    events: int = 0
    matches: int = 0
    undetermined: int = 0
    outcomes: dict[str, Counter[int]] = field(default_factory=dict)
    """By the text of a test."""
    operators: dict[str, CallCost] = field(default_factory=dict)
    preparations: dict[str, CallCost] = field(default_factory=dict)
    matched: set[str] = field(default_factory=set)
    left_open: set[str] = field(default_factory=set)
    """Subscriptions that were undetermined at some event."""
    every: int = 0
    contradictions: Counter[str] = field(default_factory=Counter)

    def take(self, result: Result, known: Known | None) -> None:
        """Adds an event."""
        self.events += 1
        self.matches += len(result.matches)
        self.undetermined += len(result.undetermined)
        self.matched.update(match.subscription for match in result.matches)
        self.left_open.update(each.subscription for each in result.undetermined)
        if known is not None:
            self._take_outcomes(known)
            self._take_costs(known)

    def _take_outcomes(self, known: Known) -> None:
        self.every += len(known.answers)
        tests = known.decision.skeleton.tests
        for at, outcome in enumerate(known.whole.outcome):
            if outcome != OPEN and at not in known.whole.excluded:
                self.outcomes.setdefault(tests[at].text, Counter())[outcome] += 1
        for one, other in known.contradictions():
            self.contradictions[f"{tests[one].text} and {tests[other].text}"] += 1

    def _take_costs(self, known: Known) -> None:
        calls = known.decision.skeleton.calls
        for at, answer in known.answers.items():
            specification = calls[at].specification
            spending = self._spending(specification)
            for made in answer.prepared:
                preparation = made.preparation
                mine = self.preparations.setdefault(
                    preparation.name, CallCost(preparation.cost_seconds)
                )
                mine.calls += 1
                mine.seconds += made.seconds
            if not answer.made:
                continue
            spending.failed += answer.failure is not None
            if answer.together == 1:
                spending.calls += 1
                spending.seconds += answer.seconds

    def _spending(self, specification: Specification) -> CallCost:
        name = specification.name
        return self.operators.setdefault(name, CallCost(specification.cost_seconds))

    def never(self, outcome: int) -> list[tuple[str, int]]:
        """Returns the tests that never had this outcome, and how often they were true or false."""
        return sorted(
            (text, seen[TRUE] + seen[FALSE])
            for text, seen in self.outcomes.items()
            if not seen[outcome] and seen[TRUE] + seen[FALSE]
        )

    def always_failed(self) -> list[tuple[str, int]]:
        """Returns the tests that were unknown each time."""
        return sorted(
            (text, seen[UNKNOWN])
            for text, seen in self.outcomes.items()
            if seen[UNKNOWN] and not seen[TRUE] + seen[FALSE]
        )
