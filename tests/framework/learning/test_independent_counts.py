"""Checks learned attribute predicates against a count that shares no code with them.

Random predicates of every kind, with what they mean written down beside their text; random events
with absent attributes, paths, times, envelopes, large numbers and arrays; as lines and as tables,
in parts that are merged or appended, in windows of time.
"""

from __future__ import annotations

import itertools
import json
import math
import random
import re
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tamis.language.condition import Language
from tamis.learning.counts import merged
from tamis.learning.learner import Learner, TimeStretch
from tamis.learning.lesson import Lesson
from tamis.learning.tables import learn_batch
from tamis.statistics import Statistics

arrow = pytest.importorskip("pyarrow", reason="pip install 'tamis[parquet]' brings pyarrow")

pytestmark = pytest.mark.filterwarnings("ignore::tamis.NeverMatches")

Holds = Callable[[Any], bool]
Asked = tuple[str, str, Holds]
NUMBERS = [
    *(0, 1, 3, -3, 7.5, 0.1, -0.0, 3.0, 1e300, 1e-320, 10**30),
    *(2**53, 2**53 + 1, -(2**53) - 1, float(2**53), 2**63, 2**64),
]
STRINGS = ["", "a", "uav", "uav-1", "uav-2", "é", "😀", "\uffff", "z", "ab", "ba", "A", " ", "1"]
NAMES = ["a", "b", "m.x", "m", "time.hour", "time.weekday", "time.epoch", "type", "source", "n"]
PATTERNS = ["^a", "[0-9]$", "v-", "^$", "b|z"]
DAY_SECONDS = 86_400.0
NEW_YEAR = 1_767_225_600.0  # 2026
EVENTS = 60


def kind(value: object) -> str:
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, str):
        return "string"
    return "number" if isinstance(value, (int, float)) else ""


def absent(value: object) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def same(one: object, other: object) -> bool:
    return kind(one) == kind(other) and one == other


def value_of(event: dict[str, Any], name: str) -> Any:
    """The value of an attribute, as the contract has it."""
    if not absent(event.get(name)):
        return event[name]
    if name.startswith("time."):
        return time_of(event.get("time"), name)
    found: Any = event
    for step in name.split("."):
        if not isinstance(found, dict) or step not in found:
            return None
        found = found[step]
    return found


def time_of(text: object, name: str) -> float | None:
    if isinstance(text, int):
        text = datetime.fromtimestamp(text, UTC).isoformat()
    if not isinstance(text, str) or text == "nonsense":
        return None
    time = datetime.fromisoformat(text.replace("Z", "+00:00"))
    if time.tzinfo is None:
        time = time.replace(tzinfo=UTC)
    if name == "time.epoch":
        return time.timestamp()
    return time.hour if name == "time.hour" else time.isoweekday()


def opened(document: dict[str, Any]) -> dict[str, Any]:
    if "specversion" not in document:
        return document
    event = dict(document["data"])
    for name in ("type", "source", "subject"):
        if name in document and absent(event.get(name)):
            event[name] = document[name]
    return event | {name: document[name] for name in ("id", "time") if name in document}


class Draw:
    """Predicates and events of a seed."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)

    def number(self) -> Any:
        chance = self.chance
        return chance.choice(
            [chance.choice(NUMBERS), chance.randrange(-5, 30), chance.uniform(-5, 30)]
        )

    def constant(self) -> Any:
        return self.chance.choice([self.number(), self.chance.choice(STRINGS), True, False])

    def predicate(self) -> Asked:
        make = self.chance.choice(
            [self.compared, self.member, self.between, self.text, self.array, self.existing]
        )
        name = self.chance.choice(NAMES)
        text, may, holds = make(name)
        if self.chance.random() < 0.25 and may is not None:
            return f"not ({text})", name, lambda value: may(value) and not holds(value)
        return text, name, holds

    def compared(self, name: str) -> tuple[str, Holds | None, Holds]:
        op = self.chance.choice(["=", "!=", "<", "<=", ">", ">="])
        given = self.constant()
        while kind(given) == "boolean" and op not in ("=", "!="):
            given = self.constant()
        compare: Holds = {
            "=": lambda value: value == given,
            "!=": lambda value: value != given,
            "<": lambda value: value < given,
            "<=": lambda value: value <= given,
            ">": lambda value: value > given,
            ">=": lambda value: value >= given,
        }[op]

        def may(value: Any) -> bool:
            return kind(value) == kind(given)

        return f"{name} {op} {written(given)}", may, lambda value: may(value) and compare(value)

    def member(self, name: str) -> tuple[str, Holds | None, Holds]:
        given = [self.constant() for _ in range(self.chance.randint(1, 4))]
        members = f"{{{', '.join(map(written, given))}}}"

        def may(value: Any) -> bool:
            return bool(kind(value)) and any(kind(value) == kind(each) for each in given)

        def among(value: Any) -> bool:
            return any(same(value, each) for each in given)

        if self.chance.random() < 0.6:
            return f"{name} in {members}", may, among
        return f"{name} not in {members}", may, lambda value: may(value) and not among(value)

    def between(self, name: str) -> tuple[str, Holds | None, Holds]:
        numeric = self.chance.random() < 0.5
        draw = self.number if numeric else lambda: self.chance.choice(STRINGS)
        low, high = sorted([draw(), draw()])
        opening, closing = "[", "]"
        text = f"{name} between {written(low)} and {written(high)}"
        if numeric and self.chance.random() < 0.7:
            opening, closing = self.chance.choice("[("), self.chance.choice("])")
            text = f"{name} in {opening}{written(low)}, {written(high)}{closing}"

        def may(value: Any) -> bool:
            return kind(value) == kind(low)

        def holds(value: Any) -> bool:
            above = may(value) and (low <= value if opening == "[" else low < value)
            return bool(above and (value <= high if closing == "]" else value < high))

        return text, may, holds

    def text(self, name: str) -> tuple[str, Holds | None, Holds]:
        op = self.chance.choice(["starts with", "ends with", "contains", "matches"])
        given = self.chance.choice(PATTERNS if op == "matches" else STRINGS)
        pattern = given.replace("$", r"\Z")
        holds: Holds = {
            "starts with": lambda value: value.startswith(given),
            "ends with": lambda value: value.endswith(given),
            "contains": lambda value: given in value,
            "matches": lambda value: re.search(pattern, value) is not None,
        }[op]

        def may(value: Any) -> bool:
            return isinstance(value, str)

        return f"{name} {op} {written(given)}", may, lambda value: may(value) and holds(value)

    def array(self, name: str) -> tuple[str, Holds | None, Holds]:
        op = self.chance.choice(["has", "has any", "has all", "has none"])
        given = [self.constant() for _ in range(1 if op == "has" else self.chance.randint(1, 3))]
        members = ", ".join(map(written, given))

        def may(value: Any) -> bool:
            return isinstance(value, list)

        def holds(value: Any) -> bool:
            if not may(value):
                return False
            held = [any(same(each, one) for each in value) for one in given]
            return all(held) if op == "has all" else any(held) != (op == "has none")

        return f"{name} {op} {members if op == 'has' else f'{{{members}}}'}", may, holds

    def existing(self, name: str) -> tuple[str, Holds | None, Holds]:
        if self.chance.random() < 0.5:
            return f"not exists({name})", None, absent
        return f"exists({name})", None, lambda value: not absent(value)

    def time(self) -> str:
        return f"2026-01-{self.chance.randint(1, 28):02}T{self.chance.randrange(24):02}:30:00Z"

    def value(self) -> Any:
        chance = self.chance
        makers: list[Callable[[], Any]] = [
            *[self.number] * 3,
            *[self.constant] * 3,
            *(lambda: None, lambda: math.nan, lambda: math.inf, dict),
            lambda: [self.constant() for _ in range(chance.randint(0, 4))],
            lambda: {"x": chance.choice([1, "a", True, None, [1]])},
        ]
        return chance.choice(makers)()

    def document(self, at: int) -> dict[str, Any]:
        chance = self.chance
        event = {name: self.value() for name in ("a", "b", "m", "n", "type", "time.hour", "m.x")}
        event = {name: value for name, value in event.items() if chance.random() < 0.5}
        if chance.random() < 0.6:
            offset = "2026-03-01T23:10:00.5+05:30"
            times = [self.time(), self.time(), offset, "2026-03-02", "nonsense", 7, None]
            event["time"] = chance.choice(times)
        if chance.random() < 0.6:
            event["id"] = f"e{at}"
        if chance.random() < 0.8:
            return event
        envelope = {"specversion": "1.0", "data": event, "id": f"c{at}", "type": "t"}
        envelope |= {"source": chance.choice(STRINGS)}
        return envelope | ({"time": self.time()} if chance.random() < 0.5 else {})

    def rows(self) -> list[dict[str, Any]]:
        """Events as a table has them."""
        chance = self.chance
        wide = [2**53 + 1, -(2**53) - 1, 2**63 - 1]
        columns: dict[str, Callable[[], Any]] = {
            "a": lambda: chance.choice([float(self.number()), math.nan, math.inf]),
            "b": lambda: [chance.choice(STRINGS) for _ in range(chance.randint(0, 3))],
            "n": lambda: chance.choice([chance.randrange(-5, 30), *wide]),
            "m": lambda: chance.random() < 0.5,
            "m.x": lambda: chance.choice(STRINGS),
            "time": self.time,
            "id": lambda: f"e{chance.randrange(10**6)}",
        }
        return [
            {name: make() if chance.random() < 0.85 else None for name, make in columns.items()}
            for _ in range(EVENTS)
        ]


def written(constant: object) -> str:
    if isinstance(constant, bool):
        return str(constant).lower()
    if isinstance(constant, str):
        return json.dumps(constant, ensure_ascii=False)
    return repr(constant)


@pytest.mark.parametrize("tabular", [False, True])
@pytest.mark.parametrize("seed", range(12))
def test_counts_are_those_of_the_contract(seed: int, tabular: bool, tmp_path: Path) -> None:
    draw = Draw(seed + 1_000 * tabular)
    asked: dict[str, Asked] = {}
    for _ in range(60):
        text, name, holds = draw.predicate()
        [leaf, *more], *others = Language().parse(text).alternatives
        if not more and not others:
            asked[text] = (str(leaf.atom.text()), name, holds)
    window = TimeStretch(NEW_YEAR + 5 * DAY_SECONDS, NEW_YEAR + 20 * DAY_SECONDS)
    window = window if draw.chance.random() < 0.3 else TimeStretch()
    lesson = Lesson([{"where": text} for text in asked], [], window=window)
    documents = draw.rows() if tabular else [draw.document(at) for at in range(EVENTS)]
    cuts = [0, *sorted(draw.chance.sample(range(EVENTS), 2)), EVENTS]
    parts = []
    for begin, end in itertools.pairwise(cuts):
        learner = Learner(lesson.task)
        if tabular:
            table = arrow.Table.from_pylist(documents).slice(begin, end - begin)
            for batch in table.to_batches(max_chunksize=draw.chance.randint(1, 40)):
                assert list(learn_batch(learner, batch, name="f.parquet")) == []
        else:
            for document in documents[begin:end]:
                learner.document(json.loads(json.dumps(document)), default_id="made up")
        parts.append(learner.finish())
    if seed % 2:
        learned = lesson.statistics(merged(parts))
    else:
        learned = Statistics()
        for at, part in enumerate(parts):
            lesson.statistics(part).save(tmp_path / str(at))
            learned = learned.merged(Statistics.load(tmp_path / str(at)))
    events = [opened(document) for document in documents]
    if window:
        events = [event for event in events if window.holds(value_of(event, "time.epoch"))]
    assert learned.events == len(events)
    for text, (canonical, name, holds) in asked.items():
        values = [value_of(event, name) for event in events]
        expected = sum(holds(value) for value in values if "exists" in text or not absent(value))
        found = learned.predicates[canonical]
        assert found.counts == (len(events), expected, 0), text
