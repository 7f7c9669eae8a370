"""The map of the report: the boroughs as the gazetteer has them, flights and matches on them.

Drawn without tiles, in longitude and latitude scaled for the middle of the map, the whole city
first and then each flight by itself, and nothing that needs a script. A frame that is shown below
is a link to it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Sequence
from importlib import resources
from typing import Any

from examples.uav.live.record import DemoRun, Frame
from examples.uav.report.markup import text

_WIDTH, _HEIGHT = 1000, 760
_WEST, _EAST, _SOUTH, _NORTH = -74.27, -73.69, 40.49, 40.925
_SIDE, _DEGREE_M = 200, 111_195.0
_LANDMARKS = {
    "TimesSquare": "Times Square",
    "StatueOfLiberty": "Statue of Liberty",
    "YankeeStadium": "Yankee Stadium",
    "CentralPark": "",
    "JFKAirport": "JFK",
    "LaGuardiaAirport": "LaGuardia",
}
_NAMED = {
    "Bronx": ("The Bronx", -73.845, 40.877),
    "Manhattan": ("Manhattan", -74.03, 40.792),
    "Brooklyn": ("Brooklyn", -73.955, 40.635),
    "Queens": ("Queens", -73.79, 40.72),
    "StatenIsland": ("Staten Island", -74.15, 40.58),
}


def at(lon: float, lat: float) -> tuple[float, float]:
    """Where a position lies on the map, in its pixels."""
    squeeze = math.cos(math.radians((_SOUTH + _NORTH) / 2))
    scale = min(_WIDTH / ((_EAST - _WEST) * squeeze), _HEIGHT / (_NORTH - _SOUTH))
    return (lon - _WEST) * squeeze * scale, (_NORTH - lat) * scale


def features(file: str) -> list[dict[str, Any]]:
    """What a bundled file of the gazetteer holds."""
    data = resources.files("tamis_operators.spatial").joinpath("data", file)
    found: list[dict[str, Any]] = json.loads(data.read_text(encoding="utf-8"))["features"]
    return found


def drawn(run: DemoRun, shown: Iterable[str]) -> str:
    """The map as SVG."""
    linked = set(shown)
    squeeze = math.cos(math.radians((_SOUTH + _NORTH) / 2))
    wide = (
        (_EAST - _WEST)
        * squeeze
        * min(_WIDTH / ((_EAST - _WEST) * squeeze), _HEIGHT / (_NORTH - _SOUTH))
    )
    flights = run.flights
    parts = [
        (
            f'<svg class="map" viewBox="0 0 {wide:.0f} {_HEIGHT}" role="img" '
            'aria-labelledby="flights-title">'
            f'<title id="flights-title">{len(flights)} flights over New York and where '
            f"their frames matched</title>"
        ),
        *_boroughs(),
        *_landmarks(),
    ]
    for camera, frames in flights.items():
        path = " ".join(
            f"{'M' if number == 0 else 'L'}{x:.1f} {y:.1f}"
            for number, (x, y) in enumerate(at(*frame.position) for frame in frames)
        )
        parts.append(f'<path class="flight" d="{path}"><title>{text(camera)}</title></path>')
    frames = sorted(run.frames, key=_rank)
    parts += [_dot(frame, *at(*frame.position), frame.id in linked) for frame in frames]
    parts += [_start(camera, frames[0]) for camera, frames in flights.items()]
    return "".join([*parts, "</svg>"])


def flights(run: DemoRun, shown: Iterable[str]) -> str:
    """Each flight by itself, near enough to be seen, with a scale."""
    linked = set(shown)
    items = "".join(_flight(camera, frames, linked) for camera, frames in run.flights.items())
    return f'<ul class="flights">{items}</ul>'


def _flight(camera: str, frames: Sequence[Frame], linked: set[str]) -> str:
    lons, lats = zip(*(frame.position for frame in frames), strict=True)
    lon, lat = (min(lons) + max(lons)) / 2, (min(lats) + max(lats)) / 2
    east = _DEGREE_M * math.cos(math.radians(lat))
    reach = max(150.0, (max(lons) - min(lons)) * east / 2, (max(lats) - min(lats)) * _DEGREE_M / 2)
    scale = _SIDE * 0.4 / reach
    spots = [
        (
            _SIDE / 2 + (frame.position[0] - lon) * east * scale,
            _SIDE / 2 - (frame.position[1] - lat) * _DEGREE_M * scale,
        )
        for frame in frames
    ]
    path = " ".join(f"{'L' if at else 'M'}{x:.1f} {y:.1f}" for at, (x, y) in enumerate(spots))
    dots = "".join(
        _dot(frame, x, y, frame.id in linked)
        for (x, y), frame in sorted(zip(spots, frames, strict=True), key=lambda it: _rank(it[1]))
    )
    meters = next(each for each in (20_000, 5_000, 1_000, 500, 100) if each * scale < _SIDE * 0.45)
    words = f"{meters // 1000} km" if meters >= 1000 else f"{meters} m"
    matched = sum(bool(frame.matches) for frame in frames)
    return (
        f'<li><svg viewBox="0 0 {_SIDE} {_SIDE}" role="img" '
        f'aria-label="The flight of {text(camera)}"><path class="flight" d="{path}"/>{dots}'
        f'<path class="scale" d="M10 {_SIDE - 10}h{meters * scale:.1f}"/>'
        f'<text class="meters" x="10" y="{_SIDE - 16}">{words}</text></svg>'
        f"<p><b>{text(camera)}</b> {len(frames)} frames, {matched} matched</p></li>"
    )


def _boroughs() -> Iterator[str]:
    for feature in features("boroughs.geojson"):
        geometry = feature.get("geometry")
        if geometry is None:  # what consists of others is drawn with them
            continue
        several = geometry["coordinates"]
        polygons = [several] if geometry["type"] == "Polygon" else several
        rings = [ring for polygon in polygons for ring in polygon]
        path = " ".join(
            "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in (at(*point[:2]) for point in ring)) + "Z"
            for ring in rings
        )
        yield f'<path class="land" d="{path}"/>'
    for name, lon, lat in _NAMED.values():
        x, y = at(lon, lat)
        yield f'<text class="borough" x="{x:.0f}" y="{y:.0f}">{name}</text>'


def _landmarks() -> Iterator[str]:
    for feature in features("landmarks.geojson"):
        words = _LANDMARKS.get(feature["properties"]["name"])
        geometry = feature.get("geometry")
        if words is None or geometry is None:
            continue
        if geometry["type"] == "Polygon":
            ring = geometry["coordinates"][0]
            path = "L".join(f"{x:.1f} {y:.1f}" for x, y in (at(*point[:2]) for point in ring))
            yield f'<path class="place" d="M{path}Z"/>'
            lon = sum(point[0] for point in ring[:-1]) / (len(ring) - 1)
            lat = sum(point[1] for point in ring[:-1]) / (len(ring) - 1)
            x, y = at(lon, lat)
            yield _landmark(words, x, y, "middle")
            continue
        x, y = at(*geometry["coordinates"][:2])
        yield f'<path class="cross" d="M{x - 4:.1f} {y:.1f}h8M{x:.1f} {y - 4:.1f}v8"/>'
        yield _landmark(words, x - 9, y, "end")


def _landmark(words: str, x: float, y: float, anchor: str) -> str:
    return (
        f'<text class="landmark" x="{x:.0f}" y="{y + 4:.0f}" text-anchor="{anchor}">{words}</text>'
    )


def _rank(frame: Frame) -> int:
    return 2 if any(each.team == "paper" for each in frame.matches) else int(bool(frame.matches))


def _dot(frame: Frame, x: float, y: float, linked: bool) -> str:
    """A frame on the map: how much it matched is how large it is."""
    rank = _rank(frame)
    paper = [each.subscription for each in frame.matches if each.team == "paper"]
    words = f"{frame.id}, {frame.camera}: {len(frame.matches)} matches"
    words += f", of them {', '.join(paper)}" if paper else ""
    style = ("none", "some", "paper")[rank]
    radius = (1.6, 2.6 + 0.35 * math.sqrt(len(frame.matches)), 5.0)[rank]
    dot = (
        f'<circle class="dot {style}" cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}">'
        f"<title>{text(words)}</title></circle>"
    )
    if not linked:
        return dot
    return f'<a href="#{text(frame.id)}" aria-label="{text(words)}; show the frame">{dot}</a>'


def _start(camera: str, frame: Frame) -> str:
    x, y = at(*frame.position)
    return f'<text class="camera" x="{x + 9:.0f}" y="{y + 14:.0f}">{text(camera)}</text>'
