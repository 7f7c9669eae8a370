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

from tamis.calling.answers import CUT, Answer, Failure
from tamis.catalog.joins import JoinPlan
from tamis.engine.problem import Skeleton
from tamis.engine.stages import StageClock
from tamis.event import Event
from tamis.language.predicate import AttributePredicate
from tamis.language.values import Scalar, identity
from tamis.limits import Limits
from tamis.operators.asking import Solution
from tamis.planning import FALSE, TRUE, UNKNOWN

OPEN = 3
SPARED = 4

CALLED, SHARED, IMPLIED, MEMO, EXCLUDED = "called", "shared", "implied", "memo", "excluded"
TRUTHS = {TRUE: True, FALSE: False, UNKNOWN: None}


class Taken(NamedTuple):
    """What an answer decided: tests, their outcomes, and alternatives."""

    tests: list[int]
    outcomes: list[int]
    decided: list[int]


class ContradictionError(Exception):
    """An outcome is not what the outcome of another test was declared to mean."""

    def __init__(self, test: int, other: int) -> None:
        super().__init__(test, other)
        self.test = test
        self.other = other

    def words(self, decision: Decision) -> str:
        """Which outcomes of which tests, and what comes of it."""
        tests = decision.skeleton.tests
        first, second = tests[self.test], tests[self.other]
        return (
            f"{first.call.specification.name} contradicts the implications it declares: for event "
            f"{decision.event.id}, {first.text} and {second.text} had outcomes that exclude each "
            f"other; none of its implications is used any more"
        )


class Decision:
    """The verdicts on the alternatives of one event, as they come."""

    def __init__(
        self, skeleton: Skeleton, event: Event, limits: Limits, stages: StageClock
    ) -> None:
        self.skeleton = skeleton
        self.event = event
        self.limits = limits
        self.stages = stages
        self.verdict = [OPEN] * len(skeleton.left)
        self.open = len(skeleton.left)
        self.outcome = [OPEN] * len(skeleton.tests)
        self.outcomes: dict[int, str] = {}
        """How each decided test was, in the order in which they were."""
        self.implied_by: dict[int, int] = {}
        self.excluded: dict[int, AttributePredicate] = {}
        """The tests that are false because of a declaration, and which it is."""
        self.problem = skeleton.problem
        """What is left for a planner to begin with."""
        self.answers: dict[int, Answer] = {}
        self.made: list[int] = []
        """The calls that were made for this event, in order."""
        self.rows: dict[int, list[Solution]] = {}
        self.failures: dict[int, Failure] = {}
        self.cuts: dict[int, Failure] = {}
        self.killers: dict[int, int] = {}
        """The test that made an alternative false."""
        self.missing: dict[int, str] = {}
        self.failed_conditions: dict[int, str] = {}
        self.matched: set[int] = set()
        self.unknown: list[int] = []
        self._left = list(skeleton.left)
        self._rescued: set[int] = set()
        """Tests that failed before they were implied; planners know them as unknown."""
        self._decided: list[int] = []

    def without_implications(self) -> Decision:
        """The same event from its beginning, with nothing declared of its tests."""
        without = self.skeleton.without_implications()
        return Decision(without, self.event, self.limits, self.stages)

    # before any call

    def begin(self, needless: Iterable[int]) -> Taken:
        """Decides what needs no call; `needless` alternatives cannot change the result."""
        for alternative in needless:
            self._spare(alternative)
        self._check_conditions()
        self._check_inputs()
        self._exclude()
        concluded = self._concluded(list(self.excluded))
        for alternative, left in enumerate(self._left):
            if not left and self.verdict[alternative] == OPEN:
                self._finish(alternative)
        return concluded._replace(decided=concluded.decided + self._taken())

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

    def _exclude(self) -> None:
        """Finds the tests that are false by what their operators declare necessary."""
        skeleton, event = self.skeleton, self.event
        call_of = skeleton.problem.test_call
        for test in skeleton.excludable:
            broken = skeleton.tests[test].necessary.broken(event)
            if broken is not None and int(call_of[test]) not in self.missing:
                self.excluded[test] = broken
                self.outcome[test] = FALSE
                self.outcomes[test] = EXCLUDED
        if self.excluded:
            self.problem = skeleton.after(tuple(self.excluded))

    # answers

    def take(self, call: int, answer: Answer, how: str = CALLED) -> Taken:
        """Takes the answer of a call: the tests it decides, their outcomes, and what follows."""
        self.answers[call] = answer
        if how == CALLED and answer.made:
            self.made.append(call)
        queue: list[int] = []
        for test in self.skeleton.call_tests[call]:
            if test not in self.excluded:
                self._settle(test, self._outcome(test, answer), how, queue)
                how = SHARED if how == CALLED else how
        return self._concluded(queue)

    def _concluded(self, queue: list[int]) -> Taken:
        """What follows from tests whose outcomes are new."""
        for test in queue:
            known = (test, self.outcome[test])
            for other, conclusion in self.skeleton.consequences.get(known, ()):
                self._imply(test, other, conclusion, queue)
        for test in queue:
            self._kill(test)
        for test in queue:
            self._keep(test)
        told = [test for test in queue if test not in self._rescued]
        return Taken(told, [self.outcome[test] for test in told], self._taken())

    def _settle(self, test: int, outcome: int, how: str, queue: list[int]) -> None:
        """What an answer says of a test, whatever was concluded of it before."""
        known = self.outcome[test]
        if known == OPEN:
            self.outcome[test] = outcome
            self.outcomes[test] = how
            queue.append(test)
        elif outcome == UNKNOWN:
            self.failures.pop(test, None)
        elif outcome != known:
            raise ContradictionError(self.implied_by[test], test)
        else:
            self.outcomes[test] = how

    def _imply(self, test: int, other: int, conclusion: int, queue: list[int]) -> None:
        """What the outcome of a test says of another one."""
        known = self.outcome[other]
        if known in (OPEN, UNKNOWN):
            self.outcome[other] = conclusion
            self.outcomes[other] = IMPLIED
            self.implied_by[other] = test
            self.failures.pop(other, None)
            if known == UNKNOWN:
                self._rescued.add(other)
            queue.append(other)
        elif known != conclusion:
            raise ContradictionError(test, other)

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

    def _kill(self, test: int) -> None:
        """Decides the alternatives that want a known outcome to be another."""
        outcome = self.outcome[test]
        if outcome == UNKNOWN:
            return
        positive, negative = self.skeleton.wants
        verdict, held = self.verdict, (negative if outcome == TRUE else positive)[test]
        killed = [alternative for alternative in held if verdict[alternative] == OPEN]
        for alternative in killed:
            verdict[alternative] = FALSE
        self.killers.update(dict.fromkeys(killed, test))
        self.open -= len(killed)
        self._decided += killed

    def _keep(self, test: int) -> None:
        """Goes on with the alternatives that an outcome leaves open."""
        verdict, left, plans = self.verdict, self._left, self.skeleton.plans
        counted = 0 if test in self._rescued else 1
        for held in self.skeleton.wants:
            for alternative in held[test]:
                if verdict[alternative] == OPEN:
                    left[alternative] -= counted
                    plan = plans.get(alternative)
                    if plan is not None and self._join_is_empty(plan, test):
                        self._decide(alternative, FALSE)
                    elif not left[alternative]:
                        self._finish(alternative)

    def _finish(self, alternative: int) -> None:
        """The verdict on an alternative whose tests are all decided.

        While a test that failed may still be implied by others, it waits for them."""
        plan = self.skeleton.plans.get(alternative)
        unknown = self._unknown_tests(alternative)
        if plan is None:
            verdict = UNKNOWN if unknown else TRUE
        else:
            verdict = self._joined(alternative, plan, UNKNOWN if unknown else TRUE)
        if verdict != UNKNOWN or not unknown or self._implicant(unknown) is None:
            self._decide(alternative, verdict)

    def _unknown_tests(self, alternative: int) -> list[int]:
        if not self.failures:
            return []
        return [
            test
            for test in self.skeleton.alternative_tests[alternative]
            if self.outcome[test] == UNKNOWN
        ]

    def _implicant(self, unknown: list[int]) -> int | None:
        """A test that is not decided and may decide one of these, directly or through others."""
        seen = set(unknown)
        queue = list(unknown)
        for test in queue:
            for other in self.skeleton.implicants.get(test, ()):
                call = int(self.skeleton.problem.test_call[other])
                if other in seen or call in self.missing:
                    continue
                seen.add(other)
                if self.outcome[other] == OPEN:
                    return other
                if self.outcome[other] == UNKNOWN:
                    queue.append(other)
        return None

    def _joined(self, alternative: int, plan: JoinPlan, verdict: int) -> int:
        """The verdict once the joins of its atoms are looked at."""
        for group in plan.components:
            known = tuple(at for at in group if self._truth(plan, at) == TRUE)
            if len(known) < 2:
                continue
            found = self._first(plan, known)
            if found is False:
                return FALSE
            if found is None and verdict == TRUE:
                verdict = UNKNOWN
                limit = self.limits.join_steps
                self.cuts[alternative] = Failure(
                    CUT, f"no assignment was found in the first {limit:,} steps of the join"
                )
        return verdict

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
        self.stages.end("deciding")
        join = plan.join(group)
        relations = [self.rows[self._number(plan, at)] for at in group]
        search = join.search(relations, self.event, self.limits.join_steps)
        first = search.first()
        self.stages.end("joins")
        if first is not None:
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
        """A call that an open alternative needs: what a planner left over.

        What waited in vain for a failed test to be implied is unknown."""
        for alternative, verdict in enumerate(self.verdict):
            if verdict != OPEN:
                continue
            test = next(
                (
                    test
                    for test in self.skeleton.alternative_tests[alternative]
                    if self.outcome[test] == OPEN
                ),
                None,
            )
            if test is None:
                test = self._implicant(self._unknown_tests(alternative))
            if test is not None:
                return int(self.skeleton.problem.test_call[test])
            self._decide(alternative, UNKNOWN)
        return None

    def is_excluded(self, call: int) -> bool:
        """Whether declarations exclude all tests of a call."""
        return self.excluded.keys() >= set(self.skeleton.call_tests[call])

    def is_open(self, call: int) -> bool:
        """Whether a test of a call is not decided; what is excluded is so before the others."""
        return any(self.outcome[test] == OPEN for test in self.skeleton.call_tests[call])

    # after the last call

    def truth_of(self, test: int) -> bool | None:
        """The outcome of a decided test as Python says it."""
        return TRUTHS[self.outcome[test]]

    def call_seconds(self) -> dict[str, float]:
        """Returns what each call that was made took, by its predicate."""
        calls, answers = self.skeleton.calls, self.answers
        return {calls[at].text: answers[at].whole_seconds for at in self.made}

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

    def false_reason(self, alternative: int) -> str:
        """What made an alternative false: a predicate as it is wanted, or what was lacking."""
        skeleton = self.skeleton
        if alternative in self.failed_conditions:
            return self.failed_conditions[alternative]
        killer = self.killers.get(alternative)
        if killer is not None:
            text = skeleton.tests[killer].text
            return text if self.outcome[killer] == FALSE else f"not {text}"
        for test in skeleton.alternative_tests[alternative]:
            call = skeleton.tests[test].call
            absent = self.missing.get(int(skeleton.problem.test_call[test]))
            if absent is not None:
                return f"{call.text}: its input {absent} is absent"
        constraints = [each.text() for each in skeleton.plans[alternative].constraints]
        wanted = f" with {' and '.join(constraints)}" if constraints else ""
        return f"no joint assignment{wanted}"

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
