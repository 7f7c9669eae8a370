"""Random condition trees that the contract accepts.

Invariant: every variable is bound by a positive operator predicate of each alternative it occurs
in, for a conjunction first draws what binds, then what uses it; nothing under a `not` binds.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from .atoms import Atoms
from .tree import (
    And,
    Condition,
    Not,
    Or,
    Predicate,
    alternatives,
    count_alternatives,
    is_sound,
    variables,
)

MOST_ALTERNATIVES = 48
VARIABLES = ("x", "y", "n", "t", "größe", "x1", "people", "z.z")


class Conditions:
    """Draws conditions for one world."""

    def __init__(self, rng: random.Random, atoms: Atoms) -> None:
        self.rng = rng
        self.atoms = atoms

    def draw(self) -> Condition:
        """A whole condition: small enough, sound, and hardly ever trivial."""
        while True:
            condition = self._condition(self.rng.choice([1, 2, 2, 2, 3]), (), False)
            if (
                count_alternatives(condition) <= MOST_ALTERNATIVES
                and is_sound(condition)
                and self._is_cheap(condition)
            ):
                return condition

    def _is_cheap(self, condition: Condition) -> bool:
        """Whether no alternative asks the wide operator more than twice."""
        wide = {name for name, spec in self.atoms.operators.items() if spec.most_solutions > 4}
        return all(
            sum(isinstance(atom, Predicate) and atom.operator in wide for atom in alternative) <= 2
            for alternative in (alternatives(condition) if wide else [])
        )

    def _condition(self, depth: int, scope: tuple[str, ...], negated: bool) -> Condition:
        rng = self.rng
        chance = rng.random()
        if not depth or chance < 0.1:
            return self._leaf(scope, negated)
        if chance < 0.22:
            return Not(self._condition(depth - 1, scope, True))
        if chance < 0.47:
            number = rng.choice([2, 2, 3])
            return Or(tuple(self._condition(depth - 1, scope, negated) for _ in range(number)))
        return self._conjunction(depth, scope, negated)

    def _leaf(self, scope: tuple[str, ...], negated: bool) -> Condition:
        rng = self.rng
        chance = rng.random()
        if scope and chance < 0.5:
            return self.atoms.constraint(scope)
        if chance < 0.65 or (negated and chance < 0.8):
            return self.atoms.attribute()
        if chance < 0.85:
            return self.atoms.closed()
        if negated:
            return self.atoms.attribute()
        return self._binder(scope)[0]

    def _binder(self, scope: tuple[str, ...]) -> tuple[Condition, tuple[str, ...]]:
        """Something that binds variables, and the scope it leaves to its neighbors."""
        rng = self.rng
        first = self._open(scope, [name for name in self._fresh() if name not in scope])
        bound = tuple(sorted(variables(first) | set(scope)))
        if rng.random() < 0.15:
            for _ in range(10):
                second = self._open((), rng.sample(sorted(variables(first)), len(variables(first))))
                if variables(second) == variables(first):
                    return Or((first, second)), bound
        return first, bound

    def _open(self, scope: tuple[str, ...], fresh: list[str]) -> Predicate:
        while True:
            try:
                found = self.atoms.open(scope, fresh)
            except IndexError:  # more places than names; another operator may have fewer
                continue
            if found is not None:
                return found

    def _fresh(self) -> list[str]:
        common = list(VARIABLES[:3])
        self.rng.shuffle(common)
        return [*common, *self.rng.sample(VARIABLES[3:], len(VARIABLES) - 3)]

    def _conjunction(self, depth: int, scope: tuple[str, ...], negated: bool) -> Condition:
        rng = self.rng
        parts: list[Condition] = []
        if not negated:
            for _ in range(rng.choice([0, 0, 1, 1, 2, 2])):
                binder, scope = self._binder(scope)
                parts.append(binder)
        draws: list[Callable[[], Condition]] = [
            lambda: self._leaf(scope, negated),
            lambda: self._condition(depth - 1, scope, negated),
        ]
        number = rng.choice([0, 1, 1, 2]) if parts else rng.choice([2, 2, 3])
        parts += [rng.choice(draws)() for _ in range(number)]
        rng.shuffle(parts)
        return And(tuple(parts)) if len(parts) > 1 else parts[0]
