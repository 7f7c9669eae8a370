"""Tests what only the operator of this domain refuses."""

from __future__ import annotations

import tamis
from tamis.scaffold.templates.measure import newOperator


def test_what_is_no_number_is_undetermined() -> None:
    matcher = tamis.Matcher(operators=[newOperator])
    matcher.subscribe("newOperator(3)", id="s1")
    result = matcher.match({"value": "seven"})
    assert "value is a number" in result.undetermined[0].reason
