"""Writes a run of the simulator: `python -m examples.uav.simulate --seed 1 --output FOLDER`."""

from __future__ import annotations

import argparse
import sys
import time
from datetime import datetime
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from examples.uav.dataset import write
from examples.uav.simulation import DRONES, INTERVAL_SECONDS, Simulation


def parser() -> argparse.ArgumentParser:
    """What the command takes."""
    made = argparse.ArgumentParser(prog="python -m examples.uav.simulate", description=__doc__)
    made.add_argument("--seed", type=int, default=1, help="another seed, another run (1)")
    made.add_argument("--minutes", type=float, default=5.0, help="how long it is (5)")
    made.add_argument("--drones", type=int, default=DRONES, help=f"how many fly ({DRONES})")
    made.add_argument(
        "--interval", type=float, default=INTERVAL_SECONDS,
        help=f"seconds between two frames of a drone ({INTERVAL_SECONDS:g})",
    )  # fmt: skip
    made.add_argument(
        "--start", type=datetime.fromisoformat, help="when it begins: 2026-06-12T17:30:00-04:00"
    )
    made.add_argument("--output", type=Path, required=True, help="the folder to write to")
    return made


def main(arguments: list[str] | None = None) -> int:
    """Runs the command."""
    given = parser().parse_args(arguments)
    simulation = Simulation(
        given.seed, drones=given.drones, interval=given.interval, start=given.start
    )
    started = time.perf_counter()
    columns = (TextColumn("frames"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    console = Console(stderr=True)
    with Progress(*columns, console=console, disable=not console.is_terminal) as bar:
        task = bar.add_task("frames", total=simulation.count(given.minutes * 60))
        held = write(
            simulation,
            given.minutes * 60,
            given.output,
            lambda done, total: bar.update(task, completed=done),
        )
    seconds = time.perf_counter() - started
    total = simulation.count(given.minutes * 60)
    print(f"{total} events in {given.output}, {total / max(seconds, 1e-9):.0f} a second")
    for name in ("S1", "S2", "S3", "S4", "S5"):
        print(f"{name} holds on {held[name]}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
