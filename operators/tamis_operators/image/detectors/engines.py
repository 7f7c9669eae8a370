"""Runs networks: ONNX models in onnxruntime where it is installed, all others in OpenCV.

An engine takes a blob (frames × 3 × height × width) and gives the arrays of all outputs. OpenCV's
works on one blob at a time, onnxruntime's in as many threads as call it, each call in one thread
unless TAMIS_IMAGE_THREADS says otherwise, so that answers do not depend on how many there are.
"""

from __future__ import annotations

import threading
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from tamis_operators.image.vision import opencv, threads

ONNXRUNTIME, OPENCV = "onnxruntime", "opencv"


class Engine(Protocol):
    """Runs a network."""

    def run(self, blob: NDArray[Any]) -> list[NDArray[Any]]:
        """Returns the outputs for a blob."""


class OpenCvEngine:
    """A network in OpenCV's dnn module."""

    def __init__(self, model: str, config: str = "") -> None:
        cv2 = opencv()
        read = {
            ".weights": lambda: cv2.dnn.readNetFromDarknet(config, model),
            ".pb": lambda: cv2.dnn.readNetFromTensorflow(model, config),
            ".onnx": lambda: cv2.dnn.readNetFromONNX(model),
        }
        try:
            self._net = read[model[model.rindex(".") :]]()
        except cv2.error as problem:
            raise ValueError(f"OpenCV cannot read {model}: {problem.err}") from None
        self._net.setPreferableBackend(cv2.dnn.DNN_BACKEND_OPENCV)
        self._outputs = self._net.getUnconnectedOutLayersNames()
        self._lock = threading.Lock()

    def run(self, blob: NDArray[Any]) -> list[NDArray[Any]]:
        """Returns the outputs for a blob."""
        with self._lock:
            self._net.setInput(blob)
            return [output.copy() for output in self._net.forward(self._outputs)]


class OnnxEngine:
    """An ONNX model in onnxruntime, on the processor."""

    def __init__(self, model: str) -> None:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = max(1, threads())
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        try:
            self._session = onnxruntime.InferenceSession(
                model, options, providers=["CPUExecutionProvider"]
            )
        except Exception as problem:
            raise ValueError(f"onnxruntime cannot read {model}: {problem}") from None
        self._input = self._session.get_inputs()[0].name

    def run(self, blob: NDArray[Any]) -> list[NDArray[Any]]:
        """Returns the outputs for a blob."""
        return [np.asarray(each) for each in self._session.run(None, {self._input: blob})]

    @property
    def metadata(self) -> dict[str, str]:
        """The model's own description."""
        return dict(self._session.get_modelmeta().custom_metadata_map)
