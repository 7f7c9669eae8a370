"""Detects by a neural network: any Darknet or ONNX model that OpenCV's dnn module reads.

A network works on one frame at a time, in the calling thread. What it puts out is read by its
shape; see `outputs`. Cost: that of the model, tens of milliseconds for a tiny one.
"""

from __future__ import annotations

import re
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from tamis_operators.image.configuration import DetectorConfiguration
from tamis_operators.image.detection import Box, Detection, DetectionError, Detector, suppressed
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


class NetworkDetector(Detector):
    """A model with the names of its classes."""

    def __init__(self, configuration: DetectorConfiguration) -> None:
        cv2 = opencv()
        self._configuration = configuration
        self._names = [canonical(name) for name in configuration.names]
        self.labels = frozenset(self._names)
        darknet = bool(configuration.config)
        given = configuration.letterbox
        self._letterbox = not darknet if given is None else given
        if darknet:
            self._net = cv2.dnn.readNetFromDarknet(configuration.config, configuration.model)
            size = _darknet_size(Path(configuration.config))
        else:
            self._net = cv2.dnn.readNetFromONNX(configuration.model)
            size = input_size(Path(configuration.model))
        self._size = configuration.size or size or _SIZE
        self._net.setPreferableBackend(cv2.dnn.DNN_BACKEND_OPENCV)
        self._outputs = self._net.getUnconnectedOutLayersNames()
        self._lock = threading.Lock()

    def detect(self, frame: Frame, meters_per_pixel: float | None = None) -> list[Detection]:
        """The things on the frame."""
        cv2 = opencv()
        shown, zoom_x, zoom_y, left, top = self._shown(frame)
        blob = cv2.dnn.blobFromImage(shown, 1 / 255, self._size, swapRB=True)
        with self._lock:
            self._net.setInput(blob)
            outputs = [output.copy() for output in self._net.forward(self._outputs)]
        layout = Layout(len(self._names), self._size, self._configuration.threshold)
        height, width = frame.shape[:2]
        found = []
        for number, score, (x1, y1, x2, y2) in found_in(outputs, layout):
            if not 0 <= number < len(self._names):
                raise DetectionError(
                    f"the model found its class {number}, and {len(self._names)} names are given"
                )
            x1, x2 = (min(max((x - left) / zoom_x, 0.0), width) for x in (x1, x2))
            y1, y2 = (min(max((y - top) / zoom_y, 0.0), height) for y in (y1, y2))
            if x2 > x1 and y2 > y1:
                box = Box(x1, y1, x2 - x1, y2 - y1)
                found.append(Detection(self._names[number], score, box))
        return suppressed(found, self._configuration.overlap, 0.9)

    def _shown(self, frame: Frame) -> tuple[Bytes, float, float, int, int]:
        """What the network is shown, and where the frame is on it."""
        cv2 = opencv()
        height, width = frame.shape[:2]
        wide, high = self._size
        if not self._letterbox:
            return cv2.resize(frame, (wide, high)), wide / width, high / height, 0, 0
        zoom = min(wide / width, high / height)
        size = max(1, round(width * zoom)), max(1, round(height * zoom))
        left, top = (wide - size[0]) // 2, (high - size[1]) // 2
        right, bottom = wide - size[0] - left, high - size[1] - top
        shown = cv2.copyMakeBorder(
            cv2.resize(frame, size), top, bottom, left, right, cv2.BORDER_CONSTANT,
            value=(_GRAY, _GRAY, _GRAY),
        )  # fmt: skip
        return shown, size[0] / width, size[1] / height, left, top


def _darknet_size(config: Path) -> tuple[int, int] | None:
    """Width and height of the `[net]` section, which is the first one."""
    text = config.read_text(encoding="utf-8", errors="replace")
    first = text.split("\n[", 2)[0 if text.lstrip().startswith("[net") else 1]
    found = {name: int(number) for name, number in _DARKNET_SIZE.findall(first)}
    return (found["width"], found["height"]) if len(found) == 2 else None
