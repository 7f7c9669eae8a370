"""The guides are right: their examples run, and give what the tables beside them say."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import tamis
from tests.framework.language.reading import read_atom
from tests.showing import run_shown

ROOT = Path(__file__).resolve().parents[1]
LANGUAGE = (ROOT / "framework" / "LANGUAGE.md").read_text(encoding="utf-8")
INDEXES = (ROOT / "framework" / "INDEXES.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| (`.+`) \| `(\{.*\})` \| (matches|does not|undetermined) \|$", re.MULTILINE)
CANONICAL = re.compile(r"^\| `(.+?)` \| `(.+?)` \|$", re.MULTILINE)


@tamis.operator(inputs=("level",))
def level(event: Mapping[str, Any], least: float) -> bool:
    return bool(event["level"] >= least)


@tamis.operator(inputs=("counts",), outputs=("n",))
def count(event: Mapping[str, Any], n: object) -> list[int]:
    return list(event["counts"])


@tamis.operator
def broken(event: object) -> bool:
    raise RuntimeError("broken")


@pytest.mark.parametrize(("written", "event", "answer"), ROW.findall(LANGUAGE))
def test_what_the_language_says_of_an_event_is_so(written: str, event: str, answer: str) -> None:
    where = re.sub(r"^(`+) ?(.*?) ?\1$", r"\2", written)
    matcher = tamis.Matcher(operators=[level, count, broken])
    matcher.subscribe(where, id="s1")
    result = matcher.match(json.loads(event))
    found = "matches" if result.matches else "undetermined" if result.undetermined else "does not"
    assert found == answer


def test_the_language_is_shown_by_many_examples() -> None:
    assert len(ROW.findall(LANGUAGE)) >= 45
    canonical = LANGUAGE.partition("## Canonical text")[2].partition("##")[0]
    rows = CANONICAL.findall(canonical)
    assert len(rows) >= 5
    for written, text in rows:
        assert read_atom(written).text() == read_atom(text).text() == text


def test_the_code_of_the_language_reference_gives_what_it_shows() -> None:
    assert run_shown(LANGUAGE, {}) == 2


def test_the_index_of_the_guide_matches_as_others_do() -> None:
    names: dict[str, Any] = {}
    assert run_shown(INDEXES, names) == 2
    [record] = names["tamis_indexes"]()
    assert record.made({}).nbytes >= 0
    asked = [names["AttributePredicate"]("a", names["Comparison"](">", 3))]
    index = record.made({})
    index.insert(7, asked)
    assert index.match(tamis.Event.of({"a": 4}, str)).tolist() == [7]
