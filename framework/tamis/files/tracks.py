"""Reads where something was and when: a track, of GPX or CSV, and its place at any moment.

A CSV file has a head: `time` (RFC 3339, or epoch seconds) or `seconds` (since the film began),
`lat` (`latitude`) and `lon` (`lng`, `longitude`); every other column of numbers is an attribute. A
GPX file has track points with times; `ele` is the attribute `elevation`. Between two points
everything is interpolated, before the first and after the last nothing is said. Cost: O(log points)
a moment.
"""

from __future__ import annotations

import bisect
import csv
import math
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from xml.etree import ElementTree

from tamis.files.reading import ReadingError

_MOST_BYTES, _MOST_POINTS = 128 << 20, 2_000_000
_NAMES = {
    **dict.fromkeys(("lat", "latitude"), "lat"),
    **dict.fromkeys(("lon", "lng", "long", "longitude"), "lon"),
    **dict.fromkeys(("time", "timestamp", "datetime"), "time"),
    "seconds": "seconds",
}

Point = tuple[float, float, float, dict[str, float]]
"""Seconds, longitude, latitude, and other numbers."""


@dataclass(frozen=True)
class Track:
    """Points in the order of time."""

    moments: Sequence[float]
    points: Sequence[Point]
    timed: bool
    """True if moments are epoch seconds, and not those since a film began."""

    @classmethod
    def of(cls, path: str) -> Track:
        """Returns the track of a file; `ReadingError` says what is wrong with it."""
        try:
            if os.path.getsize(path) > _MOST_BYTES:
                raise ReadingError(f"the track {path} is larger than {_MOST_BYTES >> 20} MiB")
            points, timed = _of_gpx(path) if path.lower().endswith(".gpx") else _of_csv(path)
        except OSError as bad:
            raise ReadingError(f"cannot read the track {path}: {bad.strerror or bad}") from None
        except (ValueError, csv.Error, ElementTree.ParseError) as bad:
            raise ReadingError(f"the track {path} cannot be read: {bad}") from None
        if not points:
            raise ReadingError(f"the track {path} has no point with a time")
        points.sort(key=lambda each: each[0])
        return cls([each[0] for each in points], points, timed)

    @property
    def starts(self) -> datetime | None:
        """The time of the first point."""
        return datetime.fromtimestamp(self.moments[0], UTC) if self.timed else None

    def at(self, moment: float) -> dict[str, object]:
        """Returns `position` and other attributes at a moment, none outside the track."""
        if not self.moments[0] <= moment <= self.moments[-1]:
            return {}
        after = min(bisect.bisect_right(self.moments, moment), len(self.points) - 1)
        began, west, south, one = self.points[max(0, after - 1)]
        ended, east, north, other = self.points[after]
        part = (moment - began) / (ended - began) if ended > began else 0.0
        turn = (east - west + 180) % 360 - 180  # the shorter way, over the date line too
        longitude = (west + part * turn + 180) % 360 - 180
        found: dict[str, object] = {
            name: round(value + part * (other[name] - value), 6)
            for name, value in one.items()
            if name in other
        }
        found["position"] = [round(longitude, 8), round(south + part * (north - south), 8)]
        return found


def _of_csv(path: str) -> tuple[list[Point], bool]:
    with open(path, encoding="utf-8-sig", newline="") as file:
        rows = csv.DictReader(file)
        names = {name: _NAMES.get(name.strip().lower(), name) for name in rows.fieldnames or ()}
        given = set(names.values())
        if not {"lat", "lon"} <= given or not given & {"time", "seconds"}:
            raise ValueError("its head names lat, lon, and time or seconds")
        timed = "time" in given
        points = []
        for row in rows:
            named = {names[name]: value for name, value in row.items() if name in names and value}
            when = named.pop("time" if timed else "seconds", "").strip()
            if not when or "lat" not in named or "lon" not in named:
                continue
            where = f"line {rows.line_num}"
            moment = _moment(when, where) if timed else _number(when, where)
            longitude, latitude = (_number(named.pop(name), where) for name in ("lon", "lat"))
            points.append((moment, longitude, latitude, dict(_numbers(named))))
            if len(points) > _MOST_POINTS:
                raise ValueError(f"it has more than {_MOST_POINTS:,} points")
    return points, timed


def _numbers(named: dict[str, str]) -> Iterator[tuple[str, float]]:
    for name, text in named.items():
        try:
            value = float(text)
        except ValueError:
            continue
        if math.isfinite(value):
            yield name.strip(), value


def _of_gpx(path: str) -> tuple[list[Point], bool]:
    points: list[Point] = []
    for _, element in ElementTree.iterparse(path):
        if element.tag.rpartition("}")[2] not in ("trkpt", "rtept", "wpt"):
            continue
        inner = {each.tag.rpartition("}")[2]: (each.text or "").strip() for each in element}
        if inner.get("time"):
            where = f"point {len(points) + 1}"
            longitude, latitude = (_number(element.get(name, ""), where) for name in ("lon", "lat"))
            other = {"elevation": _number(inner["ele"], where)} if inner.get("ele") else {}
            points.append((_moment(inner["time"], where), longitude, latitude, other))
        element.clear()
        if len(points) > _MOST_POINTS:
            raise ValueError(f"it has more than {_MOST_POINTS:,} points")
    return points, True


def _moment(text: str, where: str) -> float:
    """Returns the epoch seconds of a time; one without an offset is in UTC."""
    try:
        return _number(text, where)
    except ValueError:
        pass
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(f"{text[:40]!r} in {where} is not a time") from None
    return (time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp()


def _number(text: str, where: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ValueError(f"{text[:40]!r} in {where} is not a number")
    return value
