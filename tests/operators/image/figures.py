"""Measures operators on pixels, how right and how fast: `python -m tests.operators.image.figures`.

On photographs that no bound was set on: wallpapers of Debian's mate-backgrounds, and those of
ultralytics. `--tuning` adds the photographs that bounds were set on. Those of faces
were set on all frames of `FACES` but the wallpapers.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

import cv2
import numpy

from tamis_operators.image.brightness import brightness_of
from tamis_operators.image.color_names import table
from tamis_operators.image.dominant_color import shares_of
from tamis_operators.image.face_count import faces_of
from tamis_operators.image.features import features_of
from tamis_operators.image.gray import gray_of
from tamis_operators.image.qr_code import texts_of
from tamis_operators.image.templates import shows, template_of
from tamis_operators.image.verification import agreeing, paired
from tests.operators.image.photographs import Picture, changes, photograph, seen

HELD_OUT = {
    "mate-backgrounds": (
        "Aqua", "Blinds", "Dune", "FreshFlower", "Garden", "GreenMeadow", "LadyBird", "RainDrops",
        "Storm", "TwoWings", "Wood", "YellowFlower", "Elephants",
    ),
    "ultralytics": ("bus", "zidane"),
}  # fmt: skip
TUNING = {
    "scikit-image": (
        "astronaut", "brick", "camera", "chelsea", "coffee", "coins", "grass", "gravel", "ihc",
        "moon", "motorcycle_left", "page", "retina", "rocket",
    ),
}  # fmt: skip
FACES = {
    "face-api": {
        "sample1": 3, "sample2": 3, "sample3": 3, "sample4": 4, "sample5": 5, "sample6": 4,
    },
    "scikit-image": {
        "astronaut": 1, "chelsea": 0, "coffee": 0, "rocket": 0, "brick": 0, "gravel": 0, "page": 0,
    },
    "ultralytics": {"zidane": 2, "bus": 2},
    "mate-backgrounds": {"Garden": 0, "LadyBird": 0, "Storm": 0, "Wood": 0, "Elephants": 0},
}  # fmt: skip
QR_TEXT = "https://example.org/frames/17"
SEED = 20


def pictures(sources: dict[str, tuple[str, ...]], long_side: int) -> dict[str, Picture]:
    """The photographs of packages, by name."""
    return {
        name: photograph(source, f"{name}.*", long_side)
        for source, names in sources.items()
        for name in names
    }


def share(part: int, whole: int) -> float:
    """A share to three places."""
    return round(part / whole, 3) if whole else 1.0


def looks_like(scenes: dict[str, Picture]) -> dict[str, Any]:
    """Each scene changed in many ways before another one, against all references."""
    names = list(scenes)
    references = [features_of(gray_of(scenes[name])) for name in names]
    asked: Counter[str] = Counter()
    found: Counter[str] = Counter()
    wrong: list[str] = []
    others = 0
    for place, name in enumerate(names):
        behind = (place + 1) % len(names)
        background = numpy.asarray(cv2.resize(scenes[names[behind]], (640, 480)), numpy.uint8)
        for change, frame in changes(scenes[name], background, SEED + place).items():
            features = features_of(gray_of(frame))
            pairs = paired(features, references)
            for other, (reference, each) in enumerate(zip(references, pairs, strict=True)):
                if other == behind:
                    continue  # it is there too
                answer = agreeing(features, reference, each) > 0
                if other == place:
                    asked[change] += 1
                    found[change] += answer
                else:
                    others += 1
                    wrong += [f"{change} {name} as {names[other]}"] * answer
    hits = sum(found.values())
    return {
        "recall": share(hits, sum(asked.values())),
        "precision": share(hits, hits + len(wrong)),
        "asked": sum(asked.values()),
        "others asked": others,
        "wrong": wrong,
        "recall by change": {change: share(found[change], asked[change]) for change in asked},
    }


def shows_template(scenes: dict[str, Picture]) -> dict[str, Any]:
    """Cuts of each scene in another, at all scales and turns, and asked of those without."""
    random = numpy.random.default_rng(SEED)
    names = list(scenes)
    walls = [numpy.asarray(cv2.resize(scenes[name], (960, 720)), numpy.uint8) for name in names]
    asked = found = others = refused = 0
    wrong = []
    for place, name in enumerate(names):
        scene = scenes[name]
        side = int(random.integers(60, 140))
        top, left = (int(random.integers(0, length - side)) for length in scene.shape[:2])
        cut = scene[top : top + side, left : left + side]
        try:
            template = template_of(gray_of(cut))
        except ValueError:
            refused += 1
            continue
        for _ in range(8):
            scale, turn = 2 ** random.uniform(-1, 1), random.uniform(-15, 15)
            center = random.uniform(250, 700), random.uniform(250, 450)
            wall = walls[(place + 1) % len(names)]
            frame = seen(cut, wall, scale=scale, degrees=turn, center=center).astype(float)
            frame = frame * random.uniform(0.5, 1.1) + random.normal(0, 6, frame.shape)
            asked += 1
            found += shows(gray_of(numpy.clip(frame, 0, 255).astype(numpy.uint8)), template)
        for other, wall in enumerate(walls):
            if other != place:
                others += 1
                wrong += [f"{name} in {names[other]}"] * shows(gray_of(wall), template)
    return {
        "recall": share(found, asked),
        "precision": share(found, found + len(wrong)),
        "asked": asked,
        "others asked": others,
        "refused": refused,
        "wrong": wrong,
    }


def qr_code(scenes: dict[str, Picture]) -> dict[str, Any]:
    """One code in each scene, by how many pixels a module has."""
    random = numpy.random.default_rng(SEED)
    small = numpy.asarray(cv2.QRCodeEncoder.create().encode(QR_TEXT), numpy.uint8)
    small = numpy.pad(small, 2, constant_values=255)
    found: Counter[int] = Counter()
    wrong = 0
    for scene in scenes.values():
        wall = numpy.asarray(cv2.resize(scene, (960, 720)), numpy.uint8)
        for pixels in (3, 4, 6, 8):
            large = numpy.kron(small, numpy.ones((pixels, pixels), numpy.uint8))
            code = numpy.repeat(large[..., None], 3, axis=2)
            degrees = float(random.uniform(-180, 180))
            texts = texts_of(gray_of(seen(code, wall, degrees=degrees, tilt=(0.0004, 0.0))))
            found[pixels] += QR_TEXT in texts
            wrong += sum(text != QR_TEXT for text in texts)
    by_size = {f"{pixels} pixels": share(found[pixels], len(scenes)) for pixels in sorted(found)}
    return {"recall by pixels a module": by_size, "wrong texts": wrong, "asked": 4 * len(scenes)}


def face_count() -> dict[str, Any]:
    """Counts beside how many there are."""
    counts = {
        name: (len(faces_of(gray_of(photograph(source, f"{name}.*", 1280)))), count)
        for source, names in FACES.items()
        for name, count in names.items()
    }
    off = sum(abs(found - there) for found, there in counts.values())
    return {
        "faces": sum(there for _, there in counts.values()),
        "off by": off,
        "exact frames": share(sum(a == b for a, b in counts.values()), len(counts)),
        "counted, there": counts,
    }


def milliseconds(picture: Picture) -> dict[str, float]:
    """Of the processor, for a call on one frame that is decoded; the least of several."""
    gray = gray_of(picture)
    features = features_of(gray)
    template = template_of(gray_of(picture[100:200, 100:200]))
    table()
    works: dict[str, Callable[[], object]] = {
        "features (once an event)": lambda: features_of(gray),
        "looksLike": lambda: agreeing(features, features, paired(features, [features])[0]),
        "showsTemplate": lambda: shows(gray, template),
        "faceCount": lambda: faces_of(gray),
        "qrCode": lambda: texts_of(gray),
        "brightness": lambda: brightness_of(picture),
        "dominantColor": lambda: shares_of(picture),
    }
    least = {}
    for name, work in works.items():
        seconds = []
        for _ in range(5):
            started = time.process_time()
            work()
            seconds.append(time.process_time() - started)
        least[name] = round(1000 * min(seconds), 1)
    return least


def main() -> None:
    """Prints the figures as JSON."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--tuning", action="store_true", help="also what bounds were set on")
    parts: dict[str, Callable[[], object]] = {
        "milliseconds": lambda: milliseconds(scenes["bus"][:480, :640]),
        "qrCode": lambda: qr_code(scenes),
        "faceCount": face_count,
        "showsTemplate": lambda: shows_template(pictures(sources, 800)),
        "looksLike": lambda: looks_like(scenes),
    }
    parser.add_argument("--only", choices=parts, help="one part")
    given = parser.parse_args()
    sources = {**HELD_OUT, **(TUNING if given.tuning else {})}
    scenes = pictures(sources, 640)
    for name in [given.only] if given.only else parts:
        print(json.dumps({name: parts[name]()}, indent=1), flush=True)


if __name__ == "__main__":
    main()
