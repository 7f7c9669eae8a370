"""Reads the QR codes of a frame: each text is a solution, in order, each once.

The frame is looked at no longer than `LONG_SIDE` pixels, and larger, up to `LONGEST_SIDE`, since
small codes are only found there; the texts of all looks count. A module of a code should have 4
pixels or more. Bytes are read as UTF-8, else as Latin-1, as the standard has it. A code that is
seen and cannot be read is no solution. Cost: 25 ms at 640 by 480.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from tamis import Operator, Parameter, Sample, Specification
from tamis.kit import STRING
from tamis_operators.image.gray import EXTRA, GRAY, MODULES
from tamis_operators.image.vision import opencv

if TYPE_CHECKING:
    from tamis.kit import Bytes

LONG_SIDE = 1_280
LONGEST_SIDE = 1_920
_LOOKS = 1.0, 1.5, 2.0
_LEAST_SIDE = 21
"""The smallest code has as many modules a side."""
_SEED = 12_345
_SAMPLE = "tamis: événement 7"


def texts_of(gray: Bytes) -> list[str]:
    """Returns the texts of the codes in a gray picture, sorted."""
    from tamis_operators.image.features import shrunk

    if min(gray.shape) < _LEAST_SIDE:
        return []
    cv2 = opencv()
    longest = max(gray.shape)
    sides = {min(round(min(longest, LONG_SIDE) * look), LONGEST_SIDE) for look in _LOOKS}
    texts: set[str] = set()
    for side in sorted(sides):
        view, _ = shrunk(gray, side)
        if side > longest:
            factor = side / longest
            view = cv2.resize(gray, None, fx=factor, fy=factor, interpolation=cv2.INTER_CUBIC)
        texts |= _read(cv2, view)
    return sorted(texts)


def _read(cv2: Any, gray: Bytes) -> set[str]:
    cv2.setRNGSeed(_SEED)  # clusters of corners start at random places
    found, contents, _, _ = cv2.QRCodeDetectorAruco().detectAndDecodeBytesMulti(gray)
    return {_text(bytes(each)) for each in contents if len(each)} if found else set()


def _text(content: bytes) -> str:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        return content.decode("latin-1")


class QrCode(Operator):
    """`qrCode(?text)`: a solution for each text."""

    specification = Specification(
        name="qrCode",
        description="The texts of the QR codes in the frame, each a solution.",
        parameters=(Parameter("text", frozenset({STRING})),),
        outputs=("text",),
        inputs=("image",),
        cost_seconds=0.04,
        deterministic=True,
        preparation=GRAY,
        extra=EXTRA,
        modules=MODULES,
    )

    def solve(self, event: Any, *arguments: Any) -> list[str]:
        """Returns the texts, sorted."""
        return texts_of(event.prepared)

    def samples(self) -> Iterable[Sample]:
        """Yields a code, and a frame without one."""
        import numpy

        cv2 = opencv()
        small = cv2.QRCodeEncoder_create().encode(_SAMPLE)
        large = numpy.repeat(numpy.repeat(small, 6, axis=0), 6, axis=1)
        image = numpy.pad(large, 40, constant_values=255)
        yield Sample("qrCode(?text)", {"image": image}, [_SAMPLE])
        yield Sample('qrCode("something else")', {"image": image}, False)
        yield Sample("qrCode(?text)", {"image": image[:30, :30]}, [])
