"""Every bundled operator is held to every law of the kit."""

from __future__ import annotations

import pytest

from tamis.plugins.loader import installed
from tamis.testing.conformance import LAWS, Law, LawSubject, travel_together

BUNDLED = {
    name: LawSubject(record)
    for name, record in sorted(installed().operators.items())
    if installed().sources[("operator", name)].startswith("tamis (")
}
FAR = ("travels", "listing")
SLOW = {("nearest", "necessary"), ("distanceFrom", "necessary"), ("locWithin", "necessary")}
"""Laws that ask an operator for its dearest answers, a thousand times."""
SLOWEST = "instanceOf"
"""The operator that starts a reasoner for each of its calls."""


@pytest.mark.parametrize(
    ("name", "law"),
    [
        pytest.param(
            name,
            law,
            id=f"{name}-{law.name}",
            marks=[pytest.mark.slow] if (name, law.name) in SLOW or name == SLOWEST else [],
        )
        for name in BUNDLED
        for law in LAWS
    ],
)
def test_conforms(name: str, law: Law) -> None:
    if law.name in FAR:
        travel_together(list(BUNDLED.values()))
    law.hold(BUNDLED[name])
