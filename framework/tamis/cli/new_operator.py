"""Makes a package with one operator, its tests and an example: `tamis new-operator`."""

from __future__ import annotations

from typing import Annotated

from tamis.cli.failures import MisuseError
from tamis.cli.options import Debug, argument, option
from tamis.cli.saying import put


def new_operator(
    name: Annotated[str, argument("NAME", "The operator's name: boatCount.")],
    folder: Annotated[
        str | None, option("DIR", "The folder to make; by default ./tamis-NAME.")
    ] = None,
    domain: Annotated[
        str, option("DOMAIN", "The kind of operator: measure, text, spatial or image.")
    ] = "measure",
    debug: Debug = False,
) -> None:
    """Make a package with an operator, its tests and an example."""
    import shlex

    from tamis.scaffold import ScaffoldError, make

    try:
        made = make(name, domain=domain, folder=folder)
    except ScaffoldError as bad:
        raise MisuseError(str(bad)) from bad
    put(
        f"Made {made.folder}: the operator {made.name}, its tests, and an example. Next:\n\n"
        f"    cd {shlex.quote(str(made.folder))}\n"
        "    python -m pip install -e '.[test]'\n"
        "    python -m pytest\n"
        "    tamis match --subscriptions example/subscriptions.jsonl "
        "--events example/events.jsonl\n\n"
        f"Then change {made.folder / 'src' / made.package / 'operators.py'}."
    )
