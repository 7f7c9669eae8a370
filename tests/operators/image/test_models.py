"""Detectors by name: fetched or refused, the same answers in every way of asking."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tamis
from tamis.testing import check_operator
from tamis_operators import image
from tamis_operators.image.configuration import ConfigurationError, DetectorConfiguration
from tamis_operators.image.detectors import detector_of
from tamis_operators.image.detectors.network import NetworkDetector
from tamis_operators.image.models import COCO, DETECTORS
from tests.cli.running import Process

from .fetched import need
from .own import STREET
from .photographs import file, photograph
from .test_network import saved_model

NETWORKS = ("ssd-mobilenet-v2", "yolov8n", "yolo11n")


def test_a_model_that_is_not_fetched_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigurationError, match="yolov8n is not fetched: tamis models fetch yolo"):
        DetectorConfiguration.of("yolov8n")
    with pytest.raises(ConfigurationError, match="did you mean yolov8n"):
        DetectorConfiguration.of("yolov8")
    monkeypatch.setenv("TAMIS_DETECTOR", "yunet")
    matcher = tamis.Matcher(image.operators())
    with pytest.raises(tamis.SubscriptionError, match="yunet is not fetched: tamis models fetch"):
        matcher.subscribe("vehicleCount(?n)")


@pytest.mark.parametrize(
    ("where", "to"),
    [
        ("vehicleCount(?n)", "ssd-mobilenet-v2 (tamis models fetch ssd-mobilenet-v2), the file of"),
        ("thingCount(face, ?n)", "yunet (tamis models fetch yunet), the file of a model"),
        ("policeCarCount(?n)", "the file of a model (model.onnx"),  # no known model tells these
    ],
)
def test_a_model_that_tells_the_label_is_named(where: str, to: str) -> None:
    with pytest.raises(tamis.SubscriptionError) as refused:
        tamis.Matcher(image.operators("hog")).subscribe(where)
    assert f"set TAMIS_DETECTOR to {to}" in str(refused.value)


def test_numbers_of_classes() -> None:
    names = DETECTORS["ssd-mobilenet-v2"].settings["names"]
    assert (len(COCO), len(names)) == (80, 90)
    assert (names[0], names[9], names[12], names[89]) == (
        "person", "traffic light", "stop sign", "toothbrush",
    )  # fmt: skip


def test_things_of_any_label_are_counted() -> None:
    matcher = tamis.Matcher(image.operators(STREET))
    frame = np.zeros((100, 200, 3), np.uint8)
    matcher.subscribe("thingCount(policeCar, ?n)", id="police")
    matcher.subscribe('thingCount("police car", 1)', id="spelled")
    matcher.subscribe("thingCount(vehicle, 2)", id="family")
    matcher.subscribe("thingCount(tourBoat, 0)", id="none")
    result = matcher.match({"image": frame})
    assert [each.subscription for each in result.matches] == ["family", "none", "police", "spelled"]
    assert result.matches[2].bindings == [{"n": 1}]
    with pytest.raises(tamis.SubscriptionError, match="12: thingCount: no detector of train"):
        matcher.subscribe("thingCount(train, ?n)")
    with pytest.raises(tamis.SubscriptionError, match="did you mean person"):
        matcher.subscribe("thingCount(persn, ?n)")


def test_an_own_operator_shares_the_frame_and_what_was_found() -> None:
    calls = []

    @tamis.operator(inputs=(), preparation=image.detections(STREET), outputs=("side",))
    def widest(event: Any, side: object) -> list[float]:
        calls.append(event.prepared)
        return [max(thing.box.width for thing in event.prepared.of(("car", "policeCar")))]

    @tamis.operator(inputs=(), preparation=image.FRAME)
    def wide(event: Any) -> bool:
        return bool(event.prepared.shape[1] > 100)

    from tests.operators.image.own import Street

    matcher = tamis.Matcher([*image.operators(STREET), widest, wide])
    matcher.subscribe("widest(?w) and wide() and peopleCount(1) and policeCarCount(1)", id="s")
    before = Street.calls
    result = matcher.match({"image": np.zeros((100, 200, 3), np.uint8)})
    assert result.matches[0].bindings == [{"w": 46}]
    assert Street.calls == before + 1


@pytest.mark.parametrize("engine", ["onnxruntime", "opencv"])
def test_a_model_is_run_by_either_engine(
    engine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if engine == "opencv":
        monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    configuration = DetectorConfiguration.of(str(saved_model(tmp_path)))
    assert configuration.engine == engine
    frame = np.zeros((200, 300, 3), np.uint8)
    frame[..., 1] = 200
    (found,) = detector_of(configuration).detect(frame)
    assert found.label == "policeCar"
    assert found.box.center == pytest.approx((150, 100), abs=2)


@pytest.mark.parametrize("name", NETWORKS)
def test_people_and_a_bus(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    need(name, monkeypatch)
    matcher = tamis.Matcher(image.operators(name))
    matcher.subscribe("vehicleCount(1) and thingCount(bus, 1) and peopleCount(?n)", id="s")
    result = matcher.match({"image": str(file("ultralytics", "bus.jpg"))})
    assert result.matches[0].bindings == [{"n": 3 if name.startswith("ssd") else 4}]


def test_people_and_a_bus_by_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    need("yolov8n", monkeypatch)
    (tmp_path / "S.jsonl").write_text(
        '{"id": "s", "where": "peopleCount(?p) and thingCount(bus, ?b)"}\n'
    )
    event = {"id": "e", "image": str(file("ultralytics", "bus.jpg"))}
    (tmp_path / "E.jsonl").write_text(json.dumps(event) + "\n")
    match = ("match", "--subscriptions", "S.jsonl", "--events", "E.jsonl")
    ended = Process(tmp_path)(*match, TAMIS_DETECTOR="yolov8n")
    assert ended.lines[0]["matches"][0]["bindings"] == [{"b": 1, "p": 4}]


@pytest.mark.parametrize("name", [*NETWORKS, "yunet"])
def test_the_laws_hold_of_operators_over_models(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    need(name, monkeypatch)
    for record in image.operators(name):
        known = record.specification
        if known.lacking is None and known.name in ("thingCount", "peopleCount", "faceCount"):
            check_operator(record)


def test_frames_together_give_what_they_give_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    need("yolo11n", monkeypatch)
    document = tmp_path / "together.json"
    document.write_text('{"model": "yolo11n", "batch": 4}')
    photographs = [photograph("ultralytics", name) for name in ("bus.jpg", "zidane.jpg")]
    photographs += [np.ascontiguousarray(each[:, ::-1]) for each in photographs]
    events = [{"image": each} for each in photographs]
    events[2]["meters_per_pixel"] = -1  # type: ignore[assignment]
    shown = []
    alone = NetworkDetector.detect_many

    def counted(self: NetworkDetector, frames: Sequence[Any]) -> list[list[image.Detection]]:
        shown.append(len(frames))
        return alone(self, frames)

    monkeypatch.setattr(NetworkDetector, "detect_many", counted)
    results = []
    for detector in ("yolo11n", str(document)):
        matcher = tamis.Matcher(image.operators(detector), in_flight=4, memo_bytes=0)
        matcher.subscribe("peopleCount(?n)", id="s")
        found = list(matcher.match_many(events))
        reasons = [[str(unknown.reason) for unknown in each.undetermined] for each in found]
        bindings = [[match.bindings for match in each.matches] for each in found]
        results.append((bindings, reasons))
    assert shown == [3]
    assert results[0][0] == results[1][0]
    assert "meters_per_pixel is a number above 0" in results[1][1][2][0]


def test_faces_by_yunet(monkeypatch: pytest.MonkeyPatch) -> None:
    cascades = {each.specification.name: each for each in image.operators()}["faceCount"]
    need("yunet", monkeypatch)
    matcher = tamis.Matcher(image.operators())
    matcher.subscribe("faceCount(?n)", id="s")
    for name, count in (("astronaut.png", 1), ("coffee.png", 0), ("rocket.jpg", 0)):
        found = matcher.match({"image": photograph("scikit-image", name, 1280)})
        assert found.matches[0].bindings == [{"n": count}]
    record = {each.specification.name: each for each in image.operators()}["faceCount"]
    assert record.specification.version != cascades.specification.version


def test_a_damaged_model_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    yunet = DETECTORS["yunet"].record
    monkeypatch.setenv("TAMIS_MODELS", str(tmp_path))
    yunet.folder.mkdir()
    yunet.path("model.onnx").write_bytes(bytes(yunet.size))
    matcher = tamis.Matcher(image.operators())
    matcher.subscribe("faceCount(?n)", id="s")
    (unknown,) = matcher.match({"image": np.zeros((40, 40, 3), np.uint8)}).undetermined
    assert f"OpenCV cannot read {yunet.path('model.onnx')}" in unknown.reason


def test_lines_of_text_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(tamis.SubscriptionError, match="not fetched: tamis models fetch pp-ocr"):
        tamis.Matcher(image.operators()).subscribe("readsText(?text)")
    need("pp-ocr", monkeypatch)
    matcher = tamis.Matcher(image.operators())
    matcher.subscribe('readsText("MADRID") and readsText(?t), ?t contains "EMT"', id="s")
    result = matcher.match({"image": str(file("ultralytics", "bus.jpg"))})
    assert {"t": "EMT"} in list(result.matches[0].bindings)
    assert result.account.calls == 1
    record = next(each for each in image.operators() if each.specification.name == "readsText")
    check_operator(record)
