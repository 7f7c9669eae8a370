"""Derives all that the rules of a program say of some facts, stratum by stratum.

Semi-naive: after the first round, a rule is joined with what the round before found new. Values
compare as in subscriptions: numbers by value whatever their size, kinds apart never; arithmetic
that has no value makes no fact. Invariant: at most `most` facts are derived in at most `seconds`.
Cost: a look-up in a hash table for each partial solution of a body.
"""

from __future__ import annotations

import math
import operator
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from tamis_operators.reasoner.program import (
    Atom,
    Key,
    Program,
    ProgramRule,
    RuleComparison,
    RulesError,
    RuleTruth,
    RuleVariable,
    Sum,
    assigned,
    variables_in,
)

Row = tuple[Any, ...]
Bound = dict[RuleVariable, Any]
_LARGEST = 10**1_000
_EVERY = 256
_SIGNS: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
}
_ORDERS: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


class Relation:
    """The facts of a predicate, looked up by the values at any places."""

    def __init__(self, rows: Iterable[Row] = ()) -> None:
        self.rows = set(rows)
        self._indexes: dict[tuple[int, ...], dict[Row, list[Row]]] = {}

    def add(self, rows: Iterable[Row]) -> None:
        """Adds facts that are new."""
        for row in rows:
            self.rows.add(row)
            for places, index in self._indexes.items():
                index.setdefault(tuple(row[at] for at in places), []).append(row)

    def at(self, places: tuple[int, ...], values: Row) -> Iterable[Row]:
        """Returns the facts with these values at these places."""
        if not places:
            return self.rows
        index = self._indexes.get(places)
        if index is None:
            index = self._indexes[places] = {}
            for row in self.rows:
                index.setdefault(tuple(row[at] for at in places), []).append(row)
        return index.get(values, ())


class _Step(NamedTuple):
    """One part of a body: what has to hold of what is bound, and what it binds."""

    part: Atom | RuleComparison
    negative: bool
    places: tuple[int, ...]
    """Of an atom's terms that are bound before."""
    assigns: tuple[RuleVariable, Any] | None
    is_new: bool
    """True if it is looked for among the new facts alone."""


class ProgramRun:
    """One program over the facts of one event."""

    def __init__(
        self, program: Program, facts: Mapping[Key, Iterable[Row]], most: int, seconds: float | None
    ) -> None:
        self._relations = {key: Relation(facts.get(key, ())) for key in program.used}
        self._left = most
        self._most = most
        self._seconds = seconds
        self._ends = math.inf if seconds is None else time.monotonic() + seconds
        self._steps = 0
        for stratum in program.strata:
            self._close(stratum)

    def rows(self, key: Key) -> set[Row]:
        """Returns the rows of a predicate."""
        relation = self._relations.get(key)
        return set() if relation is None else relation.rows

    def _close(self, stratum: Sequence[ProgramRule]) -> None:
        heads = {rule.head.key for rule in stratum}
        new = self._round([(rule, _plan(rule, None)) for rule in stratum], {})
        plans = [
            (rule, _plan(rule, at))
            for rule in stratum
            for at, atom in enumerate(rule.positive)
            if atom.key in heads
        ]
        while new and plans:
            new = self._round(plans, {key: Relation(rows) for key, rows in new.items()})

    def _round(
        self, plans: Iterable[tuple[ProgramRule, Sequence[_Step]]], new: Mapping[Key, Relation]
    ) -> dict[Key, set[Row]]:
        """Returns the rows that rules derive and that were not known, added once all are done."""
        found: dict[Key, set[Row]] = {}
        for rule, steps in plans:
            known = self._relations[rule.head.key].rows
            derived = found.setdefault(rule.head.key, set())
            before = len(derived)
            for row in self._heads(rule, steps, new):
                if row not in known and row not in derived:
                    derived.add(row)
                    if len(derived) - before > self._left:
                        raise RulesError(f"more than {self._most:,} facts follow by the rules")
            self._left -= len(derived) - before
        found = {key: rows for key, rows in found.items() if rows}
        for key, rows in found.items():
            self._relations[key].add(rows)
        return found

    def _heads(
        self, rule: ProgramRule, steps: Sequence[_Step], new: Mapping[Key, Relation]
    ) -> Iterable[Row]:
        for bound in self._solutions(steps, 0, {}, new):
            try:
                yield tuple(_value(term, bound) for term in rule.head.terms)
            except (ArithmeticError, TypeError):
                continue

    def _solutions(
        self, steps: Sequence[_Step], at: int, bound: Bound, new: Mapping[Key, Relation]
    ) -> Iterable[Bound]:
        if at == len(steps):
            yield bound
            return
        for wider in self._step(steps[at], bound, new):
            yield from self._solutions(steps, at + 1, wider, new)

    def _step(self, step: _Step, bound: Bound, new: Mapping[Key, Relation]) -> Iterable[Bound]:
        """Yields the bindings after a step, in each way that it holds."""
        self._tick()
        part = step.part
        if isinstance(part, RuleComparison):
            yield from _compared(step, part, bound)
            return
        relation = (new.get(part.key) if step.is_new else self._relations[part.key]) or Relation()
        values = tuple(_value(part.terms[place], bound) for place in step.places)
        if step.negative:
            if values not in relation.rows:
                yield bound
            return
        for row in relation.at(step.places, values):
            self._tick()
            wider = dict(bound)
            if all(
                wider.setdefault(term, value) == value
                for term, value in zip(part.terms, row, strict=True)
                if isinstance(term, RuleVariable)
            ):
                yield wider

    def _tick(self) -> None:
        self._steps += 1
        if self._steps % _EVERY == 0 and time.monotonic() > self._ends:
            raise RulesError(f"the rules take longer than {self._seconds:g} s")


def _plan(rule: ProgramRule, new: int | None) -> list[_Step]:
    """Returns the parts of a body in the order in which they are looked at: what is new first, each
    comparison and negation once it is bound, then what has most places bound."""
    bound: set[RuleVariable] = set()
    atoms = dict(enumerate(rule.positive))
    tests: list[tuple[Atom | RuleComparison, bool]] = [(each, True) for each in rule.negative]
    tests += [(each, False) for each in rule.comparisons]
    steps: list[_Step] = []
    while atoms or tests:
        ready = next((test for test in tests if _is_ready(test[0], bound)), None)
        if ready is not None:
            part, negative = ready
            tests.remove(ready)
            assigns = assigned(part, bound) if isinstance(part, RuleComparison) else None
            places = tuple(range(len(part.terms))) if isinstance(part, Atom) else ()
            steps.append(_Step(part, negative, places, assigns, False))
            bound |= {assigns[0]} if assigns else set()
            continue
        at = max(atoms, key=lambda each: (each == new, len(_places(atoms[each], bound)), -each))
        atom = atoms.pop(at)
        steps.append(_Step(atom, False, _places(atom, bound), None, at == new))
        bound |= {term for term in atom.terms if isinstance(term, RuleVariable)}
    return steps


def _is_ready(part: Atom | RuleComparison, bound: set[RuleVariable]) -> bool:
    terms = part.terms if isinstance(part, Atom) else part[1:]
    if all(variables_in(term) <= bound for term in terms):
        return True
    return isinstance(part, RuleComparison) and assigned(part, bound) is not None


def _places(atom: Atom, bound: set[RuleVariable]) -> tuple[int, ...]:
    return tuple(at for at, term in enumerate(atom.terms) if variables_in(term) <= bound)


def _compared(step: _Step, part: RuleComparison, bound: Bound) -> Iterable[Bound]:
    try:
        if step.assigns is not None:
            variable, term = step.assigns
            yield {**bound, variable: _value(term, bound)}
        elif _holds(part.sign, _value(part.left, bound), _value(part.right, bound)):
            yield bound
    except (ArithmeticError, TypeError):
        return


def _holds(sign: str, left: Any, right: Any) -> bool:
    """Returns whether a comparison holds: never of two kinds, and booleans have no order."""
    kinds = {_kind(left), _kind(right)}
    if len(kinds) > 1 or (RuleTruth in kinds and sign not in ("=", "==", "!=")):
        return False
    return _ORDERS[sign](left, right)


def _kind(value: Any) -> type:
    if isinstance(value, (int, float)):
        return float
    return RuleTruth if isinstance(value, RuleTruth) else str


def _value(term: Any, bound: Bound) -> Any:
    """Returns the value of a term; an error where it has none."""
    if isinstance(term, RuleVariable):
        return bound[term]
    if not isinstance(term, Sum):
        return term
    left, right = (_value(each, bound) for each in term.terms)
    if _kind(left) is not float or _kind(right) is not float:
        raise TypeError("arithmetic is of numbers")
    found = _divided(left, right) if term.sign == "/" else _SIGNS[term.sign](left, right)
    if not -_LARGEST < found < _LARGEST:
        raise OverflowError("a number is too large")
    return found


def _divided(left: Any, right: Any) -> Any:
    """Returns a whole number where there is one."""
    if isinstance(left, int) and isinstance(right, int) and right and left % right == 0:
        return left // right
    return left / right
