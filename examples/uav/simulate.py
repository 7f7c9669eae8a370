"""Writes a run of the simulator: `python -m examples.uav.simulate --seed 1 --output FOLDER`."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from datetime import datetime
from pathlib import Path

from examples.uav.simulation import DRONES, INTERVAL_SECONDS, Simulation

FORMAT_VERSION = 1


def write(simulation: Simulation, seconds: float, folder: Path) -> Counter[str]:
    """Writes `events.jsonl`, `frames/`, `truth.jsonl` and `run.json`; how often S1 to S5 held."""
    frames = folder / "frames"
    frames.mkdir(parents=True, exist_ok=True)
    total = simulation.count(seconds)
    held: Counter[str] = Counter()
    run = {
        "format_version": FORMAT_VERSION, "seed": simulation.seed,
        "start": simulation.world.start.isoformat(), "drones": simulation.drones,
        "interval_seconds": simulation.interval, "events": total,
    }  # fmt: skip
    (folder / "run.json").write_text(json.dumps(run, indent=1) + "\n", encoding="utf-8")
    with (
        (folder / "events.jsonl").open("w", encoding="utf-8") as events,
        (folder / "truth.jsonl").open("w", encoding="utf-8") as truths,
    ):
        for seen in simulation.observations(0, total):
            path = frames / f"{seen.event['id']}.jpg"
            path.write_bytes(seen.event["image"])
            event = {**seen.event, "image": f"{frames.name}/{path.name}"}
            print(json.dumps(event), file=events)
            print(json.dumps(seen.truth.as_data()), file=truths)
            held.update(seen.truth.subscriptions)
    return held


def main(arguments: list[str] | None = None) -> int:
    """Runs the command."""
    parser = argparse.ArgumentParser(prog="python -m examples.uav.simulate", description=__doc__)
    parser.add_argument("--seed", type=int, default=1, help="another seed, another run (1)")
    parser.add_argument("--minutes", type=float, default=5.0, help="how long it is (5)")
    parser.add_argument("--drones", type=int, default=DRONES, help=f"how many fly ({DRONES})")
    words = f"seconds between two frames of a drone ({INTERVAL_SECONDS:g})"
    parser.add_argument("--interval", type=float, default=INTERVAL_SECONDS, help=words)
    words = "when it begins: 2026-06-12T17:30:00-04:00"
    parser.add_argument("--start", type=datetime.fromisoformat, help=words)
    parser.add_argument("--output", type=Path, required=True, help="the folder to write to")
    given = parser.parse_args(arguments)
    simulation = Simulation(
        given.seed, drones=given.drones, interval=given.interval, start=given.start
    )
    started = time.perf_counter()
    held = write(simulation, given.minutes * 60, given.output)
    rate = simulation.count(given.minutes * 60) / max(time.perf_counter() - started, 1e-9)
    print(f"{simulation.count(given.minutes * 60)} events in {given.output}, {rate:.0f} a second")
    for name in ("S1", "S2", "S3", "S4", "S5"):
        print(f"{name} holds on {held[name]}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
