"""Tests what only the operator of this domain refuses."""

from __future__ import annotations

import pytest
import tamis
from tamis.scaffold.templates.text import newOperator


def test_what_is_no_word_is_refused() -> None:
    matcher = tamis.Matcher(operators=[newOperator])
    with pytest.raises(tamis.SubscriptionError, match="letters and digits only"):
        matcher.subscribe("newOperator('two words', ?n)")
