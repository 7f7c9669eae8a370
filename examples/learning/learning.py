"""From raw history to a better plan, offline: make history, learn from it on Spark, compare.

    python learning.py [--folder DIR] [--events N] [--sample FRACTION] [--seed N]

The folder then holds the history, the subscriptions, the statistics and two plots. Calls are
counted, not timed; what they cost is their number times what a call of each sensor takes.
"""

from __future__ import annotations

import argparse
import gzip
import io
import json
import math
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import senses
from matplotlib.figure import Figure

import tamis

HERE = Path(__file__).resolve().parent
PLANNERS = ("naive", "sequential", "suborder", "savings")
SUBSCRIPTIONS = 150


@dataclass
class StreamCost:
    """What it took to match a stream."""

    calls: dict[str, int] = field(default_factory=dict)
    matches: list[list[str]] = field(default_factory=list)
    checked: int = 0
    """Rows that the index checked."""

    @property
    def total(self) -> int:
        """All calls."""
        return sum(self.calls.values())

    @property
    def seconds(self) -> float:
        """What they cost: their number, times what a call takes."""
        return sum(count * senses.SECONDS[name] for name, count in self.calls.items())


def write_history(folder: Path, count: int, seed: int) -> tuple[Path, Path]:
    """The raw material: a file of events, and one of subscriptions."""
    folder.mkdir(parents=True, exist_ok=True)
    history, asked = folder / "history.jsonl.gz", folder / "subscriptions.jsonl"
    with gzip.open(history, "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(event) + "\n" for event in senses.events(count, seed))
        file.write('{"id": "cut off", "hall": "no')  # as files of history are
    lines = [json.dumps(each) + "\n" for each in senses.subscriptions(SUBSCRIPTIONS, seed)]
    asked.write_text("".join(lines), encoding="utf-8")
    return history, asked


def learn(folder: Path, history: Path, asked: Path, sample: float) -> tamis.Statistics:
    """What `tamis learn` makes of it on Spark."""
    command = [
        *("learn", "--events", str(history), "--subscriptions", str(asked)),
        *("--operators", str(HERE / "senses.py"), "--sample", str(sample)),
        *("--output", str(folder / "statistics"), "--rejects", str(folder / "rejects.jsonl")),
    ]
    print("$ tamis", *command, flush=True)
    subprocess.run([sys.executable, "-m", "tamis", *command], check=True)
    return tamis.Statistics.load(folder / "statistics")


def expected(statistics: tamis.Statistics, asked: Path) -> list[tuple[str, float, float]]:
    """What is expected of each predicate that is asked for, beside what is so."""
    found = []
    for text in dict.fromkeys(re.findall(r"\w+\(\d+\)", asked.read_text(encoding="utf-8"))):
        kind = int(text.partition("(")[2].rstrip(")"))
        truth = senses.SELDOM if senses.is_rare(kind) else senses.OFTEN
        found.append((text, statistics.estimate(text), truth))
    return found


def match(
    asked: Path,
    stream: Sequence[Mapping[str, Any]],
    planner: str,
    statistics: tamis.Statistics | None = None,
    *,
    learning: bool = False,
) -> StreamCost:
    """Matches a stream with what is known; `learning` also learns from the stream itself."""
    taken = StreamCost()
    with tamis.Matcher(
        senses.OPERATORS,
        index_options={"scan_up_to": 0},
        planner=planner,
        statistics=statistics,
        learning=learning,
    ) as matcher:
        lines = asked.read_text(encoding="utf-8").splitlines()
        matcher.subscribe_many(json.loads(line) for line in lines)
        for event in stream:
            result = matcher.match(event)
            taken.checked += result.account.checked
            taken.matches.append([each.subscription for each in result.matches])
            for call in result.calls:
                name = call.predicate.partition("(")[0]
                taken.calls[name] = taken.calls.get(name, 0) + 1
    return taken


def compare(
    asked: Path, stream: Sequence[Mapping[str, Any]], statistics: tamis.Statistics
) -> dict[str, tuple[StreamCost, StreamCost]]:
    """What each planner takes without statistics, and with them; the answers are the same."""
    found = {}
    answers = None
    for planner in PLANNERS:
        before = match(asked, stream, planner)
        after = match(asked, stream, planner, statistics)
        answers = answers or before.matches
        if not before.matches == after.matches == answers:
            raise AssertionError(f"{planner} gives other answers")
        found[planner] = before, after
    return found


def table(found: Mapping[str, tuple[StreamCost, StreamCost]]) -> str:
    """Calls and their cost, before and after."""
    lines = [f"{'planner':12}{'calls':>8}{'learned':>9}{'seconds':>10}{'learned':>9}{'saved':>7}"]
    for planner, (before, after) in found.items():
        saved = 1 - after.seconds / before.seconds
        lines.append(
            f"{planner:12}{before.total:>8}{after.total:>9}"
            f"{before.seconds:>10.2f}{after.seconds:>9.2f}{saved:>7.0%}"
        )
    return "\n".join(lines)


class NotebookFigure(Figure):
    """A figure that notebooks show."""

    def _repr_png_(self) -> bytes:
        content = io.BytesIO()
        self.savefig(content, format="png")
        return content.getvalue()


def plot_selectivities(statistics: tamis.Statistics, asked: Path) -> NotebookFigure:
    """A figure: what was learned of each predicate, beside what is so."""
    figure = NotebookFigure(figsize=(5, 4), layout="constrained")
    axes = figure.add_subplot()
    learned = expected(statistics, asked)
    axes.plot([0, 1], [0, 1], color="lightgray")
    axes.scatter([truth for *_, truth in learned], [share for _, share, _ in learned], s=12)
    axes.set_xlabel("how often a predicate is true")
    axes.set_ylabel("what was learned")
    return figure


def plot_calls(found: Mapping[str, tuple[StreamCost, StreamCost]]) -> NotebookFigure:
    """A figure: what calls cost by planner, before and after."""
    figure = NotebookFigure(figsize=(5, 4), layout="constrained")
    axes = figure.add_subplot()
    for at, name in enumerate(("without statistics", "learned from history")):
        places = [place + 0.4 * at for place in range(len(found))]
        axes.bar(places, [each[at].seconds for each in found.values()], 0.38, label=name)
    axes.set_xticks([place + 0.2 for place in range(len(found))], list(found))
    axes.set_ylabel("seconds of calls")
    axes.legend()
    return figure


def main(arguments: list[str] | None = None) -> int:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--folder", type=Path, default=Path("learned"))
    options.add_argument("--events", type=int, default=20_000, help="of history")
    options.add_argument("--sample", type=float, default=0.01, help="asked of operators")
    options.add_argument("--stream", type=int, default=40, help="events to match afterwards")
    options.add_argument("--seed", type=int, default=1)
    given = options.parse_args(arguments)

    history, asked = write_history(given.folder, given.events, given.seed)
    statistics = learn(given.folder, history, asked, given.sample)
    print("\nwhat is expected of some predicates, before and after, and what is so:")
    nothing = tamis.Statistics()
    rows = [*expected(statistics, asked)[:4], ("load > 15", 0.0, math.exp(-1))]
    for text, _, truth in rows:
        print(
            f"  {text:10} {nothing.estimate(text):.2f} {statistics.estimate(text):.2f} {truth:.2f}"
        )

    stream = list(senses.events(given.stream, given.seed + 1))
    found = compare(asked, stream, statistics)
    print(f"\n{len(stream)} new events, {SUBSCRIPTIONS} subscriptions:\n{table(found)}")
    itself = match(asked, stream, "savings", learning=True)
    before, after = (each.checked / len(stream) for each in found["savings"])
    print(f"rows that the index checks for an event: {before:.0f}, learned: {after:.0f}")
    print(f"savings that learns from the stream alone: {itself.total} calls, {itself.seconds:.2f}")
    plot_selectivities(statistics, asked).savefig(given.folder / "selectivities.png", dpi=110)
    plot_calls(found).savefig(given.folder / "calls.png", dpi=110)
    print(f"\nplots: {given.folder / 'selectivities.png'}, {given.folder / 'calls.png'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
