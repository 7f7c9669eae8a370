"""A matcher that was saved and opened answers as the one it was, and is refused for another."""

from __future__ import annotations

import io
import json
import pickle
import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import tamis
from tamis import Matcher, MatcherFolderError
from tamis.catalog.compiled import _SUMMED
from tamis.testing import FakeClock, events, pool_operators, subscriptions

pytestmark = pytest.mark.filterwarnings("ignore::tamis.SubscriptionWarning")
INDEXES = ("pstbloom", "psthash", "lanes", "opindex", "pbtree", "scan")


@tamis.operator(inputs=("loudness",), version="3")
def louderThan(event: Any, level: Any) -> bool:
    return bool(event["loudness"] > level)


@tamis.operator(inputs=("people",), outputs=("count",))
def peopleCount(event: Any, count: Any) -> list[int]:
    return [event["people"]]


TEXTS = [
    "louderThan(3) and altitude < 400",
    "(peopleCount(?n) and ?n > $limit) or peopleCount(4)",
    "peopleCount(?n), louderThan(9), ?n + 1 < 2 * ?n",
    "speed > $limit and altitude < 3 or not louderThan(3)",
    "altitude in [3, 9)",
]


def filled(**settings: Any) -> Matcher:
    matcher = Matcher(operators=[louderThan, peopleCount], **settings)
    for at, text in enumerate(TEXTS):
        matcher.subscribe(text, id=f"s{at}", data={"at": at} if at % 2 else None)
    return matcher


def seen(matcher: Matcher, event: dict[str, Any]) -> Any:
    found = matcher.match(event)
    return found.as_dict(), found.account.candidates


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("saved")


@settings(max_examples=60, deadline=None)
@given(
    subscriptions(),
    subscriptions(),
    st.lists(events(), min_size=1, max_size=4),
    st.sampled_from(INDEXES),
)
@example(
    asked=[{"id": "s1", "where": "near(a, ?x, ?x)"}],
    more=[{"id": "s1", "where": "altitude = 0"}],
    happening=[{"near": {"a": [[0, 0]], "b": [], "c": []}}],
    index="pstbloom",
)  # what was read from a folder, and nobody has met, is there
def test_it_answers_as_the_one_it_was_and_goes_on(
    folder: Path,
    asked: list[dict[str, Any]],
    more: list[dict[str, Any]],
    happening: list[dict[str, Any]],
    index: str,
) -> None:
    happening = [{"id": f"e{at}", **each} for at, each in enumerate(happening)]
    matcher = Matcher(operators=pool_operators(), index=index, learning=False)
    matcher.subscribe_many(asked)
    if len(asked) > 2:
        matcher.unsubscribe(asked[1]["id"])
    print_ = matcher.save(folder / "matcher")
    opened = Matcher.open(
        folder / "matcher", pool_operators(), fingerprint=print_, planner="naive", learning=False
    )
    naive = Matcher(operators=pool_operators(), index="scan", planner="naive", learning=False)
    naive.subscribe_many(asked)
    if len(asked) > 2:
        naive.unsubscribe(asked[1]["id"])
    assert list(opened) == list(matcher)
    for event in happening:
        assert seen(opened, event) == seen(naive, event)
    for each in (opened, naive):
        each.subscribe_many(more, replace=True)
        each.unsubscribe(more[0]["id"])
    for event in happening:
        assert seen(opened, event) == seen(naive, event)
    again = opened.save(folder / "again")
    twice = Matcher.open(folder / "again", pool_operators(), fingerprint=again, learning=False)
    assert [twice.subscription(id) for id in twice] == [naive.subscription(id) for id in naive]
    for event in happening:
        assert seen(twice, event)[0] == seen(naive, event)[0]


def test_what_is_declared_of_answers_is_opened_too(tmp_path: Path) -> None:
    matcher = Matcher(operators=pool_operators())
    matcher.subscribe_many([{"where": f"inside({key})"} for key in "abc"])
    matcher.save(tmp_path / "m")
    opened = Matcher.open(tmp_path / "m", pool_operators())
    known = opened._catalog.implications
    assert len(known) == len(matcher._catalog.implications) > 0
    assert not known.pending
    event = {"id": "e", "inside": {"a": True, "b": True, "c": True}}
    assert seen(opened, event) == seen(matcher, event)


def test_the_fingerprint_is_of_content(tmp_path: Path) -> None:
    one = filled(index="lanes").save(tmp_path / "one")
    assert filled(index="scan", planner="naive").save(tmp_path / "other") == one
    other = filled()
    other.subscribe("altitude in [3, 9)", id="s4", data={"at": 5}, replace=True)
    assert other.save(tmp_path / "other") != one


def test_one_of_other_subscriptions_or_operators_is_refused(tmp_path: Path) -> None:
    filled().save(tmp_path / "m")
    with pytest.raises(MatcherFolderError, match="other subscriptions"):
        Matcher.open(tmp_path / "m", [louderThan, peopleCount], fingerprint="0" * 64)
    with pytest.raises(MatcherFolderError, match="the operator peopleCount, which is not given"):
        Matcher.open(tmp_path / "m", [louderThan])
    newer = tamis.operator(inputs=("loudness",), version="4", name="louderThan")(louderThan.solve)
    with pytest.raises(MatcherFolderError, match="version 3 of louderThan, and this is version 4"):
        Matcher.open(tmp_path / "m", [newer, peopleCount])


def test_what_is_damaged_is_refused_with_a_sentence(tmp_path: Path) -> None:
    filled().save(tmp_path / "m")
    for name in json.loads((tmp_path / "m" / "manifest.json").read_text())["files"]:
        shutil.copytree(tmp_path / "m", tmp_path / "copy")
        path = tmp_path / "copy" / name
        content = bytearray(path.read_bytes())
        if len(content) > _SUMMED and path.suffix == ".npy":
            del content[-1]  # what is mapped is held to its size
        else:
            content[len(content) // 2] ^= 1
        path.write_bytes(content)
        with pytest.raises(MatcherFolderError, match="is damaged"):
            Matcher.open(tmp_path / "copy", [louderThan, peopleCount])
        shutil.rmtree(tmp_path / "copy")
    with pytest.raises(MatcherFolderError, match="no manifest"):
        Matcher.open(tmp_path, [])


def test_nothing_that_could_run_is_read(tmp_path: Path) -> None:
    from tamis.catalog.folder import _Plain

    reader = _Plain(io.BytesIO(pickle.dumps(shutil.rmtree)))
    with pytest.raises(pickle.UnpicklingError, match="has no place here"):
        reader.load()


def test_a_folder_that_holds_something_else_stays(tmp_path: Path) -> None:
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / "thesis.txt").write_text("years of work")
    with pytest.raises(MatcherFolderError, match="is not a saved matcher"):
        filled().save(tmp_path / "m")
    assert (tmp_path / "m" / "thesis.txt").exists()


def test_a_folder_of_an_index_holds_no_matcher(tmp_path: Path) -> None:
    tamis.index.build("lanes", [(1, [("a", "=", 1)])]).save(tmp_path)
    says = r"holds no saved matcher of format 3: its manifest.json is of format \d+ and lacks fing"
    with pytest.raises(MatcherFolderError, match=says):
        Matcher.open(tmp_path, [])


def test_ends_are_kept_by_the_clock(tmp_path: Path) -> None:
    clock = FakeClock()
    matcher = Matcher(operators=[], clock=clock)
    matcher.subscribe("a = 1", id="long")
    matcher.subscribe("a = 1", id="short", validity=10)
    matcher.save(tmp_path / "m")
    opened = Matcher.open(tmp_path / "m", [], clock=clock)
    assert list(opened) == ["long", "short"]
    clock.advance(11)
    assert list(opened) == ["long"]


def test_following_planners_hear_of_what_is_there(tmp_path: Path) -> None:
    filled().save(tmp_path / "m")
    event = {"id": "e", "loudness": 5, "people": 4, "altitude": 3, "limit": 2, "speed": 9}
    opened = Matcher.open(tmp_path / "m", [louderThan, peopleCount], planner="suborder")
    assert seen(opened, event) == seen(filled(planner="naive"), event)
    assert opened.graph().number_of_nodes() == filled().graph().number_of_nodes()
