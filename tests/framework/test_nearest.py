"""Checks suggestions of the known name that was meant."""

from __future__ import annotations

import pytest

from tamis.nearest import did_you_mean, nearest

KNOWN = ["locIn", "locWithin", "mobPattern", "peopleCount", "trafficPattern"]


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        *(("locln", "locIn"), ("LocIn", "locIn"), ("locin", "locIn"), ("lcoIn", "locIn")),
        *(("peopleCout", "peopleCount"), ("mobpattern", "mobPattern"), ("locI", "locIn")),
        *(("banana", None), ("x", None), ("", None)),
    ],
)
def test_the_nearest_name(name: str, meant: str | None) -> None:
    assert nearest(name, KNOWN) == meant


def test_a_sentence_to_append() -> None:
    assert did_you_mean("locln", KNOWN) == "; did you mean locIn?"
    assert did_you_mean("banana", KNOWN) == ""


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        *(("truckCount", "vehicleCount"), ("boatCount", "peopleCount"), ("mobSize", "mobPattern")),
        *(("insideOf", None), ("truck", None), ("x", None)),
    ],
)
def test_words_of_names_count_where_letters_do_not(name: str, meant: str | None) -> None:
    says = {"vehicleCount": "How many vehicles: cars, trucks, buses.", "peopleCount": "People."}
    hint = did_you_mean(name, [*KNOWN, "vehicleCount"], says)
    assert hint == ("" if meant is None else f"; did you mean {meant}?")


def test_a_known_name_is_its_own_nearest() -> None:
    assert all(nearest(name, KNOWN) == name for name in KNOWN)


def test_it_is_found_among_very_many() -> None:
    names = [f"street-{number}" for number in range(500)]
    assert nearest("stret-314", names) == "street-314"
