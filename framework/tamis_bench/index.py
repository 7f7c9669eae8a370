"""What indexes cost beside scans of the same subscriptions, every answer compared.

A workload goes through two rounds: as built, and after a tenth of the subscriptions were replaced
in batches, between which events are matched. In each round methods take turns (see `timing`).
Every answer is compared with the compiled scan's, and a sample with plain Python.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from tamis.index.buckets.bits import has_vectors
from tamis.plugins.loader import installed
from tamis_bench import begen, mixed
from tamis_bench.boxes import SHAPES, Boxes, BoxShape
from tamis_bench.coded import coded
from tamis_bench.draws import Ints
from tamis_bench.goals import COMPILED, LANES, PORTABLE, judged
from tamis_bench.rivals import SCANS, chosen_indexes, chosen_scans, shown
from tamis_bench.scans import compiled_scan
from tamis_bench.subjects import Source, Subject, source
from tamis_bench.timing import Method, beyond, check, compare, figures, time_all, times

Progress = Callable[[str], None]

WORKLOADS = (*SHAPES, mixed.NAME)
_BATCHES = 10
_SAMPLE = 200
_WARM = 2_000
_LONG_SECONDS = 10.0
"""A build that takes longer is done once."""
_QUARTER_OF = "continuous"
"""The workload whose build time is compared with that of a quarter of it."""


@dataclass(frozen=True)
class Plan:
    """A workload to measure."""

    name: str
    title: str
    shape: BoxShape

    def draw(self, seed: int, events: int) -> Boxes:
        """The workload itself."""
        if self.name == mixed.NAME:
            return mixed.Mixed(self.shape, seed, events)
        return Boxes(self.name, self.shape, seed, events)


def plan(name: str, scale: float) -> Plan:
    """One of the named workloads."""
    shape = mixed.SHAPE if name == mixed.NAME else SHAPES[name]
    return Plan(name, name, _scaled(shape, scale))


def begen_plan(table: begen.Table1, scale: float) -> Plan:
    """A workload with the paper's parameters."""
    return Plan(begen.NAME, table.title(), _scaled(table.shape(), scale))


def _scaled(shape: BoxShape, scale: float) -> BoxShape:
    return replace(shape, subscriptions=max(_BATCHES, round(shape.subscriptions * scale)))


@dataclass
class _Run:
    """A workload while it is measured."""

    plan: Plan
    boxes: Boxes
    passes: int
    progress: Progress
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
        """Which workload, for who wants to see a wrong answer again."""
        return f"{self.plan.title}, seed {self.boxes.seed}"

    def say(self, words: str) -> None:
        """Tells who waits what is done."""
        self.progress(f"{self.plan.title}: {words}")

    def expected(self, alive: Any) -> list[Ints]:
        """The answers when these subscriptions are there."""
        return [answer[alive[answer]] for answer in self.answers]

    def check(self, methods: Mapping[str, Method], alive: Any) -> None:
        """Compares all answers, and notes how many events each method takes."""
        expected = self.expected(alive)
        self.compared += check(methods, expected, self.passes, self.words)


def measure(
    planned: Plan,
    *,
    seed: int,
    events: int,
    passes: int,
    indexes: Sequence[str] | None = None,
    scans: Sequence[str] | None = None,
    progress: Progress = lambda words: None,
) -> dict[str, Any]:
    """Scans and indexes on one workload."""
    progress(f"{planned.title}: drawing")
    run = _Run(planned, planned.draw(seed, events), passes, progress)
    boxes = run.boxes
    _check_by_hand(run)
    scan_names, left_out = chosen_scans(boxes, scans)
    index_names, others = chosen_indexes(boxes, indexes, sorted(installed().indexes))
    subjects, rows = _built(run, index_names)
    rows = {shown(name): {} for name in scan_names} | rows
    _first_round(run, scan_names, subjects, rows)
    subjects.pop(PORTABLE, None)
    _second_round(run, subjects, rows)
    found = float(
        np.mean([len(each) for each in run.expected(np.arange(len(boxes)) < boxes.count)])
    )
    row: dict[str, Any] = {
        "workload": planned.name,
        "title": planned.title,
        "subscriptions": boxes.count,
        "predicates": boxes.mean_length,
        "attributes": len(boxes.names),
        "pairs": float(np.mean([len(event) for event in run.events])),
        "events": events,
        "seed": seed,
        "match_ratio": found / boxes.count,
        "wanted_match_ratio": boxes.shape.match_ratio,
        "prototypes": boxes.prototypes,
        "focus": boxes.focus,
        "answers_compared": run.compared,
        "methods": rows,
        "vectors": has_vectors(),
        "left_out": left_out | others,
    }
    return row | {"goals": list(judged(planned.name, row))}


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
        for row, clauses in [*asked.items(), *some]:
            run.compared += 1
            if mixed.satisfies(clauses, event) is not (row in matching):
                raise AssertionError(
                    f"the compiled scan is wrong on event {at} of {run.words}: subscription {row}"
                )


def _built(run: _Run, names: Sequence[str]) -> tuple[dict[str, Subject], dict[str, dict[str, Any]]]:
    """The indexes, each built after everything it runs was compiled, and what it took."""
    boxes = run.boxes
    first = np.arange(boxes.count)
    given = source(boxes, first)
    subjects: dict[str, Subject] = {}
    rows: dict[str, dict[str, Any]] = {}
    for name in names:
        run.say(f"building {name}")
        _warm(run, name)
        subjects[name], seconds = _fastest(name, given)
        row = rows[name] = {
            "build_us": 1e6 * seconds / boxes.count,
            "bytes": subjects[name].bytes_each,
        }
        if run.plan.name == _QUARTER_OF:
            quarter = first[: max(1, boxes.count // 4)]
            seconds = _fastest(name, source(boxes, quarter))[1]
            row["build_growth"] = row["build_us"] / (1e6 * seconds / len(quarter))
        if name == LANES and has_vectors():
            _warm(run, name, vector=False)
            subjects[PORTABLE] = Subject(name, given, vector=False)
            rows[PORTABLE] = {}
    return subjects, rows


def _fastest(name: str, given: Source) -> tuple[Subject, float]:
    """The index, and the seconds of the faster of two builds where that is no long wait."""
    subject = Subject(name, given)
    seconds = subject.build_seconds
    if seconds < _LONG_SECONDS:
        del subject
        subject = Subject(name, given)
    return subject, min(seconds, subject.build_seconds)


def _warm(run: _Run, name: str, **options: Any) -> None:
    """Compiles what the index runs, on a few subscriptions."""
    boxes = run.boxes
    few = np.arange(min(_WARM, boxes.count))
    subject = Subject(name, source(boxes, few), **options)
    subject.insert(source(boxes, np.arange(boxes.count, len(boxes))[:_WARM]))
    subject.delete(few[::2])
    subject.method(run.events).match(0)
    subject.index.match(run.events[0])


def _first_round(
    run: _Run,
    scans: Sequence[str],
    subjects: Mapping[str, Subject],
    rows: Mapping[str, dict[str, Any]],
) -> None:
    """The workload as built, all methods side by side."""
    boxes = run.boxes
    codes = coded(boxes, np.arange(boxes.count))
    methods = {}
    for name in scans:
        run.say(f"laying out the {shown(name)}")
        methods[shown(name)] = Method(SCANS[name](boxes, codes), always=False)
    kernels = {name: each.method(run.events) for name, each in subjects.items()}
    methods |= kernels
    alive = np.arange(len(boxes)) < boxes.count
    run.say("comparing answers")
    run.check(methods, alive)
    run.say("timing")
    time_all(methods, run.passes)
    for name, method in methods.items():
        rows[name].update(figures(method))
        rows[name]["times"] = {scan: times(methods[shown(scan)], method) for scan in scans}
    for name, subject in subjects.items():
        rows[name]["candidates"] = subject.candidates(kernels[name])
        if name != PORTABLE:
            rows[name]["dict_us"] = _dispatch_us(run, subject, kernels[name], alive)


def _dispatch_us(run: _Run, subject: Subject, kernel: Method, alive: Any) -> float:
    """What `match` of a dict takes beyond the kernel."""
    index = subject.index
    whole = Method(lambda at: index.match(run.events[at]))
    run.check({f"match of {index.name}": whole}, alive)
    return 1e6 * beyond(kernel, whole, run.passes)


def _second_round(
    run: _Run, subjects: Mapping[str, Subject], rows: Mapping[str, dict[str, Any]]
) -> None:
    """A tenth of the subscriptions replaced while events are matched, and the workload again."""
    alive = _replaced(run, subjects, rows)
    boxes = run.boxes
    there = np.flatnonzero(alive)
    scan = Method(compiled_scan(coded(boxes, there)), lambda found: there[found])
    methods = {shown(COMPILED): scan}
    methods |= {name: each.method(run.events) for name, each in subjects.items()}
    run.say("comparing answers after subscriptions were replaced")
    run.check(methods, alive)
    run.say("timing after subscriptions were replaced")
    time_all(methods, run.passes)
    for name, method in methods.items():
        after: dict[str, Any] = figures(method)
        after["times"] = {COMPILED: times(scan, method)}
        after["of_before"] = after["times"][COMPILED] / rows[name]["times"][COMPILED]
        if name in subjects:
            after["bytes"] = subjects[name].bytes_each
        rows[name]["after"] = after


def _replaced(
    run: _Run, subjects: Mapping[str, Subject], rows: Mapping[str, dict[str, Any]]
) -> Any:
    """Replaces a tenth of the subscriptions, in batches; which are there in the end."""
    boxes = run.boxes
    alive = np.arange(len(boxes)) < boxes.count
    spare = np.arange(boxes.count, len(boxes))
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
    for name, seconds in spent.items():
        deleted, inserted, matched = (1e6 * seconds).tolist()
        rows[name]["delete_us"] = deleted / len(gone)
        rows[name]["insert_us"] = inserted / len(spare)
        rows[name]["while_us"] = matched / len(run.events)
    return alive


def run(
    plans: Sequence[Plan],
    *,
    seed: int,
    events: int,
    passes: int,
    indexes: Sequence[str] | None = None,
    scans: Sequence[str] | None = None,
    progress: Progress = lambda words: None,
) -> Iterator[dict[str, Any]]:
    """The workloads, one after the other."""
    for each in plans:
        yield measure(
            each, seed=seed, events=events, passes=passes, indexes=indexes, scans=scans,
            progress=progress,
        )  # fmt: skip
