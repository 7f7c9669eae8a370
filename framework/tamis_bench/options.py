"""Declares the options that several benches share, for the command line."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any

import typer

Seed = Annotated[int, typer.Option(metavar="N", min=0, help="The seed of everything random.")]
Passes = Annotated[
    int, typer.Option(metavar="N", min=1, help="The number of passes, of which the fastest counts.")
]
Scale = Annotated[
    float, typer.Option(metavar="N", min=0.00001, help="All sizes are multiplied by this.")
]
Quick = Annotated[bool, typer.Option("--quick", help="Measure small sizes only.")]


def count(words: str, least: int = 1) -> Any:
    """Declares an option that takes a whole number."""
    return typer.Option(metavar="N", min=least, help=words)


def several(words: str, least: float | None = None, most: float | None = None) -> Any:
    """Declares an option that takes several values."""
    return typer.Option(metavar="N…", min=least, max=most, help=words)


def names(words: str, known: Iterable[str] = ()) -> Any:
    """Declares an option that takes several names, of those that are known where some are."""
    those = tuple(known)

    def checked(given: list[str] | None) -> list[str] | None:
        for name in given or ():
            if those and name not in those:
                raise typer.BadParameter(f"{name}: there are {', '.join(those)}")
        return given or None

    listed = f"{words}: {' '.join(those)}" if those else words
    return typer.Option(metavar="NAME…", help=f"{listed}.", callback=checked)
