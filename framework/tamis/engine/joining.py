"""Looks for assignments that satisfy several predicates of an alternative together.

What a join finds is kept for the event: whether there is an assignment, the verdict, and the
bindings that users read come from one search, which goes on where it was.
Invariant: which joins are looked at depends on outcomes alone, so that a search that is cut by its
limit is cut in every order of calls.
Cost: the solutions of the atoms once, and the steps of each search, at most `Limits.join_steps`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product

from tamis.catalog.joins import JoinPlan, JoinTables, Search
from tamis.event import Event
from tamis.language.values import Scalar, identity
from tamis.limits import Limits
from tamis.operators.asking import Solution, Test

Assignments = tuple[list[dict[str, Scalar]], bool]
Group = tuple[int, ...]


class Joins:
    """The joins of one event: by alternative and group of atoms."""

    def __init__(
        self,
        rows: Mapping[int, Sequence[Solution]],
        number_of: Callable[[Test], int],
        is_cut: Callable[[int], bool],
        event: Event,
        limits: Limits,
    ) -> None:
        self._rows = rows
        """The solutions that each true test accepts."""
        self._number_of = number_of
        self._is_cut = is_cut
        """True if the answer that a test is about lacks solutions."""
        self._event = event
        self._limits = limits
        self._tables: JoinTables = {}
        self._searches: dict[tuple[int, Group], Search] = {}

    def has_any(self, alternative: int, plan: JoinPlan, group: Group) -> bool | None:
        """Returns whether atoms have an assignment together; `None` when the search was cut."""
        search = self._search(alternative, plan, group)
        if search.first() is not None:
            return True
        return None if self._is_incomplete(plan, group, search) else False

    def assignments(self, alternative: int, plan: JoinPlan) -> Assignments:
        """Returns assignments of a true alternative up to the limit, and whether more were cut."""
        limit = self._limits.assignments
        if plan.is_relation:
            [atom] = plan.atoms
            test = self._number_of(atom.test)
            rows = self._rows[test]
            if len(rows) <= self._limits.join_steps:
                found = [dict(zip(atom.names, row, strict=True)) for row in rows[:limit]]
                return found, len(rows) > limit or self._is_cut(test)
        truncated = False
        parts: list[list[dict[str, Scalar]]] = []
        for group in plan.components:
            search = self._search(alternative, plan, group)
            names = plan.join(group).variables
            rows = search.first_of(limit + 1)
            truncated |= len(rows) > limit or self._is_incomplete(plan, group, search)
            parts.append([dict(zip(names, values, strict=True)) for values in rows[:limit]])
        if len(parts) == 1:
            return parts[0], truncated
        result: list[dict[str, Scalar]] = []
        for choice in product(*parts):
            if len(result) == limit:
                return result, True
            result.append({name: value for part in choice for name, value in part.items()})
        return result, truncated

    def _search(self, alternative: int, plan: JoinPlan, group: Group) -> Search:
        known = self._searches.get((alternative, group))
        if known is None:
            tests = [self._number_of(plan.atoms[at].test) for at in group]
            known = self._searches[alternative, group] = plan.join(group).search(
                [(test, self._rows[test]) for test in tests],
                self._event,
                self._limits.join_steps,
                self._tables,
            )
        return known

    def _is_incomplete(self, plan: JoinPlan, group: Group, search: Search) -> bool:
        return search.cut or any(self._is_cut(self._number_of(plan.atoms[at].test)) for at in group)


def distinct_assignments(assignments: list[dict[str, Scalar]]) -> list[dict[str, Scalar]]:
    """Yields each assignment once."""
    if len(assignments) < 2:
        return assignments
    found: dict[object, dict[str, Scalar]] = {}
    for assignment in assignments:
        names = tuple(sorted(assignment))
        key = (names, identity(tuple(assignment[name] for name in names)))
        found.setdefault(key, assignment)
    return list(found.values())
