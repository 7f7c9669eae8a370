"""Expands a tree of connectives to its alternatives or its clauses, once they are counted.

Both forms are of one making: clauses are what alternatives would be, were every `and` an `or` and
every `or` an `and`. Branches are expanded in the order in which they were read, inner ones first,
without recursion.
Cost: linear in what is written out.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from tamis.language.predicate import Atom, atom_key


class Leaf(NamedTuple):
    """An atom in its place; only operator predicates are negated, others are complemented."""

    atom: Atom
    negated: bool
    start: int

    def text(self) -> str:
        """Returns the canonical text."""
        return f"{'not ' * self.negated}{self.atom.text()}"


class Branch:
    """An `and` or an `or` of leaves and branches, and how many alternatives, and clauses, it is."""

    __slots__ = ("alternatives", "clauses", "conjunction", "expanded", "has_branches", "parts")

    def __init__(self, conjunction: bool, parts: list[Leaf | Branch]) -> None:
        self.conjunction = conjunction
        self.parts = parts
        self.expanded: list[tuple[Leaf, ...]] = []
        inner = [part for part in parts if isinstance(part, Branch)]
        self.has_branches = bool(inner)
        leaves = len(parts) - len(inner)
        alternatives = [part.alternatives for part in inner]
        clauses = [part.clauses for part in inner]
        multiplied, added = (alternatives, clauses) if conjunction else (clauses, alternatives)
        product, total = math.prod(multiplied), leaves + sum(added)
        self.alternatives: int = product if conjunction else total
        self.clauses: int = total if conjunction else product


def expanded(
    root: Branch, branches: Sequence[Branch], leaves: Sequence[Leaf], *, clauses: bool = False
) -> tuple[tuple[Leaf, ...], ...]:
    """Returns the alternatives of a tree, or its clauses, in the order in which they are written,
    each once."""
    for branch in branches:
        is_product = branch.conjunction is not clauses
        branch.expanded = _product(branch) if is_product else _union(branch)
    if len(root.expanded) == 1:
        return (once(root.expanded[0]),)
    known = {id(leaf): atom_key(leaf.atom, negated=leaf.negated) for leaf in leaves}
    numbers = {key: number for number, key in enumerate(dict.fromkeys(known.values()))}
    number_of = {leaf: numbers[key] for leaf, key in known.items()}
    found: dict[frozenset[int], tuple[Leaf, ...]] = {}
    for alternative in root.expanded:
        keys = {number_of[id(leaf)]: leaf for leaf in alternative[::-1]}
        found.setdefault(frozenset(keys), tuple(reversed(keys.values())))
    return tuple(found.values())


def once(alternative: tuple[Leaf, ...]) -> tuple[Leaf, ...]:
    """Returns the leaves without those that are said twice."""
    if len({id(leaf.atom) for leaf in alternative}) == len(alternative):
        return alternative
    found: dict[object, Leaf] = {}
    for leaf in alternative:
        found.setdefault((id(leaf.atom), leaf.negated), leaf)
    return tuple(found.values())


def _parts(branch: Branch) -> Iterator[list[tuple[Leaf, ...]]]:
    for part in branch.parts:
        yield [(part,)] if isinstance(part, Leaf) else part.expanded


def _union(branch: Branch) -> list[tuple[Leaf, ...]]:
    return [alternative for part in _parts(branch) for alternative in part]


def _product(branch: Branch) -> list[tuple[Leaf, ...]]:
    """Yields each choice of one alternative a part; runs of single ones are joined once."""
    if not branch.has_branches:
        return [tuple(branch.parts)]  # type: ignore[arg-type]
    result: list[tuple[Leaf, ...]] = [()]
    run: list[Leaf] = []
    for part in _parts(branch):
        if len(part) == 1:
            run.extend(part[0])
            continue
        result = [(*head, *run, *tail) for head in result for tail in part]
        run = []
    return [(*head, *run) for head in result] if run else result
