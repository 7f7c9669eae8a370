"""Offers authors of plugins the parts of bundled ones; each is imported at its first use."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tamis.calling.lanes import GRACE, Lanes, awaited, late
    from tamis.calling.throttles import Throttle
    from tamis.event.paths import is_address, is_facts_path
    from tamis.index.needles import Needles
    from tamis.indexing import FoundRows
    from tamis.language.comparison import Comparison
    from tamis.language.predicate import AttributePredicate
    from tamis.language.values import NUMBER, STRING, Scalar, kind_of
    from tamis.nearest import did_you_mean
    from tamis.numeric.growing import GrowingArray
    from tamis.numeric.kernels import (
        compiled,
        inlined,
        kernel,
        portable,
        portable_parts,
        view_of,
    )
    from tamis.numeric.lists import lists_by_number
    from tamis.numeric.types import Bytes, Flags, Floats, Ints, SmallFloats, SmallInts, TinyInts
    from tamis.numeric.views import bare, bare_at, bare_table_at, places_of_all
    from tamis.waiting import COMPILING, waiting_for

_HOMES = {
    **dict.fromkeys(("GRACE", "Lanes", "awaited", "late"), "calling.lanes"),
    "Throttle": "calling.throttles",
    **dict.fromkeys(("is_address", "is_facts_path"), "event.paths"),
    "Needles": "index.needles",
    "FoundRows": "indexing",
    "Comparison": "language.comparison",
    "AttributePredicate": "language.predicate",
    **dict.fromkeys(("NUMBER", "STRING", "Scalar", "kind_of"), "language.values"),
    "did_you_mean": "nearest",
    "GrowingArray": "numeric.growing",
    **dict.fromkeys(
        ("compiled", "inlined", "kernel", "portable", "portable_parts", "view_of"),
        "numeric.kernels",
    ),
    "lists_by_number": "numeric.lists",
    **dict.fromkeys(
        ("Bytes", "Flags", "Floats", "Ints", "SmallFloats", "SmallInts", "TinyInts"),
        "numeric.types",
    ),
    **dict.fromkeys(("bare", "bare_at", "bare_table_at", "places_of_all"), "numeric.views"),
    **dict.fromkeys(("COMPILING", "waiting_for"), "waiting"),
}

__all__ = [
    "COMPILING",
    "GRACE",
    "NUMBER",
    "STRING",
    "AttributePredicate",
    "Bytes",
    "Comparison",
    "Flags",
    "Floats",
    "FoundRows",
    "GrowingArray",
    "Ints",
    "Lanes",
    "Needles",
    "Scalar",
    "SmallFloats",
    "SmallInts",
    "Throttle",
    "TinyInts",
    "awaited",
    "bare",
    "bare_at",
    "bare_table_at",
    "compiled",
    "did_you_mean",
    "inlined",
    "is_address",
    "is_facts_path",
    "kernel",
    "kind_of",
    "late",
    "lists_by_number",
    "places_of_all",
    "portable",
    "portable_parts",
    "view_of",
    "waiting_for",
]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'tamis.kit' has no attribute {name!r}")
    value: object = getattr(importlib.import_module(f"tamis.{_HOMES[name]}"), name)
    globals()[name] = value
    return value
