"""Finds attributes and operators that moved between two statistics, the dearest first.

Only what subscriptions read is compared. Attributes are compared by their values, their kinds and
all predicates on them, and named once, by what moved furthest; so are operators. What the calendar
or a counter moves is no drift: of `time`, of what was derived from it, of attributes that hold
times, and of identifiers, only presence and kinds are compared.
Shares are compared by counts, so that what was seen seldom has to move far, and what moved less
than anybody would act on is no drift however certain it is. What a call costs has no recorded
spread: it is told apart by a factor alone, and never called significant.
The effect of a predicate is what its call costs times how much more often it comes out otherwise:
the seconds of calls an event whose use has changed. Attribute predicates make no calls; what they
spare depends on the subscriptions, so they come after, by how far they moved.
Cost: O(predicates), and O(quantiles) an attribute.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from tamis.advising.significance import adjusted, kinds_differ, shares_differ, values_differ
from tamis.errors import StatisticsError
from tamis.event.clock import TIME_NAMES, moment
from tamis.language.predicate import AttributePredicate
from tamis.statistics import PredicateStatistics, Statistics
from tamis.statistics.averages import operator_of, parts
from tamis.statistics.predicates import attribute_predicate

SIGNIFICANCE = 0.01
SELECTIVITY, FAILURES, COST = "selectivity", "failures", "cost"
FREQUENCY, KINDS, VALUES = "frequency", "kinds", "values"
_FACTOR = 2.0
_LEAST_MEASURED = 5
_LEAST_SECONDS = 1e-3
"""The least change of a call's cost; below, a busy machine doubles it."""
_LEAST_ANGLE = 0.02
"""Between two shares, by Cohen's h: 0.50 and 0.51, or 0.001 and 0.0017."""
_LEAST_APART = 0.01
"""Between two distributions of values."""
_UNIQUE = 0.5
"""The share of distinct values from which on strings are identifiers; integers need more."""
_UNIQUE_INTEGERS = 0.9
_LEAST_TOLD = 20
_EPOCHS = ((1e9, 4.2e9), (1e12, 4.2e12))
"""Seconds and milliseconds since 1970, from 2001 to 2103."""
_WITHIN = frozenset({"contains", "matches"})
"""The comparisons of an identifier that do not depend on its running part."""


@dataclass(frozen=True)
class Shift:
    """Something that is not as it was."""

    of: str
    """`attribute`, `operator` or `preparation`."""
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
    """The distance that it moved, from 0 to 1."""
    predicate: str | None = None
    """Of the attribute or operator, the one that moved, where it was one."""
    predicates: int = 0
    """The number of predicates of the attribute or operator that moved."""


@dataclass
class Drift:
    """The differences between two statistics, and how much was compared."""

    moved: list[Shift] = field(default_factory=list)
    compared: int = 0
    """Comparisons by counts."""
    uncounted: int = 0
    """Predicates that one of them knows without counts."""
    new_predicates: list[str] = field(default_factory=list)
    vanished_predicates: list[str] = field(default_factory=list)
    new_attributes: list[str] = field(default_factory=list)
    vanished_attributes: list[str] = field(default_factory=list)
    versions: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Operators that are of another version now."""

    def as_dict(self) -> dict[str, Any]:
        """Returns the same in plain values, ready for JSON."""
        return asdict(self)


def drift(
    old: Statistics,
    new: Statistics,
    significance: float = SIGNIFICANCE,
    ignored: Collection[str] = (),
) -> Drift:
    """Finds what moved, but for the `ignored` attributes.

    Of all that is reported by counts, a share of `significance` at most is there by chance, on
    average over many such comparisons.

    >>> from tamis import Statistics
    >>> def learned(satisfied):
    ...     known = Statistics()
    ...     known.predicates["seen(boat)"] = PredicateStatistics(
    ...         tested=1000, satisfied=satisfied, cost_seconds=0.5)
    ...     return known
    >>> [moved] = drift(learned(100), learned(300)).moved
    >>> moved.name, moved.predicate, moved.old, moved.new, round(moved.effect_seconds, 3)
    ('seen', 'seen(boat)', 0.1, 0.3, 0.1)
    >>> drift(learned(100), learned(105)).moved
    []
    """
    if not 0 < significance < 1:
        raise StatisticsError(f"a significance is between 0 and 1, not {significance!r}")
    found = Drift()
    rows = _Rows(old, new, ignored)
    compared = [*_predicates(old, new, rows, found), *_attributes(old, new, rows, found)]
    found.compared = len(compared)
    shares = adjusted([chance for _, chance in compared])
    moved = [
        replace(each, significance=share)
        for (each, _), share in zip(compared, shares, strict=True)
        if share <= significance and _matters(each)
    ]
    found.moved = sorted(_grouped([*moved, *_costs(old, new), *_prices(old, new)]), key=_rank)
    before, after = (each.about.get("operators", {}) for each in (old, new))
    found.versions = {
        name: (before[name], after[name])
        for name in sorted(before.keys() & after.keys())
        if before[name] != after[name]
    }
    return found


def _rank(moved: Shift) -> tuple[float, float, str, str, str]:
    predicate = moved.predicate or ""
    return -(moved.effect_seconds or 0.0), -moved.distance, moved.name, moved.what, predicate


def _matters(moved: Shift) -> bool:
    if moved.what in (VALUES, KINDS):
        return moved.distance >= _LEAST_APART
    angles = [2 * math.asin(math.sqrt(share or 0.0)) for share in (moved.old, moved.new)]
    return abs(angles[0] - angles[1]) >= _LEAST_ANGLE


def _grouped(moved: Iterable[Shift]) -> Iterator[Shift]:
    """Yields the worst move of each attribute, and of each operator in each respect."""
    groups: dict[tuple[str, str, str], list[Shift]] = {}
    for each in moved:
        respect = "" if each.of == "attribute" else each.what
        groups.setdefault((each.of, each.name, respect), []).append(each)
    for group in groups.values():
        predicates = len({each.predicate for each in group} - {None})
        yield replace(min(group, key=_rank), predicates=predicates)


class _Rows:
    """The rows of the attributes that subscriptions read, by name and kind, of both."""

    def __init__(self, old: Statistics, new: Statistics, ignored: Collection[str]) -> None:
        self.ignored = ignored
        self.read = {
            predicate.attribute: None
            for text in old.predicates.keys() | new.predicates.keys()
            if (predicate := _on_attribute(text, old, new)) is not None
        }
        reads = [each.about["reads"] for each in (old, new) if "reads" in each.about]
        self.read |= dict.fromkeys(name for names in reads for name in names)
        self.is_all = not (self.read or reads)
        self.old, self.new = self._of(old), self._of(new)
        both = self.old.keys() & self.new.keys()
        self.running = {name for name in both if _runs(self.old[name], self.new[name])}
        """Attributes whose values run on with time, or name the event."""
        partitions = (name for each in (old, new) for name in each.about.get("partitions", ()))
        self.running.update(("id", "time", *TIME_NAMES, *partitions))

    def _of(self, statistics: Statistics) -> dict[str, dict[str, dict[str, Any]]]:
        found: dict[str, dict[str, dict[str, Any]]] = {}
        for row in statistics.attributes:
            name = row["attribute"]
            if row["events"] and name not in self.ignored and (self.is_all or name in self.read):
                found.setdefault(name, {})[row["kind"]] = row
        return found


def _on_attribute(text: str, *several: Statistics) -> AttributePredicate | None:
    """Returns the attribute predicate of a text, where it was learned as one."""
    kinds = {each.predicates[text].kind for each in several if text in each.predicates}
    return attribute_predicate(text) if "attribute" in kinds else None


def _runs(old: dict[str, dict[str, Any]], new: dict[str, dict[str, Any]]) -> bool:
    return any(_is_running(old[kind], new[kind]) for kind in old.keys() & new.keys())


def _is_running(old: dict[str, Any], new: dict[str, Any]) -> bool:
    strings, others = (row.get("strings") or () for row in (old, new))
    if strings and others:
        times = all(moment(text) is not None for text in (*strings, *others))
        return times or min(map(_distinct, (old, new))) >= _UNIQUE
    numbers, later = (row.get("quantiles") or () for row in (old, new))
    if not numbers or not later:
        return False
    both = (*numbers, *later)
    if any(first <= min(both) and max(both) <= last for first, last in _EPOCHS):
        return True
    is_apart = max(numbers) < min(later) or max(later) < min(numbers)
    is_unique = min(map(_distinct, (old, new))) >= _UNIQUE_INTEGERS
    return is_apart and is_unique and all(float(number).is_integer() for number in both)


def _distinct(row: dict[str, Any]) -> float:
    """Returns the share of events whose value no other has, about; nothing can be told of few."""
    events: int = row["events"]
    return (row.get("distinct") or 0) / events if events >= _LEAST_TOLD else 0.0


def _predicates(
    old: Statistics, new: Statistics, rows: _Rows, found: Drift
) -> Iterator[tuple[Shift, float]]:
    found.new_predicates = sorted(new.predicates.keys() - old.predicates.keys())
    found.vanished_predicates = sorted(old.predicates.keys() - new.predicates.keys())
    for name in sorted(old.predicates.keys() & new.predicates.keys()):
        before, after = old.predicates[name], new.predicates[name]
        head: tuple[str, str, str | None, float | None]
        attribute = _on_attribute(name, old, new)
        if attribute is None:
            cost = after.cost_seconds if before.cost_seconds is None else before.cost_seconds
            head = "operator", operator_of(name), name, cost
        else:
            of = attribute.attribute
            runs = of in rows.running and attribute.comparison.op not in _WITHIN
            if runs or of in rows.ignored:
                continue
            head = "attribute", of, name, None
        if before.known and after.known:
            yield _share(
                head,
                SELECTIVITY,
                *(before.satisfied or 0, before.known),
                *(after.satisfied or 0, after.known),
            )
        elif not (before.tested and after.tested):
            found.uncounted += 1
        if before.tested and after.tested and (before.failed or after.failed):
            yield _share(
                head,
                FAILURES,
                *(min(before.failed or 0, before.tested), before.tested),
                *(min(after.failed or 0, after.tested), after.tested),
            )


def _share(
    head: tuple[str, str, str | None, float | None],
    what: str,
    part: int,
    whole: int,
    other: int,
    others: int,
) -> tuple[Shift, float]:
    of, name, predicate, cost = head
    old, new = part / whole, other / others
    effect = None if cost is None else cost * abs(new - old)
    moved = Shift(of, name, what, old, new, None, effect, whole, others, abs(new - old), predicate)
    return moved, shares_differ(part, whole, other, others)


def _costs(old: Statistics, new: Statistics) -> Iterator[Shift]:
    """Calls that cost another multiple: their tests have the same cost and are not named again."""
    for name in sorted(old.predicates.keys() & new.predicates.keys()):
        before, after = old.predicates[name], new.predicates[name]
        if _is_test_of_another(name, new):
            continue
        measured = _measured(before), _measured(after)
        yield from _dearer("operator", operator_of(name), name, *measured)


def _is_test_of_another(name: str, statistics: Statistics) -> bool:
    call, guarded = parts(name)
    return guarded and call in statistics.predicates


def _measured(found: PredicateStatistics) -> tuple[int, float]:
    return found.measured or 0, found.cost_seconds or 0.0


def _prices(old: Statistics, new: Statistics) -> Iterator[Shift]:
    for name in sorted(old.prepared.keys() & new.prepared.keys()):
        means = [
            (made, seconds / made if made else 0.0)
            for made, seconds in (old.prepared[name], new.prepared[name])
        ]
        yield from _dearer("preparation", name, None, *means)


def _dearer(
    of: str, name: str, predicate: str | None, before: tuple[int, float], after: tuple[int, float]
) -> Iterator[Shift]:
    (times, seconds), (times_now, seconds_now) = before, after
    if min(times, times_now) < _LEAST_MEASURED:
        return
    less, more = sorted((seconds, seconds_now))
    if more >= _FACTOR * less and more - less >= _LEAST_SECONDS:
        counts, apart = (times, times_now), 1 - less / more
        yield Shift(
            of, name, COST, seconds, seconds_now, None, more - less, *counts, apart, predicate
        )


def _attributes(
    old: Statistics, new: Statistics, rows: _Rows, found: Drift
) -> Iterator[tuple[Shift, float]]:
    if not (old.attributes and new.attributes and old.events and new.events):
        return
    before, after = rows.old, rows.new
    found.new_attributes = sorted(after.keys() - before.keys())
    found.vanished_attributes = sorted(before.keys() - after.keys())
    for name in sorted(before.keys() | after.keys()):
        mine, theirs = before.get(name, {}), after.get(name, {})
        kinds = sorted(mine.keys() | theirs.keys())
        counts = [int(mine[kind]["events"]) if kind in mine else 0 for kind in kinds]
        others = [int(theirs[kind]["events"]) if kind in theirs else 0 for kind in kinds]
        yield _share(
            ("attribute", name, None, None),
            FREQUENCY,
            *(min(sum(counts), old.events), old.events),
            *(min(sum(others), new.events), new.events),
        )
        if sum(counts) and sum(others) and len(kinds) > 1:
            yield _kinds(name, counts, others)
        if name not in rows.running:
            for kind in mine.keys() & theirs.keys():
                yield from _values(name, mine[kind], theirs[kind])


def _kinds(name: str, counts: list[int], others: list[int]) -> tuple[Shift, float]:
    mine, theirs = sum(counts), sum(others)
    if len(counts) == 2:
        chance = shares_differ(counts[0], mine, others[0], theirs)
    else:
        chance = kinds_differ(counts, others)
    apart = (
        sum(abs(one / mine - other / theirs) for one, other in zip(counts, others, strict=True)) / 2
    )
    return Shift("attribute", name, KINDS, None, None, None, None, mine, theirs, apart), chance


def _values(
    name: str, mine: dict[str, Any], theirs: dict[str, Any]
) -> Iterator[tuple[Shift, float]]:
    for held in ("quantiles", "strings"):
        known, others = mine.get(held), theirs.get(held)
        if known and others:
            counts = int(mine["events"]), int(theirs["events"])
            apart, chance = values_differ(known, counts[0], others, counts[1])
            middle = held == "quantiles"
            moved = Shift(
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
