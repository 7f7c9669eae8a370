"""Reads events: their attributes and content, and the views that operators get.

Others may import what stands here, and from `clock`, `paths` and `types`.
"""

from tamis.event.event import (
    DerivedAttribute,
    Event,
    EventView,
    ReadOnlyDict,
    ReadOnlyList,
    freeze,
    is_itself,
    itself,
    plain_name,
)
from tamis.event.paths import is_facts_path

__all__ = [
    "DerivedAttribute",
    "Event",
    "EventView",
    "ReadOnlyDict",
    "ReadOnlyList",
    "freeze",
    "is_facts_path",
    "is_itself",
    "itself",
    "plain_name",
]
