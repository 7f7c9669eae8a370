"""Lays out lists, on a terminal and in a pipe alike: columns, of which the last one is wrapped."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Callable, Sequence

_NARROWEST = 24


def terminal_width() -> int:
    """Returns the columns that there are; 80 where there is no terminal."""
    return max(40, shutil.get_terminal_size((80, 24)).columns)


def _shown(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:,.6f}" if abs(value) < 1 else f"{value:,.3f}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def table(
    headers: Sequence[str],
    rows: Sequence[Sequence[object]],
    shown: Callable[[object], str] = _shown,
) -> str:
    """Shows rows in columns below their headers, numbers to the right; names are never cut.

    `shown` makes texts of values."""
    from rich.cells import cell_len
    from rich.console import Console
    from rich.table import Table

    columns = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    widths = []
    for at, header in enumerate(headers):
        values, is_last = [row[at] for row in rows], at == len(headers) - 1
        longest = max(map(cell_len, (header, *map(shown, values))))
        widths.append(min(longest, _NARROWEST) if is_last else longest + 2)
        right = all(value is None or isinstance(value, (int, float)) for value in values)
        columns.add_column(
            header, justify="right" if right else "left", overflow="fold", no_wrap=not is_last
        )
    for row in rows:
        columns.add_row(*map(shown, row))
    width = max(terminal_width(), sum(widths))
    console = Console(width=width, color_system=None, highlight=False, markup=False, emoji=False)
    with console.capture() as captured:
        console.print(columns)
    return "\n".join(line.rstrip() for line in captured.get().splitlines())


def wrapped(text: str, indent: str = "", more: str | None = None) -> str:
    """Words over as many lines as the width asks for."""
    return textwrap.fill(
        text,
        terminal_width(),
        initial_indent=indent,
        subsequent_indent=indent if more is None else more,
        break_on_hyphens=False,
    )
