"""The subscriptions that the papers print, verbatim."""

from __future__ import annotations

import pytest

from tamis import Matcher, SubscriptionWarning, operator

from .reading import read

EXPENSIVE_OPERATORS = {
    "S1": "{locIn(Bronx), chasePattern(policeCar,anyCar)}",
    "S2": "{locIn(Bronx), mobPattern(?people), (?people>50)}",
    "S3": "{locWithin(TimesSquare,5000m),\n\ntrafficPattern(congestion),\n\n"
    "pedestrianCount(?ped), ?ped>250)}",
    "S4": "{locIn(Bronx), trafficPattern(congestion),\n\n"
    "trafficPattern(accident), policeCarCount(?pol),\n\n(?pol<2)}",
    "S5": "{distanceFrom(StatueOfLiberty,?x), (?x<1000m),\n\n"
    "tourBoatCount(?y), coastGuardBoatCount(?z),\n\n(?y>2*?z)}",
}
MEANINGS = {
    "S1": ["locIn(Bronx)", "chasePattern(policeCar, anyCar)"],
    "S2": ["locIn(Bronx)", "mobPattern(?people)", "?people > 50"],
    "S3": [
        *("locWithin(TimesSquare, 5000)", "trafficPattern(congestion)"),
        *("pedestrianCount(?ped)", "?ped > 250"),
    ],
    "S4": [
        *("locIn(Bronx)", "trafficPattern(congestion)", "trafficPattern(accident)"),
        *("policeCarCount(?pol)", "?pol < 2"),
    ],
    "S5": [
        *("distanceFrom(StatueOfLiberty, ?x)", "?x < 1000", "tourBoatCount(?y)"),
        *("coastGuardBoatCount(?z)", "?y > 2 * ?z"),
    ],
}
OPINDEX = {
    "S1": ("A = 2 ∧ B ∈ {3,6,9}", ["A = 2", "B in {3, 6, 9}"]),
    "S2": ("A≤8∧C≥2", ["A <= 8", "C >= 2"]),
    "S3": ("C = 6 ∧ B ≤ 4 ∧ E ∈ [3,12]", ["C = 6", "B <= 4", "E in [3, 12]"]),
    "S4": ("A=2", ["A = 2"]),
    "S5": ("D ≥ 12 ∧ E ≤ 9", ["D >= 12", "E <= 9"]),
    "S6": (
        "B ∈ {3,6} ∧ C ≤ 4 ∧ D ≥ 10 ∧ E ≤ 7",
        ["B in {3, 6}", "C <= 4", "D >= 10", "E <= 7"],
    ),
}


@pytest.mark.parametrize("id", EXPENSIVE_OPERATORS)
def test_subscriptions_over_expensive_operators(id: str) -> None:
    assert read(EXPENSIVE_OPERATORS[id]) == [MEANINGS[id]]


@pytest.mark.parametrize("id", OPINDEX)
def test_table_1_of_opindex(id: str) -> None:
    text, predicates = OPINDEX[id]
    assert read(text) == [predicates]


@operator
def locWithin(event: object, place: str, meters: float) -> bool:
    return True


@operator
def trafficPattern(event: object, pattern: str) -> bool:
    return True


@operator
def pedestrianCount(event: object, count: object) -> list[int]:
    return [300]


def test_the_misprint_of_s3_is_taken_with_a_warning() -> None:
    matcher = Matcher(operators=[locWithin, trafficPattern, pedestrianCount])
    with pytest.warns(SubscriptionWarning, match=r"'S3'.*'\)' has no '\('"):
        matcher.subscribe(EXPENSIVE_OPERATORS["S3"], id="S3")
    (match,) = matcher.match({}).matches
    assert match.bindings == [{"ped": 300}]


@pytest.mark.parametrize(
    "text", ["{p(?x), ?x > 3)", "(p(?x), ?x > 3))", "{p(?x))}", "{a > 3)}", "p(?x), ?x > 3)"]
)
def test_no_other_lost_parenthesis_is_forgiven(text: str) -> None:
    with pytest.raises(ValueError, match=r"'\)'"):
        read(text)
