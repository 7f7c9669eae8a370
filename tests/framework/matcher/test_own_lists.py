"""An operator brings the list that finds its predicates (OpIndex, Figure 6), into every index."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import tamis
from tamis import DerivedAttribute, Event, Matcher
from tamis.plugins.loader import installed
from tamis.testing import counting
from tests.borders import borders

INDEXES = sorted(installed().indexes)
CODES = dict.fromkeys("bfpv", "1") | dict.fromkeys("cgjkqsxz", "2") | dict.fromkeys("dt", "3")
CODES |= {"l": "4", **dict.fromkeys("mn", "5"), "r": "6"}


def sound(word: str) -> str:
    """The first letter, and the sorts of the consonants behind it."""
    return word[:1] + "".join(CODES.get(letter, "") for letter in word[1:])


def sounds(event: Event) -> list[str] | None:
    """The list: it finds the sounds of all words of a text."""
    text = event.scalar("text")
    return sorted({sound(word) for word in text.split()}) if isinstance(text, str) else None


def near(word: str, other: str) -> bool:
    """Whether words are of one sound and one length."""
    return sound(word) == sound(other) and len(word) == len(other)


@tamis.operator(
    inputs=("text",),
    necessary=lambda arguments: [("text.sounds", "has", sound(arguments[0]))],
)
def mentions(event: Any, name: str) -> bool:
    return any(near(word, name) for word in event["text"].split())


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The events of which the list was asked."""
    seen: list[str] = []

    def found(event: Event) -> Sequence[str] | None:
        seen.append(event.id)
        return sounds(event)

    attribute = DerivedAttribute("text.sounds", found, inputs=("text",))
    monkeypatch.setitem(installed().attributes, attribute.name, attribute)
    return seen


def word(chance: random.Random) -> str:
    return "".join(chance.choice("bdlmr" if at % 2 == 0 else "aeiou") for at in range(5))


@pytest.mark.parametrize("rows", [0, pytest.param(2_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("index", INDEXES)
def test_every_index_finds_the_predicates_of_an_operator_by_its_list(
    index: str, rows: int, asked: list[str], tmp_path: Path
) -> None:
    chance, counted = random.Random(3), counting(mentions)
    names = sorted({word(chance) for _ in range(400)})
    with borders(rows=rows):
        matcher = Matcher([counted], index=index, memo_bytes=0)
        matcher.subscribe_many(
            {"id": f"{name} {at}", "where": f"mentions({name}) and a = {at}"}
            for name in names
            for at in (0, 1)
        )
        matcher.subscribe(f"not mentions({names[0]})", id="not")
        matched = 0
        for turn in range(30):
            text = " ".join(word(chance) for _ in range(3))
            result = matcher.match({"id": str(turn), "text": text, "a": turn % 3})
            near_names = [each for each in names if any(near(one, each) for one in text.split())]
            right = [f"{each} {turn % 3}" for each in near_names if turn % 3 < 2]
            right += ["not"] * (names[0] not in near_names)
            assert [match.subscription for match in result.matches] == sorted(right)
            alike = {sound(one) for one in text.split()}
            candidates = sum(sound(each) in alike for each in names) * (turn % 3 < 2)
            assert result.account.candidates == candidates + 1, "those that the list finds"
            matched += len(right)
    assert matched > 60
    assert asked == [str(turn) for turn in range(30)], "once an event"
    if index != "dbms":
        matcher.save(tmp_path / "saved")
        opened = Matcher.open(tmp_path / "saved", [mentions])
        event = {"text": " ".join(names[:3]), "a": 1}
        assert opened.match(event).as_dict()["matches"] == matcher.match(event).as_dict()["matches"]


def test_what_the_list_cannot_read_is_left_to_the_operator(asked: list[str]) -> None:
    matcher = Matcher([mentions])
    matcher.subscribe("mentions(mara)", id="s1")
    assert [each.subscription for each in matcher.match({"text": 3}).undetermined] == ["s1"]
    empty = matcher.match({"text": ""})
    assert (len(empty.matches), empty.undetermined, empty.account.candidates) == (0, [], 0)
    explained = str(matcher.match({"text": "lira"}).explain("s1"))
    assert "it declares text.sounds has m6, and text.sounds is" in explained
