"""Renders a condition tree as subscription text, in one of its many equivalent spellings.

Invariant: by the contract's grammar the text means the tree: `not` binds tightest, then `and`, then
`or`; no comma shares a level with an unparenthesized `or`; right of `=` an attribute is `$name`.
"""

from __future__ import annotations

import random
import re

from .literals import name_text, number_text, set_dimension, string_text, value_text
from .tree import (
    SWAPPED,
    And,
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
    Not,
    Or,
    Predicate,
    Range,
    Term,
    Variable,
    complement,
)
from .values import kind

SYMBOLS = {
    "=": ["=", "=", "=="],
    "!=": ["!=", "!=", "<>", "≠"],
    "<": ["<"],
    "<=": ["<=", "<=", "≤"],
    ">": [">"],
    ">=": [">=", ">=", "≥"],
}


class Speller:
    """Spells one text; `plain` keeps to the simplest spelling of everything."""

    def __init__(self, rng: random.Random, plain: bool = False) -> None:
        self.rng = rng
        self.plain = plain

    def chance(self, likelihood: float) -> bool:
        """Whether to do something unusual here."""
        return not self.plain and self.rng.random() < likelihood

    def word(self, keyword: str) -> str:
        """A keyword in some case."""
        if self.chance(0.15):
            return self.rng.choice([keyword.upper(), keyword.title(), keyword.swapcase()])
        return keyword

    def gap(self) -> str:
        """Space that has to be there."""
        return self.rng.choice(["  ", "\n", "\t", " \n  "]) if self.chance(0.06) else " "

    def maybe(self) -> str:
        """Space that need not be there."""
        return "" if self.chance(0.4) else self.gap()

    # -- connectives ---------------------------------------------------------------------------

    def text(self, condition: Condition) -> str:
        """A whole subscription."""
        found = self._level(condition)
        return f" {found}\n" if self.chance(0.05) else found

    def _level(self, condition: Condition) -> str:
        """A condition alone at its level: the top, or within parentheses."""
        if isinstance(condition, And):
            return self._and(condition, commas=True)
        if isinstance(condition, Or):
            return self._or(condition)
        return self._operand(condition)

    def _closed(self, condition: Condition) -> str:
        """A condition in parentheses or, without an `or` at its level, in braces."""
        if not isinstance(condition, Or) and self.chance(0.25):
            return f"{{{self.maybe()}{self._level(condition)}{self.maybe()}}}"
        inner = self._level(condition)
        return f"({self.maybe()}{inner}{self.maybe()})" if self.chance(0.3) else f"({inner})"

    def _and(self, condition: And, commas: bool) -> str:
        found = ""
        for place, part in enumerate(condition.parts):
            if isinstance(part, And) and self.chance(0.4):
                piece = self._and(part, commas)
            elif isinstance(part, (And, Or)):
                piece = self._closed(part)
            else:
                piece = self._operand(part)
            found += (self._join_and(commas) if place else "") + piece
        return found

    def _join_and(self, commas: bool) -> str:
        spellings = ["∧", "&&"] + [","] * (4 if commas else 0)
        sign = self.rng.choice(spellings)
        if self.plain or self.rng.random() < 0.45:
            return f"{self.gap()}{self.word('and')}{self.gap()}"
        return f"{self.maybe()}{sign}{self.maybe()}"

    def _or(self, condition: Or) -> str:
        found = ""
        for place, part in enumerate(condition.parts):
            if isinstance(part, Or):
                piece = self._or(part) if self.chance(0.4) else self._closed(part)
            elif isinstance(part, And):
                piece = self._closed(part) if self.chance(0.5) else self._and(part, commas=False)
            else:
                piece = self._operand(part)
            sign = self.rng.choice(["∨", "||"])
            if self.plain or self.rng.random() < 0.6:
                joint = f"{self.gap()}{self.word('or')}{self.gap()}"
            else:
                joint = f"{self.maybe()}{sign}{self.maybe()}"
            found += (joint if place else "") + piece
        return found

    def _operand(self, condition: Condition) -> str:
        """What `not` can stand before, or something with its own `not`."""
        if isinstance(condition, (And, Or)):
            return self._closed(condition)
        if self.chance(0.06):
            return self._closed(condition)
        if isinstance(condition, Not):
            return self._not() + self._operand(condition.part)
        if self.chance(0.05) and not isinstance(condition, Predicate):
            return self._not() + self._operand(complement(condition))
        return self._atom(condition)

    def _not(self) -> str:
        if self.plain or self.rng.random() < 0.5:
            return f"{self.word('not')}{self.gap()}"
        return self.rng.choice(["!", "¬"]) + self.maybe()

    # -- atoms ---------------------------------------------------------------------------------

    def _atom(self, atom: Atom) -> str:
        if isinstance(atom, Compare):
            return self._compare(atom)
        if isinstance(atom, Predicate):
            arguments = f",{self.maybe()}".join(
                f"?{argument.name}"
                if isinstance(argument, Variable)
                else self._value(argument.value)
                for argument in atom.arguments
            )
            call = f"{name_text(self.rng, atom.operator, 0)}({arguments})"
            return f"{self._not()}{call}" if atom.negated else call
        if isinstance(atom, Member):
            return self._member(atom)
        if isinstance(atom, Range):
            return self._range(atom)
        if isinstance(atom, Has):
            return self._has(atom)
        if isinstance(atom, Exists):
            name = name_text(self.rng, atom.subject.name, 0 if self.plain else 0.05)
            found = f"{self.word('exists')}({name})"
        else:
            words = self.gap().join(self.word(word) for word in atom.how.split())
            value = string_text(self.rng, atom.value, self.plain)
            found = f"{self._subject(atom.subject)} {words} {value}"
        return f"{self._not()}{found}" if atom.negated else found

    def _subject(self, subject: Attribute | Variable) -> str:
        if isinstance(subject, Variable):
            return f"?{subject.name}"
        return self._attribute(subject, dollar=self.chance(0.04))

    def _attribute(self, attribute: Attribute, dollar: bool) -> str:
        name = name_text(self.rng, attribute.name, 0 if self.plain else 0.05)
        return f"${name}" if dollar else name

    def _value(self, value: object, bare: bool = True) -> str:
        """A lone constant, with a unit now and then."""
        dimension = set_dimension(self.rng, [value]) if self.chance(0.25) else None
        return value_text(self.rng, value, self.plain, dimension, bare)

    def _values(self, values: tuple[object, ...]) -> str:
        dimension = set_dimension(self.rng, values) if self.chance(0.15) else None
        texts = [value_text(self.rng, value, self.plain, dimension, True) for value in values]
        if self.chance(0.15):
            texts.append(self.rng.choice(texts))
        inner = f"{self.maybe()},{self.gap()}".join(texts) if self.chance(0.1) else ", ".join(texts)
        return f"{{{inner}}}"

    def _member(self, atom: Member) -> str:
        if len(atom.members) == 1 and self.chance(0.3):
            symbol = "!=" if atom.negated else "="
            return self._compare(Compare(symbol, atom.subject, Constant(atom.members[0])))
        return (
            f"{self._subject(atom.subject)} {self._in(atom.negated)} {self._values(atom.members)}"
        )

    def _in(self, negated: bool) -> str:
        if self.chance(0.3):
            return "∉" if negated else "∈"
        return f"{self.word('not')}{self.gap()}{self.word('in')}" if negated else self.word("in")

    def _range(self, atom: Range) -> str:
        subject = self._subject(atom.subject)
        ends = [atom.low, atom.high]
        numbers = kind(atom.low) == "number"
        dimension = set_dimension(self.rng, ends) if numbers and self.chance(0.15) else None
        low, high = [value_text(self.rng, end, self.plain, dimension, False) for end in ends]
        closed = atom.low_closed and atom.high_closed
        if numbers and (not closed or self.chance(0.4)):
            left, right = "[" if atom.low_closed else "(", "]" if atom.high_closed else ")"
            comma = f",{self.maybe()}"
            return f"{subject} {self._in(atom.negated)} {left}{low}{comma}{high}{right}"
        found = f"{subject} {self.word('between')} {low} {self.word('and')} {high}"
        return f"{self._not()}{found}" if atom.negated else found

    def _has(self, atom: Has) -> str:
        negated, how = atom.negated, atom.how
        if how in ("any", "none") and self.chance(0.3):
            negated, how = not negated, "none" if how == "any" else "any"
        found = f"{self._subject(atom.subject)} {self.word('has')} "
        if how == "any" and len(atom.members) == 1 and self.rng.random() < 0.7:
            found += self._value(atom.members[0])
        else:
            found += f"{self.word(how)} {self._values(atom.members)}"
        return f"{self._not()}{found}" if negated else found

    # -- comparisons ---------------------------------------------------------------------------

    def _compare(self, atom: Compare) -> str:
        left, symbol, right = atom.left, atom.symbol, atom.right
        if self.chance(0.2):
            left, symbol, right = right, SWAPPED[symbol], left
        equality = symbol in ("=", "!=")
        literal_left = isinstance(left, Constant)
        before = self._side(left, dollar=False, bare=False)
        # Right of `=` a lone bare name would be a string, unless a constant stands on the left.
        free = not equality or (literal_left and isinstance(right, Attribute))
        after = self._side(right, dollar=not free, bare=equality)
        sign = self.rng.choice(SYMBOLS[symbol]) if not self.plain else symbol
        tight = self.chance(0.15) and not re.search("[-+]$", before) and after[0] not in "-+!"
        return f"{before}{sign}{after}" if tight else f"{before} {sign} {after}"

    def _side(self, term: Term, dollar: bool, bare: bool) -> str:
        if isinstance(term, Constant):
            return self._value(term.value, bare)
        tight = self.chance(0.3)
        if isinstance(term, (Arithmetic, Minus)) and self.chance(0.15):
            return f"({self._term(term, 0, dollar, tight)})"
        return self._term(term, 0, dollar, tight)

    def _term(self, term: Term, binding: int, dollar: bool, tight: bool) -> str:
        """A term that binds at least so strongly: 1 for + and -, 2 for * and /, 3 for a sign."""
        if isinstance(term, Constant):
            assert isinstance(term.value, (int, float))
            length = None if tight else set_dimension(self.rng, [term.value], ["length"])
            unit = length if self.chance(0.1) else None
            found = number_text(self.rng, term.value, self.plain, unit, signed=False)
            negative = found.startswith("-") and binding > 1
            return f"({found})" if negative or self.chance(0.03) else found
        if isinstance(term, Variable):
            return f"(?{term.name})" if self.chance(0.03) else f"?{term.name}"
        if isinstance(term, Attribute):
            return self._attribute(term, dollar or self.chance(0.25))
        if isinstance(term, Minus):
            inner = self._term(term.term, 4, dollar, tight)
            return f"(-{inner})" if binding > 2 else f"-{inner}"
        own = 1 if term.symbol in "+-" else 2
        left = self._term(term.left, own, dollar, tight)
        right = self._term(term.right, own + 1, dollar, tight)
        space = "" if tight else " "
        found = f"{left}{space}{term.symbol}{space}{right}"
        return f"({found})" if own < binding or self.chance(0.05) else found


def spell(condition: Condition, seed: str, plain: bool = False) -> str:
    """The text of a condition; the same seed gives the same spelling."""
    return Speller(random.Random(seed), plain).text(condition)
