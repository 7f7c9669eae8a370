"""Decides what a subscription makes of an event, by brute force, from the contract alone.

Truth is Kleene's: True, False, and None for unknown. Every alternative is judged by itself; joint
assignments come from a plain nested enumeration of all solutions. Cost: the product of the
numbers of solutions, which the generator keeps small.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from .operators import HOLE, CallKey, Operators, token
from .tree import (
    Arithmetic,
    Atom,
    Attribute,
    Compare,
    Condition,
    Constant,
    Exists,
    Has,
    Member,
    Minus,
    Predicate,
    Range,
    Term,
    Text,
    Variable,
    alternatives,
    variables,
)
from .values import Scalar, compare, elements, is_absent, key, kind, look_up, same

Assignment = dict[str, object]
Truth = bool | None

MOST_ASSIGNMENTS = 1000


@dataclass
class Verdict:
    """What is expected of one subscription on one event."""

    truth: Truth
    bindings: list[Assignment] = field(default_factory=list)
    incomplete: bool = False
    size: int = 0
    """How many combinations there are to search, before any constraint."""
    doubtful: bool = False
    """Whether it hangs on 1 or 1.0 being bound, on which the contract is silent."""

    @property
    def wide(self) -> bool:
        """Whether the search may be cut (contract, meaning 9), so that less can be expected."""
        return self.size > MOST_ASSIGNMENTS


class NoNumberError(Exception):
    """Arithmetic met what is no number, divided by zero or left the finite numbers."""


def arithmetic(term: Term, event: Mapping[str, object], assignment: Assignment) -> int | float:
    """A term as a number; every step of it has to stay finite."""
    if isinstance(term, (Attribute, Variable, Constant)):
        value = plain(term, event, assignment)
        if kind(value) != "number":
            raise NoNumberError
        assert isinstance(value, (int, float))
        return value
    result: int | float
    try:
        if isinstance(term, Minus):
            result = -arithmetic(term.term, event, assignment)
        else:
            left = arithmetic(term.left, event, assignment)
            right = arithmetic(term.right, event, assignment)
            if term.symbol == "+":
                result = left + right
            elif term.symbol == "-":
                result = left - right
            elif term.symbol == "*":
                result = left * right
            else:
                result = left / right
    except (ZeroDivisionError, OverflowError) as error:
        raise NoNumberError from error
    if isinstance(result, float) and not math.isfinite(result):
        raise NoNumberError
    return result


def plain(term: Term, event: Mapping[str, object], assignment: Assignment) -> object:
    """The value of a lone constant, variable or attribute, of whatever kind; None if absent."""
    if isinstance(term, Constant):
        return term.value
    if isinstance(term, Variable):
        return assignment[term.name]
    assert isinstance(term, Attribute)
    return look_up(event, term.name)


def holds(atom: Atom, event: Mapping[str, object], assignment: Assignment) -> bool:
    """Whether an atom that is no operator predicate is true of an event and an assignment."""
    if isinstance(atom, Compare):
        sides: list[object] = []
        for term in (atom.left, atom.right):
            if isinstance(term, (Arithmetic, Minus)):
                try:
                    sides.append(arithmetic(term, event, assignment))
                except NoNumberError:
                    return False
            else:
                sides.append(plain(term, event, assignment))
        return compare(atom.symbol, sides[0], sides[1])
    assert not isinstance(atom, Predicate)
    value = plain(atom.subject, event, assignment)
    if isinstance(atom, Exists):
        return is_absent(value) == atom.negated
    if isinstance(atom, Has):
        return _has(atom, value)
    if isinstance(atom, Member):
        if kind(value) not in {kind(member) for member in atom.members} - {None}:
            return False
        return any(same(value, member) for member in atom.members) != atom.negated
    if isinstance(atom, Range):
        if kind(value) is None or kind(value) != kind(atom.low):
            return False
        low = compare(">=" if atom.low_closed else ">", value, atom.low)
        high = compare("<=" if atom.high_closed else "<", value, atom.high)
        return (low and high) != atom.negated
    return isinstance(value, str) and _text(atom, value) != atom.negated


def _has(atom: Has, value: object) -> bool:
    array = elements(value)
    if array is None:
        return False
    found = [any(same(element, member) for element in array) for member in atom.members]
    truth = {"any": any(found), "all": all(found), "none": not any(found)}[atom.how]
    return truth != atom.negated


def _text(atom: Text, value: str) -> bool:
    if atom.how == "starts with":
        return value.startswith(atom.value)
    if atom.how == "ends with":
        return value.endswith(atom.value)
    if atom.how == "contains":
        return atom.value in value
    return re.search(atom.value, value, re.ASCII) is not None


NOTHING: Mapping[CallKey, bool] = {}


def call_key(predicate: Predicate, operators: Operators) -> CallKey:
    """The call that decides a predicate."""
    constants = operators[predicate.operator].constants(predicate.arguments)
    return predicate.operator, tuple(
        ("?", "") if place is HOLE else token(place) for place in constants
    )


@dataclass
class Answer:
    """What a known operator predicate allows; `raw` has every value as the operator wrote it."""

    assignments: list[Assignment]
    raw: list[tuple[str, object]] = field(default_factory=list)


def ask(
    predicate: Predicate,
    event: Mapping[str, object],
    operators: Operators,
    implied: Mapping[CallKey, bool] = NOTHING,
) -> Answer | None:
    """The assignments an operator predicate allows; None when unknown.

    A predicate without variables that is true allows the one empty assignment. `implied` is what
    is known of calls that fail.
    """
    spec = operators[predicate.operator]
    if any(is_absent(look_up(event, name)) for name in spec.required):
        return Answer([])
    constants = spec.constants(predicate.arguments)
    reply = spec.reply(event, constants)
    if reply.failure is not None:
        known = implied.get(call_key(predicate, operators))
        if known is None:
            return None
        return Answer([{}] if known != predicate.negated else [])
    found = Answer([])
    if reply.solutions is None:
        found.assignments = [{}] if reply.truth else []
    for solution in reply.solutions or ():
        values: Iterator[Scalar] = iter(solution)
        asked = [
            (argument, next(values))
            for constant, argument in zip(constants, predicate.arguments, strict=True)
            if constant is HOLE
        ]
        assignment: Assignment = {}
        for argument, value in asked:
            if isinstance(argument, Variable):
                assignment.setdefault(argument.name, value)
        if all(same(plain(argument, event, assignment), value) for argument, value in asked):
            found.assignments.append(assignment)
            found.raw += [(term.name, value) for term, value in asked if isinstance(term, Variable)]
    found.assignments = distinct(found.assignments)
    if predicate.negated:
        found.assignments = [] if found.assignments else [{}]
    return found


def distinct(assignments: list[Assignment]) -> list[Assignment]:
    """Each assignment once, by value."""
    return list({assignment_key(assignment): assignment for assignment in assignments}.values())


def assignment_key(assignment: Mapping[str, object]) -> frozenset[tuple[str, tuple[str, object]]]:
    """A hashable that equal assignments share."""
    return frozenset((name, key(value)) for name, value in assignment.items())


def join(answers: list[list[Assignment]]) -> list[Assignment]:
    """Every joint assignment that agrees with one solution of each answer."""

    def extend(done: Assignment, remaining: list[list[Assignment]]) -> Iterator[Assignment]:
        if not remaining:
            yield done
            return
        for assignment in remaining[0]:
            if all(same(done.get(name, value), value) for name, value in assignment.items()):
                yield from extend({**assignment, **done}, remaining[1:])

    return distinct(list(extend({}, answers)))


def judge_alternative(
    atoms: list[Atom],
    event: Mapping[str, object],
    operators: Operators,
    implied: Mapping[CallKey, bool] = NOTHING,
) -> Verdict:
    """One alternative: false neighbors decide first, then the known part, then the unknown."""
    constraints: list[Atom] = []
    known: list[Answer] = []
    unknown = false = False
    for atom in atoms:
        if isinstance(atom, Predicate):
            answer = ask(atom, event, operators, implied)
            if answer is None:
                unknown = True
            else:
                known.append(answer)
        elif variables(atom):
            constraints.append(atom)
        else:
            false = false or not holds(atom, event, {})
    answers = [answer.assignments for answer in known]
    if false or any(not answer for answer in answers):
        return Verdict(False)
    bound = {name for answer in answers for name in answer[0]}
    decidable = [atom for atom in constraints if variables(atom) <= bound]
    joint = join(answers)
    assignments = [found for found in joint if all(holds(atom, event, found) for atom in decidable)]
    size = math.prod(len(answer) for answer in answers)
    doubtful = is_doubtful(known, joint, decidable, event)
    if not assignments:
        return Verdict(False, size=size, doubtful=doubtful)
    if unknown:
        return Verdict(None, size=size, doubtful=doubtful)
    return Verdict(True, assignments, size=size, doubtful=doubtful)


def is_doubtful(
    known: list[Answer],
    joint: list[Assignment],
    constraints: list[Atom],
    event: Mapping[str, object],
) -> bool:
    """Whether it matters if 1 or 1.0 is bound, where operators gave both for one variable.

    They are one value, but `?x * 10**400` is exact with the one and an overflow with the other.
    """
    written: dict[tuple[str, tuple[str, object]], dict[type, object]] = {}
    for answer in known:
        for name, value in answer.raw:
            written.setdefault((name, key(value)), {})[type(value)] = value
    mixed = {place: list(forms.values()) for place, forms in written.items() if len(forms) > 1}
    for assignment in joint if mixed else []:
        forms = [mixed.get((name, key(value)), [value]) for name, value in assignment.items()]
        for atom in constraints:
            truths = {
                holds(atom, event, dict(zip(assignment, values, strict=True)))
                for values in itertools.product(*forms)
            }
            if len(truths) > 1:
                return True
    return False


def judge(
    condition: Condition,
    event: Mapping[str, object],
    operators: Operators,
    implied: Mapping[CallKey, bool] = NOTHING,
) -> Verdict:
    """A whole subscription on an opened event."""
    matched = unknown = incomplete = doubtful = False
    size = 0
    assignments: list[Assignment] = []
    for alternative in alternatives(condition):
        verdict = judge_alternative(alternative, event, operators, implied)
        has_variables = any(variables(atom) for atom in alternative)
        size += verdict.size
        doubtful = doubtful or verdict.doubtful
        if verdict.truth is None:
            unknown = True
            incomplete = incomplete or has_variables
        elif verdict.truth:
            matched = True
            if has_variables:
                assignments.extend(verdict.bindings)
    if not matched:
        return Verdict(None if unknown else False, size=size, doubtful=doubtful)
    return Verdict(True, distinct(assignments) or [{}], incomplete, size, doubtful)
