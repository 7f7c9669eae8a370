"""What a new operator does to begin with: one small, real operator for each domain.

The code is written in pieces that stay formatted whatever the name: no line with `$name` may grow
past the width, and names have at most 30 letters.
"""

from __future__ import annotations

from typing import NamedTuple


class Domain(NamedTuple):
    """A kind of operator to begin with."""

    name: str
    says: str
    """What it asks of an event, in words."""
    code: str
    predicate: str
    """One that holds of the first event and not of the second."""
    events: tuple[str, str]
    requires: str
    """What pip has to install for it."""
    edge: str
    """A test of its own."""


_MEASURE = '''\
"""Whether the value of an event is above a level."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import tamis

SAMPLES = [
    tamis.Sample("$name(3)", {"value": 7}, True),
    tamis.Sample("$name(9)", {"value": 7}, False),
    tamis.Sample("$name(0.5)", {"value": -1.5}, False),
]


@tamis.operator(
    inputs=("value",),
    deterministic=True,
    cost_seconds=1e-6,
    samples=SAMPLES,
)
def $name(event: Mapping[str, Any], level: float) -> bool:
    """Whether the value of the event is above a level."""
    value = event["value"]
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError(f"value is a number, not {value!r:.40}")
    return value > level
'''

_TEXT = '''\
"""How often a word stands in the text of an event."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import tamis

WORD = re.compile(r"\\w+")
SAMPLES = [
    tamis.Sample("$name(fire, ?n)", {"text": "Fire! A fire."}, [2]),
    tamis.Sample("$name(fire, ?n)", {"text": "All is quiet."}, []),
    tamis.Sample("$name(quiet, 1)", {"text": "All is quiet."}, True),
]


def one_word(word: Any, count: Any) -> list[object]:
    """Refuses what is no word when a subscription comes in; gives it in lower case."""
    if not WORD.fullmatch(word):
        raise tamis.ArgumentError(f"a word has letters and digits only, not {word!r}")
    return [word.casefold(), count]


@tamis.operator(
    inputs=("text",),
    outputs=("count",),
    deterministic=True,
    cost_seconds=5e-6,
    check=one_word,
    samples=SAMPLES,
)
def $name(
    event: Mapping[str, Any],
    word: str,
    count: tamis.Variable,
) -> list[int]:
    """How often a word stands in the text of the event; no solution where it does not."""
    text = event["text"]
    if not isinstance(text, str):
        raise ValueError(f"text is a string, not {text!r:.40}")
    found = WORD.findall(text.casefold()).count(word)
    return [found] if found else []
'''

_SPATIAL = '''\
"""Whether the position of an event lies within a distance of a place."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import tamis

RADIUS_M = 6_371_008.8
MANHATTAN = {"position": [-74.01, 40.71]}
FIJI = {"position": {"type": "Point", "coordinates": [-179.99, -17]}}
SAMPLES = [
    tamis.Sample("$name(-74, 40.7, 5km)", MANHATTAN, True),
    tamis.Sample("$name(-74, 40.7, 100)", MANHATTAN, False),
    tamis.Sample("$name(179.99, -17, 5km)", FIJI, True),
]


def on_earth(longitude: Any, latitude: Any, distance_m: Any) -> None:
    """Refuses what is no place, or no distance, when a subscription comes in."""
    if not -180 <= longitude <= 180:
        raise tamis.ArgumentError("a longitude lies between -180 and 180", 0)
    if not -90 <= latitude <= 90:
        raise tamis.ArgumentError("a latitude lies between -90 and 90", 1)
    if distance_m < 0:
        raise tamis.ArgumentError("a distance is 0 or more", 2)


@tamis.operator(
    inputs=("position",),
    deterministic=True,
    cost_seconds=5e-6,
    check=on_earth,
    samples=SAMPLES,
)
def $name(
    event: Mapping[str, Any],
    longitude: float,
    latitude: float,
    distance_m: float,
) -> bool:
    """Whether the position of the event is within a distance of a place, on a sphere."""
    position = event["position"]
    if isinstance(position, Mapping):  # a GeoJSON point
        position = position.get("coordinates")
    if not isinstance(position, (list, tuple)) or len(position) < 2:
        raise ValueError(f"position is [longitude, latitude], not {position!r:.40}")
    east, north = math.radians(position[0]), math.radians(position[1])
    there_east, there_north = math.radians(longitude), math.radians(latitude)
    half = (
        math.sin((there_north - north) / 2) ** 2
        + math.cos(north) * math.cos(there_north) * math.sin((there_east - east) / 2) ** 2
    )
    return 2 * RADIUS_M * math.asin(min(1.0, math.sqrt(half))) <= distance_m
'''

_IMAGE = '''\
"""How bright the frame of an event is, from 0 to 255."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import tamis

BRIGHT = {"image": "data:image/x-portable-graymap;base64,UDUgMSAxIDI1NQrI"}
DARK = {"image": "data:image/x-portable-graymap;base64,UDUgMSAxIDI1NQoU"}
SAMPLES = [
    tamis.Sample("$name(?value)", BRIGHT, [200]),
    tamis.Sample("$name(?value), ?value > 100", DARK, []),
    tamis.Sample("$name(20)", DARK, True),
]


def decoded(event: Mapping[str, Any]) -> Any:
    """The frame as an array: made once an event, for all operators that name FRAME."""
    import cv2  # imported here, so that listing the operator needs no OpenCV
    import numpy

    image = event["image"]
    if isinstance(image, str):
        head, _, data = image.partition(",")
        is_uri = head.startswith("data:") and head.endswith(";base64")
        image = base64.b64decode(data) if is_uri else Path(image).read_bytes()
    if not isinstance(image, bytes):
        raise ValueError("image is a path, a data: URI or bytes")
    content = numpy.frombuffer(image, numpy.uint8)
    frame = cv2.imdecode(content, cv2.IMREAD_GRAYSCALE) if len(content) else None
    if frame is None:
        raise ValueError("image holds no frame that OpenCV can decode")
    return frame


FRAME = tamis.Preparation("frame", decoded, inputs=("image",), cost_seconds=0.00005)


@tamis.operator(
    inputs=(),
    preparation=FRAME,
    outputs=("value",),
    deterministic=True,
    cost_seconds=1e-5,
    timeout=10,
    extra="tamis[image]",
    modules=("cv2",),
    samples=SAMPLES,
)
def $name(event: Any, value: tamis.Variable) -> list[int]:
    """How bright the frame of the event is on average."""
    return [round(float(event.prepared.mean()))]
'''

DOMAINS = {
    each.name: each
    for each in (
        Domain(
            "measure",
            "whether a value is above a level",
            _MEASURE,
            "$name(3)",
            ('{"value": 7}', '{"value": 2}'),
            "tamis",
            """\
def test_what_is_no_number_is_undetermined() -> None:
    matcher = tamis.Matcher(operators=[$name])
    matcher.subscribe("$name(3)", id="s1")
    result = matcher.match({"value": "seven"})
    assert "value is a number" in result.undetermined[0].reason
""",
        ),
        Domain(
            "text",
            "how often a word stands in a text",
            _TEXT,
            "$name(fire, ?n), ?n > 1",
            ('{"text": "Fire! A fire."}', '{"text": "All is quiet."}'),
            "tamis",
            """\
def test_what_is_no_word_is_refused() -> None:
    matcher = tamis.Matcher(operators=[$name])
    with pytest.raises(tamis.SubscriptionError, match="letters and digits only"):
        matcher.subscribe("$name('two words', ?n)")
""",
        ),
        Domain(
            "spatial",
            "whether a position is within a distance of a place",
            _SPATIAL,
            "$name(-74, 40.7, 5km)",
            ('{"position": [-74.01, 40.71]}', '{"position": [2.35, 48.86]}'),
            "tamis",
            """\
def test_what_is_no_place_is_refused() -> None:
    matcher = tamis.Matcher(operators=[$name])
    with pytest.raises(tamis.SubscriptionError, match="a latitude lies between"):
        matcher.subscribe("$name(-74, 140.7, 5km)")
""",
        ),
        Domain(
            "image",
            "how bright a frame is",
            _IMAGE,
            "$name(?value), ?value > 100",
            (
                '{"image": "data:image/x-portable-graymap;base64,UDUgMSAxIDI1NQrI"}',
                '{"image": "data:image/x-portable-graymap;base64,UDUgMSAxIDI1NQoU"}',
            ),
            "tamis[image]",
            """\
def test_what_is_no_frame_is_undetermined() -> None:
    matcher = tamis.Matcher(operators=[$name])
    matcher.subscribe("$name(?value)", id="s1")
    result = matcher.match({"image": b"no frame at all"})
    assert "no frame that OpenCV can decode" in result.undetermined[0].reason
""",
        ),
    )
}
