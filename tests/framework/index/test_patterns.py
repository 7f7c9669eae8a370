"""Patterns are found exactly as `searcher(pattern)` finds them, in any order of changes."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

import pytest
import re2
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from tamis.index import patterns as module
from tamis.index.patterns import Patterns
from tamis.language.comparison import searcher

ATOMS = (
    *("a", "b", "é", "😀", "\ud800", ".", "\\C", "^", "$", "\\b", "\\B", "(?m)^", "(?m)$", "(?i)É"),
    *(
        "[^a]",
        "[\\x{d7ff}-\\x{e000}]",
        "\\w+",
        "\\PL",
        "(a|bb)*",
        "a{2,5}",
        "(?s).",
        "\\z",
        "\\x00",
    ),
    *("b?", "(?i)k", "\\d", "(^a|b$)", "\\x{10ffff}"),
)
VALUES = st.text(st.sampled_from("abkK\u212a\n\0 é😀\ud800\U0010ffff7"), max_size=12)
PATTERNS = st.lists(st.sampled_from(ATOMS), max_size=5).map("".join)


def searched(texts: dict[int, str], value: str) -> list[int]:
    return sorted(number for number, pattern in texts.items() if searcher(pattern)(value))


class AnyOrder(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.patterns = Patterns()
        self.texts: dict[int, str] = {}

    @rule(number=st.integers(0, 40), text=PATTERNS)
    def add(self, number: int, text: str) -> None:
        if number not in self.texts and text not in self.texts.values():
            self.patterns.add(number, text)
            self.texts[number] = text

    @rule(many=st.sets(PATTERNS, max_size=30))
    def add_many(self, many: set[str]) -> None:
        free = (number for number in range(2_000) if number not in self.texts)
        texts = dict(zip(free, sorted(many.difference(self.texts.values())), strict=False))
        self.patterns.add_many(texts)
        self.texts |= texts

    @rule(place=st.integers(0, 40))
    def drop(self, place: int) -> None:
        if self.texts:
            number = sorted(self.texts)[place % len(self.texts)]
            self.patterns.drop(number)
            del self.texts[number]

    @rule(value=VALUES)
    def find(self, value: str) -> None:
        assert sorted(self.patterns.find(value)) == searched(self.texts, value)

    @invariant()
    def size(self) -> None:
        assert len(self.patterns) == len(self.texts)
        assert self.patterns.nbytes > 0


class AnyOrderWithLittleMemory(AnyOrder):
    """Most patterns find no set that takes them."""

    def __init__(self) -> None:
        super().__init__()
        self.kept, module._SET_MEMORY = module._SET_MEMORY, 6_000

    def teardown(self) -> None:
        module._SET_MEMORY = self.kept


TestAnyOrder = AnyOrder.TestCase
TestAnyOrderWithLittleMemory = AnyOrderWithLittleMemory.TestCase


@given(st.sets(PATTERNS, min_size=1, max_size=70), VALUES)
@example({"", "^", "$", "^$", ".", "\ud800", "[^a]", "\\C\\C\\C", "^.$"}, "\ud800")
@example({"^.$", ".", "\\x{1f600}"}, "\ud83d\ude00")
@example({"\\bk\\b", "(?i)\\bk\\b"}, "\u212a")
def test_sets_and_single_patterns_agree(texts: set[str], value: str) -> None:
    numbered = dict(enumerate(texts, 3))
    patterns = Patterns()
    patterns.add_many(numbered)
    assert sorted(patterns.find(value)) == searched(numbered, value)


def words(count: int) -> Iterator[str]:
    dice = random.Random(5)
    for at in range(count):
        word = "".join(dice.choices("abcd", k=3))
        yield (f"{word}\\d{at}", f"^{word}.*{at}$", f"(?i){word}{at}|{at}{word}")[at % 3]


def test_thousands_of_patterns() -> None:
    texts = dict(enumerate(words(2_000)))
    patterns = Patterns()
    for number, text in texts.items():
        patterns.add(number, text)
    for number in [number for number in texts if number % 5]:
        patterns.drop(number)
        del texts[number]
    dice = random.Random(6)
    for _ in range(30):
        value = "".join(dice.choices("abcdABCD0123456789", k=40))
        assert sorted(patterns.find(value)) == searched(texts, value)


TOO_LARGE = {at: f"x{{1,500}}y{{1,{at}}}z" for at in range(1, 40)}


def test_what_is_too_large_for_one_set_is_split() -> None:
    with pytest.raises(re2.error, match="compile"):
        one_set(TOO_LARGE)
    patterns = Patterns()
    patterns.add_many(TOO_LARGE)
    patterns.add(100, "a")
    for value in ("xxyz", "xyyyyyz", "xyz a", "xz"):
        assert sorted(patterns.find(value)) == searched({**TOO_LARGE, 100: "a"}, value)


def test_what_no_set_takes_is_looked_for_on_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_SET_MEMORY", 2_000)
    with pytest.raises(re2.error, match="compile"):
        one_set({0: "x{400}"})
    texts = {0: "x{400}", 1: "a", 2: "b$"}
    patterns = Patterns()
    patterns.add_many(texts)
    for value in ("a", "x" * 400 + "ab", "ba"):
        assert sorted(patterns.find(value)) == searched(texts, value)
    patterns.drop(0)
    assert patterns.find("x" * 400) == []


def one_set(texts: dict[int, str]) -> None:
    options = re2.Options()
    options.log_errors = False
    options.max_mem = module._SET_MEMORY
    together = re2.Set.SearchSet(options)
    for pattern in texts.values():
        together.Add(pattern.encode())
    together.Compile()


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Lets sets answer as they do without memory: as a set does that was never compiled."""

    def fail() -> None:
        monkeypatch.setattr(re2.Set, "Compile", lambda self: None)

    return fail


def test_an_answer_without_the_sentinel_is_none(
    failing: Callable[[], None], capfd: pytest.CaptureFixture[str]
) -> None:
    failing()
    texts = {number: f"{number}[ab]" for number in range(100)}
    patterns = Patterns()
    patterns.add_many(texts)
    assert sorted(patterns.find("7a 12b 99")) == [2, 7, 12]
    patterns.drop(7)
    assert sorted(patterns.find("7a 12b 99")) == [2, 12]
    assert "called before compiling" in capfd.readouterr().err
