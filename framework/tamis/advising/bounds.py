"""Bounds what deciding one event costs, whatever the method, by what was true of it.

A method that has decided every alternative has seen an outcome that kills it, or all outcomes of
its tests (`tamis.result.account.needed_at_least` counts calls by this alone). So its calls cover
rows: one for an alternative that something kills, of the calls that tell of a killing outcome; one
for each test of any other alternative. An alternative without variables is excused where a sibling
is true. What calls cost is bounded from below by their cost within a batch, and a preparation is
paid with the first call that needs it. One that builds on another one is a column of its own too
(`after`), which takes that one with it: each is paid once, whoever needs it.

*Clairvoyant*: the least cost of calls that cover the rows. No method beats it on any event.

*Non-anticipative*: whether a method calls f depends on the outcomes of other calls alone, for f's
own is not known before. Where outcomes are independent between calls, a call may therefore be
charged any amount W_f instead of its cost c_f that is c_f on average over f's own outcome, all
others given: E[cost] = E[Σ W_f over the calls made] >= E[the least Σ W_f that covers the rows].
Good charges are paid where a call helps to cover: W_f is c_f / u_f where f's outcome kills
something, else 0, with u_f at least the probability that it does (1 - p_f for one test; summed over
tests and signs otherwise, at most 1, which asks nothing of how the tests of one call go together).
So the calls of matched subscriptions must not be charged once more on top: that they may also come
out true is in the 1 / (1 - p_f). But a call without which, by the other outcomes, something stays
undecided is made in any case, whatever its outcome; charging it c_f at once has the same mean as
charging c_f / u_f at times, and spreads less. Calls that implications relate are not independent:
they are charged c_f. The bound holds for means over events, for every adaptive method, with true
selectivities; on one event it may lie above what a method pays.
Cost: O(edges), and the linear programs of `tamis.advising.covering`.
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np

from tamis.advising.covering import SERVES_NONE, CoverProblem
from tamis.numeric.types import Flags, Floats, Ints
from tamis.planning import FALSE, TRUE, UNKNOWN, Problem


class PreparationPrices(NamedTuple):
    """The prices of preparations, each by itself: the groups of a problem, then those that they
    build on."""

    price: Floats
    after: Ints
    """The one that each builds on, or -1."""

    @classmethod
    def alone(cls, price: Floats) -> PreparationPrices:
        """Makes prices of preparations that build on nothing."""
        return cls(price, np.full(len(price), -1))


class Requirements:
    """The calls that the outcomes of an event require."""

    def __init__(
        self,
        problem: Problem,
        outcomes: Ints,
        joined: Flags | None = None,
        preparations: PreparationPrices | None = None,
    ) -> None:
        """`outcomes` are those of all tests; `joined` marks the alternatives that outcomes of
        tests alone may leave open: nothing is required for their sake. Preparations are the
        groups of the problem, each by itself, where nothing else is said of them."""
        self._problem = problem
        self._preparations = preparations or PreparationPrices.alone(problem.group_price)
        self._outcomes = np.asarray(outcomes)
        self._joined = np.zeros(problem.alternatives, np.bool_) if joined is None else joined
        seen = self._outcomes[problem.edge_test]
        killing = np.where(problem.edge_sign > 0, FALSE, TRUE)
        self._edge_kills: Flags = seen == killing
        self._killed = self._any(self._edge_kills)
        self._true = ~self._killed & ~self._any(seen == UNKNOWN) & ~self._joined
        self._siblings = np.bincount(problem.alternative_subscription, minlength=1)[
            problem.alternative_subscription
        ]
        self._told_test, self._told_call = self._tellers()

    def _any(self, edges: Flags) -> Flags:
        """Returns the alternatives that have one of these edges."""
        problem = self._problem
        return (
            np.bincount(problem.edge_alternative[edges], minlength=problem.alternatives)[
                : problem.alternatives
            ]
            > 0
        )

    def _any_of_owner(self, alternatives: Flags) -> Flags:
        """Returns the alternatives whose subscription has one of these."""
        owners = self._problem.alternative_subscription
        counts = np.bincount(owners[alternatives], minlength=int(owners.max(initial=0)) + 1)
        return counts[owners] > 0

    def _tellers(self) -> tuple[Ints, Ints]:
        """Pairs of a test and a call that tells its outcome, ordered by test."""
        problem, outcomes = self._problem, self._outcomes
        first, outcome, other, conclusion = problem.implications.T
        holds = (outcomes[first] == outcome) & (outcomes[other] == conclusion)
        tests = np.concatenate([np.arange(problem.tests), other[holds]])
        calls = np.concatenate([problem.test_call, problem.test_call[first[holds]]])
        order = np.argsort(tests, kind="stable")
        return tests[order], calls[order]

    def _told(self, edges: Ints) -> tuple[Ints, Ints]:
        """Returns for these edges, by place, the calls that tell the outcome of their test."""
        tests = self._problem.edge_test[edges]
        begin = np.searchsorted(self._told_test, tests)
        counts = np.searchsorted(self._told_test, tests, side="right") - begin
        place = np.repeat(np.arange(len(edges)), counts)
        within = np.arange(len(place)) - np.repeat(np.cumsum(counts) - counts, counts)
        return place, self._told_call[np.repeat(begin, counts) + within]

    # rows

    @cached_property
    def _excused(self) -> Flags:
        """Alternatives that need not be decided, by what is true of their siblings."""
        binds = self._problem.alternative_binds
        settled = self._any_of_owner((self._true & binds) | (self._joined & ~self._killed))
        by_sibling = settled | (self._any_of_owner(self._true) & ~self._true)
        return self._joined | (~binds & (self._siblings > 1) & by_sibling)

    @cached_property
    def _optional(self) -> Flags:
        """True alternatives of which one of each subscription must be decided."""
        true = self._true & ~self._problem.alternative_binds & ~self._excused
        owners = self._problem.alternative_subscription
        counts = np.bincount(owners[true], minlength=int(owners.max(initial=0)) + 1)
        return true & (counts[owners] > 1)

    def _covering(self, weight: Floats, charge: Floats, optional: Flags) -> CoverProblem:
        """Returns the rows over calls, optional alternatives and preparations of some price."""
        problem, after = self._problem, self._preparations.after
        alternative = problem.edge_alternative
        wanted = ~self._excused & (~self._optional | optional)
        killed = np.flatnonzero(self._edge_kills & wanted[alternative])
        _, row_of_killed = np.unique(alternative[killed], return_inverse=True)
        place, call = self._told(killed)
        row, column = [row_of_killed[place]], [call]
        count = int(row_of_killed.max(initial=-1)) + 1
        serves = [np.full(count, SERVES_NONE)]

        choice = np.full(problem.alternatives, SERVES_NONE)
        chosen = np.flatnonzero(optional)
        choice[chosen] = problem.calls + np.arange(len(chosen))
        kept = np.flatnonzero((wanted & ~self._killed)[alternative])
        place, call = self._told(kept)
        row.append(count + place)
        column.append(call)
        serves.append(choice[alternative[kept]])
        count += len(kept)

        if len(chosen):
            _, owner = np.unique(problem.alternative_subscription[chosen], return_inverse=True)
            row.append(count + owner)
            column.append(choice[chosen])
            serves.append(np.full(int(owner.max()) + 1, SERVES_NONE))
            count += int(owner.max()) + 1

        grouped = np.flatnonzero(problem.call_group >= 0) if charge.any() else np.zeros(0, np.int64)
        first = problem.calls + len(chosen)
        row.append(count + np.arange(len(grouped)))
        column.append(first + problem.call_group[grouped])
        serves.append(grouped)
        built = np.flatnonzero(after >= 0) if len(grouped) else np.zeros(0, np.int64)
        row.append(count + len(grouped) + np.arange(len(built)))
        column.append(first + after[built])
        serves.append(first + built)
        prices = charge if len(grouped) else np.zeros(0)
        return CoverProblem.of(
            np.concatenate([weight, np.zeros(len(chosen)), prices]),
            np.concatenate(row),
            np.concatenate(column),
            np.concatenate(serves),
        )

    # bounds

    @cached_property
    def _least_cost(self) -> Floats:
        """The least cost of each call, alone or in a batch."""
        problem = self._problem
        together = np.minimum(problem.call_cost, problem.call_marginal)
        return np.where(problem.call_batch >= 0, together, problem.call_cost)

    @cached_property
    def _clairvoyant(self) -> CoverProblem:
        return self._covering(self._least_cost, self._preparations.price, self._optional)

    def packing(self) -> float:
        """Returns a lower bound by rows that have nothing in common; needs no linear program."""
        return self._clairvoyant.packed()

    def clairvoyant(self) -> float:
        """Returns a lower bound for every method on this event: the linear relaxation."""
        return self._clairvoyant.at_least()

    def clairvoyant_reached(self) -> float:
        """Returns the cost of calls that suffice: an upper bound for the clairvoyant optimum."""
        problem = self._problem
        alternative = problem.edge_alternative
        cheap = np.zeros(problem.alternatives)
        np.add.at(cheap, alternative, problem.call_cost[problem.test_call[problem.edge_test]])
        chosen: dict[int, int] = {}
        for at in np.flatnonzero(self._optional).tolist():
            owner = int(problem.alternative_subscription[at])
            if owner not in chosen or cheap[at] < cheap[chosen[owner]]:
                chosen[owner] = at
        optional = np.zeros(problem.alternatives, np.bool_)
        optional[list(chosen.values())] = True
        covering = self._covering(problem.call_cost, np.zeros(0), optional)
        forced = covering.serves >= 0
        covering = CoverProblem(
            covering.weight,
            covering.start,
            covering.column,
            np.where(forced, SERVES_NONE, covering.serves),
        )
        calls = [column for column in covering.chosen() if column < problem.calls]
        groups = np.unique(problem.call_group[calls])
        return float(
            problem.call_cost[calls].sum() + problem.group_price[groups[groups >= 0]].sum()
        )

    def non_anticipative(self) -> float:
        """Returns a lower bound in the mean over events, for every adaptive method."""
        return self._covering(self.charges, self._preparations.price, self._optional).at_least()

    @cached_property
    def charges(self) -> Floats:
        """The charge of each call given the outcomes: its cost, on average over its own.

        What a method's calls are charged is what they cost, on average over events, and on no event
        below the non-anticipative bound: chance is in both alike."""
        problem, cost = self._problem, self._least_cost
        counted = ~self._joined[problem.edge_alternative]
        sides = np.unique(problem.edge_test[counted] * 2 + (problem.edge_sign[counted] > 0))
        test, positive = sides // 2, sides % 2 == 1
        share = problem.test_selectivity[test]
        probability = np.bincount(
            problem.test_call[test],
            weights=np.where(positive, 1 - share, share),
            minlength=problem.calls,
        )
        probability = np.minimum(1, probability * (1 - problem.call_failure))
        useful = np.zeros(problem.calls, np.bool_)
        useful[problem.test_call[problem.edge_test[self._edge_kills & counted]]] = True
        with np.errstate(divide="ignore", invalid="ignore"):
            charges = np.where(useful, cost / probability, 0.0)
        plain = self._made_in_any_case()
        plain[self._related()] = True
        plain |= useful & (probability <= 0)
        return np.where(plain, cost, charges)

    def _related(self) -> Ints:
        """Returns the calls whose outcomes implications tie together."""
        tests = self._problem.implications[:, [0, 2]].ravel()
        return np.unique(self._problem.test_call[tests])

    def _made_in_any_case(self) -> Flags:
        """Returns the calls without which, whatever others give, something stays undecided."""
        problem = self._problem
        calls = max(1, problem.calls)
        alternative = problem.edge_alternative
        edges = np.flatnonzero(self._edge_kills)
        place, call = self._told(edges)
        killers = np.unique(alternative[edges][place] * calls + call)
        count = np.bincount(killers // calls, minlength=problem.alternatives)
        held = np.unique(alternative * calls + problem.test_call[problem.edge_test])
        owner_of, call_of = held // calls, held % calls
        open_without = count[owner_of] - np.isin(held, killers) == 0
        open_without &= ~self._joined[owner_of]
        always = problem.alternative_binds | (self._siblings == 1)
        result = np.zeros(problem.calls, np.bool_)
        result[call_of[open_without & always[owner_of]]] = True
        known = set(killers.tolist()) if not always.all() else set()
        for at in np.flatnonzero(open_without & ~always[owner_of]).tolist():
            mine, call_number = int(owner_of[at]), int(call_of[at])
            siblings = np.flatnonzero(
                problem.alternative_subscription == problem.alternative_subscription[mine]
            )
            result[call_number] |= all(
                count[other] > (int(other) * calls + call_number in known)
                for other in siblings.tolist()
                if other != mine
            )
        return result
