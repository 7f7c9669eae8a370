"""Lists the operators that look at the pixels of a frame, not at what a detector found in it.

Listing them imports no library of pictures; each record can travel to other processes, which need
the same pictures at the same places.
"""

from __future__ import annotations

import functools

from tamis import OperatorRecord
from tamis_operators.image import face_count, looks_like, reads_text, shows_template
from tamis_operators.image.brightness import Brightness
from tamis_operators.image.dominant_color import DominantColor
from tamis_operators.image.pictures import References, listed
from tamis_operators.image.qr_code import QrCode


def pixel_operators(references: References | None = None) -> list[OperatorRecord]:
    """Returns the operators on pixels, over the pictures of these folders and files.

    Without any, those of TAMIS_REFERENCES (places with `os.pathsep` between them)."""
    pictures = listed(references)
    return [
        OperatorRecord(
            looks_like.specification(pictures), functools.partial(looks_like.LooksLike, pictures)
        ),
        OperatorRecord(
            shows_template.specification(pictures),
            functools.partial(shows_template.ShowsTemplate, pictures),
        ),
        face_count.record(),
        reads_text.record(),
        OperatorRecord(QrCode.specification, QrCode),
        OperatorRecord(Brightness.specification, Brightness),
        OperatorRecord(DominantColor.specification, DominantColor),
    ]
