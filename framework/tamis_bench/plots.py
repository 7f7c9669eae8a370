"""The figures of `tamis bench planners` as pictures: the paper's 4 to 8 and those of the sections.

Lines are told apart by their marks and dashes, so that they stay legible in black and white; bounds
are dashed and have no marks. Invariant: a picture is drawn of the measured rows alone.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from textwrap import fill
from typing import Any, NamedTuple

from tamis.errors import TamisError
from tamis_bench.planner_sections import TITLES
from tamis_bench.planners import FIGURES

_MARKS = "os^Dv<>pX*"
_LABEL = 18
_GRAYS = ("0.0", "0.3", "0.5")
_BOUNDS = {"non-anticipative": (5, 2), "clairvoyant": (2, 2), "packing": (1, 2)}
_AXES: dict[str, tuple[str, Callable[[Mapping[str, Any]], object]]] = {
    "4": ("subscriptions", lambda row: row["shape"]["subscriptions"]),
    "5": ("subscriptions", lambda row: row["shape"]["subscriptions"]),
    "6": ("predicates", lambda row: row["shape"]["predicates"]),
    "7": ("predicates in the longest subscription", lambda row: row["shape"]["longest"]),
    "8": (
        "popularity of predicates",
        lambda row: f"Zipf {row['shape']['zipf']:g}" if row["shape"]["zipf"] else "Uniform",
    ),
    "costs": ("workload", lambda row: fill(row["workload"], _LABEL)),
    "guarded": ("workload", lambda row: fill(row["workload"], _LABEL)),
}


class Line(NamedTuple):
    """A line of a picture."""

    name: str
    x: Sequence[object]
    y: Sequence[float]
    is_bound: bool = False


class Picture(NamedTuple):
    """What stands below, what at the left, the lines, and how they are drawn."""

    below: str
    across: str
    lines: list[Line]
    from_zero: bool = True
    is_joined: bool = True
    """Whether what lies between two places means anything."""


def drawable() -> None:
    """Raises `TamisError` where pictures cannot be drawn."""
    _matplotlib()


def draw(rows: Sequence[Mapping[str, Any]], folder: str | Path) -> list[Path]:
    """Draws every figure that has rows, an SVG each; the files."""
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    made = []
    for figure in dict.fromkeys(row["figure"] for row in rows):
        mine = [row for row in rows if row["figure"] == figure]
        path = place / (f"figure-{figure}.svg" if figure.isdigit() else f"{figure}.svg")
        _drawn(path, TITLES[figure], _picture(figure, mine))
        made.append(path)
    return made


def _picture(figure: str, rows: Sequence[Mapping[str, Any]]) -> Picture:
    if figure in FIGURES:
        lines = list(_costs(figure, rows))
        return Picture(_AXES[figure][0], "cost an event", lines, is_joined=figure.isdigit())
    return _SECTIONS[figure](rows)


def _costs(figure: str, rows: Sequence[Mapping[str, Any]]) -> Iterator[Line]:
    x = [_AXES[figure][1](row) for row in rows]
    for planner in rows[0]["planners"]:
        yield Line(planner, x, [row["planners"][planner]["cost"] for row in rows])
    for bound in _BOUNDS:
        yield Line(bound, x, [row["bounds"][bound] for row in rows], is_bound=True)


def _lines_by(table: Iterable[Mapping[str, Any]], name: str, x: str, y: str) -> list[Line]:
    """A line for each value of a column."""
    found: dict[object, tuple[list[object], list[float]]] = {}
    for each in table:
        if each[y] is not None:
            places, values = found.setdefault(each[name], ([], []))
            places.append(str(each[x]))
            values.append(each[y])
    return [Line(str(key), *values) for key, values in found.items()]


def _groups(rows: Sequence[Mapping[str, Any]]) -> Picture:
    table = rows[0]["table"]
    lines = _lines_by(table, "form", "predicates", "invocations")
    bound = _lines_by(table, "form", "predicates", "clairvoyant")
    lines += [line._replace(name="clairvoyant", is_bound=True) for line in bound]
    return Picture("predicates that one invocation answers", "invocations an event", lines)


def _rounds(rows: Sequence[Mapping[str, Any]]) -> Picture:
    table = rows[0]["table"]
    x = [str(each["workers"]) for each in table]
    faster = [each["times_faster"] for each in table]
    return Picture("workers", "times faster where calls wait", [Line("times faster", x, faster)])


def _scenes(rows: Sequence[Mapping[str, Any]]) -> Picture:
    x = [row["workload"].partition("/5 ")[2].replace(", ", "\n") for row in rows]
    known = [each["known"] for each in rows[0]["table"]]
    lines = [
        Line(name, x, [row["table"][at]["cost"] for row in rows]) for at, name in enumerate(known)
    ]
    return Picture("scenes", "calls an event", lines, from_zero=False)


def _learning(rows: Sequence[Mapping[str, Any]]) -> Picture:
    lines = []
    for row in rows:
        x = [str(each["after"]) for each in row["table"]]
        lines.append(Line(row["workload"], x, [each["over_given"] for each in row["table"]]))
    across = "cost over that with true selectivities"
    return Picture("after so many events", across, lines, from_zero=False)


_SECTIONS: dict[str, Callable[[Sequence[Mapping[str, Any]]], Picture]] = {
    "groups": _groups,
    "rounds": _rounds,
    "scenes": _scenes,
    "learning": _learning,
}


def _drawn(path: Path, title: str, drawing: Picture) -> None:
    figures = _matplotlib()
    picture = figures.Figure(figsize=(8, 4.6), layout="constrained")
    axes = picture.add_subplot()
    marked = 0
    for line in drawing.lines:
        if line.is_bound:
            dashes = _BOUNDS.get(line.name, (5, 2))
            if drawing.is_joined:
                axes.plot(line.x, line.y, color="0.0", linewidth=1, dashes=dashes, label=line.name)
            else:
                axes.scatter(line.x, line.y, color="0.0", marker="_", s=160, label=line.name)
        else:
            axes.plot(
                line.x, line.y, color=_GRAYS[marked % len(_GRAYS)], markersize=6,
                linewidth=1.3 if drawing.is_joined else 0,
                marker=_MARKS[marked % len(_MARKS)], markerfacecolor="white", label=line.name,
            )  # fmt: skip
            marked += 1
    axes.set_title(title)
    axes.set_xlabel(drawing.below)
    axes.set_ylabel(drawing.across)
    if drawing.from_zero:
        axes.set_ylim(bottom=0)
    if any(isinstance(place, str) for line in drawing.lines for place in line.x):
        axes.tick_params(axis="x", labelsize="small")
    axes.grid(axis="y", color="0.85")
    picture.legend(loc="outside right upper", frameon=False, fontsize="small")
    picture.savefig(path)


def _matplotlib() -> Any:
    try:
        return importlib.import_module("matplotlib.figure")
    except ImportError:
        raise TamisError("pictures are drawn by matplotlib: pip install 'tamis[bench]'") from None
