"""Names what a new operator can do to begin with: one small, real operator for each domain.

The operator of a domain is `templates/DOMAIN.py`, a test of its own `templates/DOMAIN_edge.py`.
"""

from __future__ import annotations

from typing import NamedTuple


class Domain(NamedTuple):
    """A kind of operator to begin with."""

    says: str
    """Its question about an event, in words."""
    predicate: str
    """One that holds of the first event and not of the second."""
    events: tuple[str, str]
    requires: str = "tamis"
    """The extra that pip has to install for it."""


_FRAME = '{"image": "data:image/webp;base64,%s"}'

DOMAINS = {
    "measure": Domain(
        "whether a value is above a level",
        "newOperator(3)",
        ('{"value": 7}', '{"value": 2}'),
    ),
    "text": Domain(
        "how often a word stands in a text",
        "newOperator(fire, ?n), ?n > 1",
        ('{"text": "Fire! A fire."}', '{"text": "All is quiet."}'),
    ),
    "spatial": Domain(
        "whether a position is within a distance of a place",
        "newOperator(-74, 40.7, 5km)",
        ('{"position": [-74.01, 40.71]}', '{"position": [2.35, 48.86]}'),
    ),
    "image": Domain(
        "how bright a frame is",
        "newOperator(?value), ?value > 100",
        (
            _FRAME % "UklGRh4AAABXRUJQVlA4TBEAAAAvAAAAAAdQ5CIXuf+BiOh/AAA=",
            _FRAME % "UklGRh4AAABXRUJQVlA4TBEAAAAvAAAAAAdQilKUov+BiOh/AAA=",
        ),
        "tamis[image]",
    ),
}
