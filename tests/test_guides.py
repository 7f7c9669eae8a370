"""The guides are right: their examples run, and give what the tables beside them say."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import tamis
from tests.examples.running import run
from tests.framework.language.reading import read_atom
from tests.showing import run_shown

ROOT = Path(__file__).resolve().parents[1]
SEMANTICS = (ROOT / "framework" / "SEMANTICS.md").read_text(encoding="utf-8")
INDEXES = (ROOT / "framework" / "INDEXES.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| (`.+`) \| `(\{.*\})` \| (matches|does not|undetermined) \|$", re.MULTILINE)
CANONICAL = re.compile(r"^\| `(.+?)` \| `(.+?)` \|$", re.MULTILINE)


@tamis.operator(inputs=("level",))
def level(event: Mapping[str, Any], least: float) -> bool:
    return bool(event["level"] >= least)


@tamis.operator(inputs=("counts",), outputs=("n",))
def count(event: Mapping[str, Any], n: object) -> list[int]:
    return list(event["counts"])


@tamis.operator(inputs=("time",), necessary=lambda arguments: [("time.hour", "<", arguments[0])])
def early(event: Mapping[str, Any], hour: int) -> bool:
    return datetime.fromisoformat(event["time"]).hour < hour


@tamis.operator
def broken(event: object) -> bool:
    raise RuntimeError("broken")


@pytest.mark.parametrize(("written", "event", "answer"), ROW.findall(SEMANTICS))
def test_what_the_semantics_say_of_an_event_is_so(written: str, event: str, answer: str) -> None:
    where = re.sub(r"^(`+) ?(.*?) ?\1$", r"\2", written)
    matcher = tamis.Matcher(operators=[level, count, early, broken])
    matcher.subscribe(where, id="s1")
    result = matcher.match(json.loads(event))
    found = "matches" if result.matches else "undetermined" if result.undetermined else "does not"
    assert found == answer


POLICY = re.compile(r"^\| `([\[{].+)` \| `([-+?. ]+)` \| `(.+)` \|$", re.MULTILINE)


@pytest.mark.parametrize(("deliver", "letters", "expected"), POLICY.findall(SEMANTICS))
def test_what_the_semantics_say_of_policies_is_so(
    deliver: str, letters: str, expected: str
) -> None:
    matcher = tamis.Matcher(operators=[broken])
    matcher.subscribe("sign = plus or sign = broken and broken()", deliver=json.loads(deliver))
    signs = {"+": "plus", "-": "minus", "?": "broken"}
    deliveries = tamis.Deliveries(matcher)
    found = []
    for at, letter in enumerate(letters.split()):
        if letter == ".":
            found += deliveries.finish()
        else:
            event = {"id": str(at + 1), "time": 1_768_478_400 + 10 * at, "sign": signs[letter]}
            found += deliveries.take(matcher.match(event))
    assert ", ".join(" ".join([each.kind, *each.events]) for each in found) == expected


def test_the_semantics_are_shown_by_many_examples() -> None:
    assert len(ROW.findall(SEMANTICS)) >= 45
    assert len(POLICY.findall(SEMANTICS)) >= 7
    canonical = SEMANTICS.partition("## Canonical text")[2].partition("##")[0]
    rows = CANONICAL.findall(canonical)
    assert len(rows) >= 5
    for written, text in rows:
        assert read_atom(written).text() == read_atom(text).text() == text


def test_the_code_of_the_semantics_gives_what_it_shows() -> None:
    assert run_shown(SEMANTICS, {}) == 2


def test_the_index_of_the_guide_matches_as_others_do() -> None:
    names: dict[str, Any] = {}
    assert run_shown(INDEXES, names) == 3
    [record] = names["tamis_indexes"]()
    assert record.made({}).nbytes >= 0
    asked = [names["AttributePredicate"]("a", names["Comparison"](">", 3))]
    index = record.made({})
    index.insert(7, asked)
    assert index.match(tamis.Event.of({"a": 4}, str)).tolist() == [7]


def test_the_figures_of_the_readme_name_commands_that_are_there() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    rows = readme.partition("## Figures")[2].partition("\n## ")[0]
    commands = re.findall(r"\| `([^`]+)` \|$", rows, re.MULTILINE)
    assert len(commands) >= 6
    for command in commands:
        program, *arguments = command.split()
        if program == "tamis":
            assert run("-m", "tamis", *arguments, "--help", folder=ROOT).status == 0, command
        elif arguments[0] == "-m":
            assert find_spec(arguments[1]) is not None, command
        else:
            assert (ROOT / arguments[0]).is_file(), command
