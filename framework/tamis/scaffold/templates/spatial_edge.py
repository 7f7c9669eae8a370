"""Tests what only the operator of this domain refuses."""

from __future__ import annotations

import pytest
import tamis
from tamis.scaffold.templates.spatial import newOperator


def test_what_is_no_place_is_refused() -> None:
    matcher = tamis.Matcher(operators=[newOperator])
    with pytest.raises(tamis.SubscriptionError, match="a latitude lies between"):
        matcher.subscribe("newOperator(-74, 140.7, 5km)")
