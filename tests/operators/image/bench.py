"""Precision and recall of the bundled detectors, and of a model, on photographs and video.

python -m tests.operators.image.bench [--json]
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path

from tamis_bench.pictures import Scores, as_data, measured, table
from tamis_operators.image.configuration import DetectorConfiguration
from tests.fetching import UnavailableError, fetch

from .data import written, yolo


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.operators.image.bench")
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
    if given.json:
        print(json.dumps({name: as_data(scores) for name, scores in results.items()}))
    else:
        print("\n".join(table(name, scores) for name, scores in results.items()))


if __name__ == "__main__":
    main()
