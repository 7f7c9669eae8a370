"""Names the ends of a command that are no success, and their exit statuses."""

from __future__ import annotations

from tamis.errors import TamisError

DONE, UNUSABLE, MISUSED, INTERRUPTED = 0, 1, 2, 130


class MisuseError(TamisError):
    """A command line that asks for something that is not there."""


class FindingsError(TamisError):
    """Input that cannot be used, all that is wrong with it in lines of its own."""


class InterruptedRunError(TamisError):
    """A run that was ended by Ctrl-C."""


class ReaderGoneError(TamisError):
    """Whoever read the output has read enough."""


class UnusableRunError(TamisError):
    """A run whose input held nothing that could be used."""
