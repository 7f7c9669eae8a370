"""Measures how right the operators are on drawn frames, by `examples/uav` of a checkout.

A count is asked as subscriptions ask it, `> n`, for several n, each a question of yes or no, and
all of them together; beside it stands how often the number itself is right, and right within a
tenth. Seconds are those of all answers to a frame, its decoding included.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer

from tamis.errors import TamisError
from tamis_bench.options import count
from tamis_bench.report import Row

_MODULE, _FORECASTS = "examples.uav.quality", "examples.uav.forecasts"


def measured(
    *,
    frames: Annotated[int, count("Frames, moments of any flight of a quarter of an hour.")] = 1_000,
    seed: Annotated[int, count("The first seed, of 25 frames each.")] = 5_000,
    workers: Annotated[int, count("Processes.")] = 1,
    misses: Annotated[bool, typer.Option("--misses", help="Say which frames went wrong.")] = False,
    forecast: Annotated[
        bool, typer.Option("--forecast", help="Measure forecasts on other frames instead.")
    ] = False,
    checkout: Annotated[
        str, typer.Option(metavar="DIR", help="Where tamis was checked out to.")
    ] = ".",
) -> Iterator[Row]:
    """Yields a row for each question."""
    place = Path(checkout).resolve()
    if not place.joinpath(*_MODULE.split(".")).with_suffix(".py").is_file():
        raise TamisError(f"{place} is no checkout of tamis: run it in one, or name it: --checkout")
    sys.path.insert(0, str(place))
    if forecast:
        yield from import_module(_FORECASTS).measured(frames, seed)
        return
    yield from import_module(_MODULE).measured(frames, seed, workers, misses=misses)
