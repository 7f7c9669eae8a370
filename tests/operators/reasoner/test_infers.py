"""Rules of one's own derive what an independent engine derives, within bounds, once an event."""

from __future__ import annotations

import random
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tamis
from tamis.testing.conformance import LAWS, Law, LawSubject
from tamis_operators import reasoner
from tamis_operators.reasoner.evaluation import ProgramRun
from tamis_operators.reasoner.program import Key, Program, RulesError, decoded, program_of
from tests.operators.reasoner.asking import written

ONTOLOGY = """
@prefix : <urn:road#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:Vehicle a owl:Class . :Car rdfs:subClassOf :Vehicle . :Exempt a owl:Class .
:drives a owl:ObjectProperty . :speed a owl:DatatypeProperty . :Near a owl:ObjectProperty .
:siren1 a :Exempt .
"""
RULES = """
% who drives faster than is allowed, and who is seen near them
limit(50).
speeding(D) :- drives(D, V), vehicle(V), speed(V, S), limit(L), S > L, not exempt(D).
by(D, S - L) :- speeding(D), drives(D, V), speed(V, S), limit(L).
reach(X, Y) :- near(X, Y).
reach(X, Z) :- reach(X, Y), near(Y, Z).
rainy :- attribute(weather, rain).
slow(D) :- rainy, by(D, M), attribute("wind.speed", W), M * 2 < W.
"""
FACTS = """
:ann :drives :c1 . :c1 a :Car ; :speed 80.5 ; :Near :c2 .
:bob :drives :c2 . :c2 a :Car ; :speed 50 ; :Near :c3 . :c3 :Near :c1 .
:siren1 :drives :c4 . :c4 a :Car ; :speed 99 .
:eve :drives :c5 . :c5 :speed 99 .
"""
LAYERS = ("a", "b", "c", "d")
NUMBERS = range(5)


def operators_of(folder: Path, rules: str = RULES, **settings: Any) -> list[tamis.OperatorRecord]:
    ontology = written(folder, ONTOLOGY)
    return reasoner.operators(ontology, rules=written(folder, rules, "rules.lp"), **settings)


def solutions(folder: Path, where: str, event: dict[str, Any], **settings: Any) -> Any:
    matcher = tamis.Matcher(operators_of(folder, **settings))
    matcher.subscribe(where, id="s")
    result = matcher.match(event)
    if result.undetermined:
        return result.undetermined[0].reason
    return result.matches[0].bindings if result.matches else []


@pytest.mark.parametrize(
    ("where", "wanted"),
    [
        ("infers(speeding, ?who)", [{"who": "ann"}]),
        ('infers("speeding", ann)', [{}]),
        ("infers(speeding, bob)", []),
        ("not infers(speeding, siren1)", [{}]),
        ("infers(by, ?who, ?much), ?much > 30", [{"who": "ann", "much": 30.5}]),
        ("infers(by, ann, 30.5)", [{}]),
        ("infers(reach, c1, ?x), isA(?x, Car)", [{"x": "c1"}, {"x": "c2"}]),
        ("infers(reach, ?x, ?x)", [{"x": "c1"}, {"x": "c2"}, {"x": "c3"}]),
        ("infers(limit, ?n)", [{"n": 50}]),
        ("infers(rainy)", []),
    ],
)
def test_the_example(tmp_path: Path, where: str, wanted: Any) -> None:
    assert solutions(tmp_path, where, {"facts": FACTS}) == wanted


def test_attributes_take_part(tmp_path: Path) -> None:
    event: dict[str, Any] = {"facts": FACTS, "weather": "rain", "wind": {"speed": 61.5}}
    assert solutions(tmp_path, "infers(slow, ?d)", event) == [{"d": "ann"}]
    assert solutions(tmp_path, "infers(slow, ?d)", {**event, "wind.speed": 61}) == []
    assert solutions(tmp_path, "infers(rainy)", {"weather": "rain"}) == [{}]
    assert solutions(tmp_path, "infers(rainy)", {"weather": True}) == []


def test_attributes_of_any_kind_are_plain_values(tmp_path: Path) -> None:
    rules = "p(X) :- attribute(a, X). q(X + 1) :- p(X)."
    for value, head, wanted in (
        (np.int64(3), "q", 4),
        (np.float32(2.5), "p", 2.5),
        (np.str_("x"), "p", "x"),
        (np.bool_(True), "p", True),
        (10**30, "q", 10**30 + 1),
    ):
        found = solutions(tmp_path, f"infers({head}, ?x)", {"a": value}, rules=rules)
        assert found == [{"x": wanted}]
        assert type(found[0]["x"]) is type(wanted)
    for absent in ([1], {"b": 1}, float("nan"), None, b"x"):
        assert solutions(tmp_path, "infers(p, ?x)", {"a": absent}, rules=rules) == []


def test_one_evaluation_answers_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Program] = []

    def evaluated(program: Program, *rest: Any) -> ProgramRun:
        made.append(program)
        return ProgramRun(program, *rest)

    monkeypatch.setattr("tamis_operators.reasoner.infers.ProgramRun", evaluated)
    matcher = tamis.Matcher(operators_of(tmp_path))
    for number in range(100):
        head = ("speeding, ?x", "by, ?x, ?y", "reach, ?x, ?y", "reach, c1, ?x")[number % 4]
        matcher.subscribe(f"infers({head}) and altitude < {number + 1}", id=str(number))
    result = matcher.match({"facts": FACTS, "altitude": 0})
    assert len(result.matches) == 100
    assert len(made) == 1
    assert result.account.calls == 4


@pytest.mark.parametrize(
    ("rules", "problem"),
    [
        ("p(X) :- car(X)", "line 1: '.' is expected, not 'the end'"),
        ("p(X) :- car(X).\nq(Y) :- p(X).", "line 2: no positive predicate of the body binds Y"),
        ("p(X) :- not car(X).", "no positive predicate of the body binds X"),
        ("p(X) :- car(X), X < Y.", "no positive predicate of the body binds Y"),
        ("p(X + 1).", "no positive predicate of the body binds X"),
        ("p(X) :- car(X), not q(X). q(X) :- car(X), not p(X).", "depends on its own negation"),
        ("p(X) :- lorry(X).", "lorry of 1 place is not a rule's head or a class"),
        ("p(X) :- speeed(X, _).", "did you mean speed?"),
        ("p(X) :- car(X), speed(car(X), 3).", "stands where a value is expected"),
        ("p(X) :- car(X), { q }.", "'{ q }.' cannot be read"),
        ("p(" + "(" * 100 + "1" + ")" * 100 + ").", "nested too deep"),
        ("p(" + "1+" * 100 + "1).", "at most 50 terms in a row"),
        ("p :- " + "p, " * 200 + "p.", "at most 100 parts"),
        ("1 < 2.", "the name of a predicate is expected"),
        ("p(X) :- X.", "a predicate or a comparison is expected"),
    ],
)
def test_rules_are_checked_at_subscription(tmp_path: Path, rules: str, problem: str) -> None:
    matcher = tamis.Matcher(operators_of(tmp_path, rules))
    with pytest.raises(tamis.TamisError) as caught:
        matcher.subscribe("infers(p, ?x)")
    assert problem in str(caught.value)


@pytest.mark.parametrize(
    ("where", "problem"),
    [
        ("infers(speding, ?x)", "unknown head speding; did you mean speeding?"),
        ("infers(speeding)", "speeding has 1 place, and 0 are asked for"),
        ("infers(?x, ann)", "the head is a name"),
    ],
)
def test_heads_are_checked(tmp_path: Path, where: str, problem: str) -> None:
    with pytest.raises(tamis.SubscriptionError) as caught:
        tamis.Matcher(operators_of(tmp_path)).subscribe(where)
    assert problem in caught.value.problem.replace("'", "")


def test_without_rules_a_subscription_says_how_to_give_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TAMIS_RULES", raising=False)
    with pytest.raises(tamis.SubscriptionError, match="set TAMIS_RULES to files of rules"):
        tamis.Matcher(reasoner.operators()).subscribe("infers(speeding, ?x)")
    monkeypatch.setenv("TAMIS_RULES", str(tmp_path / "none.lp"))
    with pytest.raises(tamis.TamisError, match="the rules cannot be read"):
        tamis.Matcher(reasoner.operators()).subscribe("infers(speeding, ?x)")
    monkeypatch.setenv("TAMIS_RULES", str(written(tmp_path, "p(1).", "rules.lp")))
    matcher = tamis.Matcher(reasoner.operators())
    matcher.subscribe("infers(p, ?x)")
    assert matcher.match({}).matches[0].bindings == [{"x": 1}]


def test_rules_that_do_not_end_are_ended(tmp_path: Path) -> None:
    endless = "p(0). p(X + 1) :- p(X)."
    reason = solutions(tmp_path, "infers(p, ?x)", {}, rules=endless, most_consequences=1_000)
    assert "more than 1,000 facts follow by the rules" in reason
    wide = "n(1). n(X + 1) :- n(X), X < 300. p :- n(A), n(B), n(C), n(D), A + B + C + D < 0."
    began = time.monotonic()
    assert "take longer than 0.3 s" in solutions(tmp_path, "infers(p)", {}, rules=wide, timeout=0.3)
    assert time.monotonic() - began < 60
    squares = "p(9). p(X * X) :- p(X)."
    assert len(solutions(tmp_path, "infers(p, ?x)", {}, rules=squares)) == 11


def rows_of(rules: str, name: str, places: int = 1) -> set[Any]:
    found = ProgramRun(program_of([(rules, "rules")]), {}, 1_000, None).rows((name, places))
    return {tuple(map(decoded, row)) for row in found}


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        ("X = 7 / 2", {3.5}),
        ("X = 6 / 2", {3}),
        ("X = 1 / 0", set()),
        ("X = 2147483647 + 1", {2147483648}),
        ("X = 0.1 * 3 - 1", {0.1 * 3 - 1}),
        ("X = -(2 - 5) * 2", {6}),
        ("X = a + 1", set()),
        ("X = 1, 1.0 = 1", {1}),
        ("X = 1, a != 1", set()),
        ("X = 1, true = true, true != false", {1}),
        ("X = 1, true < false", set()),
        ("X = 1, true = 1", set()),
        ("X = 1, b > a", {1}),
        ('X = 1, a = "a"', {1}),
        ("X = true", {True}),
        ("X = 1e300 * 1e300", set()),
        ('X = "say \\"%\\" \\\\"', {'say "%" \\'}),
    ],
)
def test_values(body: str, wanted: set[Any]) -> None:
    found = {value for (value,) in rows_of(f"p(X) :- {body}.", "p")}
    assert found == wanted
    assert {type(each) for each in found} == {type(each) for each in wanted}


def drawn_program(seed: int) -> str:
    """A random program in layers, each of which negates only what is below it."""
    draw = random.Random(seed)
    lines = [
        f"e{places}({', '.join(str(draw.choice(NUMBERS)) for _ in range(places))})."
        for places in (1, 1, 1, *(2,) * 9)
    ]
    known: list[Key] = [("e1", 1), ("e2", 2)]
    for layer in LAYERS:
        heads = [(f"{layer}{places}", places) for places in (1, 2)]
        for _ in range(draw.randint(1, 4)):
            lines.append(drawn_rule(draw, draw.choice(heads), known, heads))
        lines += [f"{name}({', '.join('9' * places)}) :- e1(9)." for name, places in heads]
        known += heads
    return "\n".join(lines)


def drawn_rule(draw: random.Random, head: Key, below: list[Key], same: list[Key]) -> str:
    names = "XYZ"

    def atom(key: Key, terms: str) -> str:
        places = [draw.choice([*terms, *terms, str(draw.choice(NUMBERS))]) for _ in range(key[1])]
        return f"{key[0]}({', '.join(places)})"

    positive = [atom(draw.choice([*below, *same]), names) for _ in range(draw.randint(1, 3))]
    bound = "".join(name for name in names if any(name in each for each in positive))
    if not bound:
        return f"{head[0]}({', '.join('1' * head[1])}) :- {', '.join(positive)}."
    body = list(positive)
    if draw.random() < 0.5:
        body.append("not " + atom(draw.choice(below), bound))
    if draw.random() < 0.4:
        sign = draw.choice(["<", "<=", ">", ">=", "=", "!="])
        left = f"{draw.choice(bound)} {draw.choice('+-*')} {draw.choice(bound)}"
        body.append(f"{left} {sign} {draw.choice([*bound, '3'])}")
    recursive = any(each.startswith(tuple(name for name, _ in same)) for each in positive)
    if draw.random() < 0.3 and not recursive:
        body.append(f"W = {draw.choice(bound)} {draw.choice('+-*')} 2")
        bound = "W" + bound
    draw.shuffle(body)
    return (
        f"{head[0]}({', '.join(draw.choice(bound) for _ in range(head[1]))}) :- {', '.join(body)}."
    )


def by_clingo(program: str) -> set[str]:
    clingo = pytest.importorskip("clingo", reason="pip install clingo")
    control = clingo.Control(["--warn=none"])
    control.add("base", [], program)
    control.ground([("base", [])])
    found: set[str] = set()
    control.solve(on_model=lambda model: found.update(map(str, model.symbols(atoms=True))))
    return found


def test_random_programs_derive_what_clingo_derives() -> None:
    derived = 0
    for seed in range(500):
        text = drawn_program(seed)
        program = program_of([(text, "rules")])
        evaluation = ProgramRun(program, {}, 100_000, None)
        found = {
            f"{name}({','.join(map(str, row))})"
            for name, places in program.used
            for row in evaluation.rows((name, places))
        }
        assert found == by_clingo(text), text
        derived += len(found)
    assert derived > 5_000


def test_strata_do_not_depend_on_the_order_of_rules() -> None:
    lines = drawn_program(7).splitlines()
    wanted = by_clingo("\n".join(lines))
    for seed in range(5):
        random.Random(seed).shuffle(lines)
        assert by_clingo("\n".join(lines)) == wanted
        evaluation = ProgramRun(program_of([("\n".join(lines), "r")]), {}, 10_000, None)
        assert len(evaluation.rows(("d2", 2))) == len([e for e in wanted if e.startswith("d2(")])


def test_a_text_that_is_too_long_is_refused() -> None:
    with pytest.raises(RulesError, match="more than 1,048,576 letters"):
        program_of([(" " * (1 << 21), "rules")])


@pytest.mark.parametrize("law", LAWS, ids=[law.name for law in LAWS])
def test_conforms(tmp_path: Path, law: Law) -> None:
    law.hold(LawSubject(operators_of(tmp_path)[-1]))
