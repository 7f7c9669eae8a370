"""Advice: costs that are those of a matcher, answers that are compared, hints that are true."""

from __future__ import annotations

import random
import warnings
from collections.abc import Sequence
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest

import tamis
from tamis.advising import Advice, AdviceBounds, advise
from tamis.advising.advice import best_planner
from tamis.advising.chosen import EventChoice
from tamis.advising.planners import AnswerRecord, PlannerCost, Rounds
from tamis.catalog.intake import Intake
from tamis.errors import SubscriptionError
from tamis.event import Event
from tamis.indexing import Index, IndexRecord, Rows
from tamis.planning import PlannerRecord, Problem, Run
from tamis.plugins.loader import Plugins, installed
from tamis.testing import FakeClock, counting, truth_table

pytest.importorskip("scipy", reason="pip install 'tamis[bench]' brings SciPy")


def subscriptions(seed: int = 1) -> list[dict[str, Any]]:
    chance = random.Random(seed)
    keys = [f"k{number}" for number in range(8)]
    return [
        {
            "id": f"s{number}",
            "where": " and ".join(
                f"{'not ' if chance.random() < 0.3 else ''}seen({key})"
                for key in chance.sample(keys, chance.randint(1, 4))
            )
            + f" and a < {chance.randrange(12)}",
        }
        for number in range(20)
    ]


def events(count: int, seed: int = 1) -> list[dict[str, Any]]:
    chance = random.Random(seed)
    return [
        {
            "id": f"e{number}",
            "a": chance.randrange(10),
            "seen": {f"k{key}": chance.random() < 0.6 for key in range(8)},
        }
        for number in range(count)
    ]


def hint(found: Advice, about: str) -> str:
    return next(each.sentence for each in found.hints if each.about == about)


def about(found: Advice) -> set[str]:
    return {each.about for each in found.hints}


def test_calls_are_made_once_and_those_of_planners_are_what_they_make() -> None:
    operator = counting(truth_table("seen"))
    history = events(12)
    found = advise(history, subscriptions(), [operator])
    assert found.events == 12
    assert not found.broken
    assert found.every == len(operator.calls)
    matched = 0
    for cost in found.planners:
        if cost.is_small or cost.planner not in ("naive", "sequential"):
            continue
        calls = 0
        matcher = tamis.Matcher(
            [truth_table("seen")], planner=cost.planner, learning=False, memo_bytes=0
        )
        matcher.subscribe_many(subscriptions())
        for event in history:
            result = matcher.match(event)
            calls += result.account.calls
            matched += len(result.matches)
        assert cost.calls == calls
    assert found.matches == matched / 2
    for cost in found.planners:
        if cost.is_whole:
            assert found.bounds.clairvoyant is not None
            assert found.bounds.clairvoyant <= cost.calls + 1e-6
            assert cost.calls <= found.every


def test_filters_of_warnings_are_left_to_all_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    before, seen, accept = warnings.filters, [], Intake.accept

    def noting(self: Intake, *given: Any, **named: Any) -> Any:
        seen.append(warnings.filters is before)
        return accept(self, *given, **named)

    monkeypatch.setattr(Intake, "accept", noting)
    advise([{"a": at} for at in range(30)], [{"id": "s1", "where": "a < 9 and b = 1"}])
    assert seen
    assert all(seen)


def test_what_is_recommended_can_be_used() -> None:
    found = advise(events(10), subscriptions(), [truth_table("seen")])
    assert found.planner in installed().planners
    assert found.index in installed().indexes
    assert found.why_planner
    assert found.why_index
    assert {each.index for each in found.indexes} == set(installed().indexes)
    assert all(each.wrong == 0 for each in found.indexes)
    assert {each.planner for each in found.planners} == set(installed().planners)
    assert found.as_dict()["planners"][0].keys() >= {"planner", "calls", "own_seconds"}
    assert "made" not in found.as_dict()["planners"][0]


class _Forgetful(Index):
    """An index that forgets a row."""

    def __init__(self) -> None:
        self._index = installed().index("scan").made({})

    def insert(self, row: int, predicates: Sequence[Any]) -> None:
        self._index.insert(row, predicates)

    def match(self, event: Event) -> Rows:
        return self._index.match(event)[1:]

    def __len__(self) -> int:
        return len(self._index)

    @property
    def nbytes(self) -> int:
        return 0


class _Failing:
    def begin(self, problem: Problem) -> Run:
        raise RuntimeError("no idea")


class _Twice:
    """A planner that asks for a call that is not there."""

    def begin(self, problem: Problem) -> Run:
        return self

    def next(self, limit: int) -> Sequence[int]:
        return [10**6]

    def observe(
        self, tests: Sequence[int], outcomes: Sequence[int], decided: Sequence[int]
    ) -> None: ...


@pytest.fixture
def broken_plugins(monkeypatch: pytest.MonkeyPatch) -> Plugins:
    """What is installed, with an index and planners that do not work."""
    plugins = installed()
    monkeypatch.setitem(plugins.indexes, "forgetful", IndexRecord("forgetful", _Forgetful))
    monkeypatch.setitem(plugins.planners, "failing", PlannerRecord("failing", _Failing))
    monkeypatch.setitem(plugins.planners, "beyond", PlannerRecord("beyond", _Twice))
    return plugins


def test_what_is_broken_is_said_and_never_recommended(broken_plugins: Plugins) -> None:
    found = advise(events(6), subscriptions(), [truth_table("seen")])
    assert [each.partition(":")[0] for each in found.broken] == [
        "planner beyond", "planner failing", "index forgetful",
    ]  # fmt: skip
    assert "answers 6 events otherwise" in found.broken[2]
    assert found.planner not in ("beyond", "failing")
    assert found.index != "forgetful"


def test_operators_that_fail_leave_the_answers_of_planners_alike() -> None:
    @tamis.operator(inputs=("seen",))
    def moody(event: Any, key: str) -> bool:
        if not event["seen"][key]:
            raise RuntimeError("not today")
        return True

    @tamis.operator(inputs=("image",))
    def sees(event: Any, key: str) -> bool:
        return True

    texts = ["moody(k1) and seen(k2)", "not moody(k3) or seen(k4)", "moody(k1) or sees(x)"]
    found = advise(
        events(30), [{"where": text} for text in texts], [moody, sees, truth_table("seen")]
    )
    assert not found.broken
    assert found.undetermined > 0


def test_a_cost_that_is_far_off_is_told() -> None:
    @tamis.operator(inputs=("a",), cost_seconds=30.0)
    def cheap(event: Any, level: int) -> bool:
        return bool(event["a"] > level)

    found = advise(events(10), [{"where": "cheap(3)"}], [cheap])
    assert "the operator cheap declares 30 s, but takes" in hint(found, "cost")


def test_tests_that_are_never_true_and_always_true() -> None:
    @tamis.operator(inputs=("a",))
    def above(event: Any, level: int) -> bool:
        return bool(event["a"] > level)

    entries = [{"id": "no", "where": "above(99)"}, {"id": "yes", "where": "above(-1)"}]
    found = advise(events(25), [*entries, {"id": "some", "where": "above(4)"}], [above])
    assert hint(found, "never true") == "1 test was never true: above(99) (25 times)"
    assert hint(found, "always true") == "1 test was always true: above(-1) (25 times)"
    assert "1 of 3 subscriptions matched none of 25 events: no" in hint(found, "unmatched")
    assert {"never true", "always true"}.isdisjoint(about(advise(events(9), entries, [above])))


def test_attributes_that_no_event_has() -> None:
    found = advise(
        [{"a": {"b": 1}, "time": "2026-01-01T10:00:00Z"}] * 3,
        [{"where": each} for each in ("zz = 1", "a.b = 1", "a.c = 2", "time.hour = 10")],
    )
    [absent] = [each for each in found.hints if each.about == "absent"]
    assert absent.figures == {"attributes": ["a.c", "zz"]}


def test_tests_that_always_fail() -> None:
    @tamis.operator
    def broken(event: Any) -> bool:
        raise RuntimeError("no such luck")

    found = advise(events(5), [{"where": "broken()"}], [broken])
    assert hint(found, "failing") == "1 test failed whenever asked: broken()"


class Ticks(FakeClock):
    """A timer that does not stand still: each look at it takes a microsecond."""

    def __call__(self) -> float:
        self.advance(1e-6)
        return self.now


@pytest.fixture
def ticks(monkeypatch: pytest.MonkeyPatch) -> Ticks:
    """The timer of advice: what takes long is what a test says."""
    timer = Ticks()
    monkeypatch.setattr("tamis.advising.advice.Matcher", partial(tamis.Matcher, timer=timer))
    monkeypatch.setattr("tamis.advising.advice.time", SimpleNamespace(perf_counter=timer))
    return timer


def test_a_memo_pays_where_events_repeat(ticks: Ticks) -> None:
    @tamis.operator(inputs=("a",), deterministic=True)
    def above(event: Any, level: int) -> bool:
        if level == 1:
            ticks.advance(0.05)
        return bool(event["a"] > level)

    @tamis.operator(inputs=("a",), deterministic=False)
    def seen(event: Any) -> bool:
        ticks.advance(0.05)
        return True

    same = [{"id": f"e{number}", "a": 3} for number in range(40)]
    found = advise(same, [{"where": "above(1)"}], [above])
    figures = next(each.figures for each in found.hints if each.about == "memo")
    assert figures["pays"]
    assert "(1 call rather than 40)" in hint(found, "memo")
    assert found.other_seconds > 0
    texts = [{"where": "above(2)"}, {"where": "seen()"}]
    found = advise(same, texts, [above, seen])  # nothing beside the rest of the run
    assert "calls take little of it; --memo-bytes 0 spares its memory" in hint(found, "memo")
    other = [{"id": f"e{number}", "a": number} for number in range(40)]
    found = advise(other, [{"where": "above(1)"}], [above])
    figures = next(each.figures for each in found.hints if each.about == "memo")
    assert not figures["pays"]
    assert figures["saved"] <= 0  # whatever took less by chance


def test_savings_are_shares_of_the_whole_run() -> None:
    """Half of the calls of one planner, in a run that takes twelve times as long."""
    costs = [
        PlannerCost("savings", events=9, calls=200, expected_seconds=2.0),
        PlannerCost("suborder", events=9, calls=100, expected_seconds=1.0),
    ]
    planner, why = best_planner(costs, 9, 10.0)
    assert planner == "suborder"
    assert why.endswith("for 9 events: 8% less of the whole run than with savings")
    assert best_planner(costs, 9, 1000.0)[0] == "savings"


def test_hints_name_options_that_exist(capsys: pytest.CaptureFixture[str]) -> None:
    from tamis.cli import main

    options = ("--memo-bytes", "--workers", "--statistics", "--planner", "--index")
    for command in ("match", "stream"):
        assert main([command, "--help"]) == 0
        said = capsys.readouterr().out
        assert [each for each in options if each not in said] == []


def test_rounds_are_counted_by_the_worker_that_is_free_first() -> None:
    caller = AnswerRecord.__new__(AnswerRecord)
    caller.seconds = 0.0

    def work(seconds: float) -> None:
        caller.seconds += seconds

    rounds = Rounds(2)
    rounds.caller = caller
    rounds.run([lambda seconds=seconds: work(seconds) for seconds in (4.0, 1.0, 2.0, 3.0)])  # type: ignore[misc]
    assert rounds.take_saved() == 10.0 - 6.0
    assert rounds.take_saved() == 0.0


def test_waiting_operators_make_workers_pay(ticks: Ticks) -> None:
    @tamis.operator(inputs=("a",))
    def slow(event: Any, key: int) -> bool:
        ticks.advance(0.05)
        return bool(event["a"] % key)

    texts = [f"slow({key}) and slow({key + 1})" for key in range(2, 12, 2)]
    found = advise(events(6), [{"where": text} for text in texts], [slow])
    figures = next(each.figures for each in found.hints if each.about == "workers")
    assert figures["saved"] > 0.2


def test_statistics_that_are_given_are_measured() -> None:
    known = tamis.Statistics(selectivity={f"seen(k{key})": 0.6 for key in range(8)})
    found = advise(events(10), subscriptions(), [truth_table("seen")], known)
    assert "the given statistics save" in hint(found, "statistics")
    found = advise(events(10), subscriptions(), [truth_table("seen")])
    assert "what it learns on the way" in hint(found, "statistics")


def test_subscriptions_without_operators() -> None:
    found = advise([{"a": at} for at in range(5)], [{"id": "s1", "where": "a < 3"}])
    assert (found.matches, found.every) == (3, 0)
    assert "any planner does" in found.why_planner


def test_no_event_at_all() -> None:
    found = advise([], [{"where": "a < 3"}])
    assert (found.events, found.read) == (0, 0)
    assert found.index in installed().indexes


def test_bad_subscriptions_are_refused() -> None:
    with pytest.raises(SubscriptionError):
        advise([], [{"where": "a <"}])


def test_warnings_are_given_once() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        advise([{"a": 1}], [{"where": "a < 1 and a > 2"}])
    assert len(caught) == 1


def test_a_sample_follows_from_the_events_alone() -> None:
    def ids(history: Sequence[dict[str, Any]], share: float, most: int) -> list[str]:
        sample = EventChoice(share, most)
        for event in history:
            sample.add(event)
        return [str(document.content["id"]) for document in sample.documents]

    history = events(300)
    chosen = ids(history, 1.0, 40)
    assert len(chosen) == 40
    assert chosen == sorted(chosen, key=lambda each: int(each[1:]))
    assert sorted(ids(history[::-1], 1.0, 40)) == sorted(chosen)
    assert 60 < len(ids(history, 0.3, 1000)) < 130
    assert set(ids(history, 0.3, 20)) <= set(chosen)


def test_events_are_thinned_when_time_runs_out() -> None:
    found = advise(
        events(60), subscriptions(), [truth_table("seen")], None, AdviceBounds(seconds=1e-9)
    )
    assert found.events == 1
    assert found.chosen == 60


def test_batches_are_counted_as_invocations() -> None:
    class Many(tamis.Operator):
        """Answers several calls at once."""

        specification = tamis.Specification(
            "much", inputs=("seen",), cost_seconds=0.01, marginal_cost_seconds=0.001
        )

        def solve(self, event: Any, *arguments: Any) -> bool:
            return bool(event["seen"][arguments[0]])

        def solve_many(self, event: Any, lists: Sequence[Sequence[Any]]) -> list[bool]:
            return [bool(event["seen"][key]) for (key,) in lists]

    entries = [{"where": each["where"].replace("seen(", "much(")} for each in subscriptions()]
    found = advise(events(20), entries, [Many()])
    assert not found.broken
    assert any(each.invocations < each.calls for each in found.planners if each.is_whole)
