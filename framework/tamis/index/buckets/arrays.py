"""Makes the arrays of a store, lets them grow, and keeps them in a folder.

A folder holds one file an array, mapped into memory when it is opened, copied page by page where it
is changed; files are shared by all processes that open them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib.recfunctions import structured_to_unstructured, unstructured_to_structured
from numpy.typing import NDArray

from tamis.errors import IndexFolderError
from tamis.index.buckets.cells import rungs_of
from tamis.index.buckets.hashing import enter_all, pair_place
from tamis.index.buckets.opening import TYPES
from tamis.index.buckets.segments import pack
from tamis.index.buckets.store import CHUNK, GONE, MOST_PAIRED, Store

_IN_USE = {
    "dimensions": "dimensions",
    "presence": "dimensions",
    "ladders": "dimensions",
    "spaces": "spaces",
    "space_node": "spaces",
    "space_deep": "spaces",
    "nodes": "nodes",
    "chains": "nodes",
    "children": "nodes",
    "node_rows": "nodes",
    "segments": "segments",
    "lanes": "lanes",
    "rows": "rows",
    "records": "records",
    "dictionary": "dictionary",
    "more": "more",
}
_ARENAS = ("segments", "lanes", "rows", "records", "dictionary")
_MADE = ("ladders", "rungs")
"""The arrays that are made of others, not saved."""
_ROOM = 1 << 10


def new_array(name: str, length: int, fill: int = 0, first: int = 0) -> NDArray[Any]:
    """Returns an array for a store, filled from `first` on.

    It begins with a line of the caches, which chunks of lanes fill."""
    dtype, fields = TYPES[name]
    shape = (length, fields) if fields else (length,)
    size = math.prod(shape) * np.dtype(dtype).itemsize
    room = np.empty(size + CHUNK, np.uint8)
    begin = -room.ctypes.data % CHUNK
    array = room[begin : begin + size].view(dtype).reshape(shape)
    array[first:] = fill
    return array


def empty_store() -> Store:
    """Returns a store without rows: node 0, and nothing in it."""
    arrays = {name: new_array(name, 0) for name in TYPES}
    arrays["tops"] = new_array("tops", 1)
    arrays["tops"]["nodes"] = 1
    arrays["lanes"] = new_array("lanes", CHUNK)
    arrays["chains"] = new_array("chains", 1, -1)
    for name in ("nodes", "children", "node_rows"):
        arrays[name] = new_array(name, 1)
    arrays["space_table"] = new_array("space_table", 4, -1)
    arrays["node_table"] = new_array("node_table", 4, -1)
    arrays["cuts"] = np.full(1, np.inf)
    return Store(**arrays)


def _grown(name: str, array: NDArray[Any], length: int, fill: int = 0) -> NDArray[Any]:
    grown = new_array(name, length, fill, len(array))
    grown[: len(array)] = array
    return grown


def with_dimensions(store: Store, count: int, is_bag: Callable[[int], bool]) -> Store:
    """Returns the store with so many dimensions, and room for more; a new one is a single cell."""
    known, had = int(store.tops[0]["dimensions"]), len(store.presence)
    if count > had:
        most = MOST_PAIRED if count <= MOST_PAIRED else count + had
        room = max(count, min(had + had // 2, most))
        dimensions = _grown("dimensions", store.dimensions, room)
        dimensions["root"][had:] = -1
        dimensions["cells"][had:] = 1
        dimensions["cuts"][had:] = len(store.cuts) - 1
        pairs = pair_place(room, 0) if store.tops[0]["ordered"] and room <= MOST_PAIRED else 0
        store = store._replace(
            dimensions=dimensions,
            presence=_grown("presence", store.presence, room),
            ladders=_grown("ladders", store.ladders, room),
            pairs=_grown("pairs", store.pairs[:pairs], pairs, -1),
        )
    for number in range(known, count):
        store.dimensions[number]["bag"] = is_bag(number)
    store.tops[0]["dimensions"] = max(known, count)
    return store


def with_ladders(store: Store) -> Store:
    """Returns the store with the cells of integers, which its cuts tell."""
    ladders = new_array("ladders", len(store.presence))
    return store._replace(ladders=ladders, rungs=rungs_of(store.dimensions, store.cuts, ladders))


def with_rows(store: Store, count: int) -> Store:
    """Returns the store with room for the places of so many rows."""
    if count <= len(store.places):
        return store
    length = max(count, len(store.places) + len(store.places) // 8, 64)
    return store._replace(places=_grown("places", store.places, length, GONE))


def with_nodes(store: Store, more: int) -> Store:
    """Returns the store with room for so many more spaces and nodes; it grows by half at least."""
    changed: dict[str, Any] = {}
    alike = {"spaces": ("space_node", "space_deep"), "nodes": ("chains", "children", "node_rows")}
    for first, others in alike.items():
        used, room = int(store.tops[0][_IN_USE[first]]), len(getattr(store, first))
        if used + more > room:
            for name in (first, *others):
                changed[name] = _grown(name, getattr(store, name), used + used // 2 + more)
    return _with_tables(store._replace(**changed)) if changed else store


def _with_tables(store: Store) -> Store:
    """Returns the store with tables that are less than half full when all its room is used."""
    wanted = {
        "space_table": 1 << (2 * len(store.spaces) + 2).bit_length(),
        "node_table": 1 << (2 * len(store.nodes) + 2).bit_length(),
    }
    if all(len(getattr(store, name)) >= size for name, size in wanted.items()):
        return store
    store = store._replace(**{name: new_array(name, size, -1) for name, size in wanted.items()})
    enter_all(store)
    return store


def with_places(store: Store, more: int) -> Store:
    """Returns the store with room for the places of rows that are in several segments."""
    needed = int(store.tops[0]["more"]) + more
    return with_arenas(store, {"more": needed + needed // 4}) if more else store


def with_arenas(store: Store, sizes: dict[str, int]) -> Store:
    """Returns the store with arenas of at least these sizes."""
    changed = {
        name: _grown(name, getattr(store, name), size)
        for name, size in sizes.items()
        if size > len(getattr(store, name))
    }
    return store._replace(**changed) if changed else store


def with_more_room(store: Store) -> Store:
    """Returns the store with more room in the fullest arenas, in one of them at least."""
    for part in (16, 4, 1):
        full = [
            name
            for name in _ARENAS
            if (len(getattr(store, name)) - int(store.tops[0][_IN_USE[name]])) * part
            <= len(getattr(store, name))
        ]
        if full:
            break
    if "lanes" in full or "rows" in full:
        return _packed(store, full)
    return with_arenas(store, {name: _roomy(len(getattr(store, name))) for name in full})


def _roomy(used: int, least: int = 0) -> int:
    return used + max(used // 4 + _ROOM, least)


def _packed(store: Store, full: Collection[str]) -> Store:
    """Returns the store with segments one behind the other, and room after them for a quarter more.

    Where room was lacking it is at least twice what it was: enough after a few times."""
    used = pack(store, store.lanes, store.rows, False)
    tops = store.tops[0]
    vacant = len(store.lanes) - tops["lanes"], len(store.rows) - tops["rows"]
    lanes, rows = (
        new_array(name, _roomy(size, 2 * int(room) * (name in full)) + CHUNK)
        for name, size, room in zip(("lanes", "rows"), used, vacant, strict=True)
    )
    tops["lanes"], tops["rows"] = pack(store, lanes, rows, True)
    tops["dead_lanes"] = 0
    return store._replace(lanes=lanes, rows=rows)


def trimmed(store: Store) -> Store:
    """Returns the store without the room for more spaces and nodes."""
    changed = {
        name: getattr(store, name)[: int(store.tops[0][_IN_USE[name]])].copy()
        for name in _IN_USE.keys() - set(_ARENAS)
    }
    empty = {name: new_array(name, 0) for name in ("space_table", "node_table")}
    return _with_tables(store._replace(**changed, **empty))


def save(store: Store, folder: Path) -> None:
    """Writes the arrays."""
    for name, array in store._asdict().items():
        if name in _MADE:
            continue
        used = len(array)
        if name in _IN_USE:
            used = int(store.tops[0][_IN_USE[name]]) + (CHUNK if name == "lanes" else 0)
        plain = array[:used]
        if array.dtype.names is not None:
            plain = structured_to_unstructured(plain, np.int64)
        np.save(folder / f"{name}.npy", plain[0] if name == "tops" else plain)


def load(folder: Path) -> Store:
    """Maps the store that `save` wrote into memory; zero for `tops` that older ones lack."""
    arrays: dict[str, NDArray[Any]] = {}
    for name, (dtype, fields) in TYPES.items():
        if name in _MADE:
            arrays[name] = new_array(name, 0)
            continue
        form = np.dtype(dtype)
        path = folder / f"{name}.npy"
        try:
            array = np.asarray(np.load(path, mmap_mode="c"))
        except ValueError:  # an empty array cannot be mapped
            array = np.load(path)
        if form.names is not None:
            fields, dtype = len(form.names), np.int64
        if name == "tops":
            array = np.append(array, np.zeros(fields, np.int64))[None, :fields]
        if array.dtype != dtype or array.ndim != (2 if fields else 1):
            raise IndexFolderError(f"{path} is damaged: it does not hold what its name says")
        if name == "segments":
            table, array = array, new_array(name, len(array))
            array[:] = unstructured_to_structured(table, form)
        elif form.names is not None:
            array = array.view(form)[:, 0]
        arrays[name] = array
    arrays["tops"]["dimensions"] = len(arrays["presence"])
    return with_ladders(Store(**arrays))
