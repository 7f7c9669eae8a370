"""Joins the solutions of several operator predicates, within bounds.

Atoms are joined by hash on shared variables, constraints checked as soon as their variables are
bound, depth first with a stack of our own, so that the first assignment comes early and a search
may be cut. Hash tables are made when a search first needs them, and shared by all that are given
the same place for them. Cost: the sum of the atoms' solutions and the steps taken, at most `steps`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from itertools import islice, pairwise, product

from tamis.event import Event
from tamis.language.constraint import AttributeReference, Constraint, Values
from tamis.language.values import Scalar, identity
from tamis.operators.asking import Solution, Test, attribute_slots

Relation = tuple[int, Sequence[Solution]]
"""Rows, and the number that they are known by."""
JoinTable = dict[object, list[Solution]]
JoinTables = dict[tuple[int, tuple[int, ...]], JoinTable]
"""By the number of a relation and the places that are bound."""

_CHOICES = 16
_PREFIXES = 32


class JoinAtom:
    """An operator predicate of an alternative: its test, and its variables by slot."""

    __slots__ = ("names", "test")

    def __init__(self, test: Test, names: tuple[str, ...]) -> None:
        self.test = test
        self.names = names


class _SearchSteps:
    """The steps that a search may still take. Who enumerates holds this and not the search, which
    holds who enumerates."""

    __slots__ = ("are_over", "left")

    def __init__(self, left: int) -> None:
        self.left = left
        self.are_over = False
        """True if they ended the search before its end."""


class Search:
    """One join being enumerated; what it has found so far is kept."""

    def __init__(self, steps: _SearchSteps, more: Iterator[Solution]) -> None:
        self._steps = steps
        self._more = more
        self.found: list[Solution] = []
        self._lock = threading.Lock()

    @property
    def cut(self) -> bool:
        """True if it stopped before its end."""
        return self._steps.are_over

    def first(self) -> Solution | None:
        """Returns the first assignment, `None` if there is none or the search was cut."""
        return next(iter(self.first_of(1)), None)

    def first_of(self, count: int) -> list[Solution]:
        """Returns so many assignments, or all that there are."""
        with self._lock:
            self.found += islice(self._more, max(0, count - len(self.found)))
            return self.found[:count]


class Join:
    """Some atoms of an alternative together, with the constraints over their variables.

    A constraint over the variables of one of the atoms has guarded its test already."""

    def __init__(self, atoms: Sequence[JoinAtom], constraints: Sequence[Constraint]) -> None:
        self.atoms = tuple(atoms)
        self.variables = tuple(dict.fromkeys(name for atom in atoms for name in atom.names))
        bound = set(self.variables)
        covered = [
            each
            for each in constraints
            if bound.issuperset(each.variables) and not _guards(each, atoms)
        ]
        self._attributes = tuple(
            dict.fromkeys(name for each in covered for name in each.attributes)
        )
        slots = {AttributeReference("?", name): at for at, name in enumerate(self.variables)}
        slots |= attribute_slots(self._attributes, len(self.variables))
        self._constraints = [(set(each.variables), each.compiled(slots)) for each in covered]
        self.is_relation = not covered and [self.variables] == [each.names for each in self.atoms]
        """True if its assignments are the rows of its only atom."""

    def search(
        self, relations: Sequence[Relation], event: Event, steps: int, tables: JoinTables
    ) -> Search:
        """Enumerates the assignments, as values of `variables` in order."""
        left, rows = _SearchSteps(steps), relations[0][1]
        if self.is_relation and len(rows) <= steps:
            return Search(left, iter(rows))
        return Search(left, self._assignments(relations, event, left, tables))

    def _assignments(
        self, relations: Sequence[Relation], event: Event, steps: _SearchSteps, tables: JoinTables
    ) -> Iterator[Solution]:
        places = {name: at for at, name in enumerate(self.variables)}
        values: list[Scalar | None] = [None] * len(self.variables)
        values += [event.scalar(name) for name in self._attributes]
        stages = self._stages(relations, places, tables)
        last = len(stages) - 1
        open_rows = [stages[0].rows(values)]
        while open_rows:
            depth = len(open_rows) - 1
            stage = stages[depth]
            row = next(open_rows[-1], None)
            if row is None:
                open_rows.pop()
                continue
            if steps.left <= 0:
                steps.are_over = True
                return
            steps.left -= 1
            for at, place in stage.fills:
                values[at] = row[place]
            if not all(holds(values) for holds in stage.constraints):
                continue
            if depth == last:
                yield tuple(values[: len(self.variables)])  # type: ignore[arg-type]
            else:
                open_rows.append(stages[depth + 1].rows(values))

    def _stages(
        self, relations: Sequence[Relation], places: dict[str, int], tables: JoinTables
    ) -> list[_Stage]:
        """Returns the atoms in order: the smallest first, then the smallest connected with it."""
        left = list(range(len(self.atoms)))
        bound: set[str] = set()
        waiting = list(self._constraints)
        stages = []
        while left:
            chosen = min(
                left,
                key=lambda at: (
                    bool(bound) and bound.isdisjoint(self.atoms[at].names),
                    len(relations[at][1]),
                    at,
                ),
            )
            left.remove(chosen)
            names = self.atoms[chosen].names
            shared = tuple(at for at, name in enumerate(names) if name in bound)
            fills = [(places[name], at) for at, name in enumerate(names) if name not in bound]
            bound.update(names)
            ready = [holds for needed, holds in waiting if needed <= bound]
            waiting = [each for each in waiting if not each[0] <= bound]
            keys = [places[names[at]] for at in shared]
            stages.append(_Stage(relations[chosen], shared, keys, fills, ready, tables))
        return stages


def _guards(constraint: Constraint, atoms: Sequence[JoinAtom]) -> bool:
    """Returns whether one of the atoms binds all variables of the constraint."""
    return any(set(constraint.variables).issubset(atom.names) for atom in atoms)


class _Stage:
    """One atom on its turn: its rows by the values that are already bound."""

    def __init__(
        self,
        relation: Relation,
        shared: tuple[int, ...],
        keys: list[int],
        fills: list[tuple[int, int]],
        constraints: list[Callable[[Values], bool]],
        tables: JoinTables,
    ) -> None:
        self.fills = fills
        """The places of its values, and which of them."""
        self.constraints = constraints
        self._relation = relation
        self._shared = shared
        self._keys = keys
        self._tables = tables

    def rows(self, values: Sequence[Scalar | None]) -> Iterator[Solution]:
        """Returns the rows that have the values that are bound."""
        number, rows = self._relation
        if not self._shared:
            return iter(rows)
        table = self._tables.get((number, self._shared))
        if table is None:
            table = self._tables[number, self._shared] = _table(rows, self._shared)
        if len(self._keys) == 1:
            value = values[self._keys[0]]
            return iter(table.get((value,) if isinstance(value, bool) else value, ()))
        return iter(table.get(identity(tuple(values[at] for at in self._keys)), ()))  # type: ignore[misc]


def _table(rows: Sequence[Solution], places: tuple[int, ...]) -> JoinTable:
    """Rows by their values at some places, by which equal values of other kinds differ: of one
    place by the value itself, booleans, which are equal to numbers, in a tuple."""
    table: JoinTable = {}
    if len(places) == 1:
        [at] = places
        for row in rows:
            value = row[at]
            key: object = (value,) if isinstance(value, bool) else value
            table.setdefault(key, []).append(row)
        return table
    for row in rows:
        table.setdefault(identity(tuple(row[at] for at in places)), []).append(row)
    return table


class JoinPlan:
    """Plans the joins of the operator predicates of one alternative.

    `components` share no variable and no constraint; `checks` are the joins that are looked at."""

    def __init__(self, atoms: Sequence[JoinAtom], constraints: Sequence[Constraint]) -> None:
        self.atoms = tuple(atoms)
        self.constraints = tuple(constraints)
        self._joins: dict[tuple[int, ...], Join] = {}
        self.components = self._connected()
        self.is_relation = len(self.atoms) == 1 and self.join(self.components[0]).is_relation
        """True if the assignments are the rows of the only atom."""
        self.checks = self._worth_checking()
        self.checks_of: list[list[tuple[int, ...]]] = [[] for _ in self.atoms]
        for check in self.checks:
            for at in check:
                self.checks_of[at].append(check)

    def _worth_checking(self) -> list[tuple[int, ...]]:
        """Returns the joins to look at as soon as all of their atoms are known.

        Neighbors that share a variable, the atoms that may bind the variables of a constraint, what
        is connected at the beginning of a component as written, and the component. A fixed set, so
        that verdicts do not depend on the order of calls even when searches are cut."""
        holders: dict[str, list[int]] = {}
        for at, atom in enumerate(self.atoms):
            for name in atom.names:
                holders.setdefault(name, []).append(at)
        checks: set[tuple[int, ...]] = {
            pair for mine in holders.values() for pair in pairwise(mine)
        }
        for constraint in self.constraints:
            choices = product(*(holders[name] for name in constraint.variables))
            checks |= {tuple(sorted(set(each))) for each in islice(choices, _CHOICES)}
        for group in self.components:
            checks.add(group)
            for end in range(3, min(len(group), _PREFIXES)):
                beginning = group[:end]
                names = set(self.atoms[beginning[-1]].names)
                if any(names.intersection(self.atoms[at].names) for at in beginning[:-1]):
                    checks.add(beginning)
        return sorted(
            (each for each in checks if len(each) > 1), key=lambda each: (len(each), each)
        )

    def join(self, group: tuple[int, ...]) -> Join:
        """Returns the join of some of the atoms."""
        known = self._joins.get(group)
        if known is None:
            known = self._joins[group] = Join([self.atoms[at] for at in group], self.constraints)
        return known

    def _connected(self) -> list[tuple[int, ...]]:
        """Returns the atoms in components, by merging what a variable or a constraint connects."""
        leader = list(range(len(self.atoms)))

        def root(at: int) -> int:
            while leader[at] != at:
                leader[at] = leader[leader[at]]
                at = leader[at]
            return at

        first_of: dict[str, int] = {}
        for at, atom in enumerate(self.atoms):
            for name in atom.names:
                leader[root(at)] = root(first_of.setdefault(name, at))
        for constraint in self.constraints:
            names = constraint.variables
            for name in names[1:]:
                leader[root(first_of[name])] = root(first_of[names[0]])
        groups: dict[int, list[int]] = {}
        for at in range(len(self.atoms)):
            groups.setdefault(root(at), []).append(at)
        return sorted(tuple(group) for group in groups.values())
