"""Writes HTML and numbers for the report: everything from a run is escaped, figures line up."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

KINDS = {
    "spatial": ("locIn", "locWithin", "distanceFrom", "intersects", "nearest"),
    "reasoner": ("isA", "holds", "ask", "select", "instanceOf"),
}
"""Operators by kind; all others of the demo look at pictures."""


def text(value: object) -> str:
    """A value as text of a page."""
    return escape(str(value), quote=True)


def kind_of(operator: str) -> str:
    """Whether an operator is spatial, about images or reasons."""
    return next((kind for kind, names in KINDS.items() if operator in names), "image")


def whole(value: float) -> str:
    """A count."""
    return f"{value:,.0f}"


def seconds(value: float) -> str:
    """A time in seconds, to the hundredth."""
    return "&lt;0.01" if 0 < value < 0.005 else f"{value:,.2f}"


def duration(value: float) -> str:
    """A short time with its unit."""
    if value < 1e-3:
        return f"{value * 1e6:.0f} µs"
    return f"{value * 1e3:.1f} ms" if value < 1 else f"{value:.1f} s"


def ratio(part: float, of: float) -> str:
    """A share in percent."""
    return f"{part / of:.0%}" if of else "–"


def table(
    head: Iterable[tuple[str, str]], rows: Iterable[Iterable[str]], caption: str, name: str
) -> str:
    """A table that scrolls by itself where the window is narrow; columns have a title and a class.

    Cells are markup."""
    columns = list(head)
    titles = "".join(
        f'<th scope="col" class="{style}">{text(title)}</th>' for title, style in columns
    )
    lines = []
    for row in rows:
        cells = [
            f'<th scope="row" class="{style}">{cell}</th>'
            if at == 0
            else f'<td class="{style}">{cell}</td>'
            for at, (cell, (_, style)) in enumerate(zip(row, columns, strict=True))
        ]
        lines.append(f"<tr>{''.join(cells)}</tr>")
    return (
        f'<figure class="table"><div class="wide" role="region" aria-label="{text(name)}" '
        f'tabindex="0"><table aria-label="{text(name)}"><thead><tr>{titles}</tr></thead>'
        f"<tbody>{''.join(lines)}</tbody></table></div><figcaption>{caption}</figcaption></figure>"
    )


def bar(share: float, style: str, beside: float = 0.0) -> str:
    """A bar in a cell of a table, with a paler one beside it; their numbers stand in the row."""
    parts = f'<i class="{style}" style="width:{_percent(share)}"></i>'
    if beside:
        parts += f'<i class="spared" style="width:{_percent(beside)}"></i>'
    return f'<span class="bar" aria-hidden="true">{parts}</span>'


def _percent(share: float) -> str:
    return f"{100 * min(1.0, max(0.0, share)):.1f}%"
