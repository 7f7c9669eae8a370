"""Lists planners or indexes: names, descriptions, sources."""

from __future__ import annotations

import json as json_module
from collections.abc import Iterable, Mapping
from typing import Any, Protocol

from tamis.cli.saying import put, put_json
from tamis.cli.tables import table, wrapped
from tamis.words import plural


class Description(Protocol):
    """Something with a name and a description."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def description(self) -> str:
        """The purpose of it, in a few words."""


def show(kind: str, records: Iterable[Description], default: str, *, json: bool) -> None:
    """Writes the list of all records of a kind, the default one marked."""
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
