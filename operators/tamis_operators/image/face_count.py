"""Counts the faces on a frame: by YuNet where `tamis models fetch yunet` got it, else by
the cascades that come with OpenCV.

Cascades take three looks at the gray picture, no longer than `LONG_SIDE` pixels: faces from the
front, profiles to the left, and profiles to the right (in the mirror). What overlaps is one face,
the surer first; what is not sure enough is none. They miss tilted, covered and small faces (below
3% of the long side): the README says how many. They are not for several threads, so each thread has
its own. Cost: about 0.4 s at 640 by 480; of YuNet 11 ms.
"""

from __future__ import annotations

import functools
import os
import threading
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from tamis import Operator, OperatorRecord, Parameter, Sample, Specification
from tamis_operators.image.configuration import DetectorConfiguration
from tamis_operators.image.gray import EXTRA, GRAY, MODULES
from tamis_operators.image.models import YUNET
from tamis_operators.image.scale import INPUTS
from tamis_operators.image.sharing import detections
from tamis_operators.image.vision import opencv

if TYPE_CHECKING:
    from tamis.kit import Bytes
    from tamis_operators.image.detection import Detections

LONG_SIDE = 800
_LEAST_SIDE = 24
_STEP = 1.1
_NEIGHBORS = 3
_SURE = {"haarcascade_frontalface_default.xml": 3.0, "haarcascade_profileface.xml": 0.5}
"""The least score of a cascade's last stage."""
_SAME = 0.3
"""The share of the smaller one that two boxes of one face have in common at least."""


class Face(NamedTuple):
    """A face: how sure, and its square in pixels of the picture looked at."""

    score: float
    left: int
    top: int
    side: int


class _Cascades(threading.local):
    """The cascades of a thread."""

    def __init__(self) -> None:
        cv2 = opencv()
        self.loaded = []
        for name, sure in _SURE.items():
            cascade = cv2.CascadeClassifier(os.path.join(cv2.data.haarcascades, name))
            if cascade.empty():
                raise FileNotFoundError(f"the cascade {name} of opencv-python is missing")
            self.loaded.append((cascade, sure))


_cascades: _Cascades | None = None
_making = threading.Lock()


def faces_of(gray: Bytes) -> list[Face]:
    """Returns the faces of a gray picture, each once, the surest first."""
    from tamis_operators.image.features import shrunk

    global _cascades
    with _making:
        if _cascades is None:
            _cascades = _Cascades()
    small, _ = shrunk(gray, LONG_SIDE)
    if min(small.shape) < _LEAST_SIDE:
        return []
    (front, sure), (profile, sure_profile) = _cascades.loaded
    found = _looked(front, small, sure, sure)
    found += _looked(profile, small, sure_profile, sure)
    mirrored = _looked(profile, small[:, ::-1].copy(), sure_profile, sure)
    width = small.shape[1]
    found += [each._replace(left=width - each.left - each.side) for each in mirrored]
    kept: list[Face] = []
    for face in sorted(found, reverse=True):
        if not any(_overlap(face, other) > _SAME for other in kept):
            kept.append(face)
    return kept


def _looked(cascade: Any, gray: Bytes, sure: float, unit: float) -> list[Face]:
    """Finds faces by one cascade; scores of all cascades are in one unit."""
    boxes, _, scores = cascade.detectMultiScale3(
        gray, _STEP, _NEIGHBORS, minSize=(_LEAST_SIDE, _LEAST_SIDE), outputRejectLevels=True
    )
    return [
        Face(round(float(score) / unit, 6), int(left), int(top), int(side))
        for (left, top, side, _), score in zip(boxes, scores, strict=True)
        if score >= sure
    ]


def _overlap(one: Face, other: Face) -> float:
    """Returns the common area of two squares, as a share of the smaller."""
    across = min(one.left + one.side, other.left + other.side) - max(one.left, other.left)
    down = min(one.top + one.side, other.top + other.side) - max(one.top, other.top)
    common = max(0, across) * max(0, down)
    return common / min(one.side, other.side) ** 2


class FaceCount(Operator):
    """`faceCount(?n)`: one solution, always."""

    def __init__(self, yunet: DetectorConfiguration | None = None) -> None:
        self._yunet = yunet
        self.specification = specification(yunet)

    def solve(self, event: Any, *arguments: Any) -> list[int]:
        """Returns the number of faces."""
        if self._yunet is None:
            return [len(faces_of(event.prepared))]
        found: Detections = event.prepared
        return [len(found.of(("face",)))]

    def samples(self) -> Iterable[Sample]:
        """Frames without a face: drawn ones would not do for one."""
        import numpy

        noise = numpy.random.default_rng(1).integers(0, 256, (120, 160, 3), dtype=numpy.uint8)
        yield Sample("faceCount(?n)", {"image": noise}, [0])
        yield Sample("faceCount(0)", {"image": numpy.zeros((1, 1, 3), numpy.uint8)}, True)


def specification(yunet: DetectorConfiguration | None) -> Specification:
    """Specifies the operator, by YuNet or by cascades."""
    return Specification(
        name="faceCount",
        version="1" if yunet is None else f"1-{yunet.digest}",
        description="How many faces the frame shows, from the front or in profile.",
        parameters=(Parameter("n"),),
        outputs=("n",),
        inputs=("image",),
        optional_inputs=() if yunet is None else INPUTS,
        cost_seconds=0.4 if yunet is None else 0.0001,
        deterministic=True,
        preparation=GRAY if yunet is None else detections(yunet),
        extra=EXTRA,
        modules=MODULES,
    )


def record() -> OperatorRecord:
    """Returns the operator, by the best of what is there."""
    yunet = DetectorConfiguration.of(YUNET.name) if YUNET.fetched else None
    return OperatorRecord(specification(yunet), functools.partial(FaceCount, yunet))
