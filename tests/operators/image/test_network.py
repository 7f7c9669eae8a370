"""Networks: every layout of outputs gives the same things, and real models of registries work."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

import tamis
from tamis_bench.image import frames_of, scored
from tamis_operators.image import operators
from tamis_operators.image.configuration import ConfigurationError, DetectorConfiguration
from tamis_operators.image.detection import DetectionError
from tamis_operators.image.detectors import detector_of
from tamis_operators.image.detectors.outputs import Layout, found_in
from tamis_operators.image.detectors.shapes import input_size

from .data import written, yolo

LAYOUT = Layout(3, (200, 100), 0.5)
CENTERED = [60.0, 40.0, 20.0, 30.0]
CORNERS = [50.0, 25.0, 70.0, 55.0]
WHOLE = np.array([200.0, 100.0, 200.0, 100.0])


def rows(*given: Sequence[float]) -> NDArray[np.float32]:
    return np.array(given, np.float32)


OUTPUTS: dict[str, list[NDArray[np.float32]]] = {
    "darknet": [rows([*(np.array(CENTERED) / WHOLE), 0.9, 0, 0.8, 0]), rows([0] * 8)],
    "yolo 5": [rows([*CENTERED, 1.0, 0, 0.8, 0], [0] * 8)[None]],
    "yolo 8": [rows([*CENTERED, 0, 0.8, 0], [1] * 4 + [0] * 3).T[None]],
    "final": [rows([*CORNERS, 0.8, 1], [0] * 6)[None]],
    "ssd": [rows([0, 2, 0.8, *(np.array(CORNERS) / WHOLE)], [0] * 7)[None, None]],
    "boxes and scores": [
        rows([*(np.array(CORNERS) / WHOLE)], [0] * 4)[None],
        rows([0.1, 0, 0.8, 0], [1, 0, 0, 0])[None],
    ],
}


@pytest.mark.parametrize("layout", OUTPUTS)
def test_every_layout_says_the_same(layout: str) -> None:
    found = list(found_in(OUTPUTS[layout], LAYOUT))
    assert [number for number, _, _ in found] == [1]
    assert found[0][1] == pytest.approx(0.8)
    assert found[0][2] == pytest.approx(tuple(CORNERS), abs=1e-3)


def test_other_outputs_are_refused() -> None:
    with pytest.raises(DetectionError, match="1×2×9"):
        list(found_in([np.zeros((1, 2, 9), np.float32)], LAYOUT))
    with pytest.raises(DetectionError, match="not detections of 3 classes"):
        list(found_in([np.zeros((1, 5), np.float32)], LAYOUT))


def saved_model(folder: Path, size: tuple[int, int] = (96, 64)) -> Path:
    """A model that finds a car in the middle, and brightness in its score: a pooled picture."""
    width, height = size
    box = np.array([[[width / 2], [height / 2], [width / 4], [height / 4]]], np.float32)
    nodes = [
        helper.make_node("GlobalAveragePool", ["image"], ["mean"]),
        helper.make_node("Reshape", ["mean", "shape"], ["scores"]),
        helper.make_node("Concat", ["box", "scores"], ["out"], axis=1),
    ]
    graph = helper.make_graph(
        nodes,
        "model",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, [1, 3, height, width])],
        [helper.make_tensor_value_info("out", TensorProto.FLOAT, [1, 7, 1])],
        [
            numpy_helper.from_array(box, "box"),
            numpy_helper.from_array(np.array([1, 3, 1], np.int64), "shape"),
        ],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
    model.ir_version = 8
    path = folder / "model.onnx"
    onnx.save(model, path)
    (folder / "model.names").write_text("automobile\npolice car\nperson\n", encoding="utf-8")
    return path


def test_an_onnx_model_by_path(tmp_path: Path) -> None:
    path = saved_model(tmp_path)
    assert input_size(path) == (96, 64)
    configuration = DetectorConfiguration.of(str(path))
    assert configuration.told == {"car", "policeCar", "person"}
    frame = np.zeros((200, 300, 3), np.uint8)
    frame[..., 1] = 200  # green: the second class
    (found,) = detector_of(configuration).detect(frame)
    assert found.label == "policeCar"
    assert found.box.center == pytest.approx((150, 100), abs=2)
    assert (found.box.width, found.box.height) == pytest.approx((75, 50), abs=2)
    matcher = tamis.Matcher(operators(str(path)))
    matcher.subscribe("policeCarCount(?n)", id="s")
    assert matcher.match({"image": frame}).matches[0].bindings == [{"n": 1}]
    with pytest.raises(tamis.SubscriptionError, match="no detector of tourBoat is set up"):
        matcher.subscribe("tourBoatCount(?n)")


def test_a_document_says_more(tmp_path: Path) -> None:
    saved_model(tmp_path)
    settings: dict[str, Any] = {"model": "model.onnx", "names": ["a", "b", "c"], "threshold": 0.9}
    document = tmp_path / "detector.json"
    document.write_text(json.dumps(settings), encoding="utf-8")
    configuration = DetectorConfiguration.of(str(document))
    assert (configuration.names, configuration.threshold) == (("a", "b", "c"), 0.9)
    document.write_text(json.dumps({**settings, "treshold": 1}), encoding="utf-8")
    with pytest.raises(ConfigurationError, match="did you mean threshold"):
        DetectorConfiguration.of(str(document))


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"model": "model.pt"}, r"model.pt is not a model: the files of models end in .weights"),
        ({"model": ["a"]}, "model is a name or the path of a model, not "),
        ({"size": [1]}, r"size is \[width, height\], whole numbers up to 10,000, not "),
        ({"size": [64, 1 << 30]}, "size is "),
        ({"threshold": "high"}, "threshold is a number from 0 to 1, not 'high'"),
        ({"threshold": float("nan")}, "threshold is a number from 0 to 1, not nan"),
        ({"names": [1]}, "names is the path of a file, or a list of names, not "),
        ({"names": "model.onnx"}, "model.onnx cannot be read: 'utf-8' codec"),
        ({"letterbox": 1}, "letterbox is true or false, not 1"),
        ({"scale": 0}, "scale is a number above 0, not 0"),
        ({"batch": 0}, "batch is a whole number from 1 to 1,024, not 0"),
    ],
)
def test_settings_of_wrong_kinds_cost_the_operators_on_detections_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: dict[str, Any], reason: str
) -> None:
    saved_model(tmp_path).write_bytes(b"\xff" * 99)
    document = tmp_path / "detector.json"
    document.write_text(json.dumps({"model": "model.onnx", "names": ["a"], **settings}))
    with pytest.raises(ConfigurationError, match=reason):
        DetectorConfiguration.of(str(document))
    monkeypatch.setenv("TAMIS_DETECTOR", str(document))
    matcher = tamis.Matcher(operators())
    matcher.subscribe("brightness(?b)", id="bright")
    with pytest.raises(tamis.SubscriptionError, match="could not be set up: TAMIS_DETECTOR: "):
        matcher.subscribe("peopleCount(?n)", id="people")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("hogg", "did you mean hog"),
        ("nothing.onnx", "names of its classes"),
        ("nothing.json", "not a detector"),
    ],
)
def test_detectors_that_are_not_there(text: str, reason: str) -> None:
    with pytest.raises(ConfigurationError, match=reason):
        DetectorConfiguration.of(text)


def test_yolov4_tiny_of_a_registry_finds_people_and_vehicles(tmp_path: Path) -> None:
    configuration = DetectorConfiguration.of(str(yolo()))
    photographs = scored(configuration, list(frames_of(written(tmp_path, video=False), tmp_path)))
    assert photographs.labels["bus"].recall == 1
    assert photographs.labels["person"].recall >= 0.75
    assert photographs.labels["person"].precision >= 0.75
    matcher = tamis.Matcher(operators(str(yolo())))
    matcher.subscribe("vehicleCount(?v), pedestrianCount(?p)", id="s")
    result = matcher.match({"image": str(tmp_path / "bus.jpg")})
    assert result.matches[0].bindings == [{"v": 1, "p": 3}]


def test_yolov4_tiny_finds_people_on_the_video(tmp_path: Path) -> None:
    configuration = DetectorConfiguration.of(str(yolo()))
    scores = scored(configuration, list(frames_of(written(tmp_path, video=True), tmp_path)))
    assert scores.labels["person"].recall >= 0.85
    assert scores.labels["person"].precision >= 0.8
