"""The memo gives what was kept about equal inputs, and nothing that is not to be kept."""

from __future__ import annotations

import gc
import tracemalloc
from typing import Any

import pytest

import tamis
from tamis import Preparation
from tamis.calling.answers import CUT, Answer, Failure
from tamis.calling.memo import KnownAnswer, Memo
from tamis.operators.asking import Call, Solution

from .remembering import call_of, computed, digests_of, get, keep, kept, made_operator, shelf_of


def test_calls_of_the_language_are_told_apart_by_value_and_kind() -> None:
    operator = made_operator()
    matcher = tamis.Matcher([operator])
    texts = ["1", "1.0", "true", '"1"', "?x", "2"]
    matcher.subscribe_many({"where": f"seen({text})"} for text in texts)
    calls = [matcher._catalog.calls.thing(at) for at in range(len(matcher._catalog.calls))]
    assert len(calls) == 5
    shelf = shelf_of(Memo(), operator, 3)
    for at, call in enumerate(calls):
        keep(shelf, call, Answer(False, [(at,)]))
    for at, call in enumerate(calls):
        assert get(shelf, call) == Answer(False, [(at,)])
    for call, arguments in zip(calls, [(1.0,), (True,), ("1",), (None,), (2,)], strict=True):
        assert call_of(operator, *arguments).key == call.key


@pytest.mark.parametrize(
    "how",
    [
        {"deterministic": False},
        {"inputs": None},
        {"preparation": Preparation("frame", lambda event: 1)},
        {"optional_inputs": ("thing",)},
    ],
)
def test_what_cannot_be_remembered(how: dict[str, Any]) -> None:
    operator = made_operator(**how)
    digests = digests_of(1, thing=object())
    assert Memo().about(operator.specification, digests) is None


def test_all_that_an_answer_depends_on_is_looked_at() -> None:
    prepared = Preparation("frame", lambda event: 1, inputs=("image",))
    operator = made_operator(optional_inputs=("zoom",), preparation=prepared)
    memo, call = Memo(), call_of(operator, 1)
    events: list[dict[str, Any]] = [
        {"x": 1, "image": b"i"},
        {"x": 2, "image": b"i"},
        {"x": 1, "image": b"j"},
        {"x": 1, "image": b"i", "zoom": 2},
    ]
    for at, event in enumerate(events):
        shelf = shelf_of(memo, operator, **event)
        assert get(shelf, call) is None
        keep(shelf, call, Answer(False, [(at,)]))
    for at, event in enumerate(events):
        assert get(shelf_of(memo, operator, **event, other=at), call) == Answer(False, [(at,)])


def test_versions_inputs_and_preparations_are_other_operators() -> None:
    prepared = Preparation("frame", lambda event: 1, inputs=())
    operators = [
        made_operator(),
        made_operator(version="2"),
        made_operator(inputs=("x", "y")),
        made_operator(preparation=prepared),
        made_operator("other"),
    ]
    memo = Memo()
    for operator in operators:
        shelf = shelf_of(memo, operator, 1)
        assert not kept(shelf)
        keep(shelf, call_of(operator, 1), Answer(True))
    again = shelf_of(memo, made_operator(), 1)
    assert get(again, call_of(operators[0], 1)) == Answer(True)
    assert [each.answers for each in memo.account().values()] == [4, 1]


def test_answers_that_were_forgotten_meanwhile_are_not_kept() -> None:
    memo, operator = Memo(), made_operator()
    call, shelf = call_of(operator, 1), shelf_of(memo, operator, 1)

    def make() -> Answer:
        memo.forget("seen")
        return Answer(True)

    assert computed(shelf, call, make) == KnownAnswer(Answer(True), True)
    keep(shelf, call, Answer(True))
    assert memo.bytes == len(kept(shelf)) == len(kept(shelf_of(memo, operator, 1))) == 0


def test_without_bytes_nothing_is_kept() -> None:
    operator = made_operator()
    memo = Memo(0)
    shelf = shelf_of(memo, operator, 1)
    for _ in range(2):
        assert computed(shelf, call_of(operator, 1), lambda: Answer(True)).made
    assert memo.bytes == 0


@pytest.mark.parametrize("how", [{"most_bytes": -1}, {"most_bytes": 1.5}, {"oldest_seconds": 0}])
def test_bounds_are_sensible(how: dict[str, Any]) -> None:
    with pytest.raises(tamis.TamisError, match=r"memo_(bytes|seconds) is a"):
        Memo(**how)


@pytest.mark.parametrize(
    ("shelves", "answers", "solutions"),
    [
        (500, 4, 5),
        *(
            pytest.param(*each, marks=pytest.mark.slow)
            for each in [
                *((3000, 1, 0), (3000, 1, 2), (600, 5, 0), (30, 300, 0), (1, 9000, 0)),
                (40, 9, 50),
            ]
        ),
    ],
)
def test_bytes_are_an_honest_estimate(shelves: int, answers: int, solutions: int) -> None:
    memo, operator = Memo(2**30), made_operator()
    xs = [f"a place of some length, number {at}" for at in range(shelves)]
    template = call_of(operator, 1)

    def fresh(at: int) -> Call:
        key = ("seen", (1, at + 0.5), None)
        return Call(key, operator, template.specification, (), 1, "")

    def filled() -> None:
        for x in xs:
            shelf = shelf_of(memo, operator, x)
            for at in range(answers):
                found: list[Solution] = [
                    (at + each + 0.5, f"{at} {each}") for each in range(solutions)
                ]
                keep(shelf, fresh(at), Answer(False, found))

    gc.collect()
    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    filled()
    gc.collect()
    taken = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert taken / 1.35 < memo.bytes < taken * 1.35


def test_cut_is_what_the_engine_calls_it() -> None:
    shelf = shelf_of(Memo(), made_operator(), 1)
    call = call_of(made_operator(), 1)
    for answer in (Answer(False, [(1,)], cut=True), Answer(failure=Failure(CUT, "many"))):
        keep(shelf, call, answer)
        assert get(shelf, call) is None
