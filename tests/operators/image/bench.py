"""Precision and recall of the bundled detectors, and of a model, on photographs and video.

python -m tests.operators.image.bench
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from tamis_bench.pictures import scored
from tamis_bench.report import tables
from tamis_operators.image.configuration import DetectorConfiguration
from tests.fetching import UnavailableError, fetch

from .data import written, yolo


def main() -> None:
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        for kind in ("video", "photographs"):
            try:
                lines = written(folder, video=kind == "video", fetch=fetch)
                for name in ("hog", str(yolo(fetch))):
                    scores = scored(DetectorConfiguration.of(name), lines, folder)
                    for _, text in tables(scores.rows(f"{Path(name).stem} on {kind}")):
                        print(text)
            except UnavailableError as problem:
                print(f"{kind}: {problem}")


if __name__ == "__main__":
    main()
