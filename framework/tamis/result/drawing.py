"""Draws the graphs of `graphs` as SVG, without any library, after the paper's figures."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import networkx

_LETTER, _LINE, _PAD = 7.2, 16, 10
_GAP, _DROP, _MARGIN = 34, 46, 24
_STYLE = (
    "text{font:12px ui-monospace,Menlo,Consolas,monospace;fill:#1b1f24}"
    ".title{font-weight:600}.box{fill:#f4f7fb;stroke:#57708f}.head{fill:#fff6e5;stroke:#b0812c}"
    ".next{stroke:#57708f;stroke-width:1.4}.same{stroke:#b0812c;stroke-dasharray:5 4;fill:none}"
    ".held{stroke:#9aa8b8}.negated{stroke-dasharray:2 3}"
    "@media (prefers-color-scheme:dark){text{fill:#e6edf3}.box{fill:#1c2733;stroke:#7f9cbf}"
    ".head{fill:#3a2d12;stroke:#d6a84a}.next{stroke:#7f9cbf}.same{stroke:#d6a84a}}"
)
_TALL = _LINE + 2 * _PAD


class _SvgDrawing:
    """Draws an SVG, which grows with what is put on it."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._boxes: list[str] = []
        self._right = self._bottom = 0.0

    def box(self, x: float, y: float, wide: float, label: str, css: str) -> None:
        """Draws a labelled box, its left upper corner at a place."""
        self._boxes.append(
            f'<rect class="{css}" x="{x:.0f}" y="{y:.0f}" width="{wide:.0f}" '
            f'height="{_TALL}" rx="5"/>'
            f'<text x="{x + wide / 2:.0f}" y="{y + _TALL / 2 + 4:.0f}" text-anchor="middle">'
            f"{escape(label)}</text>"
        )
        self._right, self._bottom = max(self._right, x + wide), max(self._bottom, y + _TALL)

    def title(self, x: float, y: float, label: str) -> None:
        """Draws a heading in the middle above a place."""
        self._boxes.append(
            f'<text class="title" x="{x:.0f}" y="{y:.0f}" text-anchor="middle">'
            f"{escape(label)}</text>"
        )

    def line(self, path: str, css: str) -> None:
        """Draws a line under the boxes."""
        self._lines.append(f'<path class="{css}" d="{path}"/>')

    def __str__(self) -> str:
        wide, tall = self._right + _MARGIN, self._bottom + _MARGIN
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide:.0f} {tall:.0f}" '
            f'width="{wide:.0f}" height="{tall:.0f}"><style>{_STYLE}</style>'
            f"{''.join(self._lines)}{''.join(self._boxes)}</svg>\n"
        )


def width(label: str) -> float:
    """Returns the width of a box with this label."""
    return len(label) * _LETTER + 2 * _PAD


def draw_subscriptions(graph: networkx.Graph) -> str:
    """Draws subscriptions above, the predicates they hold below, as in Figure 1."""
    picture = _SvgDrawing()
    above = [node for node, data in graph.nodes(data=True) if data["kind"] == "subscription"]
    below = [node for node, data in graph.nodes(data=True) if data["kind"] != "subscription"]
    middles: dict[str, float] = {}
    x = float(_MARGIN)
    for node in below:
        label = graph.nodes[node]["label"]
        picture.box(x, _MARGIN + _TALL + 3 * _DROP, width(label), label, "box")
        middles[node] = x + width(label) / 2
        x += width(label) + _GAP
    step = max(x / max(1, len(above)), 90.0)
    for number, node in enumerate(above):
        label = graph.nodes[node]["label"]
        middles[node] = _MARGIN + step * (number + 0.5)
        picture.box(middles[node] - width(label) / 2, _MARGIN, width(label), label, "head")
    for one, other, data in graph.edges(data=True):
        top, bottom = (one, other) if one in above else (other, one)
        css = "held negated" if data["negated"] else "held"
        picture.line(
            f"M{middles[top]:.0f} {_MARGIN + _TALL}L{middles[bottom]:.0f} "
            f"{_MARGIN + _TALL + 3 * _DROP}",
            css,
        )
    return str(picture)


def draw_chains(graph: networkx.DiGraph) -> str:
    """Draws a column a chain, the same tests linked by dashed lines, as in Figure 3."""
    picture = _SvgDrawing()
    columns: dict[int, list[tuple[str, dict[str, Any]]]] = {}
    for node, data in graph.nodes(data=True):
        columns.setdefault(data["column"], []).append((node, data))
    places: dict[str, tuple[float, float, float]] = {}
    x = float(_MARGIN)
    for _, nodes in sorted(columns.items()):
        wide = max(width(data["label"]) for _, data in nodes)
        picture.title(x + wide / 2, _MARGIN + 4, nodes[0][1]["chain"])
        for node, data in nodes:
            y = _MARGIN + _LINE + data["row"] * (_TALL + _DROP)
            picture.box(x, y, wide, data["label"], "box")
            places[node] = (x, y, wide)
        x += wide + 2 * _GAP
    for one, other, data in graph.edges(data=True):
        (x1, y1, wide1), (x2, y2, _) = places[one], places[other]
        if data["kind"] == "next":
            picture.line(f"M{x1 + wide1 / 2:.0f} {y1 + _TALL}V{y2:.0f}", "next")
        else:
            left, right, middle = x1 + wide1, x2, y1 + _TALL / 2
            if y1 == y2 and graph.nodes[other]["column"] == graph.nodes[one]["column"] + 1:
                picture.line(f"M{left:.0f} {middle:.0f}H{right:.0f}", "same")
            else:
                under, gap = y1 + _TALL + _DROP / 2, _GAP / 2
                picture.line(
                    f"M{left:.0f} {middle:.0f}h{gap:.0f}V{under:.0f}H{right - gap:.0f}"
                    f"V{y2 + _TALL / 2:.0f}H{right:.0f}",
                    "same",
                )
    return str(picture)
