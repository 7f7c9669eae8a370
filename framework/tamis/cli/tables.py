"""How lists look on a terminal and in a pipe: plain columns, the last one wrapped to the width."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Sequence

_GAP = "  "
_NARROWEST = 24


def terminal_width() -> int:
    """The columns that there are; 80 where there is no terminal."""
    return max(40, shutil.get_terminal_size((80, 24)).columns)


def table(headers: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Rows in columns below their headers, numbers to the right."""
    cells = [[_shown(value) for value in row] for row in rows]
    numeric = [
        all(isinstance(row[at], (int, float)) or row[at] is None for row in rows)
        for at in range(len(headers))
    ]
    widths = [max(len(line[at]) for line in [list(headers), *cells]) for at in range(len(headers))]
    taken = sum(widths[:-1]) + len(_GAP) * (len(headers) - 1)
    widths[-1] = min(widths[-1], max(_NARROWEST, terminal_width() - taken))
    lines = []
    for line in [list(headers), *cells]:
        wrapped = textwrap.wrap(line[-1], widths[-1]) or [""]
        first = [*line[:-1], wrapped[0]]
        lines.append(
            _GAP.join(
                word.rjust(width) if right else word.ljust(width)
                for word, width, right in zip(first, widths, numeric, strict=True)
            ).rstrip()
        )
        indent = " " * taken
        lines.extend(f"{indent}{more}" for more in wrapped[1:])
    return "\n".join(lines)


def wrapped(text: str, indent: str = "", more: str | None = None) -> str:
    """Words over as many lines as the width asks for."""
    return textwrap.fill(
        text,
        terminal_width(),
        initial_indent=indent,
        subsequent_indent=indent if more is None else more,
        break_on_hyphens=False,
    )


def _shown(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:,.6f}" if abs(value) < 1 else f"{value:,.3f}"
    return f"{value:,}" if isinstance(value, int) else str(value)
