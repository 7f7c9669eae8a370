"""`tamis bench image`: what is right, wrong and missed, and what becomes of packages that fail."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tamis_bench.packages import UnavailableError
from tamis_bench.report import tables

cv2 = pytest.importorskip("cv2", reason="pip install 'tamis[image]'")

from tamis_bench import image  # noqa: E402
from tests.operators.image.own import STREET  # noqa: E402

BOXES = [["car", 140, 40, 46, 19], ["car", 10, 90, 46, 19], ["person", 90, 90, 5, 5]]


@pytest.fixture
def truth(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Frames on which `Street` finds a police car, a car and somebody, and what is truly there."""
    cv2.imwrite(str(tmp_path / "a.png"), np.zeros((120, 240, 3), np.uint8))
    film = cv2.VideoWriter(str(tmp_path / "f.avi"), cv2.VideoWriter.fourcc(*"MJPG"), 5, (240, 120))
    for _ in range(3):
        film.write(np.zeros((120, 240, 3), np.uint8))
    film.release()
    lines = [
        {"part": "drawn", "source": ["-", "a.png"], "image": "a.png", "things": BOXES},
        {"part": "drawn", "source": ["-", "f.avi"], "frame": 2, "image": "f.png", "things": BOXES},
        {"part": "counted", "source": ["-", "a.png"], "image": "a.png", "counts": {"car": 3}},
        {"part": "gone", "source": ["-", "none.png"], "image": "a.png", "counts": {"car": 3}},
        {"part": "faces", "source": ["-", "a.png"], "image": "a.png", "counts": {"face": 3}},
    ]
    path = tmp_path / "truth.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))

    def fetch(registry: str, name: str) -> Path:
        if not (tmp_path / name).exists():
            raise UnavailableError(f"{registry} has no {name}")
        return tmp_path / name

    monkeypatch.setattr(image, "TRUTH", path)
    monkeypatch.setattr(image, "fetch", fetch)
    return path


def test_rows(truth: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = list(image.measured(model=[STREET]))
    assert [(row["workload"], row["label"]) for row in rows] == [
        ("drawn", "car"), ("drawn", "person"), ("counted", "car"),
    ]  # fmt: skip
    assert [(row["precision"], row["recall"], row["off"]) for row in rows] == [
        (1, 0.5, 1), (1, 1, 0), (1, pytest.approx(1 / 3), 2),
    ]  # fmt: skip
    assert all(row["milliseconds"] >= 0 for row in rows)
    assert "gone is left out: - has no none.png" in capsys.readouterr().err
    assert len(list(tables(rows))) == 2


def test_what_lies_in_the_tree_is_whole() -> None:
    lines = [json.loads(line) for line in image.TRUTH.read_text(encoding="utf-8").splitlines()]
    assert len({line["part"] for line in lines}) == 4
    for line in lines:
        assert ("things" in line) != ("counts" in line)
        assert all(len(each) == 5 for each in line.get("things", ()))
