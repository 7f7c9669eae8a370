"""Tests what only the operator of this domain refuses."""

from __future__ import annotations

import tamis
from tamis.scaffold.templates.image import newOperator


def test_what_is_no_frame_is_undetermined() -> None:
    matcher = tamis.Matcher(operators=[newOperator])
    matcher.subscribe("newOperator(?value)", id="s1")
    result = matcher.match({"image": b"no frame at all"})
    assert "no image of a known format" in result.undetermined[0].reason
