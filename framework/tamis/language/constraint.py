"""Decides constraints: comparisons over variables and attributes, compiled once.

An expression is a flat postfix program, so that a thousand terms need no stack of ours or of
Python's. Arithmetic is exact on integers; on an absent or non-numeric value, a division by zero or
an overflow it has no value, and then a comparison and its complement are both false.
Cost of a decision: linear in the terms.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tamis.language.comparison import COMPLEMENTS, RELATIONS, Comparison
from tamis.language.text import constant_text, marked_text, name_text
from tamis.language.values import Scalar, canonical_number

Values = Sequence[Scalar | None]


class AttributeReference(NamedTuple):
    """A variable (`?name`) or an attribute (`$name`) that an expression reads."""

    sigil: str
    name: str


class ConstantTerm(NamedTuple):
    """A constant inside an expression."""

    value: Scalar


class Operation(NamedTuple):
    """An arithmetic operation on the one or two values before it."""

    symbol: str
    operands: int


Step = AttributeReference | ConstantTerm | Operation

NEGATION = Operation("-", 1)
ADD, SUBTRACT, MULTIPLY, DIVIDE = (Operation(symbol, 2) for symbol in "+-*/")
_STRENGTH = {"+": 1, "-": 1, "*": 2, "/": 2}
_UNARY, _ATOM = 3, 4
_MOST_BITS = 3_322
"""An integer of more than 1,000 digits is an overflow."""
_FUNCTIONS: dict[Operation, Callable[..., Any]] = {
    NEGATION: operator.neg,
    ADD: operator.add,
    SUBTRACT: operator.sub,
    MULTIPLY: operator.mul,
    DIVIDE: operator.truediv,
}


@dataclass(frozen=True, slots=True)
class Expression:
    """Arithmetic over references and constants, or just one of them."""

    steps: tuple[Step, ...]

    @property
    def references(self) -> tuple[AttributeReference, ...]:
        """The attributes that it reads, each once, in order."""
        return tuple(
            dict.fromkeys(step for step in self.steps if isinstance(step, AttributeReference))
        )

    @property
    def lone(self) -> Step | None:
        """Its only step, when there is no arithmetic."""
        return self.steps[0] if len(self.steps) == 1 else None

    def folded(self) -> Expression:
        """Returns a constant in the place of arithmetic over constants that has a value."""
        if len(self.steps) == 1 or self.references:
            return self
        value = self.compiled({})(())
        return self if value is None else Expression((ConstantTerm(canonical_number(value)),))

    def renamed(self, names: Mapping[str, str]) -> Expression:
        """Returns the same with its variables renamed."""
        return Expression(
            tuple(
                AttributeReference("?", names[step.name])
                if isinstance(step, AttributeReference) and step.sigil == "?"
                else step
                for step in self.steps
            )
        )

    def text(self, *, sigils: bool) -> str:
        """Returns canonical text; attributes as `$name` where `sigils` says so."""
        stack: list[tuple[str, int]] = []
        for step in self.steps:
            if isinstance(step, AttributeReference):
                bare = step.sigil == "$" and not sigils
                text = name_text(step.name) if bare else marked_text(step.sigil, step.name)
                stack.append((text, _ATOM))
            elif isinstance(step, ConstantTerm):
                text = constant_text(step.value)
                stack.append((text, _UNARY if text.startswith("-") else _ATOM))
            elif step.operands == 1:
                inner, strength = stack.pop()
                stack.append((f"-{_grouped(inner, strength, _UNARY)}", _UNARY))
            else:
                right, right_strength = stack.pop()
                left, left_strength = stack.pop()
                strength = _STRENGTH[step.symbol]
                left = _grouped(left, left_strength, strength)
                right = _grouped(right, right_strength, strength + 1)
                stack.append((f"{left} {step.symbol} {right}", strength))
        return stack[0][0]

    def compiled(self, slots: Mapping[AttributeReference, int]) -> Callable[[Values], Any]:
        """Returns the function from values, at their slots, to the expression's value or `None`."""
        lone = self.lone
        if isinstance(lone, ConstantTerm):
            return lambda values: lone.value
        if isinstance(lone, AttributeReference):
            return operator.itemgetter(slots[lone])
        program = tuple(
            (slots[step], None)
            if isinstance(step, AttributeReference)
            else (-1, step.value)
            if isinstance(step, ConstantTerm)
            else (-step.operands - 1, _FUNCTIONS[step])
            for step in self.steps
        )
        return lambda values: _run(program, values)


def _grouped(text: str, strength: int, needed: int) -> str:
    return text if strength >= needed else f"({text})"


def _run(program: tuple[tuple[int, Any], ...], values: Values) -> int | float | None:
    """Runs a postfix program: a slot, -1 with a constant, -2 and -3 with a function."""
    stack: list[Any] = []
    try:
        for code, operand in program:
            if code >= 0:
                value = values[code]
                if type(value) is not int and type(value) is not float:
                    return None
                stack.append(value)
            elif code == -1:
                stack.append(operand)
            else:
                right = stack.pop()
                value = operand(right) if code == -2 else operand(stack.pop(), right)
                if type(value) is float:
                    if not math.isfinite(value):
                        return None
                elif value.bit_length() > _MOST_BITS:
                    return None
                stack.append(value)
    except (ZeroDivisionError, OverflowError):
        return None
    result: int | float = stack[0]
    return result


@dataclass(frozen=True, slots=True)
class Constraint:
    """`left` compared with constants, or by `op` with the expression `right`."""

    left: Expression
    comparison: Comparison | None = None
    op: str = ""
    right: Expression | None = None
    guessed: tuple[str, ...] = field(default=(), compare=False)
    """Attributes that were written as bare names beside an ordering."""

    @property
    def references(self) -> tuple[AttributeReference, ...]:
        """The attributes that it reads, each once."""
        right = () if self.right is None else self.right.references
        return tuple(dict.fromkeys((*self.left.references, *right)))

    @property
    def variables(self) -> tuple[str, ...]:
        """The names of the variables it reads."""
        return tuple(each.name for each in self.references if each.sigil == "?")

    @property
    def attributes(self) -> tuple[str, ...]:
        """The names of the attributes it reads."""
        return tuple(each.name for each in self.references if each.sigil == "$")

    def complement(self) -> tuple[Constraint, ...]:
        """Returns constraints: one holds when this one does not though its values are there."""
        if self.comparison is not None:
            return tuple(
                Constraint(self.left, comparison) for comparison in self.comparison.complement()
            )
        op = COMPLEMENTS[self.op]
        return (Constraint(self.left, None, op, self.right, self.guessed),)

    def renamed(self, names: Mapping[str, str]) -> Constraint:
        """Returns the same with its variables renamed."""
        right = None if self.right is None else self.right.renamed(names)
        return Constraint(self.left.renamed(names), self.comparison, self.op, right)

    def text(self) -> str:
        """Returns canonical text: attributes bare on the left, as `$name` on the right."""
        left = self.left.text(sigils=False)
        if self.comparison is not None:
            return self.comparison.text(left)
        assert self.right is not None
        return f"{left} {self.op} {self.right.text(sigils=True)}"

    def compiled(self, slots: Mapping[AttributeReference, int]) -> Callable[[Values], bool]:
        """Returns the function that decides it from values at their slots."""
        left = self.left.compiled(slots)
        if self.comparison is not None:
            holds = self.comparison.compiled()
            return lambda values: holds(left(values))
        assert self.right is not None
        relation, right = RELATIONS[self.op], self.right.compiled(slots)
        ordering = self.op not in ("=", "!=")

        def related(values: Values) -> bool:
            first, second = left(values), right(values)
            if not _comparable(first, second) or (ordering and type(first) is bool):
                return False
            return relation(first, second)

        return related


def _comparable(first: Any, second: Any) -> bool:
    """Returns whether both are there and of one kind."""
    one, other = type(first), type(second)
    if one is other:
        return first is not None
    return {one, other} == {int, float}
