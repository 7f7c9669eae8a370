"""Represents a condition as a tree: terms, atoms, and the connectives over them.

Invariant: an atom is its own smallest meaning, so that the complement of an atom is an atom again;
nothing here knows about text or about events. Variables carry no question mark.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from .values import Scalar


@dataclass(frozen=True)
class Attribute:
    """The value that the event has under a name."""

    name: str


@dataclass(frozen=True)
class Variable:
    """The value that an operator bound."""

    name: str


@dataclass(frozen=True)
class Constant:
    """A number, a string or a boolean of the text."""

    value: Scalar


@dataclass(frozen=True)
class Arithmetic:
    """`left symbol right`, with one of + - * /."""

    symbol: str
    left: Term
    right: Term


@dataclass(frozen=True)
class Minus:
    """The unary minus of something that is not a literal."""

    term: Term


Term = Attribute | Variable | Constant | Arithmetic | Minus
Subject = Attribute | Variable


@dataclass(frozen=True)
class Compare:
    """One of = != < <= > >= over two terms."""

    symbol: str
    left: Term
    right: Term


@dataclass(frozen=True)
class Member:
    """`in {…}` and `not in {…}`."""

    subject: Subject
    members: tuple[Scalar, ...]
    negated: bool = False


@dataclass(frozen=True)
class Range:
    """An interval of numbers, or a closed range of strings."""

    subject: Subject
    low: int | float | str
    high: int | float | str
    low_closed: bool = True
    high_closed: bool = True
    negated: bool = False


@dataclass(frozen=True)
class Text:
    """`starts with`, `ends with`, `contains`, `matches`."""

    subject: Subject
    how: str
    value: str
    negated: bool = False


@dataclass(frozen=True)
class Has:
    """`has any`, `has all`, `has none`; `has x` is `has any {x}`."""

    subject: Attribute
    how: str
    members: tuple[Scalar, ...]
    negated: bool = False


@dataclass(frozen=True)
class Exists:
    """Whether the event has anything under a name."""

    subject: Attribute
    negated: bool = False


@dataclass(frozen=True)
class Predicate:
    """An operator predicate: `operator(argument, …)`."""

    operator: str
    arguments: tuple[Constant | Variable, ...]
    negated: bool = False


Atom = Compare | Member | Range | Text | Has | Exists | Predicate


@dataclass(frozen=True)
class And:
    """All of them."""

    parts: tuple[Condition, ...]


@dataclass(frozen=True)
class Or:
    """One of them at least."""

    parts: tuple[Condition, ...]


@dataclass(frozen=True)
class Not:
    """The complement."""

    part: Condition


Condition = And | Or | Not | Atom

COMPLEMENT = {"=": "!=", "!=": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
SWAPPED = {"=": "=", "!=": "!=", "<": ">", ">": "<", "<=": ">=", ">=": "<="}


def complement(atom: Atom) -> Atom:
    """The atom that is true of the same kinds of values, where this one is false."""
    if isinstance(atom, Compare):
        return Compare(COMPLEMENT[atom.symbol], atom.left, atom.right)
    return replace(atom, negated=not atom.negated)


def push_down(condition: Condition, negated: bool = False) -> Condition:
    """The same condition with every `not` inside the atoms (De Morgan)."""
    if isinstance(condition, Not):
        return push_down(condition.part, not negated)
    if isinstance(condition, (And, Or)):
        parts = tuple(push_down(part, negated) for part in condition.parts)
        return And(parts) if isinstance(condition, And) != negated else Or(parts)
    return complement(condition) if negated else condition


def alternatives(condition: Condition, negated: bool = False) -> list[list[Atom]]:
    """The disjunctive normal form, by plain multiplication, nothing merged or dropped."""
    pushed = push_down(condition, negated)
    if isinstance(pushed, Or):
        return [found for part in pushed.parts for found in alternatives(part)]
    if isinstance(pushed, And):
        product: list[list[Atom]] = [[]]
        for part in pushed.parts:
            product = [done + more for done in product for more in alternatives(part)]
        return product
    assert not isinstance(pushed, Not)
    return [[pushed]]


def count_alternatives(condition: Condition) -> int:
    """How many alternatives there would be, without making them."""

    def count(pushed: Condition) -> int:
        if isinstance(pushed, Or):
            return sum(count(part) for part in pushed.parts)
        if isinstance(pushed, And):
            product = 1
            for part in pushed.parts:
                product *= count(part)
            return product
        return 1

    return count(push_down(condition))


def atoms(condition: Condition) -> Iterator[Atom]:
    """Every atom of a condition, left to right."""
    if isinstance(condition, Not):
        yield from atoms(condition.part)
    elif isinstance(condition, (And, Or)):
        for part in condition.parts:
            yield from atoms(part)
    else:
        yield condition


def term_variables(term: Term) -> set[str]:
    """The variables of a term."""
    if isinstance(term, Variable):
        return {term.name}
    if isinstance(term, Arithmetic):
        return term_variables(term.left) | term_variables(term.right)
    return term_variables(term.term) if isinstance(term, Minus) else set()


def variables(atom: Atom) -> set[str]:
    """The variables of an atom."""
    if isinstance(atom, Compare):
        return term_variables(atom.left) | term_variables(atom.right)
    if isinstance(atom, Predicate):
        return {argument.name for argument in atom.arguments if isinstance(argument, Variable)}
    return term_variables(atom.subject)


def is_sound(condition: Condition) -> bool:
    """Whether the contract accepts its variables: all bound, none under a `not`."""
    for alternative in alternatives(condition):
        bound: set[str] = set()
        for atom in alternative:
            if isinstance(atom, Predicate):
                if atom.negated and variables(atom):
                    return False
                bound |= variables(atom)
        if any(variables(atom) - bound for atom in alternative):
            return False
    return True
