"""Makes `data/boroughs.geojson`, the outlines of New York's boroughs, from the npm package
us-atlas.

The borders are the Census Bureau's cartographic county borders of 2017, in the public domain, as
the package simplifies them: on a grid of about 300 m by 95 m. Neighbors share vertices exactly.
`python -m tamis_operators.spatial.boroughs` fetches the package with npm into the user's cache;
with the path of a `counties-10m.json` it reads that.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tarfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

PACKAGE = "us-atlas@3.0.1"
MEMBER = "package/counties-10m.json"
DATA = Path(__file__).with_name("data") / "boroughs.geojson"
BOROUGHS = {
    "36005": ("Bronx", ["The Bronx", "Bronx County"]),
    "36047": ("Brooklyn", ["Kings County"]),
    "36061": ("Manhattan", ["New York County"]),
    "36081": ("Queens", ["Queens County"]),
    "36085": ("StatenIsland", ["Staten Island", "Richmond County"]),
}
_PLACES = 6  # a tenth of a metre; what the grid gives has far less


def fetched() -> dict[str, Any]:
    """Returns the topology from the npm package, fetched once into the user's cache."""
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    folder = Path(home) / "tamis" / "npm"
    folder.mkdir(parents=True, exist_ok=True)
    archive = folder / f"{PACKAGE.replace('@', '-')}.tgz"
    if not archive.exists():
        subprocess.run(
            ["npm", "pack", PACKAGE, "--silent", "--pack-destination", str(folder)],
            cwd=folder,
            check=True,
            capture_output=True,
            timeout=120,
        )
    with tarfile.open(archive) as opened:
        member = opened.extractfile(MEMBER)
        assert member is not None
        topology: dict[str, Any] = json.load(member)
    return topology


def outlines(topology: dict[str, Any]) -> dict[str, Any]:
    """Returns the boroughs of a TopoJSON topology as a GeoJSON FeatureCollection."""
    counties = {each["id"]: each for each in topology["objects"]["counties"]["geometries"]}
    features = [
        _feature(
            {"name": name, "names": names, "kind": "borough", "fips": fips},
            _geometry(topology, counties[fips]),
        )
        for fips, (name, names) in BOROUGHS.items()
    ]
    union = [name for name, _ in BOROUGHS.values()]
    names = ["New York", "NYC"]
    whole = {"name": "NewYork", "names": names, "kind": "city", "union": union}
    features.append(_feature(whole, None))
    return {"type": "FeatureCollection", "features": features}


def _feature(properties: dict[str, Any], geometry: dict[str, Any] | None) -> dict[str, Any]:
    return {"type": "Feature", "properties": properties, "geometry": geometry}


def _geometry(topology: dict[str, Any], county: dict[str, Any]) -> dict[str, Any]:
    if county["type"] == "Polygon":
        rings = [_ring(topology, arcs) for arcs in county["arcs"]]
        return {"type": "Polygon", "coordinates": rings}
    polygons = [[_ring(topology, arcs) for arcs in polygon] for polygon in county["arcs"]]
    return {"type": "MultiPolygon", "coordinates": polygons}


def _ring(topology: dict[str, Any], arcs: Sequence[int]) -> list[list[float]]:
    """Joins arcs to a ring, those of negative numbers backwards; exteriors run counterclockwise."""
    ring: list[list[float]] = []
    for number in arcs:
        points = _arc(topology, ~number if number < 0 else number)
        points = points[::-1] if number < 0 else points
        ring += points[1:] if ring else points
    return ring[::-1]


def _arc(topology: dict[str, Any], number: int) -> list[list[float]]:
    """Returns an arc: differences of grid places, summed and scaled."""
    (scale_x, scale_y), (left, low) = (
        topology["transform"]["scale"],
        topology["transform"]["translate"],
    )
    x = y = 0
    points = []
    for step_x, step_y in topology["arcs"][number]:
        x, y = x + step_x, y + step_y
        points.append([round(x * scale_x + left, _PLACES), round(y * scale_y + low, _PLACES)])
    return points


def written(collection: dict[str, Any]) -> str:
    """Returns the collection as text, a feature a line."""
    lines = ",\n".join(json.dumps(each) for each in collection["features"])
    return f'{{"type": "FeatureCollection", "features": [\n{lines}\n]}}\n'


def main(arguments: Sequence[str]) -> None:
    """Writes the outlines."""
    if arguments:
        topology = json.loads(Path(arguments[0]).read_text(encoding="utf-8"))
    else:
        topology = fetched()
    DATA.write_text(written(outlines(topology)), encoding="utf-8")
    print(f"wrote {DATA}")


if __name__ == "__main__":
    main(sys.argv[1:])
