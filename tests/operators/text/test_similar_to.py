"""Scores are cosines, and the user's function is called as seldom as can be."""

from __future__ import annotations

import asyncio
import math
import threading
import time
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import tamis
from tamis.operators.shipping import packed, unpacked
from tamis.testing import check_operator
from tamis_operators import text
from tests.framework.calling.trying import Hurry

VECTORS = arrays.arrays(
    np.float64, 3, elements=st.floats(allow_nan=False, allow_infinity=False, width=32)
)


class Counted:
    """A function of texts that counts what it is asked; the answers stand in a table."""

    def __init__(self, **table: Any) -> None:
        self.table = table
        self.asked: list[list[str]] = []

    def __call__(self, texts: list[str]) -> list[Any]:
        self.asked.append(list(texts))
        for each in texts:
            if isinstance(self.table.get(each), Exception):
                raise self.table[each]
        return [self.table.get(each, [len(each), each.count("a"), 1.0]) for each in texts]


def matcher_of(function: Any, *phrases: str, **limits: Any) -> tamis.Matcher:
    matcher = tamis.Matcher(text.operators(embedding=function, **limits))
    for phrase in phrases:
        matcher.subscribe(f'similarTo("{phrase}", ?s)', id=phrase)
    return matcher


def scores(matcher: tamis.Matcher, value: object) -> dict[str, Any]:
    result = matcher.match({"text": value})
    found = {match.subscription: match.bindings[0]["s"] for match in result.matches}
    return found | {each.subscription: each.reason for each in result.undetermined}


def embed_by_letters(texts: list[str]) -> list[list[float]]:
    return [[each.count(letter) for letter in "abcdefghijklmnopqrst "] for each in texts]


async def embed_later(texts: list[str]) -> Any:
    await asyncio.sleep(0)
    return np.array(embed_by_letters(texts))


@given(VECTORS, VECTORS)
def test_a_score_is_the_cosine(one: Any, other: Any) -> None:
    found = scores(matcher_of(Counted(one=one, other=other), "other"), "one")["other"]
    if not one.any() or not other.any():
        assert "has no direction" in found
        return
    exact = [[int(part * 2**149) for part in each.tolist()] for each in (one, other)]
    dot = sum(a * b for a, b in zip(*exact, strict=True))
    squares = [sum(part * part for part in each) for each in exact]
    wanted = math.copysign(math.isqrt(dot * dot * 10**30 // (squares[0] * squares[1])), dot) / 1e15
    assert found == pytest.approx(wanted, abs=1e-6)
    assert -1 <= found <= 1


def test_guards_and_constants() -> None:
    matcher = tamis.Matcher(text.operators(embedding=Counted(one=[1, 0], other=[1, 1])))
    matcher.subscribe('similarTo(one, ?s), ?s > 0.7, mentions("other")', id="yes")
    matcher.subscribe("similarTo(one, ?s), ?s > 0.8", id="no")
    matcher.subscribe("similarTo(other, 1)", id="itself")
    result = matcher.match({"text": "other"})
    assert [match.subscription for match in result.matches] == ["itself", "yes"]


def test_one_call_an_event_and_each_phrase_once_ever() -> None:
    function = Counted()
    phrases = [f"phrase {at}" for at in range(20)]
    matcher = matcher_of(function, *phrases)
    for at in range(50):
        assert len(scores(matcher, f"text {at % 10}")) == 20
    assert function.asked == [["text 0", *phrases], *([f"text {at}"] for at in range(1, 10))]
    memo = matcher.match({"text": "text 3"}).account
    assert (memo.calls, memo.memoized) == (0, 20)
    matcher.subscribe("similarTo(late, ?s)", id="late")
    scores(matcher, "text 3")  # its vector is known, so that the new phrase goes alone
    scores(matcher, "text 77")
    assert function.asked[10:] == [["late"], ["text 77"]]


def test_no_call_where_nothing_asks() -> None:
    function = Counted()
    matcher = tamis.Matcher(text.operators(embedding=function))
    matcher.subscribe("similarTo(fire, ?s), altitude > 3", id="s1")
    matcher.match({"text": "a", "altitude": 1})
    matcher.match({"altitude": 9})
    assert function.asked == []


def test_batches_are_bounded() -> None:
    function = Counted()
    phrases = [f"p{at}" for at in range(10)]
    assert len(scores(matcher_of(function, *phrases, batch=4), "text")) == 10
    assert max(map(len, function.asked)) <= 4
    assert sorted(each for texts in function.asked for each in texts) == sorted([*phrases, "text"])


def test_what_is_kept_is_bounded() -> None:
    function = Counted()
    matcher = matcher_of(function, "p1", "p2", "p3", kept=2)
    for at in range(4):
        assert len(scores(matcher, f"text {at}")) == 3
    operator = text.operators(embedding=text.Embedding(function, kept=2))[1].factory()
    vectors = operator._vectors  # type: ignore[attr-defined]
    for at in range(9):
        vectors.expect(f"p{at}")
        vectors.prepare({"text": f"t{at}"})
    assert len(vectors._texts) == len(vectors._phrases) == 2
    assert len(vectors._waiting) <= 2


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ([0, 0], "a vector of zeros, which has no direction"),
        ([math.nan, 1], "a vector with NaN or infinity"),
        ([math.inf, 1], "a vector with NaN or infinity"),
        ([1, 2, 3], "a vector of 3 numbers after one of 2"),
        ([[1, 2]], "an array of 2 dimensions for a text"),
        (["a", "b"], "no vector of numbers"),
        (RuntimeError("no more credit"), "RuntimeError: no more credit"),
    ],
)
def test_a_bad_phrase_makes_no_other_unknown(answer: Any, reason: str) -> None:
    function = Counted(bad=answer, good=[1, 0], text=[1, 0], other=[0, 1])
    matcher = matcher_of(function, "good", "bad", "other")
    for _ in range(2):
        found = scores(matcher, "text")
        assert (found["good"], found["other"]) == (1, 0)
        assert reason in found["bad"]
        assert found["bad"].startswith("similarTo(bad, ?1): raised: ")


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (None, "the embedding gave no vectors"),
        ([[1, 2], [3, 4], [5, 6]], "the embedding gave 3 vectors for 1 texts"),
        ([], "the embedding gave 0 vectors for 1 texts"),
    ],
)
def test_an_answer_that_is_none_is_a_failure_of_the_event(answer: Any, reason: str) -> None:
    found = scores(matcher_of(lambda texts: answer, "a phrase"), "text")
    assert reason in found["a phrase"]


def test_a_text_that_fails_is_tried_again_with_the_next_event() -> None:
    function = Counted(text=RuntimeError("busy"))
    matcher = matcher_of(function, "phrase")
    assert "RuntimeError: busy" in scores(matcher, "text")["phrase"]
    del function.table["text"]
    assert scores(matcher, "text")["phrase"] > 0.5
    assert "is a text, not 3" in scores(matcher, 3)["phrase"]


def test_an_async_function_also_beside_a_running_loop() -> None:
    matcher = matcher_of(embed_later, "cab")

    async def inside() -> dict[str, Any]:
        return scores(matcher, "abc")

    assert asyncio.run(inside()) == {"cab": 1}
    assert scores(matcher, "acb") == {"cab": 1}


def test_a_function_that_hangs_is_late(monkeypatch: pytest.MonkeyPatch) -> None:
    released = threading.Event()

    def hanging(texts: list[str]) -> list[list[float]]:
        released.wait(30)
        return embed_by_letters(texts)

    hurry = Hurry(monkeypatch)
    hurry.seconds = 0.05
    matcher = matcher_of(hanging, "cab", timeout=30)
    assert "timed out: no answer within 0.05 s" in scores(matcher, "text")["cab"]
    released.set()
    hurry.seconds = None
    assert scores(matcher, "bca") == {"cab": 1}


def test_limits_are_kept() -> None:
    running: list[int] = []
    most: list[int] = []

    def watched(texts: list[str]) -> list[list[float]]:
        running.append(1)
        most.append(len(running))
        time.sleep(0.01)
        running.pop()
        return embed_by_letters(texts)

    matcher = matcher_of(watched, "cab", concurrency=1, calls_per_second=1_000)
    threads = [
        threading.Thread(target=matcher.match, args=({"text": f"abc {at}"},)) for at in range(6)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert max(most) == 1
    assert len(most) == 6


def test_an_embedding_may_be_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TAMIS_EMBEDDING", f"{__name__}:embed_by_letters")
    matcher = tamis.Matcher(text.operators())
    matcher.subscribe("similarTo(cab, ?s)", id="s1")
    assert matcher.match({"text": "abc"}).matches[0].bindings == [{"s": 1}]


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        (f"{__name__}:embed_by_leters", "did you mean embed_by_letters"),
        (f"{__name__}:VECTORS", "is not a function of texts"),
        ("no.such:module", "cannot be imported: No module named"),
        ("/no/such/folder", "is not a folder: a folder with model.onnx and tokenizer.json"),
        (None, "there is no embedding yet: set TAMIS_EMBEDDING"),
    ],
)
def test_what_is_missing_is_said_at_subscription(
    source: str | None, problem: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TAMIS_EMBEDDING", raising=False)
    matcher = tamis.Matcher(text.operators(embedding=source))
    with pytest.raises(tamis.SubscriptionError, match=problem):
        matcher.subscribe("similarTo(fire, ?s)")
    assert len(matcher) == 0


def test_settings_are_checked() -> None:
    for settings in ({"batch": 0}, {"kept": None}, {"timeout": -1}, {"concurrency": 1.5}):
        with pytest.raises(tamis.OperatorError, match=next(iter(settings))):
            text.Embedding(embed_by_letters, **settings)
    for source in (3, "", None):
        with pytest.raises(tamis.OperatorError, match="an embedding is a function of texts"):
            text.Embedding(source)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="belong to an embedding"):
        text.operators(batch=3)


def test_prices_and_versions() -> None:
    def of(**limits: Any) -> tamis.Specification:
        return text.operators(embedding=embed_by_letters, **limits)[1].specification

    preparation = of(cost_seconds=0.7).preparation
    assert preparation is not None
    assert preparation.cost_seconds == 0.7
    assert of(version="2").version != of().version == of(batch=3).version
    assert of().preparation is not None


def test_it_travels() -> None:
    records = unpacked(packed(text.operators(embedding=embed_by_letters)))
    matcher = tamis.Matcher(records)
    matcher.subscribe("similarTo(cab, ?s)", id="s1")
    assert matcher.match({"text": "abc"}).matches[0].bindings == [{"s": 1}]


def test_samples_are_true() -> None:
    records = text.operators(embedding=embed_by_letters)
    samples = list(records[1].factory().samples())
    assert len(samples) == 2
    for sample in samples:
        matcher = tamis.Matcher(records)
        matcher.subscribe(sample.predicate)
        (match,) = matcher.match(sample.event).matches
        if sample.answer is not ...:
            assert [binding["score"] for binding in match.bindings] == sample.answer


def test_listing_imports_nothing_heavy() -> None:
    import subprocess
    import sys

    script = (
        "import sys; from tamis_operators import text; "
        "text.operators(embedding='nowhere'); "
        "print([name for name in ('numpy', 'onnxruntime', 'tokenizers') if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"


def test_the_laws_hold_with_an_embedding() -> None:
    def embed(texts: list[str]) -> list[list[float]]:
        return [[1.0, *row] for row in embed_by_letters(texts)]

    (similar,) = [
        each for each in text.operators(embedding=embed) if each.specification.name == "similarTo"
    ]
    check_operator(similar)
