"""Repeats the experiments of the papers, and checks every result that their texts state.

The texts that we have lack the figures of the papers; those drawn here are ours. Each claim is
stated in our words, with our figure and whether it holds, and if not, why. `--folder` keeps
everything: `papers.json`, which `--before FOLDER` compares with a later run, and a picture of each
figure.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer

from tamis_bench.options import Seed, names
from tamis_bench.papers.claims import HELD, UNKNOWN, Figures, judged
from tamis_bench.papers.measuring import Experiment, Paper, PaperSize
from tamis_bench.report import Row, progress

PAPERS = ("expensive", "pstree", "opindex", "counting", "pbtree")
SIZES = {
    "tiny": (0.0001, 3, 1, 2),
    "small": (0.01, 10, 3, 3),
    "medium": (0.1, 30, 3, 4),
    "full": (1.0, 100, 5, 9),
}
"""Share of the papers' subscriptions, events, passes, and places along a figure."""


def size_of(name: str, seed: int) -> PaperSize:
    """Returns what is measured at a scale."""
    return PaperSize(name, *SIZES[name], seed)


def _scale(given: str) -> str:
    if given not in SIZES:
        raise typer.BadParameter(f"{given}: there are {', '.join(SIZES)}")
    return given


def measured(
    *,
    papers: Annotated[list[str] | None, names("All papers, or these", PAPERS)] = None,
    scale: Annotated[
        str,
        typer.Option(metavar="NAME", callback=_scale, help=f"How large: {' '.join(SIZES)}."),
    ] = "small",
    folder: Annotated[
        str | None,
        typer.Option(metavar="DIR", help="Keep rows (JSON) and pictures (SVG) in this folder."),
    ] = None,
    seed: Seed = 1,
) -> Iterator[Row]:
    """Yields the rows of experiments, and behind those of each paper what came of its claims."""
    if folder is not None:
        from tamis_bench.plots import drawable

        drawable()
    size, rows = size_of(scale, seed), []
    known: list[tuple[Paper, list[Row]]] = []
    for name in papers or PAPERS:
        paper: Paper = import_module(f"tamis_bench.papers.{name}").PAPER
        mine: list[Row] = []
        for experiment in paper.experiments:
            progress(experiment.title)
            for row in _rows(experiment, size):
                mine.append(row)
                yield row
        known.append((paper, mine))
        rows += mine
    verdicts = [row for paper, mine in known for row in _verdicts(paper, mine)]
    yield from verdicts
    if folder is not None:
        _keep(Path(folder), known, [*rows, *verdicts], scale, seed)


def _rows(experiment: Experiment, size: PaperSize) -> Iterator[Row]:
    part = f"{experiment.title}, scale {size.name}"
    for row in experiment.run(size):
        yield {"part": part, "figure": experiment.name, "workload": experiment.name, **row}


def _verdicts(paper: Paper, rows: list[Row]) -> Iterator[Row]:
    claims = list(judged(paper.claims, Figures(rows)))
    decided = [row for row in claims if row["verdict"] != UNKNOWN]
    held = sum(row["verdict"] == HELD for row in decided)
    part = f"What the text says: {paper.title};\n{held} of {len(decided)} results hold here"
    for row in claims:
        yield {"part": part, **row}


def _keep(
    folder: Path, known: list[tuple[Paper, list[Row]]], rows: list[Row], scale: str, seed: int
) -> None:
    """Writes everything into a folder."""
    from tamis_bench.plots import Picture, draw

    folder.mkdir(parents=True, exist_ok=True)
    kept = {"bench": "papers", "scale": scale, "seed": seed, "rows": rows}
    (folder / "papers.json").write_text(json.dumps(kept, indent=1), encoding="utf-8")
    for paper, mine in known:
        for experiment in paper.experiments:
            shown = [row for row in mine if row["figure"] == experiment.name]
            for drawing in experiment.drawings:
                name = f"{experiment.name}-{drawing.column}"
                picture = Picture(
                    experiment.below, drawing.across, lambda row: row["at"], drawing.column,
                    experiment.line, from_zero=False, in_powers=True,
                )  # fmt: skip
                titles = {name: f"{experiment.title} ({drawing.figure})"}
                renamed = [{**row, "figure": name} for row in shown if "method" in row]
                for path in draw(renamed, titles, str(folder), {name: picture}):
                    progress(f"drew {path}")
