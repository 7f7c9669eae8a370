"""Holds the result of matching one event: its matches, what is undetermined, and the account.

A result is lazy: it holds arrays and a lease on the rows they name, and makes records when they
are read. It stays right whatever is subscribed or cancelled afterwards.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from tamis.catalog.catalog import Catalog
from tamis.catalog.epochs import Lease
from tamis.engine.decision import Decision
from tamis.engine.joining import distinct_assignments
from tamis.engine.reasons import chance_of, false_reason, unknown_reasons
from tamis.event import Event
from tamis.language.values import Scalar
from tamis.numeric.lists import distinct
from tamis.planning import FALSE, TRUE
from tamis.result.account import Account, add_calls, naive_expected
from tamis.statistics import Statistics
from tamis.words import counted

if TYPE_CHECKING:
    from tamis.result.explain import Explanation


_MOST_KILLED = 10
_MOST_NAMED = 5


class CallRecord(NamedTuple):
    """A call that was made: its predicate in canonical text, and how long it took."""

    predicate: str
    seconds: float


class Evaluation(NamedTuple):
    """An operator predicate that was decided, and how: `called`, `shared` (with another one's
    call), `implied`, `memo`, or `excluded` (by what its operator declares necessary)."""

    predicate: str
    truth: bool | None
    how: str


class Undetermined(NamedTuple):
    """A subscription without a verdict, and why."""

    subscription: str
    reason: str


class Possible(NamedTuple):
    """A subscription that was left open, and how probable it is that it matches."""

    subscription: str
    probability: float


class Rejection(NamedTuple):
    """A candidate that did not match, and the first false predicate of each alternative."""

    subscription: str
    because: tuple[str, ...]


@dataclass(slots=True)
class ResultParts:
    """The parts from which a result is made."""

    event: Event
    catalog: Catalog
    lease: Lease
    version: int
    subscriptions: int
    checked: int
    page_reads: int
    index: str
    """The chosen index, and why, where one is chosen among several."""
    owners: NDArray[Any]
    """The subscription of each alternative that the index found."""
    plain: NDArray[Any]
    """Subscription rows that match by their attributes alone."""
    decision: Decision | None
    seconds: dict[str, float]
    explain: Callable[[Result, str], Explanation]
    statistics: Statistics
    """Those of history."""
    needless: Sequence[int] = ()
    """The alternatives that cannot change the result: their subscriptions match already."""


class Match:
    """A subscription that the event satisfies."""

    __slots__ = ("_result", "_row", "subscription")

    def __init__(self, result: Result, row: int, subscription: str) -> None:
        self._result = result
        self._row = row
        self.subscription = subscription

    @property
    def bindings(self) -> list[dict[str, Scalar]]:
        """All assignments of its variables, each once; `[{}]` when it has none."""
        return [dict(each) for each in self._result._bindings(self._row)[0]]

    @property
    def truncated(self) -> bool:
        """True if there are more assignments than `bindings` lists."""
        return self._result._bindings(self._row)[1]

    @property
    def incomplete(self) -> bool:
        """True if an alternative with variables is unknown, so that assignments may lack."""
        return self._result._is_incomplete(self._row)

    @property
    def data(self) -> dict[str, Any]:
        """The other keys of the subscription."""
        return self._result._seen.catalog.data_of(self._row)

    def as_dict(self) -> dict[str, Any]:
        """Returns the match as the command line writes it."""
        plain: dict[str, Any] = {"subscription": self.subscription, "bindings": self.bindings}
        if self._result._seen.decision is not None:
            plain |= {name: True for name in ("incomplete", "truncated") if getattr(self, name)}
        data = self.data
        return plain | {"data": data} if data else plain

    def __repr__(self) -> str:
        return f"<match {self.subscription} {self.bindings}>"


class Matches(Sequence[Match]):
    """The matches sorted by id; counting them sorts nothing."""

    __slots__ = ("_result",)

    def __init__(self, result: Result) -> None:
        self._result = result

    def __len__(self) -> int:
        return len(self._result._matched)

    @overload
    def __getitem__(self, at: int) -> Match: ...
    @overload
    def __getitem__(self, at: slice) -> list[Match]: ...
    def __getitem__(self, at: int | slice) -> Match | list[Match]:
        if isinstance(at, slice):
            return [Match(self._result, row, id) for id, row in self._result._sorted[at]]
        id, row = self._result._sorted[at]
        return Match(self._result, row, id)

    def __iter__(self) -> Iterator[Match]:
        return (Match(self._result, row, id) for id, row in self._result._sorted)

    @property
    def rows(self) -> NDArray[Any]:
        """The subscription rows, in ascending order."""
        return self._result._matched

    def of_row(self, row: int) -> Match | None:
        """Returns the match of a subscription row, if it is one."""
        rows = self.rows
        at = int(np.searchsorted(rows, row))
        if at == len(rows) or int(rows[at]) != row:
            return None
        return Match(self._result, row, self._result._seen.catalog.id_of(row))

    def __repr__(self) -> str:
        return f"<{counted(len(self), 'match')}>"


class Result:
    """The result of matching one event."""

    def __init__(self, seen: ResultParts) -> None:
        self._seen = seen
        self._bound: dict[int, tuple[list[dict[str, Scalar]], bool]] = {}

    @property
    def event(self) -> str:
        """The event's id."""
        return self._seen.event.id

    @property
    def matches(self) -> Matches:
        """The subscriptions that the event satisfies, sorted by id."""
        return Matches(self)  # it holds the result: kept here, both would outlive their use

    @cached_property
    def _matched(self) -> NDArray[Any]:
        """The rows of the subscriptions that match, ascending."""
        decision = self._seen.decision
        rows = self._seen.plain
        if decision is not None and decision.matched:
            owners = np.fromiter(decision.matched, np.int64, len(decision.matched))
            rows = distinct(np.concatenate([rows, decision.skeleton.subscriptions[owners]]))
        return rows

    @cached_property
    def _sorted(self) -> list[tuple[str, int]]:
        """Their ids and rows, sorted by id."""
        name = self._seen.catalog.id_of
        return sorted((name(row), row) for row in self._matched.tolist())

    @cached_property
    def undetermined(self) -> list[Undetermined]:
        """The subscriptions that failing operators left open, sorted by id, with reasons."""
        decision = self._seen.decision
        if decision is None:
            return []
        found = self._reasons(decision, decision.unknown, partial(unknown_reasons, decision))
        return [Undetermined(id, "; ".join(reasons)) for id, reasons in found]

    @cached_property
    def possible(self) -> list[Possible]:
        """The subscriptions that a budget or a deadline left open, sorted by id, with how probable
        it is that they match: their predicates are taken to be independent."""
        decision = self._seen.decision
        if decision is None or not decision.left_open:
            return []
        rejected: dict[int, float] = {}
        for alternative in sorted(decision.left_open):
            owner = decision.skeleton.owners[alternative]
            if owner not in decision.matched:
                chance = chance_of(decision, alternative)
                rejected[owner] = rejected.get(owner, 1.0) * (1.0 - chance)
        rows, plain = decision.skeleton.subscriptions, set(self._seen.plain.tolist())
        name = self._seen.catalog.id_of
        return sorted(
            Possible(name(int(rows[owner])), 1.0 - chance)
            for owner, chance in rejected.items()
            if int(rows[owner]) not in plain
        )

    @cached_property
    def rejections(self) -> list[Rejection]:
        """The candidates of the index that did not match, sorted by id, and what was false."""
        decision = self._seen.decision
        if decision is None:
            return []
        false = [at for at, verdict in enumerate(decision.verdict) if verdict == FALSE]
        if decision.unknown:
            owners = decision.skeleton.owners
            kept = {owners[alternative] for alternative in decision.unknown}
            false = [at for at in false if owners[at] not in kept]
        return [
            Rejection(id, tuple(reasons))
            for id, reasons in self._reasons(
                decision, false, lambda alternative: [false_reason(decision, alternative)]
            )
        ]

    def _reasons(
        self, decision: Decision, alternatives: Sequence[int], said: Callable[[int], Iterable[str]]
    ) -> list[tuple[str, list[str]]]:
        """Collects reasons by the ids of the subscriptions that did not match, each reason once."""
        if not alternatives:
            return []
        reasons: dict[int, dict[str, None]] = {}
        owners, matched = decision.skeleton.owners, decision.matched
        rows, plain = decision.skeleton.subscriptions.tolist(), set(self._seen.plain.tolist())
        for alternative in alternatives:
            owner = owners[alternative]
            if owner not in matched and rows[owner] not in plain:
                reasons.setdefault(rows[owner], {}).update(dict.fromkeys(said(alternative)))
        name = self._seen.catalog.id_of
        return sorted((name(row), list(each)) for row, each in reasons.items())

    @property
    def calls(self) -> list[CallRecord]:
        """The operator calls that were made, in order."""
        decision = self._seen.decision
        if decision is None:
            return []
        calls = decision.skeleton.calls
        return [
            CallRecord(calls[at].text, decision.answers[at].whole_seconds) for at in decision.made
        ]

    @property
    def evaluations(self) -> list[Evaluation]:
        """The operator predicates that were decided, in order."""
        decision = self._seen.decision
        if decision is None:
            return []
        return [
            Evaluation(decision.skeleton.tests[test].text, decision.truth_of(test), how)
            for test, how in decision.outcomes.items()
        ]

    @cached_property
    def account(self) -> Account:
        """The account of the event: what it took."""
        account = Account()
        self.add_to(account)
        return account

    def add_to(self, account: Account) -> None:
        """Adds what the event took to an account, which is sooner done than adding its own."""
        seen, decision = self._seen, self._seen.decision
        account.events += 1
        account.subscriptions, account.chosen_index = seen.subscriptions, seen.index
        account.checked += seen.checked
        account.page_reads += seen.page_reads
        account.candidates += len(distinct(seen.owners))
        account.matches += len(self.matches)
        account.undetermined += len(self.undetermined)
        for stage, seconds in seen.seconds.items():
            account.seconds[stage] = account.seconds.get(stage, 0.0) + seconds
        if decision is not None:
            undecided = len(decision.skeleton.subscriptions)
            if seen.needless:
                owners = np.delete(decision.problem.alternative_subscription, seen.needless)
                undecided = len(distinct(owners))
            account.undecided += undecided
            add_calls(account, decision)
        if seen.statistics:
            expected = 0.0 if decision is None else naive_expected(decision)
            account.naive_expected = (account.naive_expected or 0.0) + expected

    def explain(self, subscription: str) -> Explanation:
        """Explains why a subscription did or did not match; `KeyError` if it was not there."""
        return self._seen.explain(self, subscription)

    @property
    def decision(self) -> Decision | None:
        """The verdicts of its calls; `None` if no operator was asked anything."""
        return self._seen.decision

    @property
    def needless(self) -> Sequence[int]:
        """The alternatives that cannot change the result: their subscriptions match already."""
        return self._seen.needless

    def decided_as(self, decision: Decision) -> Result:
        """Returns the result if the same event had been decided so."""
        return Result(replace(self._seen, decision=decision))

    def as_dict(self) -> dict[str, Any]:
        """Returns the line that the command line writes for the event."""
        return {
            "event": self.event,
            "matches": [match.as_dict() for match in self.matches],
            "undetermined": [each._asdict() for each in self.undetermined],
        }

    def __str__(self) -> str:
        """Summarizes the event's outcome and account in a few lines."""
        account = self.account
        lines = [f"{self.event}: {account.outcome_text}", account.calls_text]
        killed = Counter(reason for each in self.rejections for reason in each.because)
        lines += [
            f"  {count:,} rejected by {reason}"
            for reason, count in killed.most_common(_MOST_KILLED)
        ]
        return "\n".join(lines)

    def __repr__(self) -> str:
        shown = ", ".join(each.subscription for each in self.matches[:_MOST_NAMED])
        more = ", …" if len(self.matches) > _MOST_NAMED else ""
        named = f" ({shown}{more})" if shown else ""
        left = f", {len(self.undetermined):,} undetermined" if self.undetermined else ""
        return f"<result of {self.event}: {counted(len(self.matches), 'match')}{named}{left}>"

    def _repr_html_(self) -> str:
        from tamis.result.notebook import result_html

        return result_html(self)

    @property
    def binding_places(self) -> list[tuple[int, int]]:
        """The places among the rows that match of those that may have bindings, and the number of
        each in the decision."""
        decision, rows = self._seen.decision, self.matches.rows
        if decision is None or not len(rows):
            return []
        problem = decision.skeleton.problem
        binding = distinct(problem.alternative_subscription[problem.alternative_binds])
        mine = decision.skeleton.subscriptions[binding]
        at = np.searchsorted(rows, mine)
        is_there = rows.take(at, mode="clip") == mine
        return list(zip(at[is_there].tolist(), binding[is_there].tolist(), strict=True))

    def _owner(self, row: int) -> int | None:
        """Returns the number of a subscription row in the decision, if any alternative is there."""
        decision = self._seen.decision
        if decision is None:
            return None
        rows = decision.skeleton.subscriptions
        at = int(np.searchsorted(rows, row))
        return at if at < len(rows) and int(rows[at]) == row else None

    def _bindings(self, row: int) -> tuple[list[dict[str, Scalar]], bool]:
        """Returns the assignments of a matched subscription, and whether some were cut."""
        owner = self._owner(row)
        return ([{}], False) if owner is None else self.bindings_of(owner)

    def bindings_of(self, owner: int) -> tuple[list[dict[str, Scalar]], bool]:
        """Returns the same of a subscription by its number in the decision."""
        known = self._bound.get(owner)
        if known is None:
            assert self._seen.decision is not None
            known = self._bound[owner] = self._bind(self._seen.decision, owner)
        return known

    def _bind(self, decision: Decision, owner: int) -> tuple[list[dict[str, Scalar]], bool]:
        verdict, binds = decision.verdict, decision.skeleton.binds
        mine = decision.skeleton.alternatives_of(owner)
        true = [at for at in mine if verdict[at] == TRUE and binds[at]]
        if not true:
            return [{}], False
        found: list[dict[str, Scalar]] = []
        truncated = False
        for alternative in true:
            assignments, cut = decision.assignments(alternative)
            found.extend(assignments)
            truncated |= cut
        unique = distinct_assignments(found)
        limit = decision.limits.assignments
        return unique[:limit], truncated or len(unique) > limit

    def _is_incomplete(self, row: int) -> bool:
        owner = self._owner(row)
        return owner is not None and self.is_incomplete_of(owner)

    def is_incomplete_of(self, owner: int) -> bool:
        """Returns whether assignments may lack, of a subscription by its number in the decision."""
        decision = self._seen.decision
        if decision is None or not decision.unknown:
            return False
        binds, owners = decision.skeleton.binds, decision.skeleton.owners
        return any(binds[at] and owners[at] == owner for at in decision.unknown)
