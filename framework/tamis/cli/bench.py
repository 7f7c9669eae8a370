"""Hands measurements on: `tamis bench` has a command for each module of `tamis_bench`.

A bench declares its own options, as the parameters of its function `measured`; those of all of them
are added here. It is imported when it runs.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from importlib import import_module
from types import ModuleType
from typing import Annotated, Any

import typer

from tamis.cli.command import Command
from tamis.cli.failures import MisuseError
from tamis.cli.options import Debug, Json, option
from tamis.cli.saying import put, put_json

BENCHES = {
    "engine": "Measure matching without operators, and subscribing.",
    "index": "Measure indexes and scans of the same subscriptions.",
    "pbtree": "Measure the index on disk: pages that an event reads.",
    "planners": "Measure planners: exact counts of calls, on the same events.",
    "papers": "Repeat the experiments of the papers, and check their claims.",
    "calls": "Measure costly calls of many events made together.",
    "forms": "Measure the first answer, and where compiling pays.",
    "spark": "Measure learning and matching on Spark, and in one process.",
    "isolation": "Measure calls in worker processes, and how late a kill comes.",
    "places": "Measure spatial operators, one by one and many at once.",
    "image": "Measure detectors on photographs and films, by model.",
    "facts": "Measure reasoning: closing events over ontologies, queries.",
    "policies": "Measure delivery policies: bytes a key, microseconds an event.",
    "server": "Measure the match server: commits, deliveries, explanations.",
    "phrases": "Measure the search for many phrases in texts.",
    "uav": "Measure the operators of the drones: precision and recall.",
}
_ALONE = ("forms", "uav")
"""Those that no other checkout is measured beside."""
_BESIDE = 3
"""Passes beside another checkout where a bench has none of its own."""
_HELP = {"help_option_names": ["-h", "--help"]}

Before = Annotated[
    str | None,
    option(
        "DIR",
        "Another checkout of tamis to measure in turns with this one, or the folder of an earlier"
        " run.",
    ),
]

bench = typer.Typer(rich_markup_mode=None, context_settings=_HELP)


@bench.callback()
def _bench() -> None:
    """Measure tamis and its rivals, and compare with the goals."""


def _add(name: str, words: str) -> None:
    """Adds a command that hands its arguments on to the bench."""

    def run(context: typer.Context) -> None:
        command = command_of(name)
        command.main(context.args, prog_name=context.command_path, standalone_mode=False)

    run.__doc__ = words
    settings = {"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []}
    bench.command(name, context_settings=settings)(run)


for _name, _words in BENCHES.items():
    _add(_name, _words)


def command_of(name: str) -> Any:
    """Returns the command of a bench, which is imported for its options."""
    try:
        module = import_module(f"tamis_bench.{name}")
    except ModuleNotFoundError as lacking:
        raise MisuseError(f"it needs {lacking.name}: pip install 'tamis[all]'") from None
    inner = typer.Typer(rich_markup_mode=None, add_completion=False, context_settings=_HELP)
    inner.command(cls=Command)(_runner(name, module))
    return typer.main.get_command(inner)


def _runner(name: str, module: ModuleType) -> Callable[..., None]:
    """Returns the command of a bench: its own options, and those that all have."""

    def run(json: bool, debug: bool, before: str | None = None, **options: Any) -> None:
        _run(name, module.measured, options, before, json=json)

    own = inspect.signature(module.measured, eval_str=True).parameters.values()
    added: dict[str, tuple[Any, Any]] = {"json": (Json, False), "debug": (Debug, False)}
    if name not in _ALONE:
        added = {"before": (Before, None), **added}
    kind = inspect.Parameter.KEYWORD_ONLY
    everything = [
        *own,
        *(
            inspect.Parameter(each, kind, default=default, annotation=annotation)
            for each, (annotation, default) in added.items()
        ),
    ]
    run.__signature__ = inspect.Signature(everything)  # type: ignore[attr-defined]
    run.__annotations__ = {each.name: each.annotation for each in everything}
    run.__doc__ = module.__doc__
    return run


def _run(
    name: str,
    measured: Callable[..., Iterator[dict[str, Any]]],
    options: dict[str, Any],
    before: str | None,
    *,
    json: bool,
) -> None:
    """Prints the rows as they are measured, then the goals; or everything as JSON."""
    from tamis_bench.before import beside
    from tamis_bench.goals import judged, said
    from tamis_bench.report import tables

    if before is None:
        rows = measured(**options)
    else:
        passes = options.get("passes", _BESIDE)
        once = options | ({"passes": 1} if "passes" in options else {})
        rows = iter(beside(before, name, once, passes))
    shown = []
    for group, text in tables(rows):
        shown += group
        if not json:
            put(text)
    goals = judged(name, shown)
    if json:
        put_json({"bench": name, "seed": options.get("seed"), "rows": shown, "goals": goals})
    elif words := said(name, goals):
        put(words)
