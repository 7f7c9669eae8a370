"""Lists indexes: `tamis indexes`."""

from __future__ import annotations

from tamis.cli.listing import show
from tamis.cli.options import Debug, Json


def indexes(json: Json = False, debug: Debug = False) -> None:
    """List the indexes, which find candidates by their attributes."""
    from tamis.matcher import DEFAULT_INDEX
    from tamis.plugins.loader import installed

    show("index", installed().indexes.values(), DEFAULT_INDEX, json=json)
