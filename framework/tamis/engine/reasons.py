"""Says why alternatives are false or unknown, and how probable those are that were left open."""

from __future__ import annotations

from tamis.engine.decision import Decision, ImplicationError
from tamis.planning import FALSE, TRUE


def false_reason(decision: Decision, alternative: int) -> str:
    """Names the predicate that made an alternative false, or the input that was absent."""
    skeleton = decision.skeleton
    if alternative in decision.failed_conditions:
        return decision.failed_conditions[alternative]
    killer = decision.killer(alternative)
    if killer >= 0:
        text = skeleton.tests[killer].text
        return text if decision.outcome[killer] == FALSE else f"not {text}"
    for test in skeleton.tests_of(alternative):
        absent = decision.missing.get(int(skeleton.problem.test_call[test]))
        if absent is not None:
            return f"{skeleton.tests[test].call.text}: its input {absent} is absent"
    constraints = [each.text() for each in skeleton.plans[alternative].constraints]
    wanted = f" with {' and '.join(constraints)}" if constraints else ""
    return f"no joint assignment{wanted}"


def unknown_reasons(decision: Decision, alternative: int) -> list[str]:
    """Tells why an alternative is unknown: what ended the event, or predicates and failures."""
    skeleton = decision.skeleton
    if decision.stopped is not None and alternative in decision.left_open:
        return [decision.stopped]
    if alternative in decision.cuts:
        atoms = skeleton.plans[alternative].atoms
        return [f"{', '.join(atom.test.text for atom in atoms)}: {decision.cuts[alternative]}"]
    failures, tests = decision.failures, dict.fromkeys(skeleton.tests_of(alternative))
    return [f"{skeleton.tests[test].text}: {failures[test]}" for test in tests if test in failures]


def chance_of(decision: Decision, alternative: int) -> float:
    """Estimates the probability of an open alternative, its tests taken as independent."""
    problem, chance = decision.problem, 1.0
    start, end = problem.alternative_start[alternative : alternative + 2].tolist()
    signs = problem.edge_sign[start:end].tolist()
    for test, sign in dict(zip(problem.edge_test[start:end].tolist(), signs, strict=True)).items():
        if decision.outcome[test] not in (TRUE, FALSE):
            share = float(problem.test_selectivity[test])
            chance *= share if sign > 0 else 1.0 - share
    return chance


def contradiction_text(decision: Decision, found: ImplicationError) -> str:
    """Names two outcomes that exclude each other, and says that no implication is used any more."""
    tests = decision.skeleton.tests
    first, second = tests[found.test], tests[found.other]
    return (
        f"{first.call.specification.name} contradicts the implications it declares: for event "
        f"{decision.event.id}, {first.text} and {second.text} had outcomes that exclude each "
        f"other; none of its implications is used any more"
    )
