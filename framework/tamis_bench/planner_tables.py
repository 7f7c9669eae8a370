"""What `tamis bench planners` shows: a block of lines a workload, and what came of the goals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tamis_bench.goals import said

_WORKLOAD, _NAME, _COLUMN = 34, 18, 13


def header() -> str:
    """Over the rows of a figure."""
    names = f"{'workload':<{_WORKLOAD}}{'planner':<{_NAME}}{'cost':>9}{'±':>6}{'over':>9}{'±':>8}"
    return f"{names}{'calls':>9}{'us/call':>9}{'ms/event':>10}"


def cost_lines(row: Mapping[str, Any]) -> str:
    """A workload: its baseline, its planners, its bounds."""
    lines = [f"{row['workload']:<{_WORKLOAD}}{'(distinct)':<{_NAME}}{row['every_distinct']:>9,.0f}"]
    for name, each in row["planners"].items():
        lines.append(
            f"{'':<{_WORKLOAD}}{name:<{_NAME}}{each['cost']:>9,.0f}"
            f"{_figure(each['error'], 6, 0)}{_figure(each['over_bound'], 9, 4)}"
            f"{_figure(each['over_bound_error'], 8, 4)}{each['calls']:>9,.0f}"
            f"{each['planner_us_a_call']:>9.1f}{each['event_ms']:>10.1f}"
        )
    events = row["bounded_events"]
    note = "" if events == row["events"] else f"  on {events} of {row['events']} events"
    for name, bound in row["bounds"].items():
        lines.append(f"{'':<{_WORKLOAD}}{f'({name})':<{_NAME}}{bound:>9,.0f}{note}")
    if row["marked_by_sequential"] is not None:
        marked = row["marked_by_sequential"]
        lines.append(f"{'':<{_WORKLOAD}}{'(marked)':<{_NAME}}{'':>32}{marked:>9,.0f}")
    return "\n".join([*lines, *(said(goal) for goal in row["goals"])])


def _figure(value: float | None, width: int, digits: int) -> str:
    return f"{'' if value is None else f'{value:,.{digits}f}':>{width}}"


def section_lines(row: Mapping[str, Any]) -> str:
    """A table of its own: a line an entry, a column a key."""
    table: Sequence[Mapping[str, Any]] = row["table"]
    names = list(table[0])
    lines = [f"{row['workload']}: {row['events']} events, planner {row['planner']}"]
    lines.append(_line(name.replace("_", " ") for name in names))
    lines += [_line(_cell(each[name]) for name in names) for each in table]
    return "\n".join([*lines, *(said(goal) for goal in row["goals"])])


def _line(cells: Iterable[str]) -> str:
    return "".join(f"{cell:>{_COLUMN}}" for cell in cells).rstrip()


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 1_000 else f"{value:.4g}"
    return str(value)


def closing(rows: Iterable[Mapping[str, Any]]) -> str:
    """How many goals were reached, and which were not."""
    found = {
        (goal["workload"], goal["method"], goal["what"]): goal
        for row in rows
        for goal in row["goals"]
    }
    if not found:
        return "\nGoals are for the whole size: --scale 1, and the default planner among --planner."
    missed = [goal for goal in found.values() if not goal["reached"]]
    lines = [f"\n{len(found) - len(missed)} of {len(found)} goals reached"]
    lines += [f"{goal['workload']}: {said(goal)}" for goal in missed]
    return "\n".join(lines)
