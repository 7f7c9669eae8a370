"""Defines the atoms of a condition: attribute predicates, operator predicates, and constraints."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tamis.language.comparison import Comparison
from tamis.language.constraint import Constraint
from tamis.language.text import constant_text, marked_text, name_text
from tamis.language.values import Scalar, kind_of

ITSELF = "\0itself:"
"""The prefix of derived attributes themselves, which no key of an event has."""
DISJUNCTIONS = f"{ITSELF}\0disjunctions"


@dataclass(frozen=True, slots=True)
class AttributePredicate:
    """A comparison of an attribute with constants; cheap, and decided by the index."""

    attribute: str
    comparison: Comparison

    @property
    def key(self) -> tuple[object, ...]:
        """Equal exactly when the predicates are."""
        return (self.attribute, *self.comparison.key)

    def complement(self) -> tuple[AttributePredicate, ...]:
        """Returns predicates: one holds when this one does not though the attribute is there."""
        meant = self.comparison.complement()
        return tuple(AttributePredicate(self.attribute, each) for each in meant)

    def text(self) -> str:
        """Returns canonical text."""
        return self.comparison.text(name_text(self.attribute))


@dataclass(frozen=True, slots=True)
class Disjunction(AttributePredicate):
    """A clause of a condition on attributes alone: one of several attribute predicates holds.

    To whoever knows conjunctions alone it is an attribute predicate like any other: it asks whether
    the array of the disjunctions that hold, an attribute that no text can name, has this one."""

    parts: tuple[AttributePredicate, ...]

    @classmethod
    def of(cls, parts: tuple[AttributePredicate, ...]) -> Disjunction:
        """Returns the disjunction of some predicates."""
        words = f"({' or '.join(part.text() for part in parts)})"
        return cls(DISJUNCTIONS, Comparison("has", words), parts)

    def text(self) -> str:
        """Returns canonical text."""
        return str(self.comparison.value)


def parts_of(predicate: AttributePredicate) -> tuple[AttributePredicate, ...]:
    """Returns the predicates of which one has to hold: it alone, where it is no disjunction."""
    return predicate.parts if isinstance(predicate, Disjunction) else (predicate,)


@dataclass(frozen=True, slots=True)
class VariableArgument:
    """A variable in an operator predicate, by the name the user gave it."""

    name: str


Argument = Scalar | VariableArgument


@dataclass(frozen=True, slots=True, eq=False)
class OperatorPredicate:
    """An operator with its arguments; expensive, and decided by a call."""

    name: str
    arguments: tuple[Argument, ...]
    offsets: tuple[int, ...] = field(default=(), compare=False)
    """The start of each argument, counted from the start of the atom."""
    variables: tuple[str, ...] = field(init=False, repr=False)
    """The names of its variables, each once, in order."""

    def __post_init__(self) -> None:
        names = [each.name for each in self.arguments if isinstance(each, VariableArgument)]
        object.__setattr__(self, "variables", tuple(dict.fromkeys(names)))

    @property
    def key(self) -> tuple[object, ...]:
        """Equal exactly when the predicates are, letter by letter in their variables."""
        return self.renamed_key(None)

    def renamed_key(self, names: Mapping[str, str] | None) -> tuple[object, ...]:
        """Returns a key that is equal exactly when predicates are once variables are renamed."""
        parts: list[object] = [self.name]
        for argument in self.arguments:
            if isinstance(argument, VariableArgument):
                parts.append(argument if names is None else names[argument.name])
            else:
                parts.append((kind_of(argument), argument))
        return tuple(parts)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OperatorPredicate) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    def text(self, names: Mapping[str, str] | None = None) -> str:
        """Returns canonical text, with its variables renamed when names are given."""
        words = ", ".join(
            marked_text("?", argument.name if names is None else names[argument.name])
            if isinstance(argument, VariableArgument)
            else constant_text(argument, bare=True)
            for argument in self.arguments
        )
        return f"{name_text(self.name)}({words})"


Atom = AttributePredicate | OperatorPredicate | Constraint


def atom_key(atom: Atom, *, negated: bool) -> tuple[object, ...]:
    """Returns a key that is equal exactly when two atoms of one sign are the same."""
    if isinstance(atom, Constraint):
        return ("constraint", atom.text())
    return (negated, *atom.key)
