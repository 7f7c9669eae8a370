"""Says how a law is broken: what was asked, what was expected, what came, and how to mend it."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from typing import Any

from tamis.words import shortened

_WIDTH = 100
_LONGEST = 400
_ITEM = 80


class Breach(AssertionError):
    """A law that an operator breaks, as data and as a few readable lines."""

    def __init__(
        self,
        problem: str,
        *,
        mend: str,
        predicate: str | None = None,
        event: Mapping[str, Any] | None = None,
        expected: object = None,
        got: object = None,
    ) -> None:
        super().__init__(problem)
        self.problem = problem
        self.mend = mend
        self.predicate = predicate
        self.event = event
        self.expected = expected
        self.got = got
        self.operator = self.law = self.says = ""

    def of(self, operator: str, law: str, says: str) -> Breach:
        """Returns the same, naming the operator and the law."""
        self.operator, self.law, self.says = operator, law, says
        return self

    def __str__(self) -> str:
        lines = [f"{self.operator} breaks the law {self.law!r}: {self.says}", self.problem]
        facts = {
            "predicate": self.predicate,
            "event": None if self.event is None else event_text(self.event),
            "expected": None if self.expected is None else str(self.expected),
            "got": None if self.got is None else str(self.got),
            "mend it": self.mend,
        }
        for name, words in facts.items():
            if words is not None:
                lines += textwrap.wrap(
                    shortened(words, _LONGEST),
                    _WIDTH,
                    initial_indent=f"  {name:<11}",
                    subsequent_indent=" " * 13,
                    break_on_hyphens=False,
                ) or [f"  {name}"]
        return "\n".join(lines)


def event_text(content: Mapping[str, Any]) -> str:
    """Returns an event on a line, long values cut."""
    return "{" + ", ".join(f"{name!r}: {shown(value)}" for name, value in content.items()) + "}"


def shown(value: object, most: int = _ITEM) -> str:
    """Returns a value as Python writes it, cut where it is long."""
    if hasattr(value, "shape") and hasattr(value, "dtype"):
        return f"<array of {value.dtype}, {' x '.join(map(str, value.shape))}>"
    try:
        words = repr(value)
    except Exception as broken:
        words = f"<{type(value).__name__}, whose repr raises {type(broken).__name__}>"
    return shortened(words, most)
