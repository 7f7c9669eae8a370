"""Digests are equal exactly where values are, by the contract's meaning of scalars."""

from __future__ import annotations

import math
import os
import random
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from tamis.calling.digest import EventDigests, value_digest
from tamis.event import Event, ReadOnlyDict, ReadOnlyList, freeze

SCALARS = st.one_of(
    st.sampled_from(
        [0, 1, -1, 2**63, -(2**63), 2**64, 10**300, True, False, "", "1", "True", None]
    ),
    st.sampled_from([0.0, -0.0, 1.0, 2.0**63, 1e300, 0.5, math.inf, -math.inf, math.nan]),
    st.integers(),
    st.floats(),
    st.text(st.characters(), max_size=3),
    st.sampled_from([b"", b"1", bytearray(b"1"), "x" * 4096, "x" * 4097, b"x" * 5000]),
)
KEYS = st.one_of(st.text(max_size=2), st.integers(0, 3), st.booleans())
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.lists(inner, max_size=3).map(tuple),
        st.dictionaries(KEYS, inner, max_size=3),
        st.frozensets(KEYS, max_size=3),
    ),
    max_leaves=6,
)
DTYPES = ("u1", "i1", "<i4", ">i4", "f4", "f8", "?", "U2", "M8[s]")
ARRAYS = st.builds(
    lambda shape, dtype, seed: (
        np.random.default_rng(seed).integers(0, 2, shape).astype("i8").astype(dtype)
    ),
    st.sampled_from([(), (0,), (2,), (1, 2), (2, 1), (2, 2)]),
    st.sampled_from(DTYPES),
    st.integers(0, 3),
)


def same(one: Any, other: Any) -> bool:
    """Whether two values are equal: what the contract says of scalars, inside out."""
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return (
            type(one) is type(other)
            and (one.dtype, one.shape) == (other.dtype, other.shape)
            and one.tobytes() == other.tobytes()
        )
    for kind in (bool, (int, float), str, (bytes, bytearray), tuple, list, frozenset, dict):
        if isinstance(one, kind) or isinstance(other, kind):
            if not (isinstance(one, kind) and isinstance(other, kind)):
                return False
            break
    if isinstance(one, (tuple, list)):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, frozenset):
        return len(one) == len(other) and all(any(same(a, b) for b in other) for a in one)
    if isinstance(one, dict):
        return len(one) == len(other) and all(
            any(same(a, b) and same(one[a], other[b]) for b in other) for a in one
        )
    return bool(one == other) or (one != one and other != other)


def disguised(value: Any, chance: random.Random) -> Any:
    """An equal value in another form."""
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return value
    if isinstance(value, (int, float)):
        for form in chance.sample([int, float], 2):
            try:
                if form(value) == value:
                    return form(value)
            except (OverflowError, ValueError):
                continue
        return value
    if isinstance(value, (bytes, bytearray)):
        return chance.choice([bytes, bytearray])(value)
    if isinstance(value, tuple):
        return tuple(disguised(each, chance) for each in value)
    if isinstance(value, list):
        return chance.choice([list, ReadOnlyList])([disguised(each, chance) for each in value])
    if isinstance(value, dict):
        items = [(key, disguised(each, chance)) for key, each in value.items()]
        chance.shuffle(items)
        return dict(items) if chance.random() < 0.5 else ReadOnlyDict(items)
    if isinstance(value, frozenset):
        return set(value)
    if value.ndim and chance.random() < 0.5:
        return np.asfortranarray(value)
    return value.copy() if value.dtype.kind == "M" else freeze(value)


@given(VALUES | ARRAYS, VALUES | ARRAYS)
@example(["a", "b"], ["ab"])
@example([[], []], [[[]]])
@example({"a": 1, "b": 2}, {"a": 2, "b": 1})
@example({"a": {"b": 1}}, {"a": {}, "b": 1})
@example([1, 2], (1, 2))
@example("1:", "1")
@example(["x" * 5000, "y"], ["x" * 5000 + "y"])
@example(True, 1)
@example([False], [0.0])
@example("1", 1)
@example("1", b"1")
@example(None, "")
@example(-0.0, 0)
@example(2.0**63, 2**63)
@example(float(2**53), 2**53 + 1)
def test_digests_are_equal_exactly_where_values_are(one: Any, other: Any) -> None:
    assert (value_digest(one) == value_digest(other)) is same(one, other)
    assert value_digest(one) is not None


@given(st.lists(SCALARS, min_size=1, max_size=2), st.lists(SCALARS, min_size=1, max_size=2))
def test_inputs_together_are_equal_when_each_of_them_is(one: list[Any], other: list[Any]) -> None:
    names = ("a", "b")
    first, second = (
        EventDigests(Event(dict(zip(names, values, strict=False)), "e")).together(names)
        for values in (one, other)
    )
    present = [[None if v is None or v != v else v for v in (*x, None)[:2]] for x in (one, other)]
    assert (first == second) is same(*present)


@given(VALUES | ARRAYS, st.randoms())
def test_an_equal_value_in_another_form_has_the_same_digest(
    value: Any, chance: random.Random
) -> None:
    assert value_digest(disguised(value, chance)) == value_digest(value)


@given(st.binary(max_size=20), st.integers(0, 30_000), st.integers(0, 255))
def test_one_byte_of_a_large_array_matters(start: bytes, at: int, other: int) -> None:
    image = np.resize(np.frombuffer(start + b"x", np.uint8), (100, 100, 3)).copy()
    changed = image.copy()
    changed.reshape(-1)[at % image.size] = other
    assume(not np.array_equal(image, changed))
    assert value_digest(image) != value_digest(changed)
    assert value_digest(image[:, ::-1][:, ::-1]) == value_digest(image)
    assert value_digest(image.reshape(300, 100)) != value_digest(image)


class Text(str):
    """May hold more than its letters."""


def cyclic() -> list[Any]:
    value: list[Any] = []
    value.append(value)
    return value


def deep() -> list[Any]:
    value: list[Any] = []
    for _ in range(5000):
        value = [value]
    return value


NONE: list[Any] = [
    *(object(), Text("a"), {"a": object()}, [Text("a")], 1j, Path("a"), cyclic(), deep()),
    *(np.array([object()]), np.zeros(2, [("a", "i4")]), np.ma.array([1, 2], mask=[True, False])),
]


@pytest.mark.parametrize("value", NONE, ids=lambda value: type(value).__name__)
def test_other_values_have_no_digest(value: Any) -> None:
    assert value_digest(value) is None
    digests = EventDigests(Event({"a": value, "b": 1}, "e"))
    assert digests.of("a") is None
    assert digests.together(("b", "a")) is None
    assert digests.together(("b",)) is not None


def test_scalars_of_numpy_are_known_by_their_type() -> None:
    found = [value_digest(each) for each in (200, np.uint8(200), np.int64(200), np.float32(200))]
    assert len({*found, None}) == 5


def test_absent_inputs_are_equal_and_no_value() -> None:
    digests = EventDigests(Event({"a": None, "b": math.nan, "c": "", "d": [], "e": {}}, "e"))
    assert digests.of("a") == digests.of("b") == digests.of("nowhere") is not None
    assert len({digests.of(name) for name in "acde"}) == 4


def test_inputs_are_told_apart_by_their_places() -> None:
    digests = EventDigests(Event({"a": "x", "b": None, "c": "xy", "d": "y"}, "e"))
    names = [("a", "b"), ("b", "a"), ("a", "d"), ("c", "b"), ("a",), ("a", "b", "b")]
    assert len({digests.together(each) for each in names}) == len(names)


def test_paths_into_objects_are_inputs() -> None:
    event = Event({"meta": {"speed": 3, "other": 4}}, "e")
    assert EventDigests(event).of("meta.speed") == value_digest(3)


def test_an_input_is_read_once_an_event() -> None:
    reads: list[str] = []

    class Content(dict[str, Any]):
        def get(self, name: str, default: Any = None) -> Any:
            reads.append(name)
            return super().get(name, default)

    digests = EventDigests(Event(Content(a=1, b=2), "e"))
    for names in (("a", "b"), ("a",), ("a", "b")):
        digests.together(names)
    assert sorted(reads) == ["a", "b"]


# files


def settled(path: Path, name: str = "image", text: str | None = None, folder: str = "") -> bytes:
    """The digest once the file has lain for a moment."""
    until = time.monotonic() + 10
    while time.monotonic() < until:
        event = Event({name: str(path) if text is None else text}, "e", folder=folder)
        digest = EventDigests(event).of(name)
        if digest is not None:
            return digest
        time.sleep(0.02)
    raise AssertionError("the file never settles")


@pytest.mark.parametrize(("name", "file"), [("image", "a.png"), ("facts", "a.ttl")])
def test_a_file_is_known_by_what_it_holds_now(tmp_path: Path, name: str, file: str) -> None:
    path = tmp_path / file
    path.write_bytes(b"one")
    before = settled(path, name)
    assert settled(path, name) == before
    path.write_bytes(b"two")
    after = settled(path, name)
    assert after != before
    found = path.stat()
    path.write_bytes(b"six")
    os.utime(path, ns=(found.st_atime_ns, found.st_mtime_ns))
    if sys.platform != "win32":
        assert settled(path, name) not in (before, after)


@pytest.mark.parametrize(("name", "file"), [("image", "a.png"), ("facts", "a.ttl")])
def test_a_file_that_may_still_change_is_not_remembered(
    tmp_path: Path, name: str, file: str
) -> None:
    path = tmp_path / file
    path.write_bytes(b"one")
    ahead = time.time_ns() + 10**12
    os.utime(path, ns=(ahead, ahead))
    assert EventDigests(Event({name: str(path)}, "e")).of(name) is None


def test_relative_images_are_those_of_the_folder(tmp_path: Path) -> None:
    folders = [tmp_path / "a", tmp_path / "b"]
    for folder in folders:
        folder.mkdir()
        (folder / "x.png").write_bytes(b"one")
    one, other = (settled(tmp_path, text="x.png", folder=str(folder)) for folder in folders)
    assert one != other


def test_images_that_are_no_files() -> None:
    def digest(image: object) -> bytes | None:
        return EventDigests(Event({"image": image}, "e", folder="/nowhere")).of("image")

    assert digest("data:image/png;base64,AAAA") == value_digest("data:image/png;base64,AAAA")
    assert digest("DATA:,x") is not None
    for unknown in ("http://host/x.png", "file:///x.png", "missing.png", "a\0b", "."):
        assert digest(unknown) is None
    assert digest("") == value_digest("")
    assert digest(b"\x89PNG") == value_digest(b"\x89PNG")
    assert digest([[1, 2]]) == value_digest([[1, 2]])


def test_facts_that_are_text() -> None:
    for text in ("<a> <b> <c> .", "<a> <b> <c> .\n" * 1000, "a\0b", "x" * 5000):
        assert EventDigests(Event({"facts": text}, "e")).of("facts") == value_digest(text)


def test_facts_are_a_file_where_operators_take_them_for_one(tmp_path: Path) -> None:
    (tmp_path / "notes").write_text("<a> <b> <c> .")
    text = str(tmp_path / "notes")
    assert EventDigests(Event({"facts": text}, "e")).of("facts") == value_digest(text)
    for unknown in ("missing.ttl", "http://host/x.ttl"):
        assert EventDigests(Event({"facts": unknown}, "e")).of("facts") is None
