"""Precision and recall of the bundled detectors: on photographs and video, and on rendered frames.

    python -m tests.operators.image.bench [--frames N] [--seed N] [--json]

Rendered frames are of seeds that nothing was tuned on, in weathers drawn at random.
"""

from __future__ import annotations

import argparse
import json
import math
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from tamis_operators.image.bench import Scores, as_data, measured, table
from tamis_operators.image.configuration import DetectorConfiguration
from tamis_operators.image.detection import Box, Detection
from tamis_operators.image.detectors.above import ViewFromAboveDetector
from tests.fetching import UnavailableError, fetch

from .data import written, yolo
from .rendering import PALETTE, THINGS, Placed, Scene, Weather, crowd, harbor, traffic

Random = np.random.Generator
SCENES: dict[str, Callable[[Random, int], Scene]] = {
    "streets, 8 cm": lambda r, seed: traffic(r, police=2, people=15, seed=seed),
    "streets, 14 cm": lambda r, seed: traffic(
        r, police=2, people=15, meters_per_pixel=0.14, seed=seed
    ),
    "congestion, 8 cm": lambda r, seed: traffic(r, gap_m=(0.8, 2.5), police=1, seed=seed),
    "crowds, 6 cm": lambda r, seed: crowd(
        r,
        int(r.integers(20, 150)),
        strollers=12,
        spacing_m=float(r.uniform(0.75, 1.2)),
        ground=str(r.choice(["pavement", "grass", "asphalt"])),
        seed=seed,
    ),
    "crowds, 12 cm": lambda r, seed: crowd(
        r, int(r.integers(20, 150)), strollers=12, meters_per_pixel=0.12, seed=seed
    ),
    "harbor, 15 cm": lambda r, seed: harbor(
        r, int(r.integers(0, 5)), int(r.integers(0, 4)), seed=seed
    ),
}


def box_of(placed: Placed, scene: Scene) -> Box:
    """The upright box of what was drawn, in pixels; that of a person is a square, as detected."""
    thing = THINGS[placed.label]
    length, breadth = thing.length_m, thing.breadth_m
    turn = math.radians(placed.heading)
    wide = abs(length * math.cos(turn)) + abs(breadth * math.sin(turn))
    high = abs(length * math.sin(turn)) + abs(breadth * math.cos(turn))
    if placed.label == "person":
        wide = high = (length + breadth) / 2 * 1.6  # a person is found who is found nearly there
    scale = scene.meters_per_pixel
    x = placed.x / scale + scene.width / 2 - wide / scale / 2
    y = placed.y / scale + scene.height / 2 - high / scale / 2
    return Box(x, y, wide / scale, high / scale)


def rendered(make: Callable[[Random, int], Scene], frames: int, seed: int) -> Scores:
    """The scores of the view from above on scenes of some seeds."""
    detector = ViewFromAboveDetector(PALETTE)
    scores = Scores()
    for at in range(seed, seed + frames):
        random = np.random.default_rng(at)
        scene = make(random, at)
        frame = scene.frame(Weather.any(random))
        started = time.perf_counter()
        found = detector.detect(frame, scene.meters_per_pixel)
        scores.seconds += time.perf_counter() - started
        # what is cut by the edge of the frame counts neither way
        inside = [box_of(each, scene) for each in scene.things]
        whole = [_is_inside(box, scene) for box in inside]
        truth = [
            (each.label, box)
            for each, box, is_whole in zip(scene.things, inside, whole, strict=True)
            if is_whole
        ]
        cut = [box for box, is_whole in zip(inside, whole, strict=True) if not is_whole]
        scores.add(_grown(found), truth, cut)
    return scores


def _grown(found: list[Detection]) -> list[Detection]:
    return [
        replace(each, box=_around(each.box, 1.6)) if each.label == "person" else each
        for each in found
    ]


def _around(box: Box, times: float) -> Box:
    (x, y), wide, high = box.center, box.width * times, box.height * times
    return Box(x - wide / 2, y - high / 2, wide, high)


def _is_inside(box: Box, scene: Scene) -> bool:
    return (
        box.x >= 0
        and box.y >= 0
        and box.x + box.width <= scene.width
        and box.y + box.height <= scene.height
    )


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.operators.image.bench")
    parser.add_argument("--frames", type=int, default=20, help="of each kind of scene")
    parser.add_argument("--seed", type=int, default=50_000)
    parser.add_argument("--json", action="store_true", help="as data")
    given = parser.parse_args()
    results: dict[str, Scores] = {}
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        for video in (True, False):
            kind = "video" if video else "photographs"
            try:
                lines = written(folder, video=video, fetch=fetch)
                for name in ("hog", str(yolo(fetch))):
                    scores = measured(DetectorConfiguration.of(name), lines, folder)
                    results[f"{Path(name).stem} on {kind}"] = scores
            except UnavailableError as problem:
                print(f"{kind}: {problem}")
    for name, make in SCENES.items():
        results[f"above on {name}"] = rendered(make, given.frames, given.seed)
    if given.json:
        print(json.dumps({name: as_data(scores) for name, scores in results.items()}))
    else:
        print("\n".join(table(name, scores) for name, scores in results.items()))


if __name__ == "__main__":
    main()
