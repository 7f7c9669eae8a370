"""Random atoms: attribute predicates, constraints and operator predicates over a world.

An atom is drawn towards truth: of a few candidates the first that some event of the world
satisfies is taken, so that conjunctions of them match now and then.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence

from . import events
from .evaluate import holds
from .operators import SOLUTION_VALUES, Operators, Spec
from .tree import (
    Arithmetic,
    Atom,
    Attribute,
    Compare,
    Constant,
    Exists,
    Has,
    Member,
    Minus,
    Predicate,
    Range,
    Subject,
    Term,
    Text,
    Variable,
)
from .values import EXACT_BELOW, Scalar, elements, kind, look_up

NUMBER_NAMES = (*events.NUMBERS, "meta.speed", "meta.deep.level", *events.DERIVED)
STRING_NAMES = (*events.STRINGS, "meta.kind", *events.CONVENTIONS)
ALL_NAMES = (*NUMBER_NAMES, *STRING_NAMES, *events.BOOLEANS, *events.ARRAYS, "meta", "blob")
PATTERNS = ("^uav", "[0-9]+", "fire|smoke", "e$", "\\d", "(?i)UAV", "x.y", "^$", "^h", "o{1,2}", "")
ORDERINGS = ("<", "<=", ">", ">=")
ARGUMENTS: tuple[Scalar, ...] = (1, 2, 3, "Bronx", "fire", 5000, 2.5, True, "a b", -3, 2**53 + 1)


def writable(value: object) -> bool:
    """Whether a value can stand in the text as a constant."""
    found = kind(value)
    if found != "number":
        return found is not None
    assert isinstance(value, (int, float))
    return abs(value) < EXACT_BELOW if isinstance(value, int) else math.isfinite(value)


class Atoms:
    """Draws atoms for one world."""

    def __init__(
        self,
        rng: random.Random,
        operators: Operators,
        opened: Sequence[Mapping[str, object]],
    ) -> None:
        self.rng = rng
        self.operators = operators
        self.opened = opened

    # -- attribute predicates ------------------------------------------------------------------

    def attribute(self) -> Atom:
        """An attribute predicate, or a constraint over attributes alone."""
        rng = self.rng
        draws: list[Callable[[], Atom]] = [
            *[self._comparison] * 5,
            *[self._member] * 3,
            *[self._range] * 2,
            *[self._text] * 2,
            *[self._has] * 3,
            self._exists,
            *[self._relation] * 2,
        ]
        atom = rng.choice(draws)()
        for _ in range(rng.choice([0, 1, 1, 2])):
            if any(holds(atom, event, {}) for event in self.opened):
                break
            atom = rng.choice(draws)()
        return atom

    def name(self, names: Sequence[str]) -> Attribute:
        """One of the names, or now and then any."""
        rng = self.rng
        return Attribute(rng.choice(names if rng.random() < 0.93 else ALL_NAMES))

    def near(self, subject: Attribute, wanted: str | None = None) -> Scalar:
        """A constant that some event has under the name, or another one."""
        rng = self.rng
        if rng.random() < 0.55:
            value = look_up(rng.choice(self.opened), subject.name)
            if writable(value) and wanted in (None, kind(value)):
                assert isinstance(value, (bool, int, float, str))
                return value
        return self.scalar(wanted)

    def scalar(self, wanted: str | None = None) -> Scalar:
        """A constant of a kind, or of any."""
        rng = self.rng
        wanted = wanted or rng.choice(["number", "number", "string", "string", "boolean"])
        if wanted == "boolean":
            return rng.choice([True, False])
        if wanted == "string":
            return events.string(rng)
        found = events.number(rng)
        return found if writable(found) else 10**20

    def number(self, subject: Attribute | None = None) -> int | float:
        """A number constant."""
        found = self.scalar("number") if subject is None else self.near(subject, "number")
        assert isinstance(found, (int, float))
        return found

    def _any_name(self) -> tuple[Attribute, str]:
        rng = self.rng
        chance = rng.random()
        if chance < 0.5:
            return self.name(NUMBER_NAMES), "number"
        if chance < 0.85:
            return self.name(STRING_NAMES), "string"
        return self.name(events.BOOLEANS), "boolean"

    def _comparison(self) -> Atom:
        subject, usual = self._any_name()
        return self.compare(subject, usual, lambda wanted: self.near(subject, wanted))

    def compare(
        self, subject: Subject, usual: str | None, constant: Callable[[str | None], Scalar]
    ) -> Atom:
        """A subject against a constant; no ordering with a boolean."""
        rng = self.rng
        value = constant(usual if rng.random() < 0.9 else None)
        symbol = rng.choice(("=", "=", "!=", *ORDERINGS))
        if kind(value) == "boolean":
            symbol = rng.choice(["=", "!="])
        return Compare(symbol, subject, Constant(value))

    def _member(self) -> Atom:
        subject, usual = self._any_name()
        return self.member(subject, usual, lambda wanted: self.near(subject, wanted))

    def member(
        self, subject: Subject, usual: str | None, constant: Callable[[str | None], Scalar]
    ) -> Atom:
        """A subject in a set, mostly of one kind."""
        rng = self.rng
        number = rng.choice([1, 2, 3, 4])
        members = tuple(constant(usual if rng.random() < 0.9 else None) for _ in range(number))
        return Member(subject, members, rng.random() < 0.35)

    def _range(self) -> Atom:
        rng = self.rng
        if rng.random() < 0.2:
            subject = self.name(STRING_NAMES)
            return self.strings_between(subject)
        subject = self.name(NUMBER_NAMES)
        return self.interval(subject, self.number(subject), self.number(subject))

    def interval(self, subject: Subject, low: int | float, high: int | float) -> Atom:
        """A subject in an interval of numbers, the right way round nearly always."""
        rng = self.rng
        if low > high and rng.random() < 0.95:
            low, high = high, low
        closed = rng.choice([(True, True)] * 3 + [(True, False), (False, True), (False, False)])
        return Range(subject, low, high, closed[0], closed[1], rng.random() < 0.3)

    def strings_between(self, subject: Subject) -> Atom:
        """A subject in a closed range of strings."""
        low, high = sorted((events.string(self.rng), events.string(self.rng)))
        return Range(subject, low, high, negated=self.rng.random() < 0.3)

    def _text(self) -> Atom:
        subject = self.name(STRING_NAMES)
        return self.text(subject, str(self.near(subject, "string")))

    def text(self, subject: Subject, value: str) -> Atom:
        """One of the four predicates of strings alone, towards those that `value` satisfies."""
        rng = self.rng
        how = rng.choice(["starts with", "ends with", "contains", "matches"])
        cut = rng.randint(0, len(value))
        parts = {"starts with": value[:cut], "ends with": value[cut:], "contains": value[cut:][:2]}
        part = parts.get(how, rng.choice(PATTERNS))
        return Text(subject, how, part, rng.random() < 0.3)

    def _has(self) -> Atom:
        rng = self.rng
        subject = self.name(events.ARRAYS)
        how = rng.choice(["any", "any", "all", "none"])
        array = elements(look_up(rng.choice(self.opened), subject.name)) or []
        usual = [value for value in array if isinstance(value, (bool, int, float, str))]
        pool = [value for value in usual if writable(value)]
        members = tuple(
            rng.choice(pool) if pool and rng.random() < 0.6 else self.scalar()
            for _ in range(rng.choice([1, 1, 2, 3]))
        )
        return Has(subject, how, members, rng.random() < 0.3)

    def _exists(self) -> Atom:
        return Exists(self.name(ALL_NAMES), self.rng.random() < 0.4)

    # -- constraints ---------------------------------------------------------------------------

    def _relation(self) -> Atom:
        """A comparison of attributes with one another, with or without arithmetic."""
        rng = self.rng
        if rng.random() < 0.3:
            names = rng.choice([NUMBER_NAMES, STRING_NAMES, events.BOOLEANS])
            left, right = self.name(names), self.name(names)
            return Compare(rng.choice(("=", "!=", *ORDERINGS)), left, right)
        return self._compare_terms(self.term([], 2), [])

    def _compare_terms(self, left: Term, scope: Sequence[str]) -> Atom:
        rng = self.rng
        right = self.term(scope, 1) if rng.random() < 0.5 else Constant(self.number())
        symbol = rng.choice(("=", "!=", *ORDERINGS, *ORDERINGS))
        return Compare(symbol, left, right)

    def term(self, scope: Sequence[str], depth: int) -> Term:
        """Arithmetic over the variables in scope, attributes and numbers; not of numbers alone."""
        rng = self.rng
        lone: Term = self.name(NUMBER_NAMES)
        if scope and rng.random() < 0.75:
            lone = Variable(rng.choice(scope))
        chance = rng.random()
        if not depth or chance < 0.25:
            return lone
        if chance < 0.33:
            return Minus(self.term(scope, depth - 1))
        other: Term = self.term(scope, depth - 1)
        if rng.random() < 0.65:
            small = rng.choice([1, 1, 2, 3, 2.5, 10, 0.5, -3])
            number = small if rng.random() < 0.9 else self.number()
            # An integral literal is an integer, however it is written (canonical text says so).
            other = Constant(int(number) if number == int(number) else number)
        symbol = rng.choice("+-*//")
        if symbol == "/" and isinstance(other, Constant) and not other.value:
            other = Constant(2)
        mine = self.term(scope, depth - 1)
        if rng.random() < 0.3:
            return Arithmetic(symbol, other, mine)
        return Arithmetic(symbol, mine, other)

    def constraint(self, scope: Sequence[str]) -> Atom:
        """A guard of one variable, or a constraint that relates several."""
        rng = self.rng
        subject = Variable(rng.choice(scope))
        if len(scope) > 1 and rng.random() < 0.5:
            return self._joint(scope)
        chance = rng.random()
        if chance < 0.25:
            return self.compare(subject, "number", self._bound)
        if chance < 0.35:
            return self.compare(subject, None, self._bound)
        if chance < 0.47:
            return self.member(subject, rng.choice(["number", None]), self._bound)
        if chance < 0.57:
            low, high = rng.randint(-1, 4), rng.randint(3, 12)
            return self.interval(subject, low, high)
        if chance < 0.6:
            return self.strings_between(subject)
        if chance < 0.67:
            return self.text(subject, str(self._bound("string")))
        if chance < 0.77:
            names = rng.choice([NUMBER_NAMES, NUMBER_NAMES, STRING_NAMES, events.BOOLEANS])
            right: Term = self.name(names)
            if len(scope) > 1 and rng.random() < 0.5:
                right = Variable(rng.choice(scope))
            return Compare(rng.choice(("=", "!=", *ORDERINGS)), subject, right)
        left: Term = subject if rng.random() < 0.4 else self.term(scope, 2)
        atom = self._compare_terms(left, scope)
        assert isinstance(atom, Compare)
        if isinstance(left, Variable) and isinstance(atom.right, Variable):
            atom = Compare(atom.symbol, left, Arithmetic("+", atom.right, Constant(1)))
        return atom

    def _joint(self, scope: Sequence[str]) -> Atom:
        """A constraint that relates two variables at least, in the manner of `?y > 2*?z + 1`."""
        rng = self.rng
        left, right = (Variable(name) for name in rng.sample(scope, 2))
        symbol = rng.choice(("=", "!=", *ORDERINGS, *ORDERINGS))
        chance = rng.random()
        if chance < 0.3:
            return Compare(symbol, left, right)
        scaled: Term = Arithmetic("*", Constant(rng.choice([2, 0.5, 1, -1, 3])), right)
        if chance < 0.6:
            return Compare(symbol, left, Arithmetic(rng.choice("+-"), scaled, self.term(scope, 0)))
        both = Arithmetic(rng.choice("+-*/"), left, rng.choice([right, scaled]))
        return Compare(symbol, both, rng.choice([Constant(self.number()), self.term(scope, 1)]))

    def _bound(self, wanted: str | None) -> Scalar:
        """A constant that an operator may well have bound."""
        rng = self.rng
        pool = [value for value in SOLUTION_VALUES if writable(value)]
        if wanted == "number" and rng.random() < 0.7:
            return rng.randint(0, 9)
        return rng.choice([value for value in pool if wanted in (None, kind(value))])

    # -- operator predicates -------------------------------------------------------------------

    def closed(self, negatable: bool = True) -> Predicate:
        """An operator predicate without variables, perhaps negated."""
        rng = self.rng
        spec = self.operators[rng.choice(sorted(self.operators))]
        arguments = tuple(Constant(self._argument(spec, name)) for name in spec.parameters)
        return Predicate(spec.name, arguments, negatable and rng.random() < 0.3)

    def open(self, scope: Sequence[str], fresh: Sequence[str]) -> Predicate | None:
        """An operator predicate with at least one variable; None where the operator takes none."""
        rng = self.rng
        spec = self.operators[rng.choice(sorted(self.operators))]
        wide = [found for found in self.operators.values() if found.most_solutions > 4]
        if wide and rng.random() < 0.3:
            spec = wide[0]
        places = [name for name in spec.parameters if not spec.outputs or name in spec.outputs]
        if not places:
            return None
        asked = set(rng.sample(places, rng.randint(1, len(places))))
        arguments: list[Constant | Variable] = []
        names = list(fresh)
        mine: list[str] = []
        for parameter in spec.parameters:
            if parameter not in asked:
                arguments.append(Constant(self._argument(spec, parameter)))
            elif mine and rng.random() < 0.25:
                arguments.append(Variable(rng.choice(mine)))
            elif scope and rng.random() < 0.35:
                arguments.append(Variable(rng.choice(scope)))
            else:
                mine.append(names.pop(0))
                arguments.append(Variable(mine[-1]))
        return Predicate(spec.name, tuple(arguments))

    def _argument(self, spec: Spec, parameter: str) -> Scalar:
        rng = self.rng
        if parameter in spec.outputs:
            return self._bound(rng.choice(["number", "number", None]))
        return rng.choice(ARGUMENTS[:3] if rng.random() < 0.6 else ARGUMENTS)
