"""A text mentions a phrase exactly where an oracle of its own finds it, however many there are."""

from __future__ import annotations

import re
import unicodedata
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tamis
from tamis.operators.shipping import packed, unpacked
from tamis_operators import text
from tamis_operators.text import mentions, phrases
from tamis_operators.text.folding import folded, marked
from tamis_operators.text.phrases import Phrases

ASCII = st.text(st.sampled_from("aAb _-1. \n"), max_size=12)
LETTERS = "aÉe\u0301 -_1警察ก\u0e31ักहि\ufb01Σς\u200d"
MIXED = st.text(st.sampled_from(LETTERS), max_size=14)


def by_expression(phrase: str, value: str) -> bool:
    """The oracle for ASCII: one regular expression a phrase."""
    words = r"\s+".join(re.escape(word) for word in phrase.split())
    start = r"(?<!\w)" if re.match(r"\s*\w", phrase) else ""
    end = r"(?!\w)" if re.search(r"\w\s*$", phrase) else ""
    return re.search(start + words + end, value, re.ASCII | re.IGNORECASE) is not None


def parted(before: str, after: str) -> bool:
    """The rule in words: whether a word ends before a letter. Marks belong to theirs."""
    if unicodedata.category(after)[0] == "M":
        return False
    base = [each for each in before if unicodedata.category(each)[0] != "M"][-1]
    if any(unicodedata.name(each, "").startswith(("CJK UNIFIED", "THAI")) for each in base + after):
        return True
    return not all(unicodedata.category(each)[0] in "LN" or each == "_" for each in base + after)


def by_places(phrase: str, value: str) -> bool:
    """The oracle for other scripts, which looks at every place."""
    edges = {0, len(value)} | {at for at in range(1, len(value)) if parted(value[:at], value[at])}
    size = len(phrase)
    return any(
        value[at : at + size] == phrase and at in edges and at + size in edges
        for at in range(len(value) - size + 1)
    )


def matcher_of(*wanted: str, **settings: Any) -> tamis.Matcher:
    matcher = tamis.Matcher(text.operators(), **settings)
    for at, phrase in enumerate(wanted):
        matcher.subscribe(f"mentions({quoted(phrase)})", id=f"{at:05}")
    return matcher


def quoted(phrase: str) -> str:
    return '"' + phrase.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def found(matcher: tamis.Matcher, value: object) -> list[int]:
    return [int(match.subscription) for match in matcher.match({"text": value}).matches]


@given(st.lists(ASCII.filter(str.strip), min_size=1, max_size=6), st.lists(ASCII, max_size=3))
def test_as_regular_expressions_find_them(wanted: list[str], values: list[str]) -> None:
    matcher = matcher_of(*wanted)
    for value in [*values, " ".join(wanted), f"x{wanted[0]}"]:
        assert found(matcher, value) == [
            at for at, phrase in enumerate(wanted) if by_expression(phrase, value)
        ]


@given(st.lists(MIXED, min_size=1, max_size=6), MIXED, MIXED)
def test_in_other_scripts(wanted: list[str], before: str, after: str) -> None:
    plain = [folded(phrase) for phrase in wanted]
    plain = [each for each in plain if each and unicodedata.category(each[0])[0] != "M"]
    reading = Phrases("text")
    for phrase in plain:
        reading.learn(marked(phrase))
    for value in (before, after, before + wanted[0] + after, "".join(wanted)):
        value = folded(value)
        read = reading.read({"text": value})
        if value and unicodedata.category(value[0])[0] != "M":
            assert [read.holds(marked(phrase)) for phrase in plain] == [
                by_places(phrase, value) for phrase in plain
            ]


@pytest.mark.parametrize(
    ("phrase", "value", "truth"),
    [
        ("police car", "A POLICE  car, parked.", True),
        ("police car", "two police cars", False),
        ("police car", "police\n\tcar", True),
        ("police car", "police-car", False),
        ("C++", "C++20 or C", True),
        ("STRASSE", "in der Straße", True),
        ("ﬁre", "FIRE!", True),
        ("cafe", "café", False),
        ("café", "Cafe\u0301", True),
        ("警察", "两辆警察车", True),
        ("ตำรวจ", "รถตำรวจจอดอยู่", True),
        ("경찰차", "경찰차가 있다", False),
        ("x", "", False),
    ],
)
def test_decisions(phrase: str, value: str, truth: bool) -> None:
    assert found(matcher_of(phrase), value) == [0] * truth


def test_many_phrases_are_found_in_one_pass_and_the_automaton_is_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    built: list[int] = []
    settle = Phrases._settle

    def counted(self: Phrases) -> Any:
        built.append(1)
        return settle(self)

    monkeypatch.setattr(Phrases, "_settle", counted)
    wanted = [f"word{at} end" for at in range(3_000)]
    matcher = matcher_of(*wanted)
    for value in ("word7 end word2999 end", "word1 ends", "word77 END"):
        assert found(matcher, value) == [
            at for at, phrase in enumerate(wanted) if by_expression(phrase, value)
        ]
    assert len(built) == 1
    matcher.subscribe('mentions("word1 ends")', id="03000")
    assert found(matcher, "word1 ends!") == [3_000]
    assert found(matcher, "word1 ends?") == [3_000]
    assert len(built) == 2


def test_phrases_that_nobody_asks_for_do_not_stay_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(phrases, "_MOST", 50)
    reading = Phrases("text")
    for at in range(500):
        reading.learn(marked(f"w{at}"))
        read = reading.read({"text": f"w{at} w{at - 1}"})
        assert read.holds(marked(f"w{at}"))
        assert read.holds(marked(f"w{at - 1}"))
        assert not read.holds(marked(f"w{at + 1}"))
        assert len(reading) <= 50


def test_threads_read_while_others_learn() -> None:
    reading = Phrases("text")

    def work(seed: int) -> bool:
        for at in range(200):
            name = marked(f"w{seed}x{at}")
            reading.learn(name)
            read = reading.read({"text": f"a w{seed}x{at}"})
            if not read.holds(name) or read.holds(marked(f"w{seed}x{at + 1}")):
                return False
        return True

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(work, range(8)))


def test_a_phrase_implies_those_it_holds() -> None:
    matcher = matcher_of("red police car", "police car", "police", "car", "ice")
    result = matcher.match({"text": "a red police car"})
    assert [match.subscription for match in result.matches] == ["00000", "00001", "00002", "00003"]
    operator = text.operators()[0].factory()
    lists = [operator.check(each) or () for each in ("Police car", "POLICE", "ice", "police CAR")]
    said = [(each.truth, each.other) for each in operator.implications(lists[0], lists)]
    assert said == [(True, 0), (True, 1), (True, 3)]


def test_beyond_some_phrases_pairs_are_not_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mentions, "_MOST_IMPLYING", 3)
    operator = text.operators()[0].factory()
    for at in range(4):
        assert operator.implies
        operator.check(f"word{at}")
    assert not operator.implies


def test_refused_and_unknown() -> None:
    matcher = tamis.Matcher(text.operators())
    for words in ('""', '" \\n"', '"\u200d"', "3", "?x"):
        with pytest.raises(tamis.SubscriptionError, match="mentions"):
            matcher.subscribe(f"mentions({words})")
    matcher.subscribe("mentions(fire)", id="s1")
    (undetermined,) = matcher.match({"text": ["fire"]}).undetermined
    assert undetermined.reason.endswith("TypeError: text is a text, not ['fire']")
    assert not matcher.match({"other": 3}).undetermined


def test_another_attribute_and_another_process() -> None:
    records = unpacked(packed(text.operators("report.body")))
    matcher = tamis.Matcher(records)
    matcher.subscribe("mentions(fire)", id="s1")
    assert len(matcher.match({"report": {"body": "Fire!"}}).matches) == 1
    assert records[0].specification.version != text.operators()[0].specification.version


def test_samples_are_true() -> None:
    for sample in text.operators()[0].factory().samples():
        matcher = tamis.Matcher(text.operators())
        matcher.subscribe(sample.predicate)
        assert bool(matcher.match(sample.event).matches) is sample.answer
