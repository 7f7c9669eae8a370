"""Lists planners and indexes, with descriptions and sources: `tamis planners`, `tamis indexes`."""

from __future__ import annotations

import json as json_module
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from tamis.cli.options import Debug, Json
from tamis.cli.saying import put, put_json
from tamis.cli.tables import table, wrapped
from tamis.words import plural

if TYPE_CHECKING:
    from tamis import IndexRecord, PlannerRecord


def planners(json: Json = False, debug: Debug = False) -> None:
    """List the planners, which order operator calls."""
    from tamis.matcher import DEFAULT_PLANNER
    from tamis.plugins.loader import installed

    # those for small problems are yardsticks
    chosen_from = [each for each in installed().planners.values() if not each.is_small]
    _show("planner", chosen_from, DEFAULT_PLANNER, json=json)


def indexes(json: Json = False, debug: Debug = False) -> None:
    """List the indexes, which find candidates by their attributes."""
    from tamis.matcher import DEFAULT_INDEX
    from tamis.plugins.loader import installed

    _show("index", installed().indexes.values(), DEFAULT_INDEX, json=json)


def _show(
    kind: str, records: Iterable[IndexRecord | PlannerRecord], default: str, *, json: bool
) -> None:
    from tamis.plugins.loader import installed

    sources = installed().sources
    found = [
        {
            "name": record.name,
            "description": record.description,
            "default": record.name == default,
            "source": sources[(kind, record.name)],
            **({"options": options} if (options := getattr(record, "options", None)) else {}),
        }
        for record in sorted(records, key=lambda each: each.name)
    ]
    if json:
        put_json(found)
    elif not found:
        put(
            wrapped(
                f"There is no {kind}. Install a plugin that brings one (pip install …): a package "
                f"with an entry point of the group tamis and a function tamis_{plural(kind)}."
            )
        )
    else:
        rows = [
            (
                str(each["name"]) + (" (default)" if each["default"] else ""),
                each["source"],
                _described(each),
            )
            for each in found
        ]
        put(table((kind, "source", "description"), rows))


def _described(found: Mapping[str, Any]) -> str:
    """Returns the description of a record, and its options with their defaults."""
    options = found.get("options") or {}
    shown = [f"{name}={json_module.dumps(default)}" for name, default in options.items()]
    return str(found["description"]) + (f" ({', '.join(shown)})" if shown else "")
