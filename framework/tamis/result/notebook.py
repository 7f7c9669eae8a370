"""Writes results and explanations as HTML, for notebooks.

Everything from events and subscriptions is escaped. Cost: that of what is shown, at most `_MOST`
rows of each kind.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from itertools import islice
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tamis.result import Result
    from tamis.result.explain import Explanation

_MOST = 20
_COLORS = {"true": "#1a7f37", "false": "#cf222e", "unknown": "#9a6700"}


def result_html(result: Result) -> str:
    """Returns the result of an event: matches with their bindings, what is open, the account."""
    account = result.account
    took = f"{escape(account.outcome_text)}<br>{escape(account.calls_text)}"
    parts = [f"<p><b>{escape(result.event)}</b>: {took}</p>"]
    matches = [
        (each.subscription, "; ".join(map(_assignment, each.bindings)))
        for each in islice(result.matches, _MOST)
    ]
    parts += _table(("matched", "bindings"), matches, len(result.matches))
    undetermined = result.undetermined
    parts += _table(("undetermined", "reason"), undetermined[:_MOST], len(undetermined))
    return "".join(parts)


def explanation_html(explanation: Explanation) -> str:
    """Returns an explanation, the truth of each predicate in its color."""
    head, *lines = str(explanation).splitlines()
    shown = [f"<b>{escape(head)}</b>", *map(_colored, lines)]
    return f"<pre>{'<br>'.join(shown)}</pre>"


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]], count: int) -> Iterable[str]:
    """Yields a table, if it has rows, and how many more there are."""
    if not rows:
        return
    yield "<table><tr>" + "".join(f"<th>{escape(head)}</th>" for head in heads) + "</tr>"
    for row in rows:
        cells = "".join(f'<td style="text-align:left">{escape(cell)}</td>' for cell in row)
        yield f"<tr>{cells}</tr>"
    yield "</table>"
    if count > len(rows):
        yield f"<p>and {count - len(rows):,} more</p>"


def _assignment(values: dict[str, Any]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in values.items())


def _colored(line: str) -> str:
    """Returns the line with the first truth it names in its color."""
    words = escape(line).split(" ")
    for at, word in enumerate(words):
        color = _COLORS.get(word.strip(":,"))
        if color:
            words[at] = f'<span style="color:{color}">{word}</span>'
            break
    return " ".join(words)
