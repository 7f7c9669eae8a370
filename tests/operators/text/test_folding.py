"""Texts are folded the same however they are written, and words end where they should."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis_operators.text.folding import SIGN, folded, marked

TEXTS = st.text(st.one_of(st.characters(), st.sampled_from("aA ßσςΣİıée\u0301ﬁＡ\u00ad\u200dกั警")))


@given(TEXTS)
def test_folding_again_changes_nothing(text: str) -> None:
    assert folded(folded(text)) == folded(text)


@given(TEXTS)
def test_how_a_text_is_written_makes_no_difference(text: str) -> None:
    wanted = folded(text)
    for form in ("NFC", "NFD", "NFKC", "NFKD"):
        assert folded(unicodedata.normalize(form, text)) == wanted
    assert folded(f" \t{text}\u00a0\n") == wanted


@given(TEXTS)
def test_signs_are_all_that_marking_adds(text: str) -> None:
    assert SIGN not in folded(text)
    assert marked(folded(text)).replace(SIGN, "") == folded(text)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", []),
        ("Police\u00a0 CAR", ["police", " ", "car"]),
        ("uav_1's", ["uav_1", "'", "s"]),
        ("Straße", ["strasse"]),
        ("１２３ ﬁre", ["123", " ", "fire"]),
        ("soft\u00adware", ["software"]),
        ("警察car", ["警", "察", "car"]),
        ("ตำรวจ", ["ต\u0e4d", "\u0e32", "ร", "ว", "จ"]),
        ("ที่", ["ที่"]),
        ("हिन्दी में", ["हिन्दी", " ", "में"]),
        ("경찰차가", ["경찰차가"]),
        ("❤\ufe0f!", ["❤", "!"]),
    ],
)
def test_words(text: str, words: list[str]) -> None:
    assert [word for word in marked(folded(text)).split(SIGN) if word] == words
