"""Lists the commands, in the order of `tamis --help`."""

from __future__ import annotations

from typing import Annotated

import typer

from tamis.cli.advise import advise
from tamis.cli.bench import bench
from tamis.cli.check import check
from tamis.cli.command import Command
from tamis.cli.doctor import doctor
from tamis.cli.drift import drift
from tamis.cli.explain import explain
from tamis.cli.learn import learn
from tamis.cli.listing import indexes, planners
from tamis.cli.match import match
from tamis.cli.models import models
from tamis.cli.new_operator import new_operator
from tamis.cli.operators import operators
from tamis.cli.options import Debug
from tamis.cli.plugins import plugins
from tamis.cli.serve import serve
from tamis.cli.stream import stream

_COMMANDS = (
    *(match, serve, learn, stream, advise, drift, check, explain),
    *(operators, planners, indexes, plugins, doctor, new_operator),
)
_STATUS = (
    "Exit status: 0 done, 1 the input could not be used, 2 wrong usage, 130 interrupted. "
    "Data goes to standard output, everything else to standard error."
)


def _version(wanted: bool) -> None:
    if wanted:
        import tamis

        typer.echo(f"tamis {tamis.__version__}")
        raise typer.Exit


def _tamis(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
    debug: Debug = False,
) -> None:
    """Match events against very many subscriptions with the fewest operator calls."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help(), err=True)
        raise typer.Exit(2)


def build() -> typer.Typer:
    """Returns the command line with all its commands."""
    app = typer.Typer(
        rich_markup_mode=None,  # plain help: rich would take half of the time that it takes
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback(invoke_without_command=True, epilog=_STATUS)(_tamis)
    for command in _COMMANDS:
        app.command(cls=Command)(command)
    app.add_typer(models, name="models")
    app.add_typer(bench, name="bench")
    return app
