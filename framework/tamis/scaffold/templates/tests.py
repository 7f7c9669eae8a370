"""The laws that every operator is held to, and what this one has to say."""

from __future__ import annotations

import tamis
from tamis.testing import OperatorConformance

from tamis.scaffold.templates.measure import newOperator

EVENTS = [
    {"first": 1},
    {"second": 2},
]


class TestNewOperator(OperatorConformance):
    """Holds it to the laws, a test each."""

    operator = newOperator


def test_tamis_finds_it_where_it_is_installed() -> None:
    matcher = tamis.Matcher()
    matcher.subscribe("newOperator(predicate)", id="s1")
    found = [bool(matcher.match(event).matches) for event in EVENTS]
    assert found == [True, False]
