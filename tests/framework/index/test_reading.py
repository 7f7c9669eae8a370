"""Plain numbers are read by a kernel: what it reads is what the interpreter would."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from tamis.event import Event
from tamis.index.dimensions import Dimensions
from tamis.kit import AttributePredicate, Comparison


class Name(str):
    """A key that is not a plain string, and is as good as one."""


class Half(float):
    """A number that is not a plain one."""


KEYS = [f"a{number}" for number in range(6)]
VALUES = st.one_of(
    st.integers(), st.floats(), st.booleans(), st.none(), st.text(max_size=2), st.just(Half(0.5))
)


def dimensions(names: list[str], *, label: bool = False) -> Dimensions:
    """Returns dimensions on which numbers are asked for, and a label of `a5`."""
    asked = [AttributePredicate(name, Comparison("<", 3)) for name in names]
    if label:
        asked.append(AttributePredicate("a5", Comparison("=", "x")))
    made = Dimensions()
    made.terms([(0, asked)])
    return made


@given(
    st.dictionaries(st.sampled_from([*KEYS, "other"]), VALUES),
    st.lists(st.sampled_from(KEYS), unique=True),
    st.booleans(),
)
@example({"a1": 10**400, "a2": 1}, ["a1", "a2"], False)
@example({"a1": -1.0, "a2": -1, "a3": 2**70 + 1, "a4": -0.0, "a0": float("nan")}, KEYS[:5], False)
@example({"a1": True, "a2": 1}, ["a1", "a2"], False)
@example({Name("a1"): 4, "a2": Half(2)}, ["a1", "a2"], False)
@example({}, [], False)
def test_a_kernel_reads_what_the_interpreter_reads(
    content: dict[str, Any], names: list[str], label: bool
) -> None:
    made = dimensions(names, label=label)
    event = Event.of(content, lambda: "0")
    once, twice = made.read((event,)), made.read((event, event))
    assert columns(once, 1) == columns(twice, 2)[: len(columns(once, 1))]


def columns(readings: Any, events: int) -> list[bytes]:
    """Returns the lines and the values of the first event, as they are in memory."""
    assert readings[0] == events
    first = 4 + 2 * (events + 1)
    lines, bags = int(readings[1]), int(readings[2])
    values = readings[first + lines + 2 * bags + 1 :].view(np.float64)
    count = int(readings[4 + 1])
    return [readings[first : first + count].tobytes(), values[:count].tobytes()]


def test_other_keys_than_strings_are_nobodys() -> None:
    content: dict[Any, Any] = {3: 1, "a1": 2, (1, 2): 3}
    event = Event(content, "0")
    made = dimensions(["a1"])
    assert columns(made.read((event,)), 1) == columns(made.read((event, event)), 2)
