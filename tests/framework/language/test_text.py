"""Checks names, strings and numbers in canonical text."""

from __future__ import annotations

import pytest

from tamis.language.text import constant_text, is_bare_name, marked_text, name_text, quoted
from tamis.language.values import Scalar


@pytest.mark.parametrize("name", ["a", "_", "x1", "meta.speed", "größe", "高度", "Inside", "a.1"])
def test_plain_names_stand_bare(name: str) -> None:
    assert is_bare_name(name)
    assert name_text(name) == name


@pytest.mark.parametrize(
    ("name", "text"),
    [
        *(("Camera ID", "`Camera ID`"), ("1st", "`1st`"), ("and", "`and`"), ("NOT", "`NOT`")),
        *(("a`b", "`a\\`b`"), ("a\\b", "`a\\\\b`"), ("a-b", "`a-b`"), (".a", "`.a`"), ("", "``")),
    ],
)
def test_other_names_stand_in_backticks(name: str, text: str) -> None:
    assert not is_bare_name(name)
    assert name_text(name) == text


def test_a_sigil_protects_keywords() -> None:
    assert marked_text("?", "n") == "?n"
    assert marked_text("?", "1") == "?1"
    assert marked_text("?", "a b") == "?`a b`"
    assert marked_text("$", "Camera ID") == "$`Camera ID`"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        *((True, "true"), (False, "false"), (3, "3"), (3.0, "3"), (2.5, "2.5"), (-1, "-1")),
        *((1e300, str(int(1e300))), (1e-7, "1e-07"), ("uav", '"uav"'), ('a"b\n', '"a\\"b\\n"')),
    ],
)
def test_constants(value: Scalar, text: str) -> None:
    assert constant_text(value) == text


def test_a_string_stands_bare_where_its_letters_are_a_name() -> None:
    assert constant_text("uav", bare=True) == "uav"
    assert constant_text("uav-1", bare=True) == '"uav-1"'
    assert constant_text("true", bare=True) == '"true"'
    assert quoted("é") == '"é"'
