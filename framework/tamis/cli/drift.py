"""Shows what moved between two folders of statistics: `tamis drift`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from tamis.cli.failures import DONE, UNUSABLE, MisuseError
from tamis.cli.options import Debug, Json, argument, option
from tamis.cli.saying import put, put_json
from tamis.cli.tables import table, wrapped
from tamis.words import counted, duration, listed

if TYPE_CHECKING:
    from tamis.advising.drift import Drift, Shift

_SHOWN = 50
_NAMED = 10


def drift(
    old: Annotated[str, argument("OLD", "A folder of statistics.")],
    new: Annotated[str, argument("NEW", "A later one.")],
    significance: Annotated[
        float, option("SHARE", "The accepted share of false alarms, between 0 and 1.")
    ] = 0.01,
    ignore: Annotated[
        str | None, option("NAME,…", "Attributes that may change without being reported.")
    ] = None,
    fail_on_drift: Annotated[
        bool, typer.Option("--fail-on-drift", help="Exit with status 1 if anything changed.")
    ] = False,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Show what changed between two folders of statistics.

    Compares the counts of attributes and predicates that subscriptions read, and lists changes by
    their effect, the largest first; at most --significance of them are false alarms. Each attribute
    and operator is listed once, with the predicate that changed most. Of times and identifiers,
    which always change, only the presence is compared. Costs are listed that doubled or halved.
    """
    from tamis.advising.drift import drift as compare
    from tamis.statistics import Statistics

    if not 0 < significance < 1:
        raise MisuseError(f"--significance is between 0 and 1, not {significance:g}")
    before, after = Statistics.load(old), Statistics.load(new)
    found = compare(before, after, significance, ignore.split(",") if ignore else ())
    if as_json:
        head = {"old": old, "new": new, "significance": significance}
        put_json(head | found.as_dict())
    else:
        put("\n".join(_lines(found, significance)))
    raise typer.Exit(UNUSABLE if fail_on_drift and found.moved else DONE)


def _lines(found: Drift, significance: float) -> list[str]:
    lines = []
    if found.moved:
        headers = ("what", "old", "new", "chance", "cost an event", "of")
        lines.append(table(headers, [_row(each) for each in found.moved[:_SHOWN]]))
        if len(found.moved) > _SHOWN:
            lines.append(f"and {len(found.moved) - _SHOWN:,} more (--json lists all)")
        lines.append("")
    moved = "nothing" if not found.moved else counted(len(found.moved), "thing")
    lines.append(
        wrapped(
            f"{moved} moved, by {counted(found.compared, 'comparison')} of counts at a false "
            f"discovery rate of {significance:g}; costs moved that doubled or halved"
        )
    )
    for words, names in (
        ("new predicates", found.new_predicates),
        ("predicates that are gone", found.vanished_predicates),
        ("new attributes", found.new_attributes),
        ("attributes that are gone", found.vanished_attributes),
        (
            "operators of another version",
            [f"{name} ({was}, now {now})" for name, (was, now) in found.versions.items()],
        ),
    ):
        if names:
            lines.append(wrapped(f"{words}: {listed(list(names), _NAMED, '; ')}", more="  "))
    if found.uncounted:
        uncounted = counted(found.uncounted, "predicate")
        lines.append(f"not compared, for they have no counts: {uncounted}")
    return lines


def _row(moved: Shift) -> tuple[object, ...]:
    if moved.what == "cost":
        old, new = (duration(each or 0.0) for each in (moved.old, moved.new))
    elif moved.old is None or moved.new is None:
        old, new = "", f"{moved.distance:.1%} apart"
    elif moved.what == "values":
        old, new = f"{moved.old:.6g}", f"{moved.new:.6g}"
    else:
        old, new = f"{moved.old:.2%}", f"{moved.new:.2%}"
    chance = "-" if moved.significance is None else f"{moved.significance:.1g}"
    effect = "-" if moved.effect_seconds is None else duration(moved.effect_seconds)
    name = moved.predicate or f"{moved.of} {moved.name}"
    if moved.predicates > 1:
        name += f" (worst of {moved.predicates:,})"
    return moved.what, old, new, chance, effect, name
