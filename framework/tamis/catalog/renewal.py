"""Makes operators again whose sources changed (files, a table), and binds subscriptions to them.

An operator that cannot be made stays as it was, with a warning. Subscriptions with unchanged
declarations keep their rows in the index: their calls and tests are swapped under a lock that
others wait for, some 20 microseconds each.
Cost: that of reading the sources, once each, and of parsing what asks them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from tamis.catalog.catalog import Catalog
from tamis.catalog.intake import NewSubscription
from tamis.catalog.joins import JoinPlan
from tamis.operators import OperatorRecord
from tamis.operators.asking import Operators, Test
from tamis.operators.specification import PROCESS


class Renewal(NamedTuple):
    """The operators of a matcher with those that are another version now."""

    operators: Operators
    names: frozenset[str]
    troubles: tuple[str, ...]


def renewal(operators: Operators) -> Renewal:
    """Makes the operators anew whose records say that their sources changed."""
    known = operators.records
    sources = dict.fromkeys(each.renewed for each in known.values() if each.renewed is not None)
    names: set[str] = set()
    troubles: list[str] = []
    for source in sources:
        try:
            changed = [each for each in source() if _is_other(each, known)]
            operators = operators.renewed(changed)
        except Exception as failure:
            troubles.append(f"operators stay as they are: {type(failure).__name__}: {failure}")
            continue
        names |= {each.specification.name for each in changed}
    return Renewal(operators, frozenset(names), tuple(troubles))


def _is_other(record: OperatorRecord, known: dict[str, OperatorRecord]) -> bool:
    """Returns whether a record is a new version of a known one; workers keep those they made."""
    specification = record.specification
    before = known.get(specification.name)
    return (
        before is not None
        and before.renewed is not None
        and before.specification.version != specification.version
        and before.specification.isolation != PROCESS
    )


class Rebound(NamedTuple):
    """Subscriptions that are bound to other operators."""

    still: list[NewSubscription]
    """Those of which the index knows all already."""
    moved: list[NewSubscription]


def rebound(catalog: Catalog, accepted: Iterable[NewSubscription]) -> Rebound:
    """Tells subscriptions apart by what their operators declare necessary now."""
    found = Rebound([], [])
    known: dict[Test, bool] = {}
    for each in accepted:
        tests = {test for asked in each.alternatives for test, _ in asked.edges}
        for test in tests - known.keys():
            before = catalog.tests.known(test.key)
            known[test] = (
                before is not None and before.necessary.predicates == test.necessary.predicates
            )
        (found.still if all(map(known.__getitem__, tests)) else found.moved).append(each)
    return found


def swap(catalog: Catalog, accepted: Iterable[NewSubscription]) -> None:
    """Puts the calls, tests and joins of subscriptions in the place of those that they have."""
    for each in accepted:
        rows = catalog.alternatives_of(catalog.rows[each.id])
        for row, asked in zip(rows, each.alternatives, strict=True):
            for test, _ in asked.edges:
                _swap_test(catalog, test)
            if asked.atoms:
                catalog.plans[row] = JoinPlan(asked.atoms, asked.constraints)
    catalog.version += 1


def _swap_test(catalog: Catalog, test: Test) -> None:
    if catalog.tests.known(test.key) is test:
        return
    call = test.call
    if catalog.calls.known(call.key) is not call:
        catalog.implications.drop(catalog.calls.swap(call))
        catalog.implications.add(call)
        catalog.traits.put_call(call)
    catalog.tests.swap(test)
    catalog.traits.put_test(test)
