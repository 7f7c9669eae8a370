"""`tamis planners`: which planners there are."""

from __future__ import annotations

from tamis.cli.options import Debug, Json


def planners(json: Json = False, debug: Debug = False) -> None:
    """List the planners: which operator call is made next."""
    from tamis.cli.listing import show
    from tamis.matcher import DEFAULT_PLANNER
    from tamis.plugins.loader import installed

    show("planner", installed().planners.values(), DEFAULT_PLANNER, json=json)
