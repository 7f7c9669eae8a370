"""Reads the features of gazetteer files: names, kind and geometry of each place.

A feature has `name`, and may have more `names` (or `aliases`), a `kind`, a `union` (the names of
the areas it consists of, in the place of a geometry), and `replaces: true`, without which a name
that is taken is an error. Whatever is wrong names the file, the feature and the reason.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import shapely

from tamis_operators.spatial.configuration import GEOJSON, PlaceSource
from tamis_operators.spatial.crs import geographic_value
from tamis_operators.spatial.errors import GazetteerError, GeometryError
from tamis_operators.spatial.geojson import AREA, LINE, members_of
from tamis_operators.spatial.plane import placed
from tamis_operators.spatial.sources import features_of, system_of

_DIMENSIONS = ("points", "lines", "areas")


@dataclass(frozen=True)
class GazetteerEntry:
    """A feature that was read; `where` names its file and number."""

    where: str
    name: str
    names: tuple[str, ...]
    kind: str | None
    geometry: Any
    union: tuple[str, ...]
    replaces: bool

    def error(self, problem: object) -> GazetteerError:
        """Returns the error that names the feature."""
        return GazetteerError(f"{self.where} ({self.name}): {problem}")


def entries_of(files: Iterable[Path | PlaceSource]) -> list[GazetteerEntry]:
    """Reads the features of all files, names resolved; `GazetteerError` for a wrong one.

    Lines of one name and kind in one file are one place: a street is many of them."""
    taken: dict[str, GazetteerEntry] = {}
    found: dict[str, GazetteerEntry] = {}
    for file in files:
        for entry in _together(_entries(file)):
            for name in (entry.name, *entry.names):
                other = taken.get(name)
                if other is None:
                    continue
                if not entry.replaces or other.where.startswith(f"{file}, "):
                    raise entry.error(
                        f"the name {name!r} is taken by {other.where} ({other.name})"
                        + _hint(entry, other)
                    )
                found.pop(other.name, None)
                for each in (other.name, *other.names):
                    if taken.get(each) is other:
                        del taken[each]
            found[entry.name] = entry
            taken.update(dict.fromkeys((entry.name, *entry.names), entry))
    return [_united(entry, taken, ()) for entry in found.values()]


def _hint(entry: GazetteerEntry, other: GazetteerEntry) -> str:
    if entry.where.rpartition(",")[0] == other.where.rpartition(",")[0]:
        return ""
    return '; to put this one in its place give it the property "replaces": true'


def _together(entries: Iterable[GazetteerEntry]) -> list[GazetteerEntry]:
    """Returns the entries, lines of one name and kind as one."""
    found: dict[object, list[GazetteerEntry]] = {}
    for number, entry in enumerate(entries):
        is_line = not entry.union and shapely.get_dimensions(entry.geometry) == LINE
        key = (entry.name, entry.kind) if is_line and not entry.replaces else number
        found.setdefault(key, []).append(entry)
    return [several[0] if len(several) == 1 else _joined(several) for several in found.values()]


def _joined(lines: list[GazetteerEntry]) -> GazetteerEntry:
    parts = [part for each in lines for part in shapely.get_parts(each.geometry)]
    names = dict.fromkeys(name for each in lines for name in each.names)
    return replace(lines[0], names=tuple(names), geometry=shapely.multilinestrings(parts))


def _entries(file: Path | PlaceSource) -> list[GazetteerEntry]:
    if isinstance(file, PlaceSource) or file.suffix.lower() not in GEOJSON:
        source = file if isinstance(file, PlaceSource) else PlaceSource(str(file))
        return [_entry(feature, where) for where, feature in features_of(source)]
    try:
        document = json.loads(file.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError, RecursionError) as failure:
        raise GazetteerError(f"{file} cannot be read: {failure}") from failure
    type = document.get("type") if isinstance(document, Mapping) else None
    features = [document] if type == "Feature" else None
    if type == "FeatureCollection":
        features = document.get("features")
    if not isinstance(features, list):
        raise GazetteerError(f"{file} is not a GeoJSON FeatureCollection")
    try:
        crs = system_of(document)
    except GeometryError as wrong:
        raise GazetteerError(f"{file}: {wrong}") from None
    return [_entry(feature, f"{file}, feature {at}", crs) for at, feature in enumerate(features, 1)]


def _entry(feature: object, where: str, crs: str = "") -> GazetteerEntry:
    if not isinstance(feature, Mapping) or feature.get("type") != "Feature":
        raise GazetteerError(f"{where}: it is not a Feature")
    said = feature.get("properties")
    said = said if isinstance(said, Mapping) else {}
    name, kind = said.get("name"), said.get("kind")
    if not isinstance(name, str) or not name.strip():
        raise GazetteerError(f'{where}: it has no name: give it a property "name"')
    entry = GazetteerEntry(where, name, (), None, None, (), said.get("replaces") is True)
    if kind is not None and (not isinstance(kind, str) or not kind.strip()):
        raise entry.error(f"its kind is a string, not {kind!r:.80}")
    names = [*_words(entry, said, "names"), *_words(entry, said, "aliases")]
    union = tuple(_words(entry, said, "union"))
    geometry = None
    if union and feature.get("geometry") is not None:
        raise entry.error("it has a geometry and a union: one of them is enough")
    if not union:
        try:
            geometry = geometry_of(feature.get("geometry"), crs)
        except GeometryError as wrong:
            raise entry.error(wrong) from None
    others = tuple(dict.fromkeys(each for each in names if each != name))
    return replace(entry, names=others, kind=kind, geometry=geometry, union=union)


def _words(entry: GazetteerEntry, said: Mapping[str, object], key: str) -> list[str]:
    """Returns a property that is a string or an array of them."""
    value = said.get(key)
    words = [] if value is None else [value] if isinstance(value, str) else value
    if not isinstance(words, list) or not all(isinstance(each, str) and each for each in words):
        raise entry.error(f"its {key} are strings, not {value!r:.80}")
    return words


def geometry_of(value: object, crs: str = "") -> Any:
    """Returns one geometry of points, of lines or of areas."""
    if not isinstance(value, Mapping):
        raise GeometryError("it has no geometry")
    if crs or "crs" in value:
        value = geographic_value({"crs": crs, **value}, "", None)
    parts = [part for member in members_of(value) for part in placed(member)]
    dimensions = {int(shapely.get_dimensions(part)) for part in parts}
    if len(dimensions) > 1:
        mixed = " and ".join(_DIMENSIONS[each] for each in sorted(dimensions))
        raise GeometryError(f"it mixes {mixed}: a place is of one sort")
    if len(parts) == 1:
        return parts[0]
    if dimensions == {AREA}:
        whole = shapely.multipolygons(parts)
        if not shapely.is_valid(whole):
            raise GeometryError(f"it is invalid: {shapely.is_valid_reason(whole)}")
        return whole
    return shapely.multilinestrings(parts) if dimensions == {1} else shapely.multipoints(parts)


def _united(
    entry: GazetteerEntry, known: Mapping[str, GazetteerEntry], within: tuple[str, ...]
) -> GazetteerEntry:
    """Returns the entry with the geometry of its union."""
    if not entry.union:
        return entry
    parts = []
    for name in entry.union:
        part = known.get(name)
        if part is None:
            raise entry.error(f"its union names {name!r}, which is not a place")
        if part.name in (*within, entry.name):
            raise entry.error(f"its union contains itself, by {name!r}")
        geometry = _united(part, known, (*within, entry.name)).geometry
        if shapely.get_dimensions(geometry) != AREA:
            raise entry.error(f"its union names {name!r}, which is not an area")
        parts.append(geometry)
    return replace(entry, geometry=shapely.union_all(parts))
