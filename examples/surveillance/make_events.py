"""Writes the frames of the example: what a detector saw from drones over New York.

python examples/surveillance/make_events.py > examples/surveillance/events.jsonl
"""

from __future__ import annotations

import json
import random
from typing import Any

Frame = dict[str, Any]


def crowd(chance: random.Random, people: int, spread_m: float) -> list[list[float]]:
    return [
        [round(chance.gauss(0, spread_m), 1), round(chance.gauss(0, spread_m), 1)]
        for _ in range(people)
    ]


def car(at: list[float], speed: list[float], kind: str = "car") -> Frame:
    return {"kind": kind, "at": at, "speed": speed}


def queue(cars: int) -> list[Frame]:
    return [car([0, 7.5 * place], [0, round(0.2 * (place % 5), 1)]) for place in range(cars)]


def frames(seed: int) -> list[Frame]:
    chance = random.Random(seed)
    chase = [car([0, 0], [31, 2], "policeCar"), car([28, 3], [33, 1])]
    crash = [*queue(14), car([0.8, 7.9], [0, 0])]
    bronx, square = [-73.8970, 40.8448], [-73.9851, 40.7588]
    guard, harbor = "coastGuardBoat", [-74.0412, 40.6915]
    scenes: list[Frame] = [
        {"position": bronx, "people": crowd(chance, 4, 60), "cars": chase, "boats": []},
        {"position": bronx, "people": crowd(chance, 75, 6), "cars": queue(3), "boats": []},
        {"position": bronx, "people": crowd(chance, 40, 6), "cars": queue(2), "boats": []},
        {"position": square, "people": crowd(chance, 280, 55), "cars": queue(16), "boats": []},
        {"position": square, "people": crowd(chance, 90, 55), "cars": queue(16), "boats": []},
        {"position": bronx, "people": crowd(chance, 9, 30), "cars": crash, "boats": []},
        {"position": harbor, "people": [], "cars": [], "boats": [*["tourBoat"] * 5, guard]},
        {"position": harbor, "people": [], "cars": [], "boats": ["tourBoat", guard]},
        {"position": [-73.95, 40.65], "people": crowd(chance, 12, 40), "cars": chase, "boats": []},
        {"position": bronx, "cars": chase, "boats": []},
    ]
    return [
        {"id": f"frame-{number}", "time": f"2026-05-0{1 + number % 9}T14:0{number % 10}:00-04:00"}
        | {"camera": f"uav-{1 + number % 3}", "altitude": 80 + 15 * number, "speed": 12.5}
        | scene
        for number, scene in enumerate(scenes, 1)
    ]


if __name__ == "__main__":
    for frame in frames(seed=7):
        print(json.dumps(frame))
