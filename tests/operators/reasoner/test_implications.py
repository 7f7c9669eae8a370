"""Checks declared implications on random ontologies and facts."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyoxigraph", reason="pip install 'tamis[reasoner]'")

import pyoxigraph as ox
from hypothesis import event, given

import tamis
from tamis.errors import ArgumentError, OperatorError
from tamis_operators import reasoner
from tamis_operators.reasoner import knowledge as loading
from tamis_operators.reasoner.facts import FactsError, prepared_facts
from tamis_operators.reasoner.holds import Holds
from tamis_operators.reasoner.is_a import IsA
from tamis_operators.reasoner.settings import settings_of
from tests.operators.reasoner.asking import matcher_of
from tests.operators.reasoner.graphs import CLASSES, PEOPLE, PROPERTIES, documents

FILES = itertools.count()


class Asked:
    """What an operator gets of an event."""

    def __init__(self, prepared: object) -> None:
        self.prepared = prepared


@pytest.mark.parametrize("regime", ["owl-rl", "rdfs", "none"])
@given(texts=documents("owl-rl"))
def test_implications_are_true(tmp_path: Path, regime: str, texts: tuple[str, str]) -> None:
    path = tmp_path / f"{next(FILES)}.nt"
    path.write_text(texts[0], encoding="utf-8")
    settings = settings_of(path, regime, {})
    records = {each.specification.name: each for each in reasoner.operators(path, regime)}
    try:
        facts = prepared_facts(settings, {"facts": texts[1]})
        cases: list[tuple[str, Any, Iterable[tuple[str, ...]]]] = [
            ("isA", IsA, itertools.product(PEOPLE[:3], CLASSES)),
            ("holds", Holds, itertools.product(PEOPLE[:2], PROPERTIES, PEOPLE[:2])),
        ]
        for name, made, lists in cases:
            operator = made(settings, records[name].specification)
            checked: list[Sequence[Any]] = []
            for words in lists:
                try:
                    checked.append(operator.check(*words))
                except ArgumentError:
                    continue  # nothing uses the name
            answers = list(operator.solve_many(Asked(facts), checked))
            for place, arguments in enumerate(checked):
                others = checked[:place] + checked[place + 1 :]
                theirs = answers[:place] + answers[place + 1 :]
                for said in operator.implications(arguments, others):
                    if answers[place] is said.truth:
                        event(f"{name} {said.conclusion}")
                        assert theirs[said.other] is said.conclusion
    except (FactsError, OperatorError) as failure:
        if "inconsistent" not in str(failure):
            raise
    finally:
        loading._LOADED.pop(settings, None)


def test_the_hierarchy_spares_calls() -> None:
    matcher = matcher_of(
        "isA(unit7, PoliceCar)",
        "isA(unit7, EmergencyVehicle)",
        "isA(unit7, Vehicle)",
        "isA(unit7, Boat)",
        "isA(unit7, Incident)",
        "isA('urn:tamis:surveillance#unit7', Car)",
        "holds(unit7, pursues, van3)",
        "holds(unit7, follows, van3)",
    )
    facts = ":unit7 a :PoliceCar ; :pursues :van3 ."
    first = matcher.match({"facts": facts})
    assert [match.subscription for match in first.matches] == ["0", "1", "2", "5", "6", "7"]
    assert first.account.implied >= 1
    operator = named_operator("isA")
    arguments = [operator.check("unit7", name) for name in ("PoliceCar", "Vehicle", "Boat", "Bus")]
    said = operator.implications(arguments[0], [*arguments[1:], operator.check("x", "Car")])
    assert sorted(said) == [(True, 0, True), (True, 1, False)]
    operator = named_operator("holds")
    lists = [("a", "pursues", "b"), ("a", "near", "b"), ("b", "near", "a"), ("a", "near", 1)]
    first_list, *others = (operator.check(*each) for each in lists)
    assert list(operator.implications(first_list, others)) == [(True, 0, True)]


def named_operator(name: str) -> Any:
    (record,) = (each for each in reasoner.operators() if each.specification.name == name)
    return record.factory()


def test_disjoint_classes_in_a_list_and_complements(tmp_path: Path) -> None:
    path = tmp_path / "o.ttl"
    path.write_text(
        "@prefix : <urn:o#> . @prefix owl: <http://www.w3.org/2002/07/owl#> .\n"
        "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n"
        "[] a owl:AllDisjointClasses ; owl:members ( :A :B :C ) . :D rdfs:subClassOf :A .\n"
        ":N owl:complementOf :B .\n",
        encoding="utf-8",
    )
    known = loading.knowledge(settings_of(path, "owl-rl", {}))

    def apart(name: str) -> set[str]:
        found = known.disjoint(known.superclasses(ox.NamedNode(f"urn:o#{name}")))
        terms = {known.terms.term(number) for number in found}
        return {term.value[-1] for term in terms if isinstance(term, ox.NamedNode)}

    assert apart("D") == {"B", "C"}
    assert apart("B") == {"A", "C", "N"}
    assert apart("N") == {"B"}


def test_shadow_finds_no_contradiction() -> None:
    names = ("PoliceCar", "Car", "Boat", "Vehicle", "Person", "CoastGuardBoat", "Pursuer")
    matcher = matcher_of(*(f"isA(x, {name})" for name in names))
    for name in names:
        result = matcher.match({"facts": f":x a :{name} ; :pursues :y ."})
        assert not result.undetermined
    assert isinstance(matcher, tamis.Matcher)
