"""Draws the figures of benches: of `planners` the paper's 4 to 8 and those of the sections.

Lines are told apart by their marks and dashes, so that they stay legible in black and white; bounds
are dashed and have no marks. Invariant: a picture is drawn of the measured rows alone.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from textwrap import fill
from typing import Any, NamedTuple

from tamis.errors import TamisError
from tamis_bench.report import Row

_MARKS = "os^Dv<>pX*"
_GRAYS = ("0.0", "0.3", "0.5")
_CLAIRVOYANT = "(clairvoyant)"
_BOUNDS = {"(non-anticipative)": (5, 2), _CLAIRVOYANT: (2, 2), "(packing)": (1, 2)}


class Picture(NamedTuple):
    """The axes of a picture, and the values of rows that make its lines."""

    below: str
    across: str
    x: Callable[[Row], object]
    y: str
    line: str
    from_zero: bool = True
    in_powers: bool = False
    """True if steps upwards are factors."""


def _of_shape(below: str, name: str) -> Picture:
    return Picture(below, "cost an event", lambda row: row["about"][name], "cost", "planner")


def _text(name: str) -> Callable[[Row], str]:
    return lambda row: fill(str(row[name]), 18)


_COSTS = Picture("workload", "cost an event", _text("workload"), "cost", "planner")
_QUARTER = "decided with a quarter of the exact cost"
_OVER = "cost over that with true selectivities"
_PICTURES = {
    "4": _of_shape("subscriptions", "subscriptions"),
    "5": _of_shape("subscriptions", "subscriptions"),
    "6": _of_shape("predicates", "predicates"),
    "7": _of_shape("predicates in the longest subscription", "longest"),
    "8": _COSTS,
    "costs": _COSTS,
    "guarded": _COSTS,
    "groups": Picture("predicates", "invocations", _text("predicates"), "invocations", "form"),
    "rounds": Picture("workers", "times faster", _text("workers"), "times_faster", "workload"),
    "scenes": Picture("scenes", "calls", _text("workload"), "cost", "known", False),
    "budgets": Picture("workload", _QUARTER, _text("workload"), "decided_at_25%", "planner"),
    "learning": Picture("after events", _OVER, _text("after"), "over_given", "workload", False),
}


def drawable() -> None:
    """Raises `TamisError` where pictures cannot be drawn."""
    _matplotlib()


def draw(
    rows: Sequence[Row],
    titles: Mapping[str, str],
    folder: str,
    pictures: Mapping[str, Picture] | None = None,
) -> list[Path]:
    """Draws every figure that has rows, an SVG each; returns the files."""
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    made = []
    for figure, picture in (_PICTURES if pictures is None else pictures).items():
        mine = [row for row in rows if row.get("figure") == figure]
        if mine:
            made.append(place / (f"figure-{figure}.svg" if figure.isdigit() else f"{figure}.svg"))
            _drawn(made[-1], titles[figure], picture, mine)
    return made


def _lines(picture: Picture, rows: Sequence[Row]) -> dict[str, tuple[list[object], list[float]]]:
    """Returns the places and values of each line."""
    found: dict[str, tuple[list[object], list[float]]] = {}
    for row in rows:
        for name, value in (
            (row[picture.line], row.get(picture.y)),
            (_CLAIRVOYANT, row.get("clairvoyant")),
        ):
            if value is not None and (name[0] != "(" or name in _BOUNDS):
                places, values = found.setdefault(name, ([], []))
                places.append(picture.x(row))
                values.append(value)
    return found


def _drawn(path: Path, title: str, picture: Picture, rows: Sequence[Row]) -> None:
    matplotlib = _matplotlib()
    drawing = matplotlib.figure.Figure(figsize=(8, 4.6), layout="constrained")
    axes = drawing.add_subplot()
    for at, (name, (x, y)) in enumerate(_lines(picture, rows).items()):
        if name in _BOUNDS:
            axes.plot(x, y, color="0.0", linewidth=1, dashes=_BOUNDS[name], label=name[1:-1])
        else:
            axes.plot(
                x, y, color=_GRAYS[at % len(_GRAYS)], markersize=6, linewidth=1.3,
                marker=_MARKS[at % len(_MARKS)], markerfacecolor="white", label=name,
            )  # fmt: skip
    axes.set_title(title)
    axes.set_xlabel(picture.below)
    axes.set_ylabel(picture.across)
    if picture.in_powers:
        axes.set_yscale("log")
    if picture.from_zero:
        axes.set_ylim(bottom=0)
    axes.tick_params(axis="x", labelsize="small")
    axes.grid(axis="y", color="0.85")
    drawing.legend(loc="outside right upper", frameon=False, fontsize="small")
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "tamis"}):
        drawing.savefig(path, metadata={"Date": None})


def _matplotlib() -> Any:
    try:
        importlib.import_module("matplotlib.figure")
        return importlib.import_module("matplotlib")
    except ImportError:
        raise TamisError("pictures are drawn by matplotlib: pip install 'tamis[bench]'") from None
