"""Checks against an oracle that necessary conditions change verdicts only as they are believed.

The oracle looks at every predicate of every subscription: an absent input, then the declarations
read anew, then the answer; Kleene's logic over these. It knows no index, planner, memo or call.
"""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test

import tamis
from tamis import Implication, Matcher, Operator, Parameter, Specification, Variable
from tamis.catalog.sieve import Sieve
from tamis.event.clock import moment
from tamis.plugins.loader import installed
from tamis.testing import counting
from tamis.testing.lazily import law_settings

GOOD, BAD = ("2026-05-02T04:00:00Z", "2026-05-02T11:30:00Z", "1999-01-01T23:59:59Z"), ("noon", 7)
TIMES = (*GOOD, *BAD, None)
HOURS, LEVELS, COUNTS = (0, 4, 5, 12, 24), (1, 2, 3), (0, 1, 2, 3)
Clauses = list[tuple[str, str, object]]


class Early(Operator):
    """Before an hour: fails of a time that cannot be read; earlier implies later."""

    specification = Specification(
        "early", parameters=(Parameter("hour"),), inputs=("time",), deterministic=True
    )

    def solve(self, event: Any, hour: int) -> bool:
        found = moment(event["time"])
        if found is None:
            raise ValueError("no time")
        return found.hour < hour

    def implications(
        self, arguments: Sequence[Any], others: Sequence[Sequence[Any]]
    ) -> Iterable[Implication]:
        for place, (hour,) in enumerate(others):
            if hour >= arguments[0]:
                yield Implication(True, place, True)

    def necessary(self, arguments: Sequence[Any]) -> Clauses:
        return [("time.hour", "<", arguments[0])]


class Loud(Operator):
    """At a level: what is no number fails, and is excluded before."""

    specification = Specification("loud", parameters=(Parameter("level"),), inputs=("level",))

    def solve(self, event: Any, level: int) -> bool:
        if isinstance(event["level"], str):
            raise TypeError("no level")
        return bool(event["level"] >= level)

    def solve_many(self, event: Any, lists: Sequence[Sequence[Any]]) -> list[bool]:
        return [self.solve(event, *each) for each in lists]

    def necessary(self, arguments: Sequence[Any]) -> Clauses:
        return [("level", ">=", arguments[0])]


class Count(Operator):
    """Every number of a list; the event says the least and the most of them, if it says any."""

    specification = Specification(
        "count", parameters=(Parameter("n"),), inputs=("counts",), outputs=("n",)
    )

    def solve(self, event: Any, n: Any) -> list[int]:
        if isinstance(event["counts"], str):
            raise RuntimeError("no counts")
        return list(event["counts"])

    def necessary(self, arguments: Sequence[Any]) -> Clauses:
        (n,) = arguments
        if isinstance(n, Variable):
            return [("most", ">=", n.least), ("most", "!=", -1)] if n.least > 0 else []
        return [("least", "<=", n), ("most", ">=", n)]


class Seen(Operator):
    """Says nothing of itself."""

    specification = Specification("seen", parameters=(Parameter("key"),), inputs=("seen",))

    def solve(self, event: Any, key: str) -> bool:
        return bool(key in event["seen"])


class Literal(NamedTuple):
    """A predicate of an alternative, and its sign."""

    name: str
    argument: Any
    least: int = 0
    negated: bool = False

    @property
    def text(self) -> str:
        if self.name == "count" and self.argument is None:
            return f"count(?n{self.least}), ?n{self.least} >= {self.least}"
        words = f"{self.name}({self.argument})"
        if self.name in ("a", "time.hour"):
            words = f"{self.name} = {self.argument}"
        return f"not {words}" if self.negated else words

    @property
    def is_written(self) -> bool:
        """Whether it is an attribute predicate."""
        return self.name in ("a", "time.hour")

    def truth(self, event: Mapping[str, Any]) -> bool | None:
        """What is true of it, `None` where its operator fails."""
        if self.is_written:
            value = event.get(self.name)
            if value is None and self.name == "time.hour":
                found = moment(event.get("time"))
                value = None if found is None else found.hour
            return bool(value == self.argument)
        value = event.get(_INPUTS[self.name])
        if value is None:
            return False
        known = False if self.broken(event) else self.answer(value)
        return known if known is None else known is not self.negated

    def broken(self, event: Mapping[str, Any]) -> bool:
        """Whether a declaration of it is false; one about a bad time is not."""
        if self.name == "early":
            found = moment(event["time"])
            return event["time"] is None or (found is not None and found.hour >= self.argument)
        if self.name == "loud":
            level = event["level"]
            return not isinstance(level, int) or level < self.argument
        if self.name == "count":
            least, most = event.get("least"), event.get("most")
            if self.argument is None:
                return self.least > 0 and (most is None or most < self.least or most == -1)
            return least is None or most is None or not least <= self.argument <= most
        return False

    def answer(self, value: Any) -> bool | None:
        """What its operator answers."""
        if self.name == "early":
            found = moment(value)
            return None if found is None else found.hour < self.argument
        if self.name == "count":
            if isinstance(value, str):
                return None
            if self.argument is None:
                return any(n >= self.least for n in value)
        return bool(value >= self.argument if self.name == "loud" else self.argument in value)


_INPUTS = {"early": "time", "loud": "level", "count": "counts", "seen": "seen"}
Where = tuple[tuple[Literal, ...], ...]
signs, unsigned = st.booleans(), st.just(False)
literals = st.one_of(
    st.builds(Literal, st.just("early"), st.sampled_from(HOURS), st.just(0), signs),
    st.builds(Literal, st.just("loud"), st.sampled_from(LEVELS), st.just(0), signs),
    st.builds(Literal, st.just("count"), st.sampled_from(COUNTS), st.just(0), signs),
    st.builds(Literal, st.just("count"), st.none(), st.sampled_from(COUNTS), unsigned),
    st.builds(Literal, st.just("seen"), st.sampled_from("xy"), st.just(0), signs),
    st.builds(Literal, st.just("a"), st.sampled_from((1, 2)), st.just(0), unsigned),
    st.builds(Literal, st.just("time.hour"), st.sampled_from((4, 11)), st.just(0), unsigned),
)
wheres = st.lists(
    st.lists(literals, min_size=1, max_size=3, unique=True).map(tuple),
    min_size=1, max_size=2, unique=True,
).map(tuple)  # fmt: skip


@st.composite
def events(draw: st.DrawFn) -> dict[str, Any]:
    counts: Any = draw(st.one_of(st.lists(st.sampled_from(COUNTS), max_size=3), st.just("bad")))
    event = {
        "time": draw(st.sampled_from(TIMES)),
        "time.hour": draw(st.sampled_from((None, None, 4, "x"))),
        "level": draw(st.sampled_from((None, 0, 1, 2, 3, "loud"))),
        "counts": draw(st.sampled_from((None, counts, counts))),
        "seen": draw(st.sampled_from((None, "x", "xy"))),
        "a": draw(st.sampled_from((None, 1, 2))),
    }
    if counts and counts != "bad":
        event |= {"least": min(counts), "most": max(counts)}
    elif counts:
        event |= {"least": 1, "most": draw(st.sampled_from((1, 3)))}
    return event


def text_of(where: Where) -> str:
    return " or ".join(f"({' and '.join(f'({each.text})' for each in all_)})" for all_ in where)


def verdict(where: Where, event: Mapping[str, Any]) -> bool | None:
    """Kleene's or of and."""
    alternatives = []
    for all_ in where:
        truths = [each.truth(event) for each in all_]
        alternatives.append(False if False in truths else None if None in truths else True)
    return True if True in alternatives else None if None in alternatives else False


def is_left(all_: Sequence[Literal], event: Mapping[str, Any]) -> bool:
    """Whether nothing that an index reads is false of an alternative."""
    return all(
        each.truth(event) if each.is_written else each.negated or not each.broken(event)
        for each in all_
    )


class Necessary(RuleBasedStateMachine):
    """Subscribing, unsubscribing, saving and matching in any order."""

    index = "scan"
    scanned: int | None = None

    def __init__(self) -> None:
        super().__init__()
        self.folders = ExitStack()
        self.operators = [counting(each()) for each in (Early, Loud, Count, Seen)]
        self.matcher = Matcher(self.operators, index=self.index)
        record = installed().index(self.index)
        options = {} if self.scanned is None else {"scan_up_to": self.scanned}
        self.matcher._sieve = Sieve(partial(record.made, options), self.matcher._catalog)
        self.live: dict[str, Where] = {}
        self.numbers = itertools.count()

    @rule(where=wheres)
    def subscribe(self, where: Where) -> None:
        id = f"s{next(self.numbers)}"
        self.matcher.subscribe(text_of(where), id=id)
        self.live[id] = where

    @rule(several=st.lists(wheres, max_size=6))
    def subscribe_many(self, several: list[Where]) -> None:
        entries = {f"s{next(self.numbers)}": where for where in several}
        self.matcher.subscribe_many(
            {"id": id, "where": text_of(where)} for id, where in entries.items()
        )
        self.live |= entries

    @rule(place=st.integers(0, 99), where=wheres, gone=st.booleans())
    def change(self, place: int, where: Where, gone: bool) -> None:
        if not self.live:
            return
        id = sorted(self.live)[place % len(self.live)]
        if gone:
            self.matcher.unsubscribe(id)
            del self.live[id]
        else:
            self.matcher.subscribe(text_of(where), id=id, replace=True)
            self.live[id] = where

    @rule(planner=st.sampled_from(("naive", "sequential", "suborder", "greedy", "savings")))
    def plan(self, planner: str) -> None:
        self.matcher.planner = planner

    @rule(sure=st.sampled_from((True, *[False] * 7)))
    def save_and_open(self, sure: bool) -> None:
        if not sure:  # a folder takes its time
            return
        folder = Path(self.folders.enter_context(tempfile.TemporaryDirectory())) / "saved"
        self.matcher.save(folder)
        self.matcher = Matcher.open(folder, self.operators)

    @rule(event=events())
    def match(self, event: dict[str, Any]) -> None:
        for operator in self.operators:
            operator.calls.clear()
        result = self.matcher.match(event)
        verdicts = {id: verdict(where, event) for id, where in self.live.items()}
        assert [each.subscription for each in result.matches] == sorted(
            id for id, truth in verdicts.items() if truth
        )
        assert [each.subscription for each in result.undetermined] == sorted(
            id for id, truth in verdicts.items() if truth is None
        )
        left = {
            id for id, where in self.live.items() if any(is_left(all_, event) for all_ in where)
        }
        assert result.account.candidates == len(left)
        self.check_account(result, event)

    def check_account(self, result: tamis.Result, event: dict[str, Any]) -> None:
        account = result.account
        hows = {each.predicate: each.how for each in result.evaluations}
        assert account.excluded == list(hows.values()).count("excluded")
        assert account.needed_at_least <= account.calls + account.memoized
        made = [each.predicate for each in result.calls]
        assert len(set(made)) == len(made)
        for predicate, how in hows.items():
            if how == "excluded":
                assert "count" in predicate or predicate not in made
        for id in self.live:
            explained = result.explain(id).data
            for alternative in explained["alternatives"]:
                for each in alternative["predicates"]:
                    if each.get("how") == "excluded":
                        assert each["truth"] is each["predicate"].startswith("not ")
                        assert "it declares" in each["detail"]

    def teardown(self) -> None:
        self.folders.close()


@pytest.mark.filterwarnings("ignore::tamis.SubscriptionWarning")
@pytest.mark.parametrize("name", ["scan", "pstbloom", "psthash", "lanes", "opindex", "pbtree"])
def test_declarations_change_no_verdict(name: str) -> None:
    scanned = None if name in ("scan", "pbtree") else 0
    machine = type("Machine", (Necessary,), {"index": name, "scanned": scanned})
    run_state_machine_as_test(machine, settings=law_settings(None, steps=15))
