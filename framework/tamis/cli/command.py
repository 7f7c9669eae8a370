"""Takes the options of every command, says what it waits for, and ends it when interrupted.

An option that may be given several times may also be followed by several values, as a shell leaves
them when it expands a pattern: `--events day-*.jsonl`, `--operators a.py b.py`.
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
from collections.abc import Iterator
from typing import Any

from typer import Context
from typer.core import TyperCommand

from tamis.cli.failures import InterruptedRunError, ReaderGoneError
from tamis.waiting import waiting_for

_MODULE = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*")
_DATA = (".jsonl", ".json", ".gz", ".txt")
_WAITS = {
    "match": "matching events",
    "learn": "learning from history",
    "advise": "evaluating a sample of history",
    "drift": "comparing statistics",
    "check": "reading subscriptions",
    "explain": "deciding the event",
    "doctor": "trying and timing what is installed",
}
"""The words for commands that take long; those not named here have their own."""


class Command(TyperCommand):
    """A command of tamis."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parses the arguments, each value of an option behind its own name."""
        several = {
            name for each in self.params if getattr(each, "multiple", False) for name in each.opts
        }
        has_argument = any(each.param_type_name == "argument" for each in self.params)
        return super().parse_args(ctx, list(_spread(args, several, modules_only=has_argument)))

    def invoke(self, ctx: Context) -> Any:  # type: ignore[override]
        """Runs the command."""
        words = None if sys.stderr.isatty() else _WAITS.get(str(self.name))
        try:
            with contextlib.nullcontext() if words is None else waiting_for(words):
                return super().invoke(ctx)
        except KeyboardInterrupt:
            raise InterruptedRunError("interrupted") from None
        except BrokenPipeError:
            raise ReaderGoneError from None


def _spread(args: list[str], several: set[str], *, modules_only: bool) -> Iterator[str]:
    """Yields the arguments with the name of an option repeated before each of its values."""
    option = None
    values = 0
    for at, each in enumerate(args):
        if each == "--":
            yield from args[at:]
            return
        if each.startswith("-") and each != "-":
            option, values = (each if each in several else None), 0
        elif option is not None:
            values += 1
            if values > 1:
                if modules_only and not _is_module(each):
                    option = None
                else:
                    yield option
        yield each


def _is_module(word: str) -> bool:
    """Returns whether a word names a module or a Python file rather than a file of data."""
    if word.endswith(".py"):
        return True
    is_data = word.endswith(_DATA) or os.path.isfile(word)
    return _MODULE.fullmatch(word) is not None and not is_data
