"""Counts what a match took: the account of one event, and the sum over many events.

Everything here observes a finished run, and is computed when it is read.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from tamis.engine.decision import EXCLUDED, IMPLIED, MEMO, Decision
from tamis.engine.stages import STAGES
from tamis.engine.state import SPARED
from tamis.planning import FALSE, TRUE
from tamis.words import agreed, counted


class _Fields(Mapping[str, Any]):
    """Gives a dataclass its fields as a mapping too."""

    def __getitem__(self, name: str) -> Any:
        if name not in self.__dataclass_fields__:  # type: ignore[attr-defined]
            raise KeyError(name)
        return getattr(self, name)

    def __iter__(self) -> Iterator[str]:
        return (each.name for each in fields(self))  # type: ignore[arg-type]

    def __len__(self) -> int:
        return len(fields(self))  # type: ignore[arg-type]


@dataclass(eq=False)
class OperatorAccount(_Fields):
    """Counts the calls of one operator."""

    calls: int = 0
    attempts: int = 0
    invocations: int = 0
    batches: int = 0
    batched: int = 0
    evaluations: int = 0
    failed: int = 0
    excluded: int = 0
    implied: int = 0
    memoized: int = 0
    spared: int = 0
    seconds: float = 0.0


@dataclass(eq=False, repr=False)
class Account(_Fields):
    """Counts what matching took; of one event, or the sum of several."""

    events: int = 0
    rejected: int = 0
    subscriptions: int = 0
    """Live subscriptions; over several events, those of the last."""
    chosen_index: str = ""
    """The index that `auto` chose, and why; over several events, that of the last."""
    checked: int = 0
    """Rows (alternatives) that the index checked against the event."""
    page_reads: int = 0
    """Pages that an index on disk read."""
    candidates: int = 0
    """Subscriptions that the index found."""
    undecided: int = 0
    """Of these, the ones that needed operators or constraints to be decided."""
    calls: int = 0
    attempts: int = 0
    """Attempts at calls, with retries, and batches that failed before their calls."""
    invocations: int = 0
    """Runs of operators: several calls may be made together."""
    batches: int = 0
    """Of these, runs with several calls: about one event or several, charged to the first."""
    batched: int = 0
    """The calls in batches; over `batches`, the mean batch."""
    evaluations: int = 0
    """Tests that were decided; several may share a call."""
    excluded: int = 0
    """Of these, false by what their operators declare necessary; not those the index dropped."""
    implied: int = 0
    memoized: int = 0
    spared: int = 0
    """Distinct predicates of the candidates that needed no call."""
    needed_at_least: int = 0
    """Calls that no method could have avoided."""
    naive_expected: float | None = None
    """Calls that evaluating one by one would make, expected from statistics."""
    matches: int = 0
    undetermined: int = 0
    seconds: dict[str, float] = field(default_factory=lambda: dict.fromkeys(STAGES, 0.0))
    operators: dict[str, OperatorAccount] = field(default_factory=dict)

    @property
    def calls_text(self) -> str:
        """The number of calls in words, beside how many were needed and expected."""
        words, needed = f"called {self.calls:,}", self.needed_at_least
        if self.invocations < self.calls:
            words += f" in {counted(self.invocations, 'invocation')}"
        words += f", at least {needed:,} {agreed(needed, 'was', 'were')} needed"
        if self.naive_expected is not None:
            words += f", {round(self.naive_expected):,} expected of naive"
        return words

    @property
    def outcome_text(self) -> str:
        """The fate of the subscriptions in words."""
        words = f"{self.matches:,} matched of {counted(self.candidates, 'candidate')}"
        words += f" among {counted(self.subscriptions, 'subscription')}"
        return words + (f", {self.undetermined:,} undetermined" if self.undetermined else "")

    def __repr__(self) -> str:
        events = counted(self.events, "event")
        return f"<account of {events}: {self.outcome_text}; {self.calls_text}>"

    def add(self, other: Account) -> None:
        """Adds another account to this one."""
        mine, theirs = vars(self), vars(other)
        for name in _COUNTS:
            mine[name] += theirs[name]
        if other.events:
            self.subscriptions, self.chosen_index = other.subscriptions, other.chosen_index
        if other.naive_expected is not None:
            self.naive_expected = (self.naive_expected or 0.0) + other.naive_expected
        for stage, seconds in other.seconds.items():
            self.seconds[stage] = self.seconds.get(stage, 0.0) + seconds
        for name, each in other.operators.items():
            mine = vars(self.operators.setdefault(name, OperatorAccount()))
            for what, count in vars(each).items():
                mine[what] += count

    def as_dict(self) -> dict[str, Any]:
        """Returns the same in plain dicts, ready for JSON."""
        plain = dict(self)
        plain["operators"] = {name: dict(each) for name, each in self.operators.items()}
        return plain


_COUNTS = tuple(
    each.name for each in fields(Account) if each.type == "int" and each.name != "subscriptions"
)


def add_calls(total: Account, decision: Decision) -> None:
    """Adds the calls of an event and its evaluations, in all and of each operator it asks."""
    skeleton, accounts = decision.skeleton, total.operators
    made, hows = set(decision.made), decision.outcomes
    for at, call in enumerate(skeleton.calls):
        name = call.specification.name
        account = accounts.get(name)
        if account is None:
            account = accounts[name] = OperatorAccount()
        if at not in made:
            account.spared += 1
            continue
        answer = decision.answers[at]
        account.calls += 1
        account.attempts += answer.attempts
        total.attempts += answer.attempts
        account.invocations += answer.leads
        total.invocations += answer.leads
        if answer.together > 1:
            account.batched += 1
            total.batched += 1
            account.batches += answer.leads
            total.batches += answer.leads
        account.seconds += answer.whole_seconds
        account.failed += answer.failure is not None
    for test, how in hows.items():
        account = accounts[skeleton.tests[test].call.specification.name]
        account.evaluations += 1
        if how in _FREE:
            what = _FREE[how]
            setattr(account, what, getattr(account, what) + 1)
            setattr(total, what, getattr(total, what) + 1)
    total.calls += len(decision.made)
    total.spared += len(skeleton.calls) - len(decision.made)
    total.evaluations += len(hows)
    total.needed_at_least += needed_at_least(decision)


_FREE = {EXCLUDED: "excluded", IMPLIED: "implied", MEMO: "memoized"}
"""The ways in which a test is decided without a call, and where they are counted."""


def needed_at_least(decision: Decision) -> int:
    """Counts calls that no method can avoid: alternatives with disjoint remaining calls.

    Replays Sequential's marks (§4.1, Theorem 2) on the outcomes that were seen. Calls whose answers
    may imply those of an alternative count as its own; remembered and excluded ones cost nothing.
    An alternative counts when what was spent on earlier ones is known not to decide it, and when
    its subscription was not, and could not have been, matched by a sibling."""
    problem = decision.problem
    spent = {int(problem.test_call[test]) for test, how in decision.outcomes.items() if how == MEMO}
    free = _only_excluded(decision)
    spent |= free
    reach = _Reach(decision)
    needless = _Needless(decision)
    count = 0
    for alternative, held in enumerate(problem.alternative_calls):
        if spent.issuperset(held) or needless.may_be(alternative, held):
            continue
        calls = reach.of(held)
        if spent.isdisjoint(calls) or _left_open_by(
            decision, alternative, spent.intersection(calls), free
        ):
            count += 1
            spent.update(calls)
    return count


def _only_excluded(decision: Decision) -> set[int]:
    """Returns the calls that may imply others, and of which it is known that they are excluded."""
    if not decision.excluded:
        return set()
    call_of, tests = decision.problem.test_call, decision.skeleton.tests
    return {int(call_of[test]) for test in decision.excluded if not tests[test].call.width}


class _Reach:
    """Calls together with those whose answers may decide them by implication.

    These are found once for all that hang together: O(implications) an event."""

    def __init__(self, decision: Decision) -> None:
        problem = decision.skeleton.problem
        self._together: dict[int, list[int]] = {}
        if not len(problem.implications):
            return
        calls = problem.test_call[problem.implications[:, [0, 2]]]
        for pair in np.unique(calls[:, 0] * problem.calls + calls[:, 1]).tolist():
            one, other = divmod(pair, problem.calls)
            first = self._together.setdefault(one, [one])
            second = self._together.setdefault(other, [other])
            if first is not second:
                fewer, more = sorted((first, second), key=len)
                more += fewer
                self._together.update(dict.fromkeys(fewer, more))

    def of(self, calls: Sequence[int]) -> Iterable[int]:
        """Returns the calls and all that may decide them."""
        if not self._together:
            return calls
        found = set(calls)
        for call in calls:
            found.update(self._together.get(call, ()))
        return found


class _Needless:
    """The alternatives that others may have made needless, or that needed no call."""

    def __init__(self, decision: Decision) -> None:
        skeleton = decision.skeleton
        self._verdict, self._failed = decision.verdict, decision.failed_conditions
        self._missing = decision.missing.keys()
        self._owners, self._binds = skeleton.owners, skeleton.binds
        self._matched = decision.matched & skeleton.siblings

    def may_be(self, alternative: int, calls: Sequence[int]) -> bool:
        """Returns whether an alternative may be one of them."""
        if self._verdict[alternative] == SPARED or alternative in self._failed:
            return True
        if self._missing and not self._missing.isdisjoint(calls):
            return True
        return self._owners[alternative] in self._matched and not self._binds[alternative]


def _left_open_by(decision: Decision, alternative: int, touched: set[int], free: set[int]) -> bool:
    """Returns whether these calls, of which some are free, leave the alternative open."""
    skeleton = decision.skeleton
    known = (free, decision.answers, decision.missing)
    if not all(any(call in each for each in known) for call in touched):
        return False
    plan = skeleton.plans.get(alternative)
    if plan is not None and plan.checks:
        return False
    problem = decision.problem
    start, end = problem.alternative_start[alternative : alternative + 2].tolist()
    open_calls = False
    for edge in range(start, end):
        test = int(problem.edge_test[edge])
        if int(problem.test_call[test]) not in touched and decision.implied_by(test) < 0:
            open_calls = True
        elif decision.outcome[test] == (FALSE if problem.edge_sign[edge] > 0 else TRUE):
            return False
    return open_calls


def naive_expected(decision: Decision) -> float:
    """Estimates the calls of the naive planner, with independent tests and alternatives (§5.2)."""
    problem = decision.problem
    shares = problem.test_selectivity.tolist()
    tests, signs = problem.edge_test.tolist(), problem.edge_sign.tolist()
    starts, call_of = problem.alternative_start.tolist(), problem.test_call.tolist()
    untouched = [0.0] * problem.calls
    for start, end in itertools.pairwise(starts):
        reached = 1.0
        seen: set[int] = set()
        for edge in range(start, end):
            call = call_of[tests[edge]]
            if call not in seen:
                seen.add(call)
                untouched[call] += math.log1p(-min(reached, 1 - 1e-15))
            share = shares[tests[edge]]
            reached *= share if signs[edge] > 0 else 1 - share
    return sum(-math.expm1(log) for log in untouched)
