"""Asks operators what they declare necessary of a predicate as it is written, and checks it.

Arguments are as `check` returned them, but for constants at outputs, which are as written, so that
predicates that share a call may declare differently. A variable knows which numbers the constraints
beside the predicate leave.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from tamis.event import DerivedAttribute, itself
from tamis.index.clauses import predicate_of
from tamis.language.comparison import RANGES, Comparison
from tamis.language.constraint import AttributeReference, Constraint
from tamis.language.predicate import AttributePredicate
from tamis.language.values import NUMBER, kind_of
from tamis.operators.asking import Call, SolutionSlot
from tamis.operators.necessary import NOTHING, Necessary
from tamis.operators.specification import Variable
from tamis.plugins.loader import installed


def declared(call: Call, places: Sequence[SolutionSlot], guards: Iterable[Constraint]) -> Necessary:
    """Returns what holds whenever a predicate is true; `ValueError` tells what is wrong in the
    declaration. Variables of the guards are named by their slots, from 1 on."""
    if not call.operator.declares:
        return NOTHING
    given = call.operator.necessary(_written(call, places, guards))
    if isinstance(given, (str, bytes, Mapping)) or not isinstance(given, Iterable):
        raise ValueError(f"it is a list of clauses (attribute, op, value), not {given!r:.80}")
    derived = installed().attributes
    return Necessary(tuple(dict.fromkeys(_predicate(clause, derived) for clause in given)))


def _written(
    call: Call, places: Sequence[SolutionSlot], guards: Iterable[Constraint]
) -> tuple[object, ...]:
    """Returns the arguments of a predicate, in the place of those of its call."""
    bounds: dict[str, list[Comparison]] = {}
    for guard in guards:
        lone = guard.left.lone
        if guard.comparison is not None and isinstance(lone, AttributeReference):
            bounds.setdefault(lone.name, []).append(guard.comparison)
    left = iter(places)
    written: list[object] = []
    for argument, part in zip(call.arguments, call.key[1:], strict=True):
        if part is not None:
            written.append(argument)
            continue
        place = next(left)
        if place.slot < 0:
            written.append(place.constant)
        else:
            number = place.slot + 1
            written.append(_bounded(number, bounds.get(str(number), ())))
    return tuple(written)


def _bounded(number: int, comparisons: Iterable[Comparison]) -> Variable:
    """Returns a variable with the least and the most number that comparisons leave it."""
    least, most = -math.inf, math.inf
    for comparison in comparisons:
        op, constants = comparison.op, comparison.constants
        if any(kind_of(constant) != NUMBER for constant in constants):
            continue
        if op in (">", ">=", "=", "in", *RANGES):
            least = max(least, min(constants))  # type: ignore[assignment]
        if op in ("<", "<=", "=", "in", *RANGES):
            most = min(most, max(constants))  # type: ignore[assignment]
    return Variable(number, least, most)


def _predicate(clause: object, derived: Mapping[str, DerivedAttribute]) -> AttributePredicate:
    """Returns a clause as indexes have it: what is derived is read itself."""
    if not isinstance(clause, (tuple, list)) or len(clause) != 3:
        raise ValueError(f"a clause is (attribute, op, value), not {clause!r:.80}")
    attribute, op, value = clause
    if isinstance(attribute, DerivedAttribute):
        attribute = itself(attribute.name)
    elif isinstance(attribute, str) and attribute in derived:
        attribute = itself(attribute)
    return predicate_of((attribute, op, value))
