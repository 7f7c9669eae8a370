"""Bad texts: nothing but a `SubscriptionError` ever, and its place lies in the text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tamis import SubscriptionError
from tamis.language import condition
from tamis.language.comparison import RELATIONS
from tamis.language.condition import Language
from tamis.language.scanner import SIGNS
from tamis.testing import conditions

TOKENS = re.compile(r"""\s+|"(?:[^"\\]|\\.)*"|'[^']*'|`[^`]*`|\w+|[<>=!]+|.""", re.DOTALL)
SNIPPETS = st.sampled_from(
    [
        *("(", ")", "{", "}", "[", "]", ",", "and", "or", "not", "in", "between", "has", "any"),
        *("?", "$", "?x", "$a", "`", '"', "'", "\\", "1", "-", "+", "*", "/", "1.", ".5", "5km"),
        *("=", "<", "<>", "!", "!=", "∈", "∉", "exists", "starts", "with", "matches", "null"),
        *("true", "9" * 30, "1e999", "\n", "\t", "é", "😀", "\0", "\ud800", "a.b", "_", "p(", ";"),
    ]
)


@st.composite
def damaged(draw: st.DrawFn) -> str:
    """A good text with a few tokens left out, doubled, swapped or put in."""
    tokens = TOKENS.findall(draw(conditions()))
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(tokens) - 1)) if tokens else 0
        match draw(st.integers(0, 3)):
            case 0:
                tokens[at : at + 1] = []
            case 1:
                tokens[at:at] = tokens[at : at + 1]
            case 2:
                tokens[at : at + 2] = tokens[at : at + 2][::-1]
            case _:
                tokens[at:at] = [draw(SNIPPETS)]
    return "".join(tokens)


@contextmanager
def careful() -> Iterator[None]:
    """Nothing is a common spelling: everything is read token by token."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(condition, "_COMMON", re.compile("(?!)"))
        yield


def is_taken_or_refused(text: str) -> bool:
    """Whether the text is good; a bad one has an error with a place in the text."""
    try:
        Language().parse(text)
    except SubscriptionError as refused:
        error = refused
    else:
        return True
    lines = text.split("\n")
    assert error.line is not None
    assert error.column is not None
    assert 1 <= error.line <= len(lines)
    assert 1 <= error.column <= len(lines[error.line - 1]) + 1
    assert error.problem
    assert "^" in str(error).split("\n")[-1]
    return False


@given(st.text())
def test_any_text(text: str) -> None:
    is_taken_or_refused(text)


@given(st.one_of(conditions(), damaged()))
def test_common_spellings_mean_what_the_careful_reader_says(text: str) -> None:
    language = Language()

    def reading() -> object:
        try:
            condition = language.parse(text)
        except SubscriptionError as refused:
            return refused.problem, refused.position
        # what is said twice in one alternative is left out where it is the same atom
        said = [{(leaf.atom, leaf.negated) for leaf in each} for each in condition.alternatives]
        return said, condition.notes

    common = reading()
    assert reading() == common, "its atoms are known by now"
    language.atoms.clear()
    with careful():
        assert reading() == common


SPELLINGS = {
    **dict.fromkeys(RELATIONS, "a {} 1"),
    **dict.fromkeys(("and", "or"), "a = 1 {} b = 2"),
    **dict.fromkeys(("in", "∉"), "a {} {{1, 2}}"),
    "not": "{} a = 1",
}


@pytest.mark.parametrize("sign", [each for each in SIGNS if SIGNS[each] in SPELLINGS])
def test_a_sign_of_the_table_is_known_to_both_readers(sign: str) -> None:
    text = SPELLINGS[SIGNS[sign]]
    meant = Language().parse(text.format(SIGNS[sign])).alternatives
    found = [[leaf.atom for leaf in each] for each in Language().parse(text.format(sign))[0]]
    assert found == [[leaf.atom for leaf in each] for each in meant]
    if sign not in ("not", "∉", "¬", "!"):
        assert condition._COMMON.match(text.format(sign)) is not None
    with careful():
        assert [
            [leaf.atom for leaf in each] for each in Language().parse(text.format(sign))[0]
        ] == found


@given(st.lists(SNIPPETS, max_size=12), st.sampled_from(["", " "]))
def test_any_row_of_tokens(snippets: list[str], between: str) -> None:
    is_taken_or_refused(between.join(snippets))


@given(conditions())
def test_good_texts_are_taken(text: str) -> None:
    assert is_taken_or_refused(text)


@settings(max_examples=4 * settings().max_examples)
@given(damaged())
def test_damaged_texts(text: str) -> None:
    is_taken_or_refused(text)


@given(conditions(), st.data())
def test_cut_texts(text: str, data: st.DataObject) -> None:
    is_taken_or_refused(text[: data.draw(st.integers(0, len(text)))])


@given(
    st.sampled_from(["(", "{", "not ", "[", "-", "p(", "a=1,(", "a=1 or{"]), st.integers(1, 3000)
)
def test_deep_texts_overflow_nothing(opening: str, count: int) -> None:
    is_taken_or_refused(opening * count)
    is_taken_or_refused(f"a > {opening * count}1")
