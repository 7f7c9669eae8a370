"""Measures indexes and scans of the same subscriptions, and compares every answer.

A workload has two rounds: as built, and after a tenth of the subscriptions were replaced in
batches, with events matched between these. In each round methods take turns (`timing`). Every
answer is compared with that of the compiled scan, and a sample with plain Python. Then come `dicts`
(from a dict to ids), `filled` (an index that is filled while it is matched) and `clauses`
(conditions of many clauses).
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from typing import Annotated, Any

import numpy as np
import typer

from tamis.plugins.loader import installed
from tamis.testing import satisfies
from tamis_bench import begen, clauses, mixed
from tamis_bench.boxes import SHAPES, Boxes, BoxShape
from tamis_bench.coded import coded
from tamis_bench.goals import DICTS, FILLED, LANES, PORTABLE
from tamis_bench.kernels import Ints
from tamis_bench.options import Passes, Scale, Seed, count, names, several
from tamis_bench.report import Row, progress
from tamis_bench.scans import COMPILED, SCANS, chosen_scans, compiled_scan
from tamis_bench.subjects import BuiltIndex, Source, source
from tamis_bench.timing import Method, beyond, check, compare, time_all
from tamis_bench.uses import USES, dicts, filled

WORKLOADS = (*SHAPES, mixed.NAME, *USES, clauses.NAME)
_BATCHES = 10
_SAMPLE = 200
_WARM = 2_000
_LONG_SECONDS = 10.0
"""A build that takes longer is done once."""
_QUARTER_OF = "continuous"
"""The workload whose build time is compared with that of a quarter of it."""
_OFF = 1.5
"""From how far off the wanted match rate a word is said."""
_SLOW, _MOST_FOR_SLOW = ("scan", "counting", "dbms", "pbtree"), 100_000
"""The slow indexes, and the subscriptions up to which they are measured without being named."""


@dataclass(frozen=True)
class IndexWorkload:
    """A workload to measure."""

    name: str
    title: str
    shape: BoxShape

    def draw(self, seed: int, events: int) -> Boxes:
        """Draws the workload itself."""
        if self.name == mixed.NAME:
            return mixed.MixedWorkload(self.shape, seed, events)
        return Boxes(self.name, self.shape, seed, events)


def plans(
    names: Sequence[str], table_1: Mapping[str, Sequence[float] | None], scale: float
) -> Iterator[IndexWorkload]:
    """Yields named workloads, and for `begen` those with the parameters of Table 1."""
    suffix = "" if scale == 1 else f" at {scale:g}"
    for name in names:
        if name == begen.NAME:
            for title, parameters in begen.combinations(table_1):
                yield IndexWorkload(
                    name, title + suffix, _scaled(begen.shape_of(parameters), scale)
                )
        else:
            shape = {**SHAPES, **USES, mixed.NAME: mixed.SHAPE}[name]
            yield IndexWorkload(name, name + suffix, _scaled(shape, scale))


def _scaled(shape: BoxShape, scale: float) -> BoxShape:
    return replace(shape, subscriptions=max(_BATCHES, round(shape.subscriptions * scale)))


@dataclass
class _Run:
    """A workload while it is measured."""

    plan: IndexWorkload
    boxes: Boxes
    passes: int
    events: list[dict[str, Any]] = field(init=False)
    answers: list[Ints] = field(init=False)
    """The ids that would match each event if all subscriptions were there."""
    compared: int = 0

    def __post_init__(self) -> None:
        self.events = self.boxes.event_dicts()
        scan = compiled_scan(coded(self.boxes, np.arange(len(self.boxes))))
        self.answers = [scan(at) for at in range(len(self.events))]

    @property
    def words(self) -> str:
        """Returns which workload it is, for who wants to see a wrong answer again."""
        return f"{self.plan.title}, seed {self.boxes.seed}"

    @property
    def first(self) -> Any:
        """Returns which subscriptions are there at first."""
        return np.arange(len(self.boxes)) < self.boxes.count

    def say(self, words: str) -> None:
        """Tells who waits what is done."""
        progress(f"{self.plan.title}: {words}")

    def expected(self, alive: Any) -> list[Ints]:
        """Returns the answers when these subscriptions are there."""
        return [answer[alive[answer]] for answer in self.answers]

    def timed(self, methods: Mapping[str, Method], alive: Any, when: str) -> None:
        """Compares all answers, and times every method."""
        self.say(f"comparing answers {when}")
        self.compared += check(methods, self.expected(alive), self.passes, self.words)
        self.say(f"timing {when}")
        time_all(methods, self.passes)


def _table_1(words: str, name: str, least: float, most: float | None = None) -> Any:
    """Declares an option for a parameter of the paper's Table 1."""
    return several(
        f"{words} ({begen.DEFAULTS[name]:,} by default), for the workload begen.", least, most
    )


def measured(
    *,
    workloads: Annotated[
        list[str] | None,
        names(
            "Workloads, all but begen by default; begen is drawn by the options below",
            (*WORKLOADS, begen.NAME),
        ),
    ] = None,
    index: Annotated[list[str] | None, names("Indexes; all by default")] = None,
    scans: Annotated[
        list[str] | None, names("Scans; by default those that are not too slow", SCANS)
    ] = None,
    events: Annotated[int, count("The events of each row.")] = 100,
    passes: Passes = 5,
    subscriptions: Annotated[
        list[int] | None, _table_1("Subscriptions", "subscriptions", 10)
    ] = None,
    zipf: Annotated[
        list[float] | None, _table_1("Popularity of attributes: 1/rank to this power", "zipf", 0)
    ] = None,
    dimensions: Annotated[
        list[int] | None, _table_1("Attributes there are", "dimensions", 1)
    ] = None,
    cardinality: Annotated[
        list[int] | None, _table_1("Values an attribute has", "cardinality", 2)
    ] = None,
    subscription_size: Annotated[
        list[int] | None,
        _table_1("Predicates a subscription, on average", "subscription_size", 1),
    ] = None,
    event_size: Annotated[list[int] | None, _table_1("Pairs an event", "event_size", 1)] = None,
    matching: Annotated[
        list[float] | None,
        _table_1("Share of the subscriptions that match an event", "matching", 0, 1),
    ] = None,
    equality: Annotated[
        list[float] | None, _table_1("Share of the predicates that are =", "equality", 0, 1)
    ] = None,
    seed: Seed = 1,
    scale: Scale = 1.0,
) -> Iterator[Row]:
    """Yields the rows of workloads, one workload after the other."""
    given = {name: value for name, value in locals().items() if name in begen.DEFAULTS}
    if any(given.values()):
        workloads = workloads or [begen.NAME]
        if begen.NAME not in workloads:
            raise typer.BadParameter("the parameters of Table 1 are those of --workloads begen")
    wanted = list(workloads or WORKLOADS)
    for plan in plans([name for name in wanted if name != clauses.NAME], given, scale):
        progress(f"{plan.title}: drawing")
        yield from _measured(plan, plan.draw(seed, events), passes, index, scans)
    if clauses.NAME in wanted:
        yield from clauses.measured(
            index or _registered(), seed=seed, events=events, passes=passes, scale=scale
        )


def _measured(
    plan: IndexWorkload,
    boxes: Boxes,
    passes: int,
    indexes: Sequence[str] | None,
    scans: Sequence[str] | None,
) -> Iterator[Row]:
    """Yields the rows of a workload: of every method, of what an index costs, and of it later."""
    if plan.name == DICTS:
        return (yield from dicts(boxes, plan.title, indexes, passes))
    if plan.name == FILLED:
        return (yield from filled(boxes, plan.title, indexes))
    run = _Run(plan, boxes, passes)
    _check_by_hand(run)
    scan_names, no_scans = chosen_scans(run.boxes, scans)
    index_names, left_out = chosen_indexes(run.boxes, indexes)
    subjects, costs = _built(run, index_names)
    times = _first_round(run, scan_names, subjects, costs)
    subjects.pop(PORTABLE, None)
    later = _second_round(run, subjects, times, costs)
    left_out |= {_shown(name): why for name, why in no_scans.items()}
    about = _about(run)
    for part, rows in (
        (_title(run, about), times | {name: {"note": why} for name, why in left_out.items()}),
        (f"{run.plan.title}: costs of a subscription", costs),
        (f"{run.plan.title}: after 10% of the subscriptions were replaced", later),
    ):
        for name, figures in rows.items():
            row = {"part": part, "workload": run.plan.title, "method": name}
            yield {**row, **figures, "about": about}


def chosen_indexes(
    boxes: Boxes, named: Sequence[str] | None
) -> tuple[Sequence[str], dict[str, str]]:
    """Returns the indexes to measure, and why others are left out."""
    if named is not None:
        return named, {}
    every = _registered()
    if boxes.count <= _MOST_FOR_SLOW:
        return every, {}
    why = {name: f"takes too long here; --index {name} measures it all the same" for name in _SLOW}
    return [name for name in every if name not in why], why


def _registered() -> list[str]:
    return sorted(installed().indexes)


def _shown(scan: str) -> str:
    """Returns the name of a scan as a method among others."""
    return f"{scan} scan"


def _about(run: _Run) -> dict[str, Any]:
    """Returns what the workload turned out to be."""
    boxes = run.boxes
    found = float(np.mean([len(each) for each in run.expected(run.first)]))
    return {
        "subscriptions": boxes.count,
        "predicates": boxes.mean_length,
        "attributes": len(boxes.names),
        "pairs": float(np.mean([len(event) for event in run.events])),
        "match_ratio": found / boxes.count,
        "wanted_match_ratio": boxes.shape.match_ratio,
        "prototypes": boxes.prototypes,
        "focus": boxes.focus,
        "answers_compared": run.compared,
    }


def _title(run: _Run, about: Mapping[str, Any]) -> str:
    share, wanted = about["match_ratio"], about["wanted_match_ratio"]
    words = (
        f"{run.plan.title}: {about['subscriptions']:,} subscriptions of {about['predicates']:.1f} "
        f"predicates, {about['attributes']:,} attributes, {about['pairs']:.0f} pairs an event;\n"
        f"{share:.3%} match, seed {run.boxes.seed}; "
        f"{about['answers_compared']:,} answers compared, none wrong"
    )
    if wanted and not wanted / _OFF <= share <= wanted * _OFF:
        words += f"\n(these parameters do not allow the {wanted:.3%} that were asked for)"
    return words


def _check_by_hand(run: _Run) -> None:
    """Compares a sample of the compiled scan's answers with plain Python: for each event, some
    subscriptions that match and some at random."""
    boxes = run.boxes
    chance = np.random.default_rng([boxes.seed, 2])
    sample = chance.choice(len(boxes), min(_SAMPLE, len(boxes)), replace=False)
    asked = dict(boxes.clauses(sample))
    for at, (event, answer) in enumerate(zip(run.events, run.answers, strict=True)):
        matching = set(answer.tolist())
        some = boxes.clauses(answer[: _SAMPLE // len(run.events) + 1])
        for row, every in [*asked.items(), *some]:
            run.compared += 1
            if satisfies(event, every) is not (row in matching):
                raise AssertionError(
                    f"the compiled scan is wrong on event {at} of {run.words}: subscription {row}"
                )


def _built(run: _Run, names: Sequence[str]) -> tuple[dict[str, BuiltIndex], dict[str, Row]]:
    """Builds the indexes, each after everything it runs was compiled; returns what it took, too."""
    boxes = run.boxes
    first = np.arange(boxes.count)
    given = source(boxes, first)
    subjects: dict[str, BuiltIndex] = {}
    rows: dict[str, Row] = {}
    for name in names:
        run.say(f"building {name}")
        _warm(run, name)
        subjects[name], seconds = _fastest(name, given)
        row = rows[name] = {"build_us": 1e6 * seconds / boxes.count}
        row["bytes"] = subjects[name].bytes_each
        if run.plan.name == _QUARTER_OF:
            quarter = first[: max(1, boxes.count // 4)]
            seconds = _fastest(name, source(boxes, quarter))[1]
            row["build_over_quarter"] = row["build_us"] / (1e6 * seconds / len(quarter))
        if name == LANES and _has_vectors():
            _warm(run, name, vector=False)
            subjects[PORTABLE] = BuiltIndex(name, given, vector=False)
    return subjects, rows


def _has_vectors() -> bool:
    """Returns whether indexes look bytes up in registers here; without, they are portable."""
    if find_spec("tamis.index.buckets") is None:
        return False
    from tamis.index.buckets.bits import has_vectors

    return has_vectors()


def _fastest(name: str, given: Source) -> tuple[BuiltIndex, float]:
    """Returns the index, and the seconds of the faster of two builds where that is not long."""
    subject = BuiltIndex(name, given)
    seconds = subject.build_seconds
    if seconds < _LONG_SECONDS:
        del subject
        subject = BuiltIndex(name, given)
    return subject, min(seconds, subject.build_seconds)


def _warm(run: _Run, name: str, **options: Any) -> None:
    """Compiles what the index runs, on a few subscriptions."""
    boxes = run.boxes
    few = np.arange(min(_WARM, boxes.count))
    subject = BuiltIndex(name, source(boxes, few), **options)
    subject.insert(source(boxes, np.arange(boxes.count, len(boxes))[:_WARM]))
    subject.delete(few[::2])
    subject.method(run.events).match(0)
    subject.index.match(run.events[0])


def _first_round(
    run: _Run, scans: Sequence[str], subjects: Mapping[str, BuiltIndex], costs: Mapping[str, Row]
) -> dict[str, Row]:
    """Times the workload as built, all methods side by side."""
    codes = coded(run.boxes, np.arange(run.boxes.count))
    methods = {}
    for name in scans:
        run.say(f"laying out the {_shown(name)}")
        methods[_shown(name)] = Method(SCANS[name](run.boxes, codes), always=False)
    methods |= {name: each.method(run.events) for name, each in subjects.items()}
    run.timed(methods, run.first, "as built")
    whole = {f"match of {name}": subjects[name].whole(run.events) for name in costs}
    run.compared += check(whole, run.expected(run.first), run.passes, run.words)
    rows: dict[str, Row] = {}
    for name, method in methods.items():
        rows[name] = dict(method.figures())
        rows[name] |= {f"x_{scan}": method.times(methods[_shown(scan)]) for scan in scans}
        if name in costs:
            costs[name]["candidates"] = subjects[name].candidates(method)
            more = beyond(method, whole[f"match of {name}"], run.passes)
            costs[name]["dict_us"] = 1e6 * more
    if costs:
        best = methods[min(costs, key=lambda name: rows[name]["mean_us"])]
        for name in costs:
            rows[name]["over_best"] = best.times(methods[name])
    return rows


def _second_round(
    run: _Run,
    subjects: Mapping[str, BuiltIndex],
    before: Mapping[str, Row],
    costs: Mapping[str, Row],
) -> dict[str, Row]:
    """Replaces a tenth of the subscriptions while events are matched, and times it all again."""
    alive = _replaced(run, subjects, costs)
    there = np.flatnonzero(alive)
    scan = Method(compiled_scan(coded(run.boxes, there)), lambda found: there[found])
    methods = {_shown(COMPILED): scan}
    methods |= {name: each.method(run.events) for name, each in subjects.items()}
    run.timed(methods, alive, "after subscriptions were replaced")
    rows: dict[str, Row] = {}
    for name, method in methods.items():
        times = method.times(scan)
        rows[name] = {f"{what}_after": figure for what, figure in method.figures().items()}
        rows[name] |= {"x_compiled_after": times, "of_before": times / before[name]["x_compiled"]}
        if name in subjects:
            rows[name]["bytes_after"] = subjects[name].bytes_each
            rows[name]["while_us"] = costs[name].pop("while_us")
    return rows


def _replaced(run: _Run, subjects: Mapping[str, BuiltIndex], costs: Mapping[str, Row]) -> Any:
    """Replaces a tenth of the subscriptions, in batches; returns which are there in the end."""
    boxes, alive = run.boxes, run.first
    spare = np.flatnonzero(~alive)
    gone = np.random.default_rng([boxes.seed, 3]).permutation(boxes.count)[: len(spare)]
    spent = {name: np.zeros(3) for name in subjects}
    for batch in range(_BATCHES):
        run.say(f"replacing subscriptions, batch {batch + 1} of {_BATCHES}")
        old, new = np.array_split(gone, _BATCHES)[batch], np.array_split(spare, _BATCHES)[batch]
        given = source(boxes, new)
        alive[old], alive[new] = False, True
        expected = run.expected(alive)
        for name, subject in subjects.items():
            spent[name][0] += subject.delete(old)
            spent[name][1] += subject.insert(given)
            for at in range(batch, len(run.events), _BATCHES):
                begun = time.perf_counter()
                answer = subject.index.match(run.events[at])
                spent[name][2] += time.perf_counter() - begun
                compare(name, np.sort(answer), expected[at], at, f"{run.words} while replacing")
                run.compared += 1
    counts = {"delete_us": len(gone), "insert_us": len(spare), "while_us": len(run.events)}
    for name, seconds in spent.items():
        for what, each in zip(counts, seconds.tolist(), strict=True):
            costs[name][what] = 1e6 * each / counts[what]
    return alive
