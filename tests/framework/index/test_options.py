"""Options of indexes: by name, as a text, kept with a saved matcher, refused with a word."""

from __future__ import annotations

from pathlib import Path

import pytest

import tamis
from tamis.errors import WrongOption
from tamis.indexing import spelled
from tamis.plugins.loader import installed


@pytest.mark.parametrize("options", [{}, {"accesses": 3}, {"accesses": 1, "vector": False}])
def test_options_as_a_text_are_those_by_name(options: dict[str, object]) -> None:
    text = spelled("psthash", options)
    assert installed().index(text).options | options == installed().index(text).options


def test_a_matcher_takes_options_and_keeps_them(tmp_path: Path) -> None:
    matcher = tamis.Matcher(operators=[], index="psthash", index_options={"accesses": 3})
    matcher.subscribe("a = 1 and b = 2 and c = 3", id="s")
    assert "index psthash:accesses=3" in repr(matcher)
    matcher.save(tmp_path / "saved")
    opened = tamis.Matcher.open(tmp_path / "saved", operators=[])
    assert "index psthash:accesses=3" in repr(opened)
    assert [each.subscription for each in opened.match({"a": 1, "b": 2, "c": 3}).matches] == ["s"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("psthash:colour=1", "no option 'colour': it takes accesses, look_up_rows"),
        ("psthash:accesses", "an option is NAME=VALUE"),
        ("psthash:accesses=99", "accesses is from 1 to 8, not 99"),
        ("psthash:look_up_rows=-1", "look_up_rows is 0 or more"),
        ("pstbloom:signature=bloom", "signature is one of none, row, block, not 'bloom'"),
        ("pstbloom:signature=3", "signature is one of none, row, block, not 3"),
        ("scan:vector=true", "it takes none"),
    ],
)
def test_what_is_no_option_is_refused(text: str, words: str) -> None:
    with pytest.raises(WrongOption, match=words):
        tamis.Matcher(operators=[], index=text)
