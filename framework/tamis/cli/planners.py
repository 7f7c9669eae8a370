"""Lists planners, but those that are yardsticks for small problems: `tamis planners`."""

from __future__ import annotations

from tamis.cli.listing import show
from tamis.cli.options import Debug, Json


def planners(json: Json = False, debug: Debug = False) -> None:
    """List the planners, which order operator calls."""
    from tamis.matcher import DEFAULT_PLANNER
    from tamis.plugins.loader import installed

    chosen_from = [each for each in installed().planners.values() if not each.is_small]
    show("planner", chosen_from, DEFAULT_PLANNER, json=json)
