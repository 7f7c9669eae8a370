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


@pytest.mark.parametrize("law", LAWS, ids=[law.name for law in LAWS])
@pytest.mark.parametrize("name", BUNDLED)
def test_conforms(name: str, law: Law) -> None:
    if law.name in FAR:
        travel_together(list(BUNDLED.values()))
    law.hold(BUNDLED[name])
