"""The oracle's own evaluator on cases read straight from the contract; tamis takes no part."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field

import pytest

from . import operators as ops
from .evaluate import Verdict, holds, judge
from .operators import Place, Reply, Spec
from .shrink import smaller
from .spelling import spell
from .tree import (
    And,
    Arithmetic,
    Atom,
    Attribute,
    Compare,
    Condition,
    Constant,
    Exists,
    Has,
    Member,
    Minus,
    Not,
    Or,
    Predicate,
    Range,
    Term,
    Text,
    Variable,
    alternatives,
    complement,
    count_alternatives,
    is_sound,
    push_down,
)
from .values import Scalar, look_up, open_event
from .worlds import make_world

A, B, X, Y = Attribute("a"), Attribute("b"), Variable("x"), Variable("y")


@dataclass(frozen=True)
class Fixed(Spec):
    """An operator with the replies written down, by its constants (None where it is asked)."""

    replies: dict[tuple[Scalar | None, ...], Reply] = field(default_factory=dict)

    def reply(self, event: object, constants: tuple[Place, ...]) -> Reply:
        """The reply that was written down."""
        return self.replies[
            tuple(None if isinstance(place, ops.Hole) else place for place in constants)
        ]


def fixed(
    name: str,
    replies: dict[tuple[Scalar | None, ...], Reply],
    outputs: tuple[str, ...] = (),
    inputs: tuple[str, ...] | None = None,
) -> Fixed:
    """A fixed operator of as many parameters as its replies have constants."""
    parameters = ("a", "b", "c")[: len(next(iter(replies)))]
    return Fixed(name, parameters, inputs, outputs, inputs or (), 0, 0.5, 0.0, 4, replies=replies)


def solutions(*found: Scalar | tuple[Scalar, ...]) -> Reply:
    """A reply with solutions."""
    return Reply(solutions=tuple(one if isinstance(one, tuple) else (one,) for one in found))


OPERATORS = {
    spec.name: spec
    for spec in (
        fixed("yes", {(): Reply(True)}),
        fixed("no", {(): Reply(False)}),
        fixed("fails", {(): Reply(failure="raise")}),
        fixed("breaks", {(None,): Reply(failure="raise")}),
        fixed("blind", {(1,): Reply(True)}, inputs=("eye",)),
        fixed("count", {(None,): solutions(5, 7.0, 7, True)}, outputs=("a",)),
        fixed("pair", {(None, None): solutions((1, 1.0), (1, 2), (3, True))}),
        fixed("few", {(None,): solutions(1, 2)}),
        fixed("empty", {(None,): solutions()}),
    )
}


def ask(name: str, *arguments: Term, negated: bool = False) -> Predicate:
    """An operator predicate."""
    taken = tuple(found for found in arguments if isinstance(found, (Constant, Variable)))
    return Predicate(name, taken, negated)


def verdict(*parts: Condition, event: dict[str, object] | None = None) -> Verdict:
    """The verdict on a conjunction."""
    return judge(And(parts), open_event(event or {}), OPERATORS)


def compare(symbol: str, left: Term, right: Term | Scalar) -> Compare:
    """A comparison."""
    if isinstance(right, (bool, int, float, str)):
        return Compare(symbol, left, Constant(right))
    return Compare(symbol, left, right)


@pytest.mark.parametrize(
    ("value", "atom", "truth", "negated"),
    [
        (1, compare("=", A, 1.0), True, False),
        (True, compare("=", A, 1), False, False),
        (True, compare("=", A, True), True, False),
        ("x", compare("=", A, 1), False, False),
        (None, compare("!=", A, 1), False, False),
        (math.nan, compare("!=", A, 1), False, False),
        (2, compare("<", A, 3), True, False),
        ("2", compare("<", A, 3), False, False),
        (2**53 + 1, compare(">", A, float(2**53)), True, False),
        (float(2**53), compare("=", A, 2**53 + 1), False, True),
        (10**400, compare("=", A, 10**400), True, False),
        (10**999, compare("<", A, 10**999 + 1), True, False),
        (10**1000, compare(">", A, 10**999), True, False),
        (math.inf, compare(">", A, 10**400), True, False),
        ("\U0001f525", compare(">", A, "\uffee"), True, False),
        (3, Member(A, (3.0, "x")), True, False),
        (4, Member(A, (3, "x")), False, True),
        (True, Member(A, (1, "x")), False, False),
        (3, Range(A, 3, 12), True, False),
        (3, Range(A, 3, 12, low_closed=False), False, True),
        ("m", Range(A, 3, 12), False, False),
        ("m", Range(A, "a", "z"), True, False),
        ("http://", Text(A, "starts with", "http"), True, False),
        (7, Text(A, "starts with", "7"), False, False),
        ("uav-12", Text(A, "matches", "[0-9]+$"), True, False),
        (["fire", None], Has(A, "any", ("fire", "smoke")), True, False),
        (["fire", math.nan], Has(A, "all", ("fire", "smoke")), False, True),
        ([], Has(A, "none", ("fire",)), True, False),
        ([], Has(A, "all", ("fire",)), False, True),
        (["fire", {}], Has(A, "any", ("fire",)), False, False),
        ("fire", Has(A, "none", ("smoke",)), False, False),
        ([1], Has(A, "any", (True,)), False, True),
        ({}, Exists(A), True, False),
        (None, Exists(A), False, True),
    ],
)
def test_attribute_predicates(value: object, atom: Atom, truth: bool, negated: bool) -> None:
    """Meaning 1 to 3: both the predicate and its complement."""
    assert holds(atom, {"a": value}, {}) is truth
    assert holds(complement(atom), {"a": value}, {}) is negated


@pytest.mark.parametrize(
    ("event", "left", "symbol", "right", "truth", "negated"),
    [
        ({"a": 1, "b": 3}, Arithmetic("+", A, B), ">", 3, True, False),
        ({"a": 1}, Arithmetic("+", A, B), ">", 3, False, False),
        ({"a": 1, "b": 0}, Arithmetic("/", A, B), ">", 3, False, False),
        ({"a": True, "b": 0}, Arithmetic("+", A, B), ">", 0, False, False),
        ({"a": 10**400, "b": 0.5}, Arithmetic("*", A, B), ">", 0, False, False),
        ({"a": 10**400, "b": 1}, Arithmetic("+", A, B), ">", 10**400, True, False),
        ({"a": math.inf, "b": 1}, Arithmetic("+", A, B), ">", 0, False, False),
        ({"a": math.inf}, Minus(A), "<", 0, False, False),
        ({"a": math.inf, "b": 1}, A, ">", B, True, False),
        ({"a": "x", "b": "y"}, A, "!=", B, True, False),
        ({"a": "x", "b": 1}, A, "!=", B, False, False),
        ({"a": True, "b": False}, A, ">", B, False, False),
    ],
)
def test_constraints_over_attributes(
    event: dict[str, object],
    left: Term,
    symbol: str,
    right: Term | Scalar,
    truth: bool,
    negated: bool,
) -> None:
    """Meaning 5: what is no arithmetic makes a comparison and its complement false."""
    atom = compare(symbol, left, right)
    assert holds(atom, event, {}) is truth
    assert holds(complement(atom), event, {}) is negated


def test_names() -> None:
    """Section 1: keys before paths before what is derived; envelopes; numbers as ids."""
    event: dict[str, object] = {"m.s": None, "m": {"s": 3, "t": {"u": 4}}, "m.t.u": 5}
    assert look_up(event, "m.s") == 3
    assert look_up(event, "m.t.u") == 5
    assert look_up(event, "m.t.v") is None
    late: dict[str, object] = {"time": "2024-03-05T23:30:00.5+05:30"}
    found = [look_up(late, f"time.{part}") for part in ("epoch", "hour", "weekday")]
    assert found == [1709661600.5, 23, 2]
    assert look_up({**late, "time.hour": 1}, "time.hour") == 1
    assert open_event({"id": 7}) == {"id": "7"}
    envelope = {"specversion": "1.0", "id": "c", "type": "t", "source": "/s", "x": 1}
    opened = open_event({**envelope, "data": {"type": "mine", "id": "d"}})
    assert opened == {"id": "c", "type": "mine", "source": "/s"}
    assert look_up(json.loads('{"a": -1e400}'), "a") == -math.inf


def test_bindings() -> None:
    """Meaning 5: joint assignments, constants at outputs, variables that occur twice."""
    assert verdict(ask("count", X)).bindings == [{"x": 5}, {"x": 7}, {"x": True}]
    assert verdict(ask("count", X), compare(">", X, 5)).bindings == [{"x": 7}]
    assert verdict(ask("count", Constant(7))).bindings == [{}]
    assert verdict(ask("count", Constant(1))).truth is False
    assert verdict(ask("count", Constant(1), negated=True)).truth is True
    assert verdict(ask("pair", X, X)).bindings == [{"x": 1}]
    joint = compare("=", Y, Arithmetic("+", X, Constant(5)))
    assert verdict(ask("few", X), ask("count", Y), joint).bindings == [{"x": 2, "y": 7}]
    assert verdict(ask("few", X), ask("pair", X, Y)).bindings == [
        {"x": 1, "y": 1.0},
        {"x": 1, "y": 2},
    ]
    absent = compare(">", X, Arithmetic("*", Constant(2), A))
    assert verdict(ask("few", X), absent).truth is False


def test_union_of_alternatives() -> None:
    """Meaning 9: all assignments, each once; `[{}]` only without any; what is incomplete."""
    few, count, breaks = ask("few", X), ask("count", X), ask("breaks", X)
    one = And((few, compare("=", X, 1)))
    assert verdict(Or((few, one, ask("yes")))).bindings == [{"x": 1}, {"x": 2}]
    assert verdict(Or((ask("empty", X), ask("yes")))) == Verdict(True, [{}], size=1)
    assert verdict(Or((breaks, ask("yes")))) == Verdict(True, [{}], True, 2)
    assert verdict(Or((breaks, few))) == Verdict(True, [{"x": 1}, {"x": 2}], True, 3)
    assert verdict(Or((breaks, ask("no")))).truth is None
    assert verdict(Or((And((few, count)), ask("no")))).truth is False


def test_unknown() -> None:
    """Meaning 7 and 8: absent inputs, failures, and what decides in spite of them."""
    blind, fails = ask("blind", Constant(1)), ask("breaks", X)
    assert verdict(blind).truth is False
    assert verdict(Not(blind)).truth is False
    assert verdict(blind, event={"eye": math.nan}).truth is False
    assert verdict(blind, event={"eye": 0}).truth is True
    assert verdict(fails).truth is None
    assert verdict(fails, ask("no")).truth is False
    assert verdict(fails, compare("=", A, 1)).truth is False
    assert verdict(fails, ask("few", Y), compare(">", Y, 2)).truth is False
    assert verdict(fails, ask("few", Y), ask("count", Y)).truth is False
    assert verdict(fails, ask("few", Y), compare(">", Y, X)).truth is None
    closed = ask("fails")
    assert verdict(closed, Not(closed)).truth is None
    assert verdict(Or((closed, ask("yes")))) == Verdict(True, [{}], False, 2)


def test_normal_form() -> None:
    """Negations go into the atoms; the alternatives are all there."""
    low, high = compare("<", A, 3), compare(">", B, 9)
    assert push_down(Not(And((low, Not(high))))) == Or((compare(">=", A, 3), high))
    both = And((Or((low, high)), Or((low, ask("yes")))))
    assert len(alternatives(both)) == count_alternatives(both) == 4
    assert not is_sound(Or((And((ask("few", X), low)), compare(">", X, 1))))
    assert not is_sound(Not(ask("few", X)))


def test_worlds_are_sound_repeatable_and_seldom_trivial() -> None:
    """What is generated follows from the seed, is accepted, and matches now and then."""
    matched = judged = 0
    for seed in range(40):
        world = make_world(seed)
        assert repr(world) == repr(make_world(seed))
        found = {one.text: one for step in world.steps for one in step.subscriptions}
        for one in found.values():
            assert is_sound(one.condition)
            assert one.text == spell(one.condition, one.spelling)
            assert all(repr(less) != repr(one.condition) for less in smaller(one.condition))
            for event in world.events:
                judged += 1
                opened = open_event(event)
                matched += judge(one.condition, opened, world.operators).truth is True
    assert 0.1 < matched / judged < 0.5
