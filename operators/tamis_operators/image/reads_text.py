"""Reads the lines of text on a frame: `readsText(?text)`, each line a solution, each once.

By PP-OCR, which `tamis models fetch pp-ocr` gets; it reads Latin letters, Chinese, Japanese.
A line is what stands together: `readsText(?text), ?text contains "NYPD"`. Cost: half a second and
20 ms a line.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

from tamis import Operator, OperatorRecord, Parameter, Sample, Specification
from tamis.kit import STRING
from tamis_operators.image.frames import FRAME
from tamis_operators.image.models import PP_OCR
from tamis_operators.image.vision import opencv

_VERSION = "1"


class ReadsText(Operator):
    """`readsText(?text)`: a solution for each line."""

    def __init__(self, lines: str, letters: str) -> None:
        self.specification = specification()
        self._files = lines, letters

    def solve(self, event: Any, *arguments: Any) -> list[str]:
        """Returns the texts, sorted."""
        from tamis_operators.image.reading import reader_of

        return reader_of(*self._files).texts(event.prepared)

    def samples(self) -> Iterable[Sample]:
        """Yields a sign, and a frame without one."""
        if self.specification.lacking is not None:
            return
        import numpy

        sign = numpy.full((120, 420, 3), 255, numpy.uint8)
        opencv().putText(sign, "PIER 42", (40, 80), 2, 2.0, (0, 0, 0), 3, 16)
        yield Sample("readsText(?text)", {"image": sign}, ["PIER 42"])
        yield Sample('readsText("PIER 43")', {"image": sign}, False)
        yield Sample("readsText(?text)", {"image": sign[:8, :8]}, [])


def specification() -> Specification:
    """Specifies the operator."""
    return Specification(
        name="readsText",
        version=f"{_VERSION}-{PP_OCR.files[1].sha256[:8]}",
        description="The lines of text on the frame, each a solution.",
        parameters=(Parameter("text", frozenset({STRING})),),
        outputs=("text",),
        inputs=("image",),
        cost_seconds=0.7,
        deterministic=True,
        preparation=FRAME,
        extra="tamis[detector]",
        modules=("cv2", "onnxruntime"),
        lacking=None if PP_OCR.fetched else f"its models are not fetched: {PP_OCR.how}",
    )


def record() -> OperatorRecord:
    """Returns the operator, with its models where they are."""
    places = (str(PP_OCR.path("lines.onnx")), str(PP_OCR.path("letters.onnx")))
    return OperatorRecord(specification(), partial(ReadsText, *places))
