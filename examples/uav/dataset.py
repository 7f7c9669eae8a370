"""A run as files: events, their frames, and the truth, one line an event."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from examples.uav.simulation import Simulation

FORMAT_VERSION = 1


def write(
    simulation: Simulation,
    seconds: float,
    folder: Path,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Counter[str]:
    """Writes `events.jsonl`, `frames/`, `truth.jsonl` and `run.json`; how often S1 to S5 held."""
    frames = folder / "frames"
    frames.mkdir(parents=True, exist_ok=True)
    total = simulation.count(seconds)
    held: Counter[str] = Counter()
    run = {
        "format_version": FORMAT_VERSION,
        "seed": simulation.seed,
        "start": simulation.world.start.isoformat(),
        "drones": simulation.drones,
        "interval_seconds": simulation.interval,
        "events": total,
    }
    (folder / "run.json").write_text(json.dumps(run, indent=1) + "\n", encoding="utf-8")
    with (
        (folder / "events.jsonl").open("w", encoding="utf-8") as events,
        (folder / "truth.jsonl").open("w", encoding="utf-8") as truths,
    ):
        for done, seen in enumerate(simulation.observations(0, total), 1):
            path = frames / f"{seen.event['id']}.jpg"
            path.write_bytes(seen.event["image"])
            event = {**seen.event, "image": f"{frames.name}/{path.name}"}
            print(json.dumps(event), file=events)
            print(json.dumps(seen.truth.as_data()), file=truths)
            held.update(seen.truth.subscriptions)
            progress(done, total)
    return held
