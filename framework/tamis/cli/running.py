"""Runs the command line, and ends it: an exit status, one sentence for whatever went wrong."""

from __future__ import annotations

import contextlib
import os
import sys
import traceback
import warnings
from collections.abc import Iterator, Sequence

import typer

from tamis.cli.failures import (
    DONE,
    INTERRUPTED,
    MISUSED,
    UNUSABLE,
    FindingsError,
    InterruptedRunError,
    MisuseError,
    ReaderGoneError,
)
from tamis.cli.saying import say
from tamis.errors import PluginWarning, SubscriptionWarning, TamisError, UnknownPlugin, WrongOption

# The class has moved between the versions of typer; a kind of it never did.
_USAGE_ERROR: type = typer.BadParameter.__mro__[1]
_WARNINGS_SHOWN = 20


def run(arguments: Sequence[str]) -> int:
    """Runs a command line and returns its exit status; nothing is raised."""
    from tamis.cli.app import build

    debug = "--debug" in arguments
    sys.stdout = sys.stdout or open(os.devnull, "w")  # noqa: SIM115 (closed by the shell: >&-)
    sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # lone surrogates in events have no UTF-8
            stream.reconfigure(errors="backslashreplace")
    with _warnings_as_sentences():
        try:
            command = typer.main.get_command(build())
            status = command.main(list(arguments), prog_name="tamis", standalone_mode=False)
            sys.stdout.flush()
        except (ReaderGoneError, BrokenPipeError):
            _forget_output()
            return DONE
        except (Exception, KeyboardInterrupt) as problem:
            if debug:
                traceback.print_exc()
            return _ended(problem)
    return status if isinstance(status, int) else DONE


def _ended(problem: BaseException) -> int:
    """Says what went wrong; the exit status."""
    if isinstance(problem, InterruptedRunError | KeyboardInterrupt):
        say(str(problem) or "interrupted")
        return INTERRUPTED
    if isinstance(problem, FindingsError):
        say(str(problem))
        return UNUSABLE
    if isinstance(problem, _USAGE_ERROR):
        context = getattr(problem, "ctx", None)
        path = context.command_path if context is not None else "tamis"
        say(f"error: {problem.format_message()}\nTry '{path} --help' for help.")  # type: ignore[attr-defined]
        return MISUSED
    if isinstance(problem, MisuseError | UnknownPlugin | WrongOption):
        say(f"error: {problem}")
        return MISUSED
    if isinstance(problem, TamisError):
        say(f"error: {problem}")
    elif isinstance(problem, OSError):
        name = f"{problem.filename}: " if problem.filename else ""
        say(f"error: {name}{problem.strerror or problem}")
    else:
        words = f"{type(problem).__name__}: {problem}".strip(": ")
        say(f"error: {words}\nThis is a fault of tamis or of a plugin: --debug shows where.")
    return UNUSABLE


@contextlib.contextmanager
def _warnings_as_sentences() -> Iterator[None]:
    """Shows warnings as sentences, the first of them in full."""
    shown = 0

    def show(message: Warning | str, *about: object, **more: object) -> None:
        nonlocal shown
        shown += 1
        if shown <= _WARNINGS_SHOWN:
            say(f"warning: {message}")

    with warnings.catch_warnings():
        warnings.simplefilter("always", SubscriptionWarning)
        warnings.simplefilter("always", PluginWarning)
        warnings.showwarning = show
        try:
            yield
        finally:
            if shown > _WARNINGS_SHOWN:
                say(f"warning: and {shown - _WARNINGS_SHOWN:,} more")


def _forget_output() -> None:
    """Points standard output at nothing, so that the interpreter's last flush says nothing."""
    with contextlib.suppress(OSError, ValueError):
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, sys.stdout.fileno())
        os.close(nothing)
