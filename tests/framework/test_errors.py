"""Errors: one root, and what they say."""

from __future__ import annotations

import inspect

import pytest

import tamis
from tamis import ArgumentError, SubscriptionError, SubscriptionErrors, TamisError, errors


def test_every_error_has_one_root() -> None:
    found = [each for _, each in inspect.getmembers(errors, inspect.isclass)]
    raised = [each for each in found if issubclass(each, Exception)]
    assert len(raised) > 10
    for each in raised:
        assert issubclass(each, TamisError) != issubclass(each, Warning)
        assert hasattr(tamis, each.__name__)


def test_an_error_without_a_place() -> None:
    assert str(SubscriptionError("the id is taken", subscription="s1")) == (
        "subscription 's1': the id is taken"
    )


@pytest.mark.parametrize(
    ("text", "position", "line", "column"),
    [("abc", 0, 1, 1), ("abc", 3, 1, 4), ("a\nbc", 2, 2, 1), ("a\n", 2, 2, 1), ("", 0, 1, 1)],
)
def test_line_and_column(text: str, position: int, line: int, column: int) -> None:
    error = SubscriptionError("wrong", text=text, position=position)
    assert (error.line, error.column) == (line, column)
    assert str(error).endswith("\n    " + " " * (column - 1) + "^")


def test_letters_that_cannot_be_shown_do_not_move_the_caret() -> None:
    error = SubscriptionError("wrong", text="a\x00\x1bb?", position=4)
    *_, line, caret = str(error).split("\n")
    assert line[caret.index("^")] == "?"
    assert line.isprintable()


def test_several_errors_at_once() -> None:
    both = SubscriptionErrors(
        [SubscriptionError("wrong", subscription="a"), SubscriptionError("bad", subscription="b")]
    )
    assert str(both).split("\n") == [
        *("2 subscriptions cannot be taken:", "subscription 'a': wrong", "subscription 'b': bad")
    ]
    assert [each.subscription for each in both.errors] == ["a", "b"]


def test_an_unknown_name_comes_with_the_nearest() -> None:
    error = ArgumentError.unknown("region", "Bronxx", ["Bronx", "Queens"], 1)
    assert str(error) == "unknown region 'Bronxx'; did you mean Bronx?"
    assert error.argument == 1
