"""Finds the things of the palette on frames of the simulator, seen from straight above.

What is no ground in the frame's light is a mask, which all searches share (`view_of`). Vehicles and
boats: rectangles of their sizes are fitted on it; what they show says which thing each is, which
way it heads, and which marks it has. People: what is left without what is as solid as a vehicle,
and what has a color of ground that is nowhere near. Cost: the mask some 30 ms a frame, then
vehicles 30 ms, people 20 ms, boats 10 ms, each by itself. Limits: colors and sizes are the
palette's, the scale is known, and people need three pixels across: of a real photograph it says
nothing.
"""

from __future__ import annotations

import functools
import math
from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from examples.uav.fitting import Fit, fits, sizes_of
from examples.uav.palette import NUMBER_M, PALETTE
from examples.uav.people import people_on
from examples.uav.shades import Pixels, ShadedPixels, in_daylight, seen
from examples.uav.thing import dictionary
from tamis import Operator, Parameter, Preparation, Specification
from tamis_operators.image import FRAME, Box, Detection, DetectionError, Detections, Detector
from tamis_operators.image.labels import FAMILIES, LIGHT_BAR, PERSON
from tamis_operators.image.scale import INPUTS, meters_per_pixel_of
from tamis_operators.image.vision import opencv

cv2 = opencv()

if TYPE_CHECKING:
    from tamis_operators.image.frames import Frame

_LAND_CELL_M, _WATER_CELL_M = 0.2, 0.5
_COARSEST, _PEOPLE = 0.45, 0.2
"""Meters a pixel beyond which a car is no picture, and somebody less than three pixels across."""
_LEAST_WATER, _MOST_WATER = 0.1, 0.75
_BESIDE_M, _STRIP_M = 0.4, 2.0
_CLOSING_M, _SOLID_M = 0.25, 1.3
_READABLE_M = 0.2
"""Meters a pixel beyond which no roof is read."""
_LOOKS, _AGREE = (1.5, 2.0, 2.5, 3.0, 4.0), 3
"""How much larger a frame is looked at for numbers on roofs, and how many looks must agree."""
_SIDES = 0.7, 1.35
"""Of a number that was read, over what it is."""


class FrameView(NamedTuple):
    """A frame in daylight, and what of it is no ground."""

    lit: Pixels
    shaded: ShadedPixels
    meters_per_pixel: float


def view_of(frame: Frame, meters_per_pixel: float | None) -> FrameView:
    """Prepares what all searches share."""
    if meters_per_pixel is None:
        raise DetectionError("this detector needs the altitude of the camera")
    if meters_per_pixel > _COARSEST:
        raise DetectionError(f"a pixel shows {meters_per_pixel:.2f} m of ground: too coarse")
    lit = in_daylight(np.asarray(cv2.bilateralFilter(frame, 5, 40, 1.5), np.uint8))
    return FrameView(lit, seen(lit, meters_per_pixel), meters_per_pixel)


def boats_on(view: FrameView) -> list[Detection]:
    """Finds the boats, where there is water."""
    if float(view.shaded.water.mean()) < _LEAST_WATER:
        return []
    return _inside(view, _large(view, view.shaded.things, True, _WATER_CELL_M))


def vehicles_on(view: FrameView) -> list[Detection]:
    """Finds the vehicles; on a shore the boats are looked for first, for decks look like roofs."""
    wet = float(view.shaded.water.mean())
    if wet > _MOST_WATER:
        return []
    mask = view.shaded.things
    if wet >= _LEAST_WATER:
        mask = mask & (1 - _covered(view, _large(view, mask, True, _WATER_CELL_M)))
    return _inside(view, _large(view, mask, False, _LAND_CELL_M))


def people_of(view: FrameView) -> list[Detection]:
    """Finds people, where large enough: what is neither solid nor a strip of ground."""
    scale = view.meters_per_pixel
    if scale > _PEOPLE:
        return []
    shaded = view.shaded
    left = (shaded.things | shaded.foreign) & (1 - _solid(shaded.things, scale))
    left &= 1 - _strips(shaded.foreign, scale)
    return list(people_on(view.lit, left, scale))


class SimulatedView(Detector):
    """The things of the palette."""

    labels = PALETTE.labels
    marks = frozenset({LIGHT_BAR})
    directions = True
    looks_down = True

    def told(self, meters_per_pixel: float | None) -> frozenset[str]:
        """The labels it can tell on such a frame: people only where they are large enough."""
        if meters_per_pixel is not None and meters_per_pixel <= _PEOPLE:
            return self.labels
        return self.labels - {PERSON}

    def detect(self, frame: Frame, meters_per_pixel: float | None = None) -> list[Detection]:
        """The things on the frame."""
        view = view_of(frame, meters_per_pixel)
        return [*boats_on(view), *vehicles_on(view), *people_of(view)]


Search = Callable[[FrameView], list[Detection]]
_EYE = SimulatedView()


def _view(event: Any) -> FrameView:
    frame = event.prepared
    return view_of(frame, meters_per_pixel_of(event, frame.shape[1], True))


def _found(search: Search, labels: frozenset[str], event: Any) -> Detections:
    """Searches a view, for operators on detections."""
    view: FrameView = event.prepared
    height, width = view.lit.shape[:2]
    scale = view.meters_per_pixel
    told = labels & _EYE.told(scale)
    return Detections(tuple(search(view)), width, height, told, scale, _EYE.marks)


VIEW = Preparation("uav-view", _view, inputs=(), optional_inputs=INPUTS, after=FRAME)


def _searched(name: str, search: Search, labels: frozenset[str]) -> Preparation:
    made = functools.partial(_found, search, labels)
    return Preparation(f"uav-{name}", made, inputs=(), after=VIEW)


_BOATS = frozenset(FAMILIES["anyBoat"])
PEOPLE = _searched("people", people_of, frozenset({PERSON}))
VEHICLES = _searched("vehicles", vehicles_on, _EYE.labels - _BOATS - {PERSON})
BOATS = _searched("boats", boats_on, _EYE.labels & _BOATS)
"""The searches, each shared by its operators, and the view by all of them."""


def _inside(view: FrameView, found: list[Detection]) -> list[Detection]:
    """Keeps those whose middle is on the frame."""
    height, width = view.shaded.things.shape
    return [
        each for each in found if 0 <= each.center[0] <= width and 0 <= each.center[1] <= height
    ]


def _covered(view: FrameView, found: list[Detection]) -> Pixels:
    """Masks where things are, with a margin."""
    taken = np.zeros_like(view.shaded.things)
    for thing in found:
        corners = np.array(thing.corners(_BESIDE_M / view.meters_per_pixel))
        cv2.fillPoly(taken, [np.round(corners).astype(np.int32)], (1,))
    return taken


def _solid(mask: Pixels, meters_per_pixel: float) -> Pixels:
    """Masks what is as broad as a vehicle, with a margin: people stand farther apart."""
    closing, broad, around = (
        cv2.getStructuringElement(
            cv2.MORPH_ELLIPSE, (max(3, 2 * round(each / meters_per_pixel / 2) + 1),) * 2
        )
        for each in (_CLOSING_M, _SOLID_M, _SOLID_M + 2 * _BESIDE_M)
    )
    whole = cv2.morphologyEx(mask, cv2.MORPH_CLOSE, closing)
    solid: Pixels = np.asarray(cv2.dilate(cv2.erode(whole, broad), around), np.uint8)
    return solid


def _large(view: FrameView, mask: Pixels, on_water: bool, cell_m: float) -> list[Detection]:
    """The vehicles on land, or the boats on water."""
    lit, water, meters_per_pixel = view.lit, view.shaded.water, view.meters_per_pixel
    height, width = mask.shape
    zoom = meters_per_pixel / cell_m
    size = max(1, round(width * zoom)), max(1, round(height * zoom))
    method = cv2.INTER_AREA if zoom < 1 else cv2.INTER_LINEAR
    reach = max(3, 2 * round(0.5 / cell_m) + 1)
    square = np.ones((reach, reach), np.uint8)
    cells = cv2.morphologyEx(
        cv2.resize(mask * np.uint8(255), size, interpolation=method), cv2.MORPH_CLOSE, square
    )
    cells = cv2.morphologyEx(cells, cv2.MORPH_OPEN, square)  # markings of roads are narrow
    if on_water:
        cells *= _on_water(cells, cv2.resize(water, size, interpolation=cv2.INTER_NEAREST), reach)
    if not cells.any():
        return []
    sizes = sizes_of(cell_m, on_water, round(max(meters_per_pixel, cell_m / 2), 2))
    colors = np.asarray(cv2.resize(lit, size, interpolation=method), np.uint8)
    found = fits(np.asarray(cells, np.uint8), colors, sizes, cell_m)
    return [_detection(fit, width / size[0]) for fit in found]


def _on_water(cells: Pixels, water: Pixels, reach: int) -> Pixels:
    """1 for the pieces of the mask that lie mostly in water, 0 for those on land."""
    things = (cells > 127).astype(np.uint8)
    count, pieces, stats, _ = cv2.connectedComponentsWithStats(things)
    afloat = np.zeros(count, np.uint8)
    kernel = np.ones((2 * reach + 1, 2 * reach + 1), np.uint8)
    for number in range(1, count):
        if stats[number, cv2.CC_STAT_AREA] >= 40:
            around = (cv2.dilate((pieces == number).astype(np.uint8), kernel) > 0) & (things == 0)
            afloat[number] = bool(around.any()) and float(water[around].mean()) > 0.5
    wet: Pixels = np.take(afloat, pieces)
    return wet


def _strips(foreign: Pixels, meters_per_pixel: float) -> Pixels:
    """The pieces with a color of ground that are larger than people, or cut by the frame's edge."""
    height, width = foreign.shape
    _, pieces, stats, _ = cv2.connectedComponentsWithStats(foreign)
    left, upper, wide, high = stats[:, :4].T
    cut = (left <= 1) | (upper <= 1) | (left + wide >= width - 1) | (upper + high >= height - 1)
    cut |= np.hypot(wide, high) * meters_per_pixel > _STRIP_M
    cut[0] = False
    strips: Pixels = np.take(cut.astype(np.uint8), pieces)
    return strips


def _detection(fit: Fit, scale: float) -> Detection:
    """What was fitted on cells, in pixels of the frame."""
    length, breadth = fit.size.length * scale, fit.size.breadth * scale
    turn = math.radians(fit.angle)
    wide = abs(length * math.cos(turn)) + abs(breadth * math.sin(turn))
    high = abs(length * math.sin(turn)) + abs(breadth * math.cos(turn))
    return Detection(
        fit.drawing.thing.label,
        round(fit.score, 4),
        Box(fit.x * scale - wide / 2, fit.y * scale - high / 2, wide, high),
        length,
        breadth,
        fit.angle % 180,
        (fit.angle + 180 * fit.drawing.turned) % 360,
        fit.drawing.marks,
    )


@functools.cache
def _reader() -> Any:
    settings = cv2.aruco.DetectorParameters()
    settings.errorCorrectionRate = 0.0
    settings.minMarkerPerimeterRate = 0.01
    settings.cornerRefinementMethod = cv2.aruco.CORNER_REFINE_NONE
    return cv2.aruco.ArucoDetector(dictionary(), settings)


def numbers_on(frame: Any, meters_per_pixel: float) -> list[int]:
    """Reads the numbers on the roofs that a frame shows, each once."""
    gray = cv2.cvtColor(frame, cv2.COLOR_BGR2GRAY)
    read = Counter(
        number for larger in _LOOKS for number in _read(gray, larger, meters_per_pixel / larger)
    )
    return sorted(number for number, looks in read.items() if looks >= _AGREE)


def _read(gray: Any, larger: float, meters_per_pixel: float) -> set[int]:
    """Reads numbers of the size of a roof, in one look."""
    large = cv2.resize(gray, None, fx=larger, fy=larger, interpolation=cv2.INTER_CUBIC)
    corners, found, _ = _reader().detectMarkers(large)
    if found is None:
        return set()
    least, most = (each * NUMBER_M / meters_per_pixel for each in _SIDES)
    pairs = zip(corners, found.ravel().tolist(), strict=True)
    return {number for outline, number in pairs if least <= _side(outline) <= most}


def _side(outline: Any) -> float:
    sides = np.diff(outline[0], axis=0, append=outline[0][:1])
    return math.sqrt(float((sides**2).sum(axis=1).mean()))


class RoofNumber(Operator):
    """`roofNumber(?number)`: a solution for each bus that shows its number."""

    specification = Specification(
        name="roofNumber",
        description="The numbers on the roofs of buses on the frame.",
        parameters=(Parameter("number"),),
        outputs=("number",),
        inputs=("image",),
        optional_inputs=INPUTS,
        deterministic=True,
        preparation=FRAME,
    )

    def solve(self, event: Any, *arguments: Any) -> list[int]:
        """Returns the numbers; unknown where a pixel shows too much of the ground."""
        frame = event.prepared
        scale = meters_per_pixel_of(event, frame.shape[1], True)
        if scale is None or scale > _READABLE_M:
            raise DetectionError("a pixel shows too much of the ground to read a roof")
        return numbers_on(frame, scale)
