"""Levels of JSON are counted, not guessed, whatever else a text holds."""

from __future__ import annotations

import json
import tracemalloc
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis import EventError
from tamis.files.reading import DEEPEST, read_event_line

TEXTS = st.text(st.sampled_from('[]{}"\\/x\n\u2028é'), max_size=8)
VALUES = st.recursive(
    TEXTS | st.integers(), lambda inner: st.lists(inner) | st.dictionaries(TEXTS, inner)
)


def depth(value: Any) -> int:
    if isinstance(value, dict):
        return 1 + max(map(depth, value.values()), default=0)
    return 1 + max(map(depth, value), default=0) if isinstance(value, list) else 0


@given(VALUES, st.integers(DEEPEST - 3, DEEPEST + 3), st.booleans())
def test_levels_alone_count(value: Any, more: int, is_ascii: bool) -> None:
    inner = json.dumps([value, "[" * DEEPEST], ensure_ascii=is_ascii)
    line = "[" * more + inner + "]" * more
    if more + 1 + depth(value) > DEEPEST:
        with pytest.raises(EventError, match=f"{DEEPEST} levels at most"):
            read_event_line(line)
    else:
        read_event_line(line)


@pytest.mark.parametrize("letters", ["x", '\\"', "\\\\", "[", "]"])
def test_a_large_picture_takes_no_more_than_itself(letters: str) -> None:
    """Beside so many brackets that levels are counted."""
    picture = letters * (4_000_000 // len(letters))
    line = f'{{"image": "{picture}", "outlines": [{"[1, 2], " * 300}0]}}'
    tracemalloc.start()
    assert len(read_event_line(line)["outlines"]) == 301
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 4 * len(line)
