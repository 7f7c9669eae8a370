"""Counts, times, lists and long texts in words."""

from __future__ import annotations

import pytest

from tamis.words import a, agreed, counted, duration, listed, plural, shortened


@pytest.mark.parametrize(
    ("number", "noun", "words"),
    [
        (0, "event", "0 events"),
        (1, "event", "1 event"),
        (1_234, "event", "1,234 events"),
        (1, "match", "1 match"),
        (2, "match", "2 matches"),
        (2, "index", "2 indexes"),
    ],
)
def test_nouns_agree_with_their_number(number: int, noun: str, words: str) -> None:
    assert counted(number, noun) == words
    assert words.endswith(agreed(number, noun, plural(noun)))


def test_long_words_are_cut() -> None:
    assert shortened("abc", 3) == "abc"
    assert shortened("abcd", 3) == "ab…"


def test_lists_say_how_many_more_there_are() -> None:
    assert listed(["x"], 2) == "x"
    assert listed(["x", "y"], 2) == "x, y"
    assert listed([str(each) for each in range(1_234)], 2, "; ") == "0; 1 and 1,232 more"


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "0 s"),
        (3.5e-9, "3.5 ns"),
        (2e-6, "2 µs"),
        (0.0123, "12.3 ms"),
        (1.5, "1.5 s"),
        (12_345, "12,345 s"),
    ],
)
def test_durations_are_in_the_unit_that_reads_best(seconds: float, words: str) -> None:
    assert duration(seconds) == words


def test_articles() -> None:
    assert [a("attribute"), a("variable")] == ["an attribute", "a variable"]
