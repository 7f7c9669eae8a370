"""What is true of one event: the state from which calls are answered and alternatives decided.

Logic is Kleene's: a false test decides its alternative at once, an unknown one never does, and the
verdicts are a function of the outcomes, whatever their order. Joins are looked at as soon as their
atoms are known; which are looked at depends on outcomes alone, so that a search that is cut by its
limit is cut in every order.
Cost: O(edges) an event, each visited once.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product
from typing import NamedTuple

from tamis.engine.asking import Solution
from tamis.engine.gateway import CUT, Answer, Failure
from tamis.engine.joins import JoinPlan
from tamis.engine.problem import Skeleton
from tamis.event import Event
from tamis.limits import Limits
from tamis.planning import FALSE, TRUE, UNKNOWN
from tamis.values import Scalar, identity

OPEN = 3
SPARED = 4

CALLED, SHARED = "called", "shared"
_TRUTHS = {TRUE: True, FALSE: False, UNKNOWN: None}


class Outcome(NamedTuple):
    """A test that was decided, in the order in which it was."""

    test: int
    truth: int
    how: str


class Decision:
    """The verdicts on the alternatives of one event, as they come."""

    def __init__(self, skeleton: Skeleton, event: Event, limits: Limits) -> None:
        self.skeleton = skeleton
        self.event = event
        self.limits = limits
        self.verdict = [OPEN] * len(skeleton.left)
        self.open = len(skeleton.left)
        self.outcome = [OPEN] * len(skeleton.tests)
        self.outcomes: list[Outcome] = []
        self.answers: dict[int, Answer] = {}
        self.rows: dict[int, list[Solution]] = {}
        self.failures: dict[int, Failure] = {}
        self.cuts: dict[int, Failure] = {}
        self.missing: dict[int, str] = {}
        self.failed_conditions: dict[int, str] = {}
        self.matched: set[int] = set()
        self.unknown: list[int] = []
        self._left = list(skeleton.left)
        self._unknown: set[int] = set()
        self._decided: list[int] = []

    # before any call

    def begin(self, needless: Iterable[int]) -> list[int]:
        """Decides what needs no call; `needless` alternatives cannot change the result."""
        for alternative in needless:
            self._spare(alternative)
        self._check_conditions()
        self._check_inputs()
        for alternative, left in enumerate(self._left):
            if not left and self.verdict[alternative] == OPEN:
                self._finish(alternative)
        return self._taken()

    def _check_conditions(self) -> None:
        """Constraints without variables; each text is decided once."""
        known: dict[str, bool] = {}
        for alternative, constraints in self.skeleton.conditions.items():
            for constraint in constraints:
                if constraint.text not in known:
                    known[constraint.text] = constraint.holds(self.event)
                if not known[constraint.text] and self.verdict[alternative] == OPEN:
                    self.failed_conditions[alternative] = constraint.text
                    self._decide(alternative, FALSE)

    def _check_inputs(self) -> None:
        """Calls whose required input is absent are false, and so are their negations."""
        positive, negative = self.skeleton.wants
        for inputs, calls in self.skeleton.requirements.items():
            absent = next((name for name in inputs if not self.event.present(name)), None)
            if absent is None:
                continue
            for call in calls:
                self.missing[call] = absent
                for test in self.skeleton.call_tests[call]:
                    for alternative in (*positive[test], *negative[test]):
                        if self.verdict[alternative] == OPEN:
                            self._decide(alternative, FALSE)

    # answers

    def take(self, call: int, answer: Answer) -> tuple[list[int], list[int], list[int]]:
        """Takes the answer of a call: the tests it decides, their outcomes, and what follows."""
        self.answers[call] = answer
        tests = self.skeleton.call_tests[call]
        outcomes = [self._outcome(test, answer) for test in tests]
        how = CALLED
        for test, outcome in zip(tests, outcomes, strict=True):
            self.outcome[test] = outcome
            self.outcomes.append(Outcome(test, outcome, how))
            how = SHARED
        for test, outcome in zip(tests, outcomes, strict=True):
            self._spread(test, outcome)
        return tests, outcomes, self._taken()

    def _outcome(self, test: int, answer: Answer) -> int:
        if answer.failure is not None:
            self.failures[test] = answer.failure
            return UNKNOWN
        if answer.solutions is None:
            return TRUE if answer.truth else FALSE
        rows = self.skeleton.tests[test].select(answer.solutions, self.event)
        if rows:
            self.rows[test] = rows
            return TRUE
        if answer.cut:
            limit = self.limits.solutions
            self.failures[test] = Failure(CUT, f"none of the first {limit:,} solutions will do")
            return UNKNOWN
        return FALSE

    def _spread(self, test: int, outcome: int) -> None:
        """What the outcome of a test does to the alternatives that hold it."""
        positive, negative = self.skeleton.wants
        verdict, left = self.verdict, self._left
        killed, kept = positive[test], negative[test]
        if outcome == UNKNOWN:
            self._unknown.update(killed)
            self._unknown.update(kept)
            kept = [*killed, *kept]
            killed = []
        elif outcome == TRUE:
            killed, kept = kept, killed
        for alternative in killed:
            if verdict[alternative] == OPEN:
                self._decide(alternative, FALSE)
        plans = self.skeleton.plans
        for alternative in kept:
            if verdict[alternative] == OPEN:
                left[alternative] -= 1
                plan = plans.get(alternative)
                if plan is not None and self._join_is_empty(plan, test):
                    self._decide(alternative, FALSE)
                elif not left[alternative]:
                    self._finish(alternative)

    def _finish(self, alternative: int) -> None:
        """The verdict on an alternative whose tests are all decided."""
        plan = self.skeleton.plans.get(alternative)
        unknown = alternative in self._unknown
        if plan is None:
            self._decide(alternative, UNKNOWN if unknown else TRUE)
            return
        verdict = UNKNOWN if unknown else TRUE
        for group in plan.components:
            known = tuple(at for at in group if self._truth(plan, at) == TRUE)
            if len(known) < 2:
                continue
            found = self._first(plan, known)
            if found is False:
                verdict = FALSE
                break
            if found is None and verdict == TRUE:
                verdict = UNKNOWN
                limit = self.limits.join_steps
                self.cuts[alternative] = Failure(
                    CUT, f"no assignment was found in the first {limit:,} steps of the join"
                )
        self._decide(alternative, verdict)

    def _join_is_empty(self, plan: JoinPlan, test: int) -> bool:
        """Whether a join that this test completes is known to have no assignment."""
        if self.outcome[test] != TRUE or not plan.checks:
            return False
        mine = [at for at, atom in enumerate(plan.atoms) if self._number(plan, at) == test]
        checks = dict.fromkeys(check for at in mine for check in plan.checks_of[at])
        return any(
            all(self._truth(plan, at) == TRUE for at in check) and self._first(plan, check) is False
            for check in checks
        )

    def _first(self, plan: JoinPlan, group: tuple[int, ...]) -> bool | None:
        """Whether some atoms have an assignment together; `None` when the search was cut."""
        join = plan.join(group)
        relations = [self.rows[self._number(plan, at)] for at in group]
        search = join.search(relations, self.event, self.limits.join_steps)
        if search.first() is not None:
            return True
        cut = search.cut or any(self._answer_cut(plan, at) for at in group)
        return None if cut else False

    def _answer_cut(self, plan: JoinPlan, at: int) -> bool:
        call = self.skeleton.problem.test_call[self._number(plan, at)]
        return self.answers[int(call)].cut

    def _number(self, plan: JoinPlan, at: int) -> int:
        return self.skeleton.test_number[plan.atoms[at].test]

    def _truth(self, plan: JoinPlan, at: int) -> int:
        return self.outcome[self._number(plan, at)]

    # verdicts

    def _decide(self, alternative: int, verdict: int) -> None:
        self.verdict[alternative] = verdict
        self.open -= 1
        self._decided.append(alternative)
        if verdict == UNKNOWN:
            self.unknown.append(alternative)
        elif verdict == TRUE:
            owner = self.skeleton.owners[alternative]
            self.matched.add(owner)
            self._spare_siblings(owner)

    def _spare_siblings(self, owner: int) -> None:
        """Alternatives without variables are needless once their subscription matches."""
        for sibling in self.skeleton.siblings.get(owner, ()):
            self._spare(sibling)

    def _spare(self, alternative: int) -> None:
        if self.verdict[alternative] == OPEN:
            self.verdict[alternative] = SPARED
            self.open -= 1
            self._decided.append(alternative)

    def _taken(self) -> list[int]:
        decided, self._decided = self._decided, []
        return decided

    def next_needed(self) -> int | None:
        """A call that an open alternative needs: what a planner left over."""
        for alternative, calls in enumerate(self.skeleton.problem.alternative_calls):
            if self.verdict[alternative] == OPEN:
                return next(call for call in calls if call not in self.answers)
        return None

    # after the last call

    def truth_of(self, test: int) -> bool | None:
        """The outcome of a decided test as Python says it."""
        return _TRUTHS[self.outcome[test]]

    def assignments(self, alternative: int) -> tuple[list[dict[str, Scalar]], bool]:
        """The assignments of a true alternative, at most the limit, and whether more were cut."""
        plan = self.skeleton.plans[alternative]
        limit = self.limits.assignments
        truncated = False
        parts: list[list[dict[str, Scalar]]] = []
        for group in plan.components:
            join = plan.join(group)
            relations = [self.rows[self._number(plan, at)] for at in group]
            search = join.search(relations, self.event, self.limits.join_steps)
            found: list[dict[str, Scalar]] = []
            for values in search:
                if len(found) == limit:
                    truncated = True
                    break
                found.append(dict(zip(join.variables, values, strict=True)))
            truncated |= search.cut or any(self._answer_cut(plan, at) for at in group)
            parts.append(found)
        result: list[dict[str, Scalar]] = []
        for choice in product(*parts):
            if len(result) == limit:
                return result, True
            result.append({name: value for part in choice for name, value in part.items()})
        return result, truncated

    def unknown_reasons(self, alternative: int) -> list[tuple[str, Failure]]:
        """Why an alternative is unknown: predicates in canonical text, and their failures."""
        if alternative in self.cuts:
            plan = self.skeleton.plans[alternative]
            return [(", ".join(atom.test.text for atom in plan.atoms), self.cuts[alternative])]
        problem = self.skeleton.problem
        start, end = problem.alternative_start[alternative : alternative + 2].tolist()
        tests = dict.fromkeys(problem.edge_test[start:end].tolist())
        return [
            (self.skeleton.tests[test].text, self.failures[test])
            for test in tests
            if test in self.failures
        ]


def distinct_assignments(assignments: Iterable[dict[str, Scalar]]) -> list[dict[str, Scalar]]:
    """Each assignment once."""
    found: dict[object, dict[str, Scalar]] = {}
    for assignment in assignments:
        names = tuple(sorted(assignment))
        key = (names, identity(tuple(assignment[name] for name in names)))
        found.setdefault(key, assignment)
    return list(found.values())
