"""Needles are found exactly as `needle in value` finds them, in any order of changes."""

from __future__ import annotations

import random
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from tamis.index.needles import Needles

LETTERS = "ab\0é\u0800\ud800\udc00😀\U0010ffff"
TEXTS = st.text(st.sampled_from(LETTERS), max_size=6)
VALUES = st.one_of(st.text(st.sampled_from(LETTERS), max_size=40), st.text(max_size=8))


class Eager(Needles):
    """Makes automata soon."""

    def _longest_wait(self, has_groups: bool) -> int:
        return 2


def contained(texts: dict[int, str], value: str) -> list[int]:
    return [number for number, needle in texts.items() if needle in value]


def found(needles: Needles, value: str) -> list[int]:
    return sorted(needles.find(value))


class AnyOrder(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.needles = Eager()
        self.texts: dict[int, str] = {}

    @rule(number=st.integers(0, 40), text=TEXTS)
    def add(self, number: int, text: str) -> None:
        if number not in self.texts and text not in self.texts.values():
            self.needles.add(number, text)
            self.texts[number] = text

    @rule(many=st.lists(TEXTS, max_size=20))
    def add_many(self, many: list[str]) -> None:
        new = set(many).difference(self.texts.values())
        free = (number for number in range(500) if number not in self.texts)
        texts = dict(zip(free, sorted(new), strict=False))
        self.needles.add_many(texts)
        self.texts |= texts

    @rule(place=st.integers(0, 40))
    def drop(self, place: int) -> None:
        if self.texts:
            number = sorted(self.texts)[place % len(self.texts)]
            self.needles.drop(number)
            del self.texts[number]

    @rule(value=VALUES)
    def find(self, value: str) -> None:
        assert found(self.needles, value) == sorted(contained(self.texts, value))

    @invariant()
    def size(self) -> None:
        assert len(self.needles) == len(self.texts)
        assert self.needles.nbytes > 0


TestAnyOrder = AnyOrder.TestCase


@given(st.sets(TEXTS, min_size=1, max_size=30), st.lists(VALUES, min_size=1, max_size=5))
@example({"", "a", "aa", "ba", "aba"}, ["", "b", "aba", "baab"])
@example(set("\ud83d\ude00😀"), ["😀", "\ud83d\ude00", "\ud83d"])
@example({"é", "\u00e9a"}, ["e\u0301", "éa"])
def test_one_automaton(texts: set[str], values: list[str]) -> None:
    numbered = dict(enumerate(texts, 7))
    needles = Eager()
    needles.add_many(numbered)
    for value in values:
        assert found(needles, value) == sorted(contained(numbered, value))


def test_needles_that_end_in_each_other_are_reported_once() -> None:
    texts = {length: "a" * length for length in range(1, 1_500)}
    needles = Needles()
    needles.add_many(texts)
    assert found(needles, "a" * 100_000) == list(texts)
    assert found(needles, "ba" * 50_000) == [1]
    assert found(needles, "b" + "a" * 700) == list(range(1, 701))
    for length in range(1, 1_400):
        needles.drop(length)
    assert found(needles, "a" * 1_450) == list(range(1_400, 1_451))


def test_thousands_of_needles() -> None:
    dice = random.Random(4)

    def word(least: int, most: int) -> str:
        return "".join(dice.choices("abcdefghé", k=dice.randint(least, most)))

    texts = dict(enumerate({word(1, 7) for _ in range(6_000)}))
    needles = Needles()
    for number, text in texts.items():
        needles.add(number, text)
    for number in list(texts)[::3]:
        needles.drop(number)
        del texts[number]
    for value in [word(0, 60) for _ in range(40)] + [word(20_000, 20_000)]:
        assert found(needles, value) == sorted(contained(texts, value))
    for number in list(texts):
        needles.drop(number)
    assert (len(needles), needles.find("abc")) == (0, [])


def test_a_number_may_be_used_again() -> None:
    needles = Eager()
    needles.add_many({0: "a", 1: "b", 2: "c", 3: "d"})
    needles.drop(1)
    needles.add(1, "x")
    assert found(needles, "abcd") == [0, 2, 3]
    assert found(needles, "x") == [1]
    needles.drop(1)
    assert found(needles, "abcdx") == [0, 2, 3]
    with pytest.raises(KeyError):
        needles.drop(1)


def test_what_is_given_twice_is_refused_and_changes_nothing() -> None:
    needles = Eager()
    needles.add_many({0: "a", 1: "b", 2: "c"})
    needles.add_many({3: "d", 4: "e"})
    with pytest.raises(ValueError, match="two numbers"):
        needles.add(5, "a")
    assert found(needles, "abcde") == [0, 1, 2, 3, 4]


def test_what_is_dropped_goes_in_the_end() -> None:
    needles = Needles()
    needles.add_many({number: f"{number:04}" for number in range(2_000)})
    full = needles.nbytes
    for number in range(1_100):
        needles.drop(number)
    assert needles.nbytes < full * 2 / 3
    assert found(needles, "10991100") == [1_100]


def test_several_threads_find_at_once() -> None:
    texts = {number: str(number) for number in range(2_000)}
    needles = Needles()
    needles.add_many(texts)
    values = [str(number) * 3 for number in range(0, 2_000, 7)]
    with ThreadPoolExecutor(4) as threads:
        answers = list(threads.map(needles.find, values))
    for value, answer in zip(values, answers, strict=True):
        assert sorted(answer) == contained(texts, value)


def test_few_needles_compile_nothing() -> None:
    program = (
        "import sys\n"
        "from tamis.index.needles import Needles\n"
        "needles = Needles()\n"
        "for number in range(64): needles.add(number, str(number))\n"
        "assert sorted(needles.find('12')) == [1, 2, 12]\n"
        "print('numba' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "False"
