"""Finds predicates and attributes that moved between two statistics, the dearest first.

Shares are compared by counts, so that what was seen seldom has to move far. What a call costs has
no recorded spread: it is told apart by a factor alone, and never called significant.
The effect of a predicate is what its call costs times how much more often it comes out otherwise:
the seconds of calls an event whose use has changed. Attribute predicates make no calls; what they
spare depends on the subscriptions, so they come after, by how far they moved.
Cost: O(predicates), and O(quantiles) an attribute.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

from tamis.advising.significance import adjusted, kinds_differ, shares_differ, values_differ
from tamis.errors import StatisticsError
from tamis.statistics import PredicateStatistics, Statistics

SIGNIFICANCE = 0.01
SELECTIVITY, FAILURES, COST = "selectivity", "failures", "cost"
FREQUENCY, KINDS, VALUES = "frequency", "kinds", "values"
_FACTOR = 2.0
_LEAST_MEASURED = 5


@dataclass(frozen=True)
class Moved:
    """Something that is not as it was."""

    of: str
    """`attribute`, `predicate` (of attributes), `operator` (a call or a test) or `preparation`."""
    name: str
    what: str
    old: float | None
    new: float | None
    significance: float | None
    """The share of false alarms among all that is as clear at least; `None` where unknown."""
    effect_seconds: float | None
    """Seconds of calls an event that come out, or are paid, otherwise."""
    old_count: int
    new_count: int
    distance: float = 0.0
    """How far it moved, from 0 to 1."""


@dataclass
class Drift:
    """What two statistics have in common, and what not."""

    moved: list[Moved] = field(default_factory=list)
    compared: int = 0
    """Comparisons by counts."""
    uncounted: int = 0
    """Predicates that one of them knows without counts."""
    new: list[str] = field(default_factory=list)
    vanished: list[str] = field(default_factory=list)
    new_attributes: list[str] = field(default_factory=list)
    vanished_attributes: list[str] = field(default_factory=list)
    versions: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Operators that are of another version now."""

    def as_dict(self) -> dict[str, Any]:
        """The same in plain values, ready for JSON."""
        return asdict(self)


def drift(old: Statistics, new: Statistics, significance: float = SIGNIFICANCE) -> Drift:
    """What moved.

    Of all that is reported by counts, a share of `significance` at most is there by chance, on
    average over many such comparisons.

    >>> from tamis import Statistics
    >>> def learned(satisfied):
    ...     known = Statistics()
    ...     known.predicates["seen(boat)"] = PredicateStatistics(
    ...         tested=1000, satisfied=satisfied, cost_seconds=0.5)
    ...     return known
    >>> [moved] = drift(learned(100), learned(300)).moved
    >>> moved.name, moved.what, moved.old, moved.new, round(moved.effect_seconds, 3)
    ('seen(boat)', 'selectivity', 0.1, 0.3, 0.1)
    >>> drift(learned(100), learned(105)).moved
    []
    """
    if not 0 < significance < 1:
        raise StatisticsError(f"a significance is between 0 and 1, not {significance!r}")
    found = Drift()
    compared = [*_predicates(old, new, found), *_attributes(old, new, found)]
    found.compared = len(compared)
    shares = adjusted([chance for _, chance in compared])
    found.moved = [
        Moved(**{**vars(moved), "significance": share})
        for (moved, _), share in zip(compared, shares, strict=True)
        if share <= significance
    ]
    found.moved += [*_costs(old, new), *_prices(old, new)]
    found.moved.sort(key=_rank)
    before, after = (each.about.get("operators", {}) for each in (old, new))
    found.versions = {
        name: (before[name], after[name])
        for name in sorted(before.keys() & after.keys())
        if before[name] != after[name]
    }
    return found


def _rank(moved: Moved) -> tuple[float, float, str, str]:
    return -(moved.effect_seconds or 0.0), -moved.distance, moved.name, moved.what


def _predicates(old: Statistics, new: Statistics, found: Drift) -> Iterator[tuple[Moved, float]]:
    found.new = sorted(new.predicates.keys() - old.predicates.keys())
    found.vanished = sorted(old.predicates.keys() - new.predicates.keys())
    for name in sorted(old.predicates.keys() & new.predicates.keys()):
        before, after = old.predicates[name], new.predicates[name]
        of = "operator" if "operator" in (before.kind, after.kind) else "predicate"
        cost = after.cost_seconds if before.cost_seconds is None else before.cost_seconds
        cost = cost if of == "operator" else None
        if before.known and after.known:
            yield _share(
                (of, name, SELECTIVITY, cost),
                *(before.satisfied or 0, before.known),
                *(after.satisfied or 0, after.known),
            )
        elif not (before.tested and after.tested):
            found.uncounted += 1
        if before.tested and after.tested and (before.failed or after.failed):
            yield _share(
                (of, name, FAILURES, cost),
                *(min(before.failed or 0, before.tested), before.tested),
                *(min(after.failed or 0, after.tested), after.tested),
            )


def _share(
    head: tuple[str, str, str, float | None], part: int, whole: int, other: int, others: int
) -> tuple[Moved, float]:
    of, name, what, cost = head
    old, new = part / whole, other / others
    effect = None if cost is None else cost * abs(new - old)
    moved = Moved(of, name, what, old, new, None, effect, whole, others, abs(new - old))
    return moved, shares_differ(part, whole, other, others)


def _costs(old: Statistics, new: Statistics) -> Iterator[Moved]:
    """Calls that cost another multiple: their tests have the same cost and are not named again."""
    for name in sorted(old.predicates.keys() & new.predicates.keys()):
        before, after = old.predicates[name], new.predicates[name]
        if _is_test_of_another(name, new):
            continue
        yield from _dearer("operator", name, _measured(before), _measured(after))


def _is_test_of_another(name: str, statistics: Statistics) -> bool:
    from tamis.statistics.averages import parts

    call, guarded = parts(name)
    return guarded and call in statistics.predicates


def _measured(found: PredicateStatistics) -> tuple[int, float]:
    return found.measured or 0, found.cost_seconds or 0.0


def _prices(old: Statistics, new: Statistics) -> Iterator[Moved]:
    for name in sorted(old.prepared.keys() & new.prepared.keys()):
        means = [
            (made, seconds / made if made else 0.0)
            for made, seconds in (old.prepared[name], new.prepared[name])
        ]
        yield from _dearer("preparation", name, *means)


def _dearer(
    of: str, name: str, before: tuple[int, float], after: tuple[int, float]
) -> Iterator[Moved]:
    (times, seconds), (times_now, seconds_now) = before, after
    if min(times, times_now) < _LEAST_MEASURED:
        return
    less, more = sorted((seconds, seconds_now))
    if more >= _FACTOR * less and more > 0:
        effect = more - less
        yield Moved(
            of, name, COST, seconds, seconds_now, None, effect, times, times_now, 1 - less / more
        )


def _attributes(old: Statistics, new: Statistics, found: Drift) -> Iterator[tuple[Moved, float]]:
    if not (old.attributes and new.attributes and old.events and new.events):
        return
    before, after = _by_name(old), _by_name(new)
    found.new_attributes = sorted(after.keys() - before.keys())
    found.vanished_attributes = sorted(before.keys() - after.keys())
    for name in sorted(before.keys() | after.keys()):
        mine, theirs = before.get(name, {}), after.get(name, {})
        kinds = sorted(mine.keys() | theirs.keys())
        counts = [int(mine[kind]["events"]) if kind in mine else 0 for kind in kinds]
        others = [int(theirs[kind]["events"]) if kind in theirs else 0 for kind in kinds]
        yield _share(
            ("attribute", name, FREQUENCY, None),
            *(min(sum(counts), old.events), old.events),
            *(min(sum(others), new.events), new.events),
        )
        if sum(counts) and sum(others) and len(kinds) > 1:
            yield _kinds(name, counts, others)
        for kind in mine.keys() & theirs.keys():
            yield from _values(name, mine[kind], theirs[kind])


def _by_name(statistics: Statistics) -> dict[str, dict[str, dict[str, Any]]]:
    """The rows of attributes by name and kind."""
    found: dict[str, dict[str, dict[str, Any]]] = {}
    for row in statistics.attributes:
        if row["events"]:
            found.setdefault(row["attribute"], {})[row["kind"]] = row
    return found


def _kinds(name: str, counts: list[int], others: list[int]) -> tuple[Moved, float]:
    mine, theirs = sum(counts), sum(others)
    if len(counts) == 2:
        chance = shares_differ(counts[0], mine, others[0], theirs)
    else:
        chance = kinds_differ(counts, others)
    apart = (
        sum(abs(one / mine - other / theirs) for one, other in zip(counts, others, strict=True)) / 2
    )
    return Moved("attribute", name, KINDS, None, None, None, None, mine, theirs, apart), chance


def _values(
    name: str, mine: dict[str, Any], theirs: dict[str, Any]
) -> Iterator[tuple[Moved, float]]:
    for held in ("quantiles", "strings"):
        known, others = mine.get(held), theirs.get(held)
        if known and others:
            counts = int(mine["events"]), int(theirs["events"])
            apart, chance = values_differ(known, counts[0], others, counts[1])
            middle = held == "quantiles"
            moved = Moved(
                "attribute",
                name,
                VALUES,
                float(known[len(known) // 2]) if middle else None,
                float(others[len(others) // 2]) if middle else None,
                None,
                None,
                *counts,
                apart,
            )
            yield moved, chance
