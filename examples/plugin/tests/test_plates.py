"""The laws that every operator is held to, and what these two have to say."""

from __future__ import annotations

import re

import pytest
import tamis
from hypothesis import given
from hypothesis import strategies as st
from tamis.testing import OperatorConformance

from tamis_plates.operators import plateRead, plateSeen
from tamis_plates.patterns import covers

PATTERNS = st.text("AB?*", max_size=6)


class TestPlateSeen(OperatorConformance):
    """Holds it to the laws, a test each."""

    operator = plateSeen


class TestPlateRead(OperatorConformance):
    """Holds it to the laws, a test each."""

    operator = plateRead


@given(PATTERNS, st.text("AB", max_size=6))
def test_a_plate_is_covered_as_by_a_regular_expression(pattern: str, plate: str) -> None:
    expression = pattern.replace("*", ".*").replace("?", ".")
    assert covers(pattern, plate) == bool(re.fullmatch(expression, plate))


@given(PATTERNS, PATTERNS, st.text("AB", max_size=6))
def test_a_pattern_that_covers_another_takes_all_its_plates(
    wide: str, narrow: str, plate: str
) -> None:
    if covers(wide, narrow) and covers(narrow, plate):
        assert covers(wide, plate)


@pytest.mark.parametrize("pattern", ["A*", "7ABC_1", "", "7ÄBC"])
def test_what_is_no_plate_is_refused(pattern: str) -> None:
    matcher = tamis.Matcher(operators=[plateSeen])
    with pytest.raises(tamis.SubscriptionError, match="a plate"):
        matcher.subscribe(f"plateSeen({pattern!r})")


def test_what_is_no_reading_is_undetermined() -> None:
    matcher = tamis.Matcher(operators=[plateSeen])
    matcher.subscribe("plateSeen('7ABC123')", id="s1")
    [unsure] = matcher.match({"plates": [7]}).undetermined
    assert "plates is a list of texts" in unsure.reason


def test_the_narrower_pattern_spares_the_call_for_the_wider_one() -> None:
    matcher = tamis.Matcher(operators=[plateSeen], planner="naive")  # as written: s1 first
    matcher.subscribe("plateSeen('7ABC123')", id="s1")
    matcher.subscribe("plateSeen('7A*')", id="s2")
    seen = matcher.match({"plates": ["7A8C I23"]})
    assert ([each.subscription for each in seen.matches], seen.account.calls) == (["s1", "s2"], 1)


def test_tamis_finds_them_where_they_are_installed() -> None:
    matcher = tamis.Matcher()
    matcher.subscribe("plateRead('7A*', ?plate) and speed > 30", id="s1")
    [match] = matcher.match({"plates": ["7ABC 123"], "speed": 31}).matches
    assert match.bindings == [{"plate": "7ABC 123"}]
