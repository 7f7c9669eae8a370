"""What `tamis bench index` shows of a workload: a line a method, and what came of the goals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tamis_bench.goals import said

_OFF = 1.5
"""From how far off the wanted match rate a word is said."""
_TIMES = (("us", "median us"), ("mean_us", "mean us"), ("p99_over_mean", "p99/mean"))
_COSTS = (
    ("build_us", "build us"),
    ("insert_us", "insert us"),
    ("delete_us", "delete us"),
    ("bytes", "bytes"),
    ("candidates", "candidates"),
    ("dict_us", "+ dict us"),
    ("build_growth", "over 1/4"),
)
_AFTER = (
    ("mean_us", "mean us"),
    ("p99_over_mean", "p99/mean"),
    ("of_before", "of before"),
    ("while_us", "while us"),
)
_NAME, _COLUMN = 16, 11


def table(row: Mapping[str, Any]) -> str:
    """A measured workload."""
    methods: Mapping[str, Mapping[str, Any]] = row["methods"]
    scans = list(next(iter(methods.values()))["times"])
    lines = ["", *_head(row), ""]
    lines.append(_line("", [*(words for _, words in _TIMES), *(f"x {scan}" for scan in scans)]))
    for name, each in methods.items():
        cells = [each.get(key) for key, _ in _TIMES]
        lines.append(_line(name, [*cells, *(each["times"][scan] for scan in scans)]))
    lines += [f"{name:<{_NAME}} {why}" for name, why in row["left_out"].items()]
    measured = {name: each for name, each in methods.items() if "build_us" in each}
    if measured:
        lines += ["", *_part(measured, _COSTS, "a subscription")]
        changed = {
            name: {**each["after"], "while_us": each.get("while_us")}
            for name, each in methods.items()
            if "after" in each
        }
        lines += ["", *_part(changed, _AFTER, "10% replaced")]
    if row["goals"]:
        lines += ["", *(said(goal) for goal in row["goals"])]
    return "\n".join(lines)


def _head(row: Mapping[str, Any]) -> Iterable[str]:
    yield (
        f"{row['title']}: {row['subscriptions']:,} subscriptions of {row['predicates']:.1f} "
        f"predicates, {row['attributes']:,} attributes, {row['pairs']:.0f} pairs an event;"
    )
    compared = f"{row['answers_compared']:,} answers compared, none wrong"
    yield f"{row['match_ratio']:.3%} match, seed {row['seed']}; {compared}"
    wanted = row["wanted_match_ratio"]
    if wanted and not wanted / _OFF <= row["match_ratio"] <= wanted * _OFF:
        yield f"(these parameters do not allow the {wanted:.3%} that were asked for)"


def _part(
    methods: Mapping[str, Mapping[str, Any]], columns: Sequence[tuple[str, str]], title: str
) -> Iterable[str]:
    """Some figures of some methods; a column that none has is left out."""
    shown = [
        (key, words) for key, words in columns if any(key in each for each in methods.values())
    ]
    yield _line(title, [words for _, words in shown])
    for name, each in methods.items():
        yield _line(name, [each.get(key) for key, _ in shown])


def _line(name: str, cells: Iterable[Any]) -> str:
    return (f"{name:<{_NAME}}" + "".join(f"{_cell(cell):>{_COLUMN}}" for cell in cells)).rstrip()


def _cell(cell: Any) -> str:
    if cell is None:
        return ""
    if isinstance(cell, str):
        return cell
    if cell >= 1_000:
        return f"{cell:,.0f}"
    return f"{cell:.1f}" if cell >= 10 else f"{cell:.2f}"


def closing(rows: Sequence[Mapping[str, Any]]) -> str:
    """How many goals were reached, and which were not."""
    goals = [goal for row in rows for goal in row["goals"]]
    if not goals:
        return "\nGoals are for the whole size: --scale 1, and the named workloads."
    missed = [goal for goal in goals if not goal["reached"]]
    compared = sum(row["answers_compared"] for row in rows)
    reached = f"{len(goals) - len(missed)} of {len(goals)} goals reached"
    lines = [f"\n{reached}; 0 of {compared:,} answers wrong"]
    lines += [f"{goal['workload']}: {said(goal)}" for goal in missed]
    return "\n".join(lines)
