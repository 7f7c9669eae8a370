"""Detects by a neural network: a Darknet, TensorFlow or ONNX model and its classes' names.

What it puts out is read by its shape; see `outputs`. What runs it is in `engines`. A model whose
first axis is free is shown several frames at once (`batch`). Cost: that of the model, tens of
milliseconds for a small one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tamis_operators.image.configuration import ONNXRUNTIME, DetectorConfiguration
from tamis_operators.image.detection import Box, Detection, DetectionError, Detector, suppressed
from tamis_operators.image.detectors.engines import Engine, OnnxEngine, OpenCvEngine
from tamis_operators.image.detectors.outputs import Layout, found_in
from tamis_operators.image.detectors.shapes import input_size
from tamis_operators.image.labels import canonical
from tamis_operators.image.vision import opencv

if TYPE_CHECKING:
    from tamis.kit import Bytes
    from tamis_operators.image.frames import Frame

_DARKNET_SIZE = re.compile(r"^\s*(width|height)\s*=\s*(\d+)", re.MULTILINE)
_SIZE = (640, 640)
_GRAY = 114


class FramePlace(NamedTuple):
    """The place of a frame on the picture that the network is shown."""

    zoom_x: float
    zoom_y: float
    left: int
    top: int


class NetworkDetector(Detector):
    """A model with the names of its classes."""

    def __init__(self, configuration: DetectorConfiguration) -> None:
        self._configuration = configuration
        self._names = [canonical(name) for name in configuration.names]
        self.labels = configuration.told
        model = Path(configuration.model)
        given = configuration.letterbox
        self._letterbox = model.suffix == ".onnx" if given is None else given
        size = None
        if model.suffix == ".weights":
            size = _darknet_size(Path(configuration.config))
        elif model.suffix == ".onnx":
            size = input_size(model)
        self._size = configuration.size or size or _SIZE
        self._engine: Engine
        if configuration.engine == ONNXRUNTIME:
            self._engine = OnnxEngine(configuration.model)
        else:
            self._engine = OpenCvEngine(configuration.model, configuration.config)

    def detect(self, frame: Frame, meters_per_pixel: float | None = None) -> list[Detection]:
        """Returns the things on the frame."""
        blob, placed = self._blob(frame)
        return self._found(self._engine.run(blob), placed, frame)

    def detect_many(self, frames: Sequence[Frame]) -> list[list[Detection]]:
        """Returns the things on several frames, which the network is shown at once."""
        if not frames:
            return []
        blobs, places = zip(*(self._blob(frame) for frame in frames), strict=True)
        outputs = self._engine.run(np.concatenate(blobs))
        return [
            self._found([output[at : at + 1] for output in outputs], placed, frame)
            for at, (placed, frame) in enumerate(zip(places, frames, strict=True))
        ]

    def _found(
        self, outputs: list[NDArray[Any]], placed: FramePlace, frame: Frame
    ) -> list[Detection]:
        layout = Layout(len(self._names), self._size, self._configuration.threshold)
        height, width = frame.shape[:2]
        found = []
        for number, score, (x1, y1, x2, y2) in found_in(outputs, layout):
            if not 0 <= number < len(self._names):
                raise DetectionError(
                    f"the model found its class {number}, and {len(self._names)} names are given"
                )
            x1, x2 = (min(max((x - placed.left) / placed.zoom_x, 0.0), width) for x in (x1, x2))
            y1, y2 = (min(max((y - placed.top) / placed.zoom_y, 0.0), height) for y in (y1, y2))
            if x2 > x1 and y2 > y1:
                box = Box(x1, y1, x2 - x1, y2 - y1)
                found.append(Detection(self._names[number], score, box))
        return suppressed(found, self._configuration.overlap, 0.9)

    def _blob(self, frame: Frame) -> tuple[NDArray[Any], FramePlace]:
        """Makes the input of the network; returns the place of the frame on it too."""
        shown, placed = self._shown(frame)
        blob = opencv().dnn.blobFromImage(shown, self._configuration.scale, self._size, swapRB=True)
        return blob, placed

    def _shown(self, frame: Frame) -> tuple[Bytes, FramePlace]:
        """Returns the frame in the size that the network wants."""
        cv2 = opencv()
        height, width = frame.shape[:2]
        wide, high = self._size
        if not self._letterbox:
            return cv2.resize(frame, (wide, high)), FramePlace(wide / width, high / height, 0, 0)
        zoom = min(wide / width, high / height)
        size = max(1, round(width * zoom)), max(1, round(height * zoom))
        left, top = (wide - size[0]) // 2, (high - size[1]) // 2
        right, bottom = wide - size[0] - left, high - size[1] - top
        shown = cv2.copyMakeBorder(
            cv2.resize(frame, size), top, bottom, left, right, cv2.BORDER_CONSTANT,
            value=(_GRAY, _GRAY, _GRAY),
        )  # fmt: skip
        return shown, FramePlace(size[0] / width, size[1] / height, left, top)


def _darknet_size(config: Path) -> tuple[int, int] | None:
    """Returns width and height of the `[net]` section, which is the first one."""
    text = config.read_text(encoding="utf-8", errors="replace")
    first = text.split("\n[", 2)[0 if text.lstrip().startswith("[net") else 1]
    found = {name: int(number) for name, number in _DARKNET_SIZE.findall(first)}
    return (found["width"], found["height"]) if len(found) == 2 else None
