"""Lists plugins, whether each could be used, and what each brings: `tamis plugins`."""

from __future__ import annotations

from tamis.cli.options import Debug, Json
from tamis.cli.saying import put, put_json
from tamis.cli.tables import table, wrapped

_NONE = (
    "There is no plugin. Install a package that has an entry point of the group tamis "
    "(pip install …), or name operators directly with --operators my_operators.py"
)


def plugins(json: Json = False, debug: Debug = False) -> None:
    """List the plugins, with their status and what they bring."""
    from tamis.plugins.loader import found_plugins

    found = found_plugins().found
    if json:
        put_json(
            [
                {
                    "name": each.name,
                    "distribution": each.distribution,
                    "version": each.version,
                    "status": each.status,
                    "provides": each.provides,
                    "troubles": dict(each.troubles),
                }
                for each in found
            ]
        )
    elif not found:
        put(wrapped(_NONE))
    else:
        rows = [
            (
                each.name,
                each.distribution,
                each.version,
                each.status.partition(":")[0],
                each.status.partition(": ")[2] or ", ".join(each.provides) or "nothing",
            )
            for each in found
        ]
        put(table(("plugin", "distribution", "version", "status", "provides"), rows))
        for each in found:
            for reason, names in each.reasons.items():
                put(wrapped(f"{names} could not be set up: {reason}"))
