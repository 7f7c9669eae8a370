"""Measures interpreted and compiled forms where matchers switch, and the first answer.

The first answer and compiling are measured in fresh processes with an empty kernel cache. At the
sizes of the switch both forms are compiled before anything is timed, and take turns; the fastest
pass of each counts, and both must give the same answers.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from importlib.metadata import metadata
from typing import Any

import numpy as np

from tamis import Matcher, Statistics
from tamis import index as attribute_indexes
from tamis.bundled import MOST_SCANNED
from tamis.engine import loading
from tamis.index.needles import MOST_ONE_BY_ONE, Needles
from tamis.numeric.kernels import tell_loaded
from tamis.planning import MOST_INTERPRETED
from tamis_bench import changing
from tamis_bench.boxes import SHAPES, Boxes
from tamis_bench.goals import INDEXES, JUDGED
from tamis_bench.options import Passes, Quick, Seed
from tamis_bench.report import Row, progress
from tamis_bench.timing import alternating
from tamis_bench.workloads import Answers, Shape, Workload
from tamis_planners import suborder_order
from tamis_planners.adaptive import form_for
from tamis_planners.savings import Savings
from tamis_planners.suborder import SubOrder

_EVENTS = 20
_AT_THE_BORDER = "At the borders of sizes, the most that is plain: an event or an ordering"
_PLAIN, _COMPILED = "plain", "compiled"


def measured(*, passes: Passes = 5, quick: Quick = False, seed: Seed = 1) -> Iterator[Row]:
    """Yields a row for the first answer, for each border, for planners and, unless it is to be
    quick, for compiling."""
    loading.WORTH_LOADING = sys.maxsize  # so that what is plain stays it
    yield _first_answer(passes)
    for name in INDEXES:
        yield _row(f"{name}, {MOST_SCANNED:,} rows", _index(name, seed), passes, _EVENTS)
    works, calls, edges = _planner(seed)
    yield _row(f"{JUDGED}, {edges:,} tests of alternatives", works, passes, _EVENTS)
    chains = suborder_order.MOST_INTERPRETED
    yield _row(f"suborder, {chains:,} chains ordered", _chains(chains, seed), passes, 1)
    yield _row(f"{MOST_ONE_BY_ONE:,} needles in a value", _needles(seed), passes, _EVENTS)
    for form in (_PLAIN, _COMPILED):
        part = f"A planner's call, {edges:,} tests of alternatives"
        yield {"part": part, "what": f"{JUDGED}, {form}", "us": 1e6 * calls[form]}
    yield from _small(seed)
    if not quick:
        yield _cold_compile()


def _row(what: str, works: Mapping[str, Callable[[], object]], passes: int, events: int) -> Row:
    progress(what)
    timed = alternating(works, passes)
    plain, compiled = timed[_PLAIN], timed[_COMPILED]
    if plain.result != compiled.result:
        raise AssertionError(f"{what}: the forms differ")
    figures = {"plain_us": plain.least, "compiled_us": compiled.least}
    figures["more_us"] = plain.least - compiled.least
    row = {name: 1e6 * seconds / events for name, seconds in figures.items()}
    return {"part": _AT_THE_BORDER, "what": what, **row}


def _fresh(*arguments: str) -> tuple[float, str]:
    """Returns the seconds of a process with an empty kernel cache, and what it prints."""
    with tempfile.TemporaryDirectory() as folder:
        begun = time.perf_counter()
        done = subprocess.run(
            [sys.executable, *arguments],
            env={**os.environ, "NUMBA_CACHE_DIR": folder},
            capture_output=True,
            text=True,
            check=True,
        )
        return time.perf_counter() - begun, done.stdout


def snippet() -> str:
    """Returns the first snippet of the README."""
    found = re.search(r"```python\n(.*?)```", metadata("tamis")["Description"], re.DOTALL)
    assert found is not None
    return found[1]


def _first_answer(passes: int) -> Row:
    progress("the first answer")
    program = f"{snippet()}\nimport sys; print(len(result.matches), 'numba' in sys.modules)"
    runs = [_fresh("-c", program) for _ in range(passes)]
    _, has_numba = runs[0][1].split()
    seconds = min(seconds for seconds, _ in runs)
    part = "The README's first snippet, in a fresh process with an empty kernel cache"
    return {"part": part, "what": "first answer", "seconds": seconds, "numba": has_numba == "True"}


def _small(seed: int) -> Iterator[Row]:
    """Yields the median match of a small matcher before kernels are loaded, and after."""
    chance = np.random.default_rng(seed)
    matcher = Matcher(operators=[changing.op], planner=JUDGED)
    texts = changing.texts(MOST_SCANNED // 2, 0.02, chance)
    matcher.subscribe_many({"where": where} for where in texts)
    for what in ("interpreted", "once kernels are loaded"):
        seconds = []
        for event in changing.events(10 * _EVENTS, what, chance):
            began = time.perf_counter()
            matcher.match(event)
            seconds.append(time.perf_counter() - began)
        part = f"A matcher of {len(matcher):,} subscriptions, 20 of which an event leaves"
        yield {"part": part, "what": what, "ms": 1e3 * float(np.median(seconds))}
        loading.compile_engine()
        form_for(is_large=True)
        tell_loaded()


def _cold_compile() -> Row:
    progress("compiling everything")
    seconds, _ = _fresh("-m", "tamis", "doctor", "--compile")
    part = "With an empty kernel cache"
    return {"part": part, "what": "tamis doctor --compile", "seconds": seconds}


def _index(name: str, seed: int) -> dict[str, Callable[[], object]]:
    boxes = Boxes("dense", replace(SHAPES["dense"], subscriptions=MOST_SCANNED), seed, _EVENTS)
    events, clauses = boxes.event_dicts(), list(boxes.clauses(range(MOST_SCANNED)))
    works: dict[str, Callable[[], object]] = {}
    for form, scan_up_to in ((_PLAIN, MOST_SCANNED), (_COMPILED, 0)):
        index = attribute_indexes.build(name, clauses, scan_up_to=scan_up_to)
        works[form] = partial(_found, index.match, events)
    return works


def _planner(seed: int) -> tuple[dict[str, Callable[[], object]], dict[str, float], int]:
    """Returns matches of events with each form, the planner's least seconds a call as they are
    measured, and how many tests of alternatives there are: as many as the border allows."""
    most = MOST_INTERPRETED
    workload = Workload(Shape(most // 4, most // 4), seed)
    while (edges := sum(map(len, workload.members))) > most:
        workload.members.pop()
    least: dict[str, float] = {}
    works: dict[str, Callable[[], object]] = {}
    answers = Answers(JUDGED)
    for form in (_PLAIN, _COMPILED):
        planner = Savings()
        planner._is_large = form == _COMPILED
        matcher = workload.matcher(planner=planner)

        def match(form: str = form, matcher: Any = matcher) -> list[int]:
            calls, seconds = [], 0.0
            for event in workload.events(_EVENTS):
                result = matcher.match(event)
                answers.compare(event, result)
                calls.append(len(result.calls))
                seconds += result.account.seconds["planner"]
            least[form] = min(seconds / sum(calls), least.get(form, np.inf))
            return calls

        works[form] = match
    return works, least, edges


def _chains(count: int, seed: int) -> dict[str, Callable[[], object]]:
    """Returns orderings of chains, which follow when statistics are told."""
    workload = Workload(Shape(count // 2, count), seed)
    works: dict[str, Callable[[], object]] = {}
    for form in (_PLAIN, _COMPILED):
        planner = SubOrder()
        planner.order._is_large = form == _COMPILED
        matcher = workload.matcher(planner=planner)
        works[form] = partial(_ordered, matcher, planner, matcher.statistics)
    return works


def _ordered(matcher: Matcher, planner: SubOrder, known: Statistics) -> Sequence[int]:
    matcher.statistics = known
    return planner.in_order()


def _needles(seed: int) -> dict[str, Callable[[], object]]:
    """Returns searches for as many needles as are looked for one by one, and for one more, which
    no value contains."""
    chance = np.random.default_rng(seed)
    letters = np.array(list("abcdefghij"))
    texts = {at: "".join(chance.choice(letters, 6)) for at in range(2 * MOST_ONE_BY_ONE)}
    distinct = dict(enumerate(sorted(set(texts.values()))[:MOST_ONE_BY_ONE]))
    values = ["".join(chance.choice(letters, 60)) for _ in range(_EVENTS)]
    works: dict[str, Callable[[], object]] = {}
    for form in (_PLAIN, _COMPILED):
        needles = Needles()
        needles.add_many(distinct if form == _PLAIN else {**distinct, MOST_ONE_BY_ONE: "none"})
        works[form] = partial(_found, needles.find, values)
    return works


def _found(find: Callable[[Any], Any], those: Sequence[object]) -> list[list[int]]:
    return [sorted(find(each)) for each in those]
