"""Learning again and again: nothing counted twice, nothing half written, what is old goes."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import tamis
from tamis import Statistics
from tamis.errors import StatisticsError
from tamis.learning.calls import Observer
from tamis.learning.chunks import chunks_of, counts_of
from tamis.learning.inputs import Input, sifted
from tamis.learning.learner import TimeStretch
from tamis.learning.ledger import FolderLedger, group_of
from tamis.learning.lesson import Lesson
from tamis.learning.sampling import events_in, heads, sampling
from tamis.operators.code import code_of, is_other_code
from tamis.statistics.tables import read_predicates
from tamis.testing import FakeClock

pytest.importorskip("pyarrow", reason="pip install 'tamis[parquet]' brings pyarrow")
DAY = 86_400.0
ALL = TimeStretch()


def write_day(folder: Path, day: int, events: int = 20) -> str:
    """A file of one day in January, of a folder of that day."""
    place = folder / f"day={day}" / "events.jsonl"
    place.parent.mkdir(parents=True, exist_ok=True)
    lines = [
        {"id": f"{day}-{at}", "a": at, "time": f"2026-01-{day:02}T{at:02}:00:00Z"}
        for at in range(events)
    ]
    place.write_text("\n".join(map(json.dumps, lines)))
    return str(place)


def learn(files: list[str], folder: Path, **settings: Any) -> int:
    """Learns files into a folder as the command does; how many events it forgot."""
    lesson = Lesson(["a < 5"], [])
    ledger = FolderLedger(str(folder), append=True, **settings)
    found = sifted({file: Input.of(file, ALL) for file in files}, ledger.inputs, grows=False)
    groups: dict[str, list[str]] = {}
    for file in found.fresh:
        groups.setdefault(group_of(file) if ledger.in_parts else "", []).append(file)
    if not groups:
        return 0
    learned = {
        group: lesson.statistics(counts_of(chunks_of(each, 1 << 20), lesson.task))
        for group, each in groups.items()
    }
    inputs = {group: [Input.of(file, ALL) for file in each] for group, each in groups.items()}
    return ledger.add(learned, inputs)


def events(folder: Path) -> int:
    """How many events a folder has counted, by its manifest and by its tables."""
    found = Statistics.load(folder)
    assert found.predicates["a < 5"].tested == found.events
    assert found.attributes
    return found.events or 0


def test_a_job_that_is_run_again_counts_nothing_twice(tmp_path: Path) -> None:
    history, output = tmp_path / "history", tmp_path / "learned"
    files = [write_day(history, day) for day in (1, 2)]
    learn(files, output)
    learn(files, output)
    assert events(output) == 40
    learn([*files, write_day(history, 3)], output)
    learn([write_day(history, 3)], output)  # written anew, the same
    assert events(output) == 60


def test_what_has_changed_is_refused_unless_it_grows(tmp_path: Path) -> None:
    file = write_day(tmp_path, 1, 10)
    before = [vars(Input.of(file, ALL))]
    write_day(tmp_path, 1, 12)
    now = {file: Input.of(file, ALL)}
    with pytest.raises(StatisticsError, match="has changed since it was counted: --since last"):
        sifted(now, before, grows=False)
    assert sifted(now, before, grows=True).fresh == [file]


@pytest.mark.parametrize(
    ("before", "asked", "fresh"),
    [
        ((None, None), (None, None), False),
        ((None, None), (5.0, None), False),
        ((0.0, 5.0), (5.0, 9.0), True),
        ((0.0, 5.0), (0.0, 4.0), False),
        ((0.0, 5.0), (4.0, 9.0), None),
        ((5.0, None), (None, None), None),
    ],
)
def test_stretches_of_time(tmp_path: Path, before: Any, asked: Any, fresh: bool | None) -> None:
    file = write_day(tmp_path, 1)
    known = [vars(Input.of(file, TimeStretch(*before)))]
    now = {file: Input.of(file, TimeStretch(*asked))}
    if fresh is None:
        with pytest.raises(StatisticsError, match="stretch of time that overlaps"):
            sifted(now, known, grows=False)
    else:
        assert bool(sifted(now, known, grows=False).fresh) == fresh


def test_what_is_old_is_forgotten(tmp_path: Path) -> None:
    history, output = tmp_path / "history", tmp_path / "learned"
    learn([write_day(history, day) for day in (1, 2)], output)  # as one, for nobody said otherwise
    assert learn([write_day(history, 3)], output, forget_seconds=3 * DAY) == 0
    assert learn([write_day(history, day) for day in (4, 5)], output, forget_seconds=3 * DAY) == 0
    assert events(output) == 100
    assert learn([write_day(history, 6)], output, forget_seconds=3 * DAY) == 40
    assert events(output) == 80
    assert learn([write_day(history, 7)], output, forget_seconds=3 * DAY) == 20
    # counted once, forgotten or not
    assert learn([write_day(history, day) for day in range(1, 8)], output) == 0
    assert events(output) == 80
    assert len(list((output / "parts").iterdir())) == 4


def test_what_is_old_is_forgotten_where_nothing_is_new(tmp_path: Path) -> None:
    history, output = tmp_path / "history", tmp_path / "learned"
    days = [write_day(history, day) for day in range(1, 7)]
    learn(days, output, forget_seconds=30 * DAY)
    ledger = FolderLedger(str(output), append=True, forget_seconds=3 * DAY)
    assert ledger.add({}, {}) == 40
    assert events(output) == 80
    written = (output / "manifest.json").read_bytes()
    again = FolderLedger(str(output), append=True, forget_seconds=3 * DAY)
    assert (again.add({}, {}), again.undivided) == (0, 0)
    assert (output / "manifest.json").read_bytes() == written


def test_what_was_counted_together_is_said_to_go_together(tmp_path: Path) -> None:
    history, output = tmp_path / "history", tmp_path / "learned"
    learn([write_day(history, day) for day in range(1, 7)], output)
    ledger = FolderLedger(str(output), append=True, forget_seconds=3 * DAY)
    assert (ledger.add({}, {}), ledger.undivided) == (0, 120)


def test_two_jobs_at_once(tmp_path: Path) -> None:
    files = [write_day(tmp_path, day) for day in (1, 2)]
    output = tmp_path / "learned"
    first = FolderLedger(str(output), append=True)
    learn(files[:1], output)
    lesson = Lesson(["a < 5"], [])
    learned = lesson.statistics(counts_of(chunks_of(files, 1 << 20), lesson.task))
    with pytest.raises(StatisticsError, match="written by another job meanwhile"):
        first.add({"": learned}, {})
    assert events(output) == 20


class StopError(Exception):
    """Raised in the place of a kill."""


def stopped_at(monkeypatch: pytest.MonkeyPatch, step: int) -> None:
    """Stops at the so manieth change of names or removal of files."""
    steps, rmtree = iter(range(step)), shutil.rmtree
    for owner, name in ((os, "replace"), (Path, "replace"), (Path, "unlink"), (shutil, "rmtree")):
        usual: Callable[..., Any] = getattr(owner, name)

        def patched(*args: Any, usual: Callable[..., Any] = usual, **more: Any) -> Any:
            if next(steps, None) is None:
                if usual is rmtree and Path(args[0]).exists():  # in its middle
                    for each in sorted(Path(args[0]).iterdir())[:1]:
                        usual(each)
                raise StopError
            return usual(*args, **more)

        monkeypatch.setattr(owner, name, patched)


def test_a_job_that_is_stopped_leaves_the_old_or_the_new(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = [write_day(tmp_path / "history", day) for day in (1, 2)]
    seen = set()
    for step in range(40):
        output = tmp_path / f"learned-{step}"
        learn(files[:1], output)
        with monkeypatch.context() as patching:
            stopped_at(patching, step)
            try:
                learn(files, output)
            except StopError:
                pass
            else:
                break
        seen.add(events(output))
        learn(files, output)
        assert events(output) == 40
        assert not list(output.glob(".new-*"))
    else:
        raise AssertionError("it never came to its end")
    assert seen == {20, 40}


def test_whoever_reads_meanwhile_sees_one_state(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = [write_day(tmp_path / "history", day) for day in (1, 2)]
    output = tmp_path / "learned"
    learn(files[:1], output)
    usual, todo = read_predicates, [files]

    def read(place: Path) -> Any:
        found = usual(place)
        if todo:
            learn(todo.pop(), output)
        return found

    monkeypatch.setattr("tamis.statistics.folder.read_predicates", read)
    assert events(output) == 40


# the code of operators


def made(body: str, more: str = "") -> Any:
    """An operator of some source."""
    space: dict[str, Any] = {"tamis": tamis, "__name__": "made"}
    exec(f"{more}\n@tamis.operator\ndef op(event, n=3):\n    {body}\n", space)
    return space["op"]


@pytest.mark.parametrize(
    ("one", "other", "differs"),
    [
        (("return n > 3",), ("return n > 3  # a comment",), False),
        (("return n > 3",), ("'''Says more.'''\n    return n > 3",), False),
        (("return n > 3",), ("return n > 4",), True),
        (("return n in {'a', 'b'}",), ("return n in {'b', 'a'}",), False),
        (("return h(n)", "def h(n): return n"), ("return h(n)", "def h(n): return -n"), True),
        (("return n > LEAST", "LEAST = 3"), ("return n > LEAST", "\nLEAST = 4"), True),
        (("return n > 3", "OTHER = 3"), ("return n > 3", "OTHER = 4"), False),
        (("return [n > x for x in (1, 2)]",), ("return [n > x for x in (1, 3)]",), True),
        (("return C().m()", "class C:\n m = lambda s: 1"),
         ("return C().m()", "class C:\n m = lambda s: 2"), True),
    ],
)  # fmt: skip
def test_the_code_of_operators(one: Any, other: Any, differs: bool) -> None:
    codes = code_of(made(*one)), code_of(made(*other))
    assert is_other_code(*codes) == differs
    assert not is_other_code(codes[0], f"cpython-999:{codes[1]}")


def test_changed_operators_are_refused(tmp_path: Path) -> None:
    lesson = Lesson(["op(3)"], [made("return n > 3")])
    learned = lesson.statistics(counts_of([], lesson.task))
    learned.about = {"operators": lesson.versions, "codes": lesson.codes}
    learned.save(tmp_path)
    changed = Lesson(["op(3)"], [made("return n > 4")])
    ledger = FolderLedger(str(tmp_path), append=True)
    ledger.check(lesson)
    with pytest.raises(StatisticsError, match="other code of op, which has version 1 still"):
        ledger.check(changed)
    ledger.check(changed, same_operators=True)


# samples


def test_as_many_are_asked_as_there_is_time_for() -> None:
    assert sampling(100, 1e9, 2).asked == 1
    assert sampling(0, 1.0, 2).share == 1.0
    assert sampling(10**6, 0.0, 1, accuracy=0.1).asked == 97
    assert sampling(10**6, 1.0, 4, most_seconds=20).asked == 80


def test_events_are_counted_beforehand(tmp_path: Path) -> None:
    files = [write_day(tmp_path, day) for day in range(1, 30)]
    chunks = chunks_of(files, 100)
    assert events_in(chunks) == pytest.approx(29 * 20, rel=0.05)
    assert [each["id"] for each in heads(chunks)] == ["1-0", "1-1"]


def test_operators_are_tried_beforehand(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = FakeClock()
    monkeypatch.setattr("tamis.learning.lesson.Observer", partial(Observer, timer=clock))
    loading = [0.5]

    @tamis.operator(cost_seconds=9.0)
    def slow(event: Any, level: int) -> bool:
        clock.advance(loading.pop() if loading else 0.01)
        return True

    @tamis.operator(cost_seconds=7.0, inputs=("image",))
    def unseen(event: Any) -> bool:
        return True

    lesson = Lesson(["slow(1) and slow(2) and unseen()"], [slow, unseen])
    found = lesson.seconds_an_event([{"id": str(at)} for at in range(4)])
    assert found == pytest.approx(7.02)
