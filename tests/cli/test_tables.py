"""Tables: nothing is cut, nothing is colored, columns stand below each other."""

from __future__ import annotations

import pytest

from tamis.cli.tables import table

NAME = "a_name_that_is_longer_than_most_are"
WORDS = "words that go on until they have to go on in the next line, at least in a narrow window"


@pytest.mark.parametrize("columns", [1, 40, 80, 200])
def test_names_are_whole_whatever_the_width(monkeypatch: pytest.MonkeyPatch, columns: int) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setenv("FORCE_COLOR", "1")
    text = table(
        ("planner", "calls", "what it is"), [(NAME, 12_345, WORDS), ("x", None, "[b]:+1:")]
    )
    first, *lines = text.splitlines()
    assert "\x1b" not in text
    assert lines[0].startswith(f"{NAME}  12,345  words")
    start = first.index("what it is")
    assert " ".join(line[start:] for line in lines[:-1]) == WORDS
    assert lines[-1] == f"{'x':<{len(NAME)}}{'-':>8}  [b]:+1:"
    assert all(line == line.rstrip() for line in lines)


def test_wide_letters_take_two_columns() -> None:
    lines = table(("id", "n"), [("日本", 1), ("abcd", 2)]).splitlines()
    assert lines == ["id    n", "日本  1", "abcd  2"]
